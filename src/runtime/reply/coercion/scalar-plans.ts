import { DOUBLE_QUOTE, OPEN_BRACKET } from '../text/characters.ts';
import { GrowingString } from '../text/growing-text.ts';
import { linkedText } from '../text/links.ts';
import { canBecomeNull, isNullWord } from '../text/nothing.ts';
import { quoteText, type ReplyNode } from '../text/reply-node.ts';
import { coercionError, describeValue, mismatch } from './coercion-error.ts';
import { findBool, STATE_WORD } from './bool-in-text.ts';
import { answerIn, fromComposite, namedIn, wholeAnswerIn } from './from-composite.ts';
import { LabelMatcher } from './label-matcher.ts';
import { findRating } from './number-in-text.ts';
import { CoercedValue, MARK, nullFor, type CoercedDetails, type CoercionOutcome, type Flag } from './outcome.ts';
import { PartialValue, Plan } from './plan.ts';
import { spend } from './step-budget.ts';
import { isSchema } from './wrapper-keys.ts';

/** Returns one flag that describes the value as the model wrote it. */
export function valueFlags(flag: string, node: ReplyNode): readonly Flag[] {
  return [{ flag, path: '', detail: describeValue(node) }];
}

/** Returns a scalar that already has its type, with a flag for its repairs. */
export function asWritten(json: string, node: ReplyNode, marks = 0): CoercedValue {
  return new CoercedValue(json, 0, node.repairs === 0 && marks === 0 ? undefined : detailsOf(node.repairs, marks));
}

/** The details of scalars by their repairs and marks. A reply can contain thousands of scalars, and they hardly differ. */
const DETAILS = new Map<number, CoercedDetails>();

function detailsOf(repairs: number, marks: number): CoercedDetails {
  const key = repairs * (MARK.text * 2) + marks;
  const known = DETAILS.get(key);
  if (known !== undefined) return known;
  const details = { marks, flags: repairs === 0 ? [] : [{ flag: 'repaired', path: '', detail: repairs }] };
  DETAILS.set(key, details);
  return details;
}

// --- strings ---------------------------------------------------------------------------------------------------------

export class StringPlan extends Plan {
  readonly name = 'string';

  override get takesText(): boolean {
    return true;
  }

  override exact(source: string): string | undefined {
    if (source.charCodeAt(0) !== DOUBLE_QUOTE) return undefined;
    return source.charCodeAt(1) === OPEN_BRACKET && linkedText(source.slice(1, -1)) !== undefined ? undefined : source;
  }

  /** Any other character begins a string without quotes. */
  override mayBegin(first: number): boolean {
    return first === DOUBLE_QUOTE;
  }

  override showString(json: string): string | undefined {
    return this.doneOnly ? undefined : json;
  }

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    if (node.kind !== 'string' || linkIn(node) !== undefined) return undefined;
    return asWritten(quoteText(node), node, MARK.text);
  }

  protected coerceOnce(node: ReplyNode): CoercionOutcome {
    const link = linkIn(node);
    if (link !== undefined)
      return new CoercedValue(JSON.stringify(link), 1, { marks: MARK.text, flags: valueFlags('link', node) });
    if (node.kind === 'string' || (node.kind === 'null' && !isNullWord(node.text)))
      return asWritten(quoteText(node), node, MARK.text);
    if (node.kind === 'null') return coercionError('expected a string, got null');
    return node.isScalar ? this.#display(node) : this.#fromComposite(node);
  }

  /** A list or object that is not a wrapper is displayed as a whole, so that nothing of it is lost. */
  #fromComposite(node: ReplyNode): CoercionOutcome {
    if (isSchema(node)) return coercionError('expected a string, got a JSON schema');
    // A line of text that can be a sentence (`Note: call back`) is a string as it is.
    if (node.text !== '') return this.#display(node);
    const answer = wholeAnswerIn(node) ?? namedIn(node);
    if (answer?.isScalar !== true) return this.#display(node);
    const outcome = this.coerce(answer);
    if (!outcome.ok) return outcome;
    const marks = MARK.text | MARK.fromComposite;
    return outcome.as(outcome.score + 1, marks, [{ flag: 'unwrapped', path: '' }, ...outcome.flags]);
  }

  #display(node: ReplyNode): CoercedValue {
    const text = displayText(node);
    spend(text.length / WRITTEN_PER_STEP);
    return new CoercedValue(JSON.stringify(text), 2, {
      marks: MARK.text | (node.items.length > 0 ? MARK.fromComposite | MARK.display : 0),
      flags: valueFlags('to-string', node),
    });
  }

  protected override partial(node: ReplyNode): PartialValue {
    if (node.complete) return super.partial(node);
    if (!node.isScalar || node.block) return PartialValue.withheld;
    if (node.kind === 'string') {
      const growing = node.cached(this, () => new GrowingString());
      growing.growTo(node.text);
      return new PartialValue(growing.json);
    }
    const text = node.text.trim();
    return canBecomeNull(text) ? PartialValue.withheld : new PartialValue(JSON.stringify(text));
  }
}

/** Returns the address that is both the text and the target of a link, in a string that is a part of the reply. */
function linkIn({ kind, quoted, text }: ReplyNode): string | undefined {
  return kind === 'string' && quoted ? linkedText(text) : undefined;
}

/** The characters of a value that become a string in one step. */
const WRITTEN_PER_STEP = 16;

/** Writes a value as a string: objects as `{a: 1}`, lists as `[x, y]`, scalars as the model wrote them. */
function displayText(node: ReplyNode): string {
  if (node.isScalar || node.text !== '') return node.text;
  if (node.kind === 'list') return `[${node.items.map(displayText).join(', ')}]`;
  const members = node.items.map((item, index) => `${node.keys[index] ?? ''}: ${displayText(item)}`);
  return `{${members.join(', ')}}`;
}

// --- scalars that partials show when they are complete ---------------------------------------------------------------

export abstract class DonePlan extends Plan {
  override doneOnly = true;

  override mayBegin(): boolean {
    return true;
  }
}

export class BoolPlan extends DonePlan {
  readonly name = 'bool';

  override mayBecome(text: string, quoted: boolean): boolean {
    return !quoted && ('true'.startsWith(text) || 'false'.startsWith(text));
  }

  override exact(source: string): string | undefined {
    return source === 'true' || source === 'false' ? source : undefined;
  }

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    return node.kind === 'boolean' ? asWritten(node.text, node) : undefined;
  }

  protected coerceOnce(node: ReplyNode): CoercionOutcome {
    if (node.kind === 'boolean') return asWritten(node.text, node);
    if (node.kind === 'number') return this.#fromNumber(node);
    if (node.kind !== 'string') return fromComposite(this, node);
    const found = findBool(node.text);
    if (found === undefined) return mismatch('bool', node);
    const flags = [...valueFlags('string-to-bool', node)];
    if (found.cued) flags.push({ flag: 'answer-cue', path: '' });
    if (found.isState === true) flags.push({ flag: STATE_WORD, path: '' });
    return new CoercedValue(found.json, found.exact ? 1 : 3, { flags });
  }

  #fromNumber(node: ReplyNode): CoercionOutcome {
    if (node.text !== '0' && node.text !== '1') return mismatch('bool', node);
    return new CoercedValue(node.text === '1' ? 'true' : 'false', 3, { flags: valueFlags('number-to-bool', node) });
  }
}

/** Returns the null that another word, such as `N/A`, means. */
export function nullWord(node: ReplyNode): CoercedValue {
  return new CoercedValue('null', 1, { flags: valueFlags('null-word', node) });
}

export class NullPlan extends DonePlan {
  readonly name = 'null';

  override mayBecome(text: string, quoted: boolean): boolean {
    return !quoted && 'null'.startsWith(text);
  }

  override exact(source: string): string | undefined {
    return source === 'null' ? source : undefined;
  }

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    return node.kind === 'null' ? asWritten('null', node) : undefined;
  }

  protected coerceOnce(node: ReplyNode): CoercionOutcome {
    if (node.kind === 'null') return asWritten('null', node);
    return node.isScalar && isNullWord(node.text) ? nullWord(node) : nullFor(mismatch('null', node).reason, node);
  }

  override fallback(): CoercedValue {
    return new CoercedValue('null', 0);
  }
}

/** An enum, or the string literals of a union: one of a list of values, each with its labels. */
export class LabelPlan extends DonePlan {
  readonly name: string;
  override readonly longestLabel: number;
  readonly #matcher: LabelMatcher;

  constructor(name: string, ...labels: ConstructorParameters<typeof LabelMatcher>) {
    super();
    this.name = name;
    this.#matcher = new LabelMatcher(...labels);
    this.longestLabel = this.#matcher.longest;
  }

  override mayBecome(text: string): boolean {
    return this.#matcher.mayBecome(text);
  }

  override exact(source: string): string | undefined {
    if (source.charCodeAt(0) !== DOUBLE_QUOTE || source.includes('\\')) return undefined;
    return this.#matcher.exact(source.slice(1, -1));
  }

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    // A label can be spelled like a word for null.
    if (node.kind !== 'string' && !(node.kind === 'null' && node.text !== 'null')) return undefined;
    const json = this.#matcher.exact(node.text);
    return json === undefined ? undefined : asWritten(json, node);
  }

  protected coerceOnce(node: ReplyNode): CoercionOutcome {
    const exact = this.cast(node);
    if (exact !== undefined) return exact;
    // `None` can be a value in another letter case.
    const isNull = node.kind === 'null' && (node.text === 'null' || this.#matcher.whole(node.text).kind === 'none');
    if (isNull) return coercionError(`expected ${this.name}, got null`);
    return node.isScalar ? this.#match(node) : fromComposite(this, node);
  }

  #match(node: ReplyNode): CoercionOutcome {
    const match = this.#matcher.match(node.text, node.quoted);
    if (match.kind === 'ambiguous') {
      return coercionError(
        `expected ${this.name}, got a string that matches several values: ${match.labels.join(', ')}`,
      );
    }
    if (match.kind === 'none') return mismatch(this.name, node);
    return new CoercedValue(match.json, match.cost, { flags: match.flags.flatMap((flag) => valueFlags(flag, node)) });
  }
}

/** A literal number or boolean. */
export class LiteralPlan extends DonePlan {
  readonly name: string;
  readonly #inner: Plan;

  /** `inner`: the plan of the literal's type. */
  constructor(value: number | boolean, inner: Plan) {
    super();
    this.name = String(value);
    this.#inner = inner;
  }

  override exact(source: string): string | undefined {
    const json = this.#inner.exact(source);
    return json === this.name ? json : undefined;
  }

  override mayBecome(text: string, quoted: boolean): boolean {
    return this.#inner.mayBecome(text, quoted);
  }

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    const value = this.#inner.cast(node);
    return value?.json === this.name ? value : undefined;
  }

  protected coerceOnce(node: ReplyNode): CoercionOutcome {
    if (!node.isScalar)
      return answerIn(node)?.isScalar === true ? fromComposite(this, node) : mismatch(this.name, node);
    const outcome = this.#inner.coerce(node);
    if (outcome.ok) return outcome.json === this.name ? outcome : mismatch(this.name, node);
    if (node.kind !== 'string' || findRating(node.text) !== this.name) return mismatch(this.name, node);
    return new CoercedValue(this.name, 2, { flags: valueFlags('number-in-text', node) });
  }
}

/** Files are inputs only: no reply can contain one. */
export class MediaPlan extends Plan {
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }

  protected castOnce(): undefined {
    return undefined;
  }

  protected coerceOnce(): CoercionOutcome {
    return coercionError(`a reply cannot contain a value of type ${this.name}`);
  }
}

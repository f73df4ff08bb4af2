import type { TextParts } from '../../../base/text-parts.ts';
import { DOUBLE_QUOTE } from '../candidates/scan/characters.ts';
import { GrowingString } from '../growing-text.ts';
import { canBecomeNull, isNullWord, withoutDecoration } from './spelling.ts';
import { quoteText, REPAIR, type ReplyNode } from '../candidates/scan/reply-node.ts';
import { answerInText, type Hit } from './answer-in-text.ts';
import { coercionError, mismatch } from './coercion-error.ts';
import { ANSWER_CUE, asWritten, CoercedValue, GUESS, guessedFrom, nullFor, type CoercionOutcome } from './outcome.ts';
import { INEXACT, PartialValue, Plan } from './plan.ts';
import type { Reading } from './step-budget.ts';
import { asOneOf, isAnswerKey, isDescriptionKey, isOtherKey, isSchema } from './wrappers.ts';

// --- strings ---------------------------------------------------------------------------------------------------------

export class StringPlan extends Plan {
  readonly name = 'string';
  override readonly takesText = true;

  override exact(source: string): string | undefined {
    return source.charCodeAt(0) === DOUBLE_QUOTE ? source : undefined;
  }

  /** Any other character begins a string without quotes. */
  override mayBegin(first: number): boolean {
    return first === DOUBLE_QUOTE;
  }

  override showString(string: GrowingString): TextParts | undefined {
    return this.doneOnly ? undefined : string.json;
  }

  protected coerceOnce(node: ReplyNode, reading: Reading, strict: boolean): CoercionOutcome {
    if (node.kind === 'string' || (!strict && node.kind === 'null' && !isNullWord(node.text)))
      return asWritten(quoteText(node), node, 'text');
    if (strict) return INEXACT;
    if (node.kind === 'null') return coercionError('expected a string, got null');
    return node.isScalar ? display(node, reading) : this.#fromComposite(node, reading);
  }

  /** A list or object that is not a wrapper becomes its own text, so that nothing of it is lost. */
  #fromComposite(node: ReplyNode, reading: Reading): CoercionOutcome {
    if (isSchema(node)) return coercionError('expected a string, got a JSON schema');
    // A line of text that can be a sentence (`Note: call back`) is a string as it is.
    const answer = node.isLine ? undefined : wholeAnswerIn(node);
    if (answer?.isScalar !== true) return node.text === '' ? mismatch('a string', node) : display(node, reading);
    const outcome = this.coerce(answer, reading);
    return outcome.ok ? outcome.guessed(GUESS.composite, 'unwrapped') : outcome;
  }

  protected override partial(node: ReplyNode, reading: Reading): PartialValue {
    if (node.complete) return super.partial(node, reading);
    if (!node.isScalar || node.block) return PartialValue.withheld;
    if (node.kind === 'string') {
      const growing = node.cached(this, () => new GrowingString());
      growing.growTo(node.text);
      return new PartialValue(growing.text);
    }
    const text = node.text.trim();
    return canBecomeNull(text) ? PartialValue.withheld : new PartialValue(JSON.stringify(text));
  }
}

/** The characters of a value that become a string in one step. */
const WRITTEN_PER_STEP = 16;

function display(node: ReplyNode, reading: Reading): CoercedValue {
  const { text } = node;
  reading.spend(text.length / WRITTEN_PER_STEP);
  const isComposite = !node.isScalar;
  const value = guessedFrom(node, JSON.stringify(text), isComposite ? GUESS.composite : GUESS.scalar, 'to-string');
  return value.with({ kind: isComposite ? 'display' : 'text' });
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

  /** Python's spelling is a bool as well, if a list or object contains it without quotes. */
  protected coerceOnce(node: ReplyNode, reading: Reading, strict: boolean): CoercionOutcome {
    if (node.kind === 'boolean') return asWritten(node.text, node);
    const isBare = node.kind === 'string' && (node.repairs & REPAIR.unquotedValue) !== 0;
    if (isBare && (node.text === 'True' || node.text === 'False')) return asWritten(node.text.toLowerCase(), node);
    if (strict) return INEXACT;
    if (node.kind === 'number') return this.#fromNumber(node);
    if (node.kind !== 'string') return fromComposite(this, node, reading);
    reading.spend(node.text.length);
    const whole = BOOLS.get(withoutDecoration(node.text.slice(0, MAX_WORD)).toLowerCase());
    if (whole !== undefined) return guessedFrom(node, whole, GUESS.spelling, 'string-to-bool');
    const answer = answerInText(node.text, boolsIn);
    if (answer.kind !== 'answer') return mismatch('bool', node);
    const cues = answer.cued ? [ANSWER_CUE] : [];
    return guessedFrom(node, answer.json, GUESS.scalar, 'string-to-bool', ...cues);
  }

  #fromNumber(node: ReplyNode): CoercionOutcome {
    if (node.text !== '0' && node.text !== '1') return mismatch('bool', node);
    return guessedFrom(node, node.text === '1' ? 'true' : 'false', GUESS.scalar, 'number-to-bool');
  }
}

const BOOLS: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['yes', 'true'],
  ['false', 'false'],
  ['no', 'false'],
]);
/** No word with marks around it has more characters. */
const MAX_WORD = 100;
const BOOL = /(?<![\p{L}\p{N}_]|[\p{L}\p{N}]-)(?:true|false)(?![\p{L}\p{N}_]|-[\p{L}\p{N}]|['’]\p{L})/giu;
/** `Yes, …`, `No.`: since `no` is a common word, it counts only at the beginning, and before a mark. */
const YES_OR_NO = /^([\s*_"'`>#(]*)(yes|no)(?=[*_"'`)]{0,4}\s*(?:$|[.,:;!\n–—-]))/iu;

function boolsIn(text: string): readonly Hit[] {
  const hits = [...text.matchAll(BOOL)].map((match) => {
    return { from: match.index, to: match.index + match[0].length, json: match[0].toLowerCase() };
  });
  const [, before = '', word = ''] = YES_OR_NO.exec(text) ?? [];
  const json = BOOLS.get(word.toLowerCase());
  return json === undefined ? hits : [{ from: before.length, to: before.length + word.length, json }, ...hits];
}

/** Returns the null that another word, such as `N/A`, means. */
export function nullWord(node: ReplyNode): CoercedValue {
  return guessedFrom(node, 'null', GUESS.spelling, 'null-word');
}

export class NullPlan extends DonePlan {
  readonly name = 'null';

  override mayBecome(text: string, quoted: boolean): boolean {
    return !quoted && 'null'.startsWith(text);
  }

  override exact(source: string): string | undefined {
    return source === 'null' ? source : undefined;
  }

  protected coerceOnce(node: ReplyNode, _reading: Reading, strict: boolean): CoercionOutcome {
    if (node.kind === 'null') return asWritten('null', node);
    if (strict) return INEXACT;
    return node.isScalar && isNullWord(node.text) ? nullWord(node) : nullFor(mismatch('null', node).reason, node);
  }

  override fallback(): CoercedValue {
    return new CoercedValue('null');
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

  protected coerceOnce(node: ReplyNode, reading: Reading, strict: boolean): CoercionOutcome {
    if (!node.isScalar) {
      const isAnswer = answerIn(node)?.isScalar === true;
      return isAnswer ? fromComposite(this, node, reading) : mismatch(this.name, node);
    }
    const outcome = this.#inner.coerce(node, reading, strict);
    return outcome.ok && outcome.json === this.name ? outcome : mismatch(this.name, node);
  }
}

/** Files are inputs only: no reply can contain one. */
export class MediaPlan extends Plan {
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }

  protected coerceOnce(): CoercionOutcome {
    return coercionError(`a reply cannot contain a value of type ${this.name}`);
  }
}

// --- scalars in lists and objects ----------------------------------------------------------------------------------------

/** The most members of an object around a scalar. */
const MAX_MEMBERS = 16;

/**
 * Coerces a list or object to the only scalar of the type in it: the answer, or the only member that matches. Two different
 * values of the type are two answers, and svc takes neither.
 */
export function fromComposite(plan: Plan, node: ReplyNode, reading: Reading): CoercionOutcome {
  if (isSchema(node)) return mismatch(plan.name, node);
  const members = membersOf(node);
  const exact = coercedBy(plan, members, reading, true);
  const [first, ...others] = exact.length > 0 ? exact : coercedBy(plan, members, reading, false);
  if (first === undefined) return mismatch(plan.name, node);
  const other = others.find(({ bare }) => bare !== first.bare);
  if (other !== undefined)
    return coercionError(`expected ${plan.name}, got several values: ${first.bare}, ${other.bare}`);
  if (node.kind === 'object') return first.guessed(GUESS.composite, 'unwrapped');
  return asOneOf(node, first, node.items.length > 1 ? GUESS.part : GUESS.composite);
}

function coercedBy(
  plan: Plan,
  nodes: readonly ReplyNode[],
  reading: Reading,
  strict: boolean,
): readonly CoercedValue[] {
  return nodes.flatMap((node) => {
    const outcome = plan.coerce(node, reading, strict);
    return outcome.ok ? outcome : [];
  });
}

/** Returns the members of a list, the answer in an object, or else those of its scalars that do not describe another value. */
function membersOf(node: ReplyNode): readonly ReplyNode[] {
  const { kind, items, keys } = node;
  const answer = answerIn(node);
  if (kind === 'list' || answer !== undefined) return answer === undefined ? items : [answer];
  const scalars = items.filter((item, at) => item.isScalar && !isDescriptionKey(keys[at] ?? ''));
  return scalars.length > MAX_MEMBERS ? [] : scalars;
}

/** Returns the value of `{"answer": 8}`, `{"value": 8, "unit": "kg"}` or `[8]`; undefined for other lists and objects. */
function answerIn({ kind, items, keys }: ReplyNode): ReplyNode | undefined {
  if (items.length === 1) return kind === 'object' && isOtherKey(keys[0] ?? '') ? undefined : items[0];
  if (kind === 'list' || items.length > MAX_MEMBERS) return undefined;
  const answers = items.filter((_, at) => isAnswerKey(keys[at] ?? ''));
  return answers.length === 1 ? answers[0] : undefined;
}

/** Returns the same as `answerIn` if every other member of the object only describes the answer. */
export function wholeAnswerIn(node: ReplyNode): ReplyNode | undefined {
  const { kind, items, keys } = node;
  const answer = answerIn(node);
  if (answer === undefined || kind === 'list') return answer;
  const isWhole = items.every((item, at) => {
    const key = keys[at] ?? '';
    return item === answer ? isAnswerKey(key) : isDescriptionKey(key);
  });
  return isWhole ? answer : undefined;
}

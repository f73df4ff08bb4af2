import { isJsonNumber, mayBecomeNull } from '../text/bare-token.ts';
import { DOUBLE_QUOTE } from '../text/characters.ts';
import { GrowingString } from '../text/growing-text.ts';
import { quoteText, type ValueNode } from '../text/value-node.ts';
import { describeValue, displayText } from './display-text.ts';
import { LabelMatcher, type Label } from './match-text.ts';
import { Coerced, MARK, misfit, mismatch, type Outcome } from './outcome.ts';
import { parseNumber, roundNumber } from './parse-number.ts';
import { Partial } from './partial.ts';
import { Plan, repairNotes } from './plan.ts';
import { bestMember } from './rank.ts';

function note(flag: string, node: ValueNode): { notes: readonly { flag: string; path: string; detail: string }[] } {
  return { notes: [{ flag, path: '', detail: describeValue(node) }] };
}

/** A scalar that is right as it stands, with the flags of how it was written. */
export function written(json: string, node: ValueNode): Coerced {
  return node.repairs === 0 ? new Coerced(json, 0) : new Coerced(json, 0, { notes: repairNotes(node) });
}

export class StringPlan extends Plan {
  readonly name = 'string';

  override exact(source: string): string | undefined {
    return source.charCodeAt(0) === DOUBLE_QUOTE ? source : undefined;
  }

  /** Anything but quotes begins a text without quotes. */
  override mayBegin(first: number): boolean {
    return first === DOUBLE_QUOTE;
  }

  override showText(json: string): string | undefined {
    return this.doneOnly ? undefined : json;
  }

  cast(node: ValueNode): Coerced | undefined {
    return node.kind === 'string' ? written(quoteText(node), node) : undefined;
  }

  coerce(node: ValueNode): Outcome {
    if (node.kind === 'string') return written(quoteText(node), node);
    if (node.kind === 'null') return misfit('expected a string, got null');
    return new Coerced(JSON.stringify(displayText(node)), 2, {
      marks: node.items.length > 0 ? MARK.fromComposite : 0,
      ...note('to-string', node),
    });
  }

  protected override partial(node: ValueNode): Partial {
    if (node.complete) return super.partial(node);
    if (node.kind === 'list' || node.kind === 'object' || node.block) return Partial.withheld;
    if (node.kind === 'string') return new Partial(this.#growing(node).json);
    const text = node.text.trim();
    return mayBecomeNull(text) ? Partial.withheld : new Partial(JSON.stringify(text));
  }

  #growing(node: ValueNode): GrowingString {
    const known = node.recall(this);
    const growing = known instanceof GrowingString ? known : new GrowingString();
    if (known === undefined) node.remember(this, growing);
    growing.growTo(node.text);
    return growing;
  }
}

/** A scalar that appears in partials when it is complete. */
abstract class DonePlan extends Plan {
  override doneOnly = true;

  override mayBegin(): boolean {
    return true;
  }
}

abstract class NumberPlan extends DonePlan {
  coerce(node: ValueNode): Outcome {
    if (node.kind === 'number') return this.fromNumber(node);
    if (node.kind === 'string' || node.kind === 'bare') return this.#fromText(node);
    return fromComposite(this, node);
  }

  #fromText(node: ValueNode): Outcome {
    const found = parseNumber(node.text);
    if (found === undefined) return mismatch(this.name, node);
    const json = this.format(found.value, found.integer);
    return new Coerced(json, found.exact ? 1 : 2, note(found.exact ? 'string-to-number' : 'number-in-text', node));
  }

  protected abstract fromNumber(node: ValueNode): Outcome;
  protected abstract format(value: number, integer: string | undefined): string;
}

/** A scalar from a list (the best of it) or from an object that only wraps it. */
function fromComposite(plan: Plan, node: ValueNode): Outcome {
  if (node.kind === 'list') return bestMember(plan, node);
  const only = wrappedScalar(node);
  if (only === undefined) return mismatch(plan.name, node);
  return unwrapped(plan.coerce(only));
}

/** The value of the only scalar in an object. */
function unwrapped(outcome: Outcome): Outcome {
  if (!outcome.ok) return outcome;
  return outcome.as(outcome.score + 2, MARK.fromComposite, [{ flag: 'unwrapped', path: '' }, ...outcome.notes]);
}

/** The scalar that is the only value of an object. */
function wrappedScalar(node: ValueNode): ValueNode | undefined {
  const only = node.kind === 'object' && node.items.length === 1 ? node.items[0] : undefined;
  return only !== undefined && isScalar(only) ? only : undefined;
}

export class IntPlan extends NumberPlan {
  readonly name = 'int';

  override exact(source: string): string | undefined {
    return isJsonNumber(source) && isInteger(source) ? integerText(source) : undefined;
  }

  cast(node: ValueNode): Coerced | undefined {
    return node.kind === 'number' && isInteger(node.text) ? written(integerText(node.text), node) : undefined;
  }

  protected fromNumber(node: ValueNode): Outcome {
    if (isInteger(node.text)) return written(integerText(node.text), node);
    const value = Number(node.text);
    if (!Number.isFinite(value)) return mismatch('int', node);
    if (Number.isInteger(value)) return new Coerced(integerOf(value), 0);
    return new Coerced(integerOf(value), 1, note('rounded', node));
  }

  protected format(value: number, integer: string | undefined): string {
    return integer ?? integerOf(value);
  }
}

function isInteger(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at) | 32;
    if (code === 46 || code === 101) return false;
  }
  return true;
}

function integerText(text: string): string {
  return text === '-0' ? '0' : text;
}

/** All digits, without an exponent. */
function integerOf(value: number): string {
  const rounded = roundNumber(value);
  return Math.abs(rounded) < 1e21 ? String(rounded + 0) : BigInt(rounded).toString();
}

export class FloatPlan extends NumberPlan {
  readonly name = 'float';

  override exact(source: string): string | undefined {
    return isJsonNumber(source) && Number.isFinite(Number(source)) ? this.#json(source) : undefined;
  }

  cast(node: ValueNode): Coerced | undefined {
    return node.kind === 'number' && Number.isFinite(Number(node.text))
      ? written(this.#json(node.text), node)
      : undefined;
  }

  protected fromNumber(node: ValueNode): Outcome {
    return this.cast(node) ?? misfit(`expected float, got ${describeValue(node)}, which is too large`);
  }

  protected format(value: number): string {
    return JSON.stringify(value);
  }

  #json(text: string): string {
    if (isInteger(text)) return integerText(text);
    return isShortest(text) ? text : JSON.stringify(Number(text));
  }
}

/** True for decimals, as JSON writes them, that JSON.stringify writes the same way: most of them, and at little cost. */
function isShortest(text: string): boolean {
  if (text.length > 16 || text.endsWith('0')) return false;
  const start = text.startsWith('-') ? 1 : 0;
  if (text.charCodeAt(start) === ZERO && text.charCodeAt(start + 2) === ZERO) return false;
  for (let at = start; at < text.length; at += 1) if ((text.charCodeAt(at) | 32) === SMALL_E) return false;
  return true;
}

const ZERO = 48;
const SMALL_E = 101;

const TRUTH = new LabelMatcher([
  { text: 'true', json: 'true' },
  { text: 'false', json: 'false' },
]);

export class BoolPlan extends DonePlan {
  readonly name = 'bool';

  override exact(source: string): string | undefined {
    return source === 'true' || source === 'false' ? source : undefined;
  }

  cast(node: ValueNode): Coerced | undefined {
    return node.kind === 'boolean' ? written(node.text, node) : undefined;
  }

  coerce(node: ValueNode): Outcome {
    if (node.kind === 'boolean') return written(node.text, node);
    if (node.kind !== 'string') return fromComposite(this, node);
    const match = TRUTH.match(node.text);
    if (match.kind === 'match') return new Coerced(match.json, 1 + match.cost, note('string-to-bool', node));
    return misfit(`expected bool, got ${describeValue(node)}`);
  }
}

export class NullPlan extends DonePlan {
  readonly name = 'null';

  override exact(source: string): string | undefined {
    return source === 'null' ? source : undefined;
  }

  cast(node: ValueNode): Coerced | undefined {
    return node.kind === 'null' ? written('null', node) : undefined;
  }

  coerce(node: ValueNode): Outcome {
    if (node.kind === 'null') return written('null', node);
    return new Coerced('null', 110, { marks: MARK.nullForMisfit, ...note('null-for-value', node) });
  }

  override fallback(): Coerced {
    return new Coerced('null', 0);
  }
}

/** An enum, or literals: one of a list of values, each known by its labels. */
export class LabelPlan extends DonePlan {
  readonly name: string;
  readonly #matcher: LabelMatcher;

  constructor(name: string, labels: readonly Label[]) {
    super();
    this.name = name;
    this.#matcher = new LabelMatcher(labels);
  }

  override exact(source: string): string | undefined {
    if (source.charCodeAt(0) !== DOUBLE_QUOTE || source.includes('\\')) return undefined;
    return this.#matcher.exact(source.slice(1, -1));
  }

  cast(node: ValueNode): Coerced | undefined {
    if (node.kind !== 'string') return undefined;
    const json = this.#matcher.exact(node.text);
    return json === undefined ? undefined : written(json, node);
  }

  coerce(node: ValueNode): Outcome {
    const exact = this.cast(node);
    if (exact !== undefined) return exact;
    if (node.kind === 'null') return misfit(`expected ${this.name}, got null`);
    const only = wrappedScalar(node);
    if (only !== undefined) return unwrapped(this.#match(only, 0));
    if (!isScalar(node) && node.items.length === 0) return mismatch(this.name, node);
    return this.#match(node, isScalar(node) ? 0 : MARK.fromComposite);
  }

  #match(node: ValueNode, marks: number): Outcome {
    const match = this.#matcher.match(displayText(node));
    if (match.kind === 'ambiguous') {
      return misfit(`expected ${this.name}, got a text that names several: ${match.labels.join(', ')}`);
    }
    if (match.kind === 'none') return mismatch(this.name, node);
    const extra = marks === 0 ? 0 : 2;
    if (match.flag === undefined) return new Coerced(match.json, extra, { marks });
    return new Coerced(match.json, match.cost + extra, { marks, ...note(match.flag, node) });
  }
}

/** A literal number or truth value. */
export class LiteralPlan extends DonePlan {
  readonly name: string;
  readonly #inner: Plan;

  constructor(value: number | boolean) {
    super();
    this.name = String(value);
    this.#inner = typeof value === 'number' ? new IntPlan() : new BoolPlan();
  }

  override exact(source: string): string | undefined {
    const json = this.#inner.exact(source);
    return json === this.name ? json : undefined;
  }

  cast(node: ValueNode): Coerced | undefined {
    const value = this.#inner.cast(node);
    return value?.json === this.name ? value : undefined;
  }

  coerce(node: ValueNode): Outcome {
    const source = wrappedScalar(node) ?? node;
    if (!isScalar(source)) return mismatch(this.name, node);
    const outcome = this.#inner.coerce(source);
    if (!outcome.ok || outcome.json !== this.name) return mismatch(this.name, node);
    return source === node ? outcome : unwrapped(outcome);
  }
}

/** Files are inputs; no reply can hold one. */
export class MediaPlan extends Plan {
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }

  cast(): undefined {
    return undefined;
  }

  coerce(): Outcome {
    return misfit(`a reply cannot hold a value of type ${this.name}`);
  }
}

export function isScalar(node: ValueNode): boolean {
  return node.kind !== 'list' && node.kind !== 'object';
}

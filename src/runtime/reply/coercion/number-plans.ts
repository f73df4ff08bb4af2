import { AnswerName } from '../answer-name.ts';
import { isJsonNumber, jsonNumberOf } from '../text/json-number.ts';
import type { ReplyNode } from '../text/reply-node.ts';
import { coercionError, describeValue, mismatch } from './coercion-error.ts';
import { LARGE_INT } from '../reply-parser.ts';
import { CoercedValue, type CoercionOutcome, type Flag } from './outcome.ts';
import { fromComposite } from './from-composite.ts';
import { findNumber, type NumberContext } from './number-in-text.ts';
import { asWritten, DonePlan, valueFlags } from './scalar-plans.ts';

/** The beginning of a number. */
const BEGUN = /^[+\-−]?(?:[\d_]*\.?\d*(?:[eE][+-]?\d*)?|0[xX][\da-fA-F]*)$/u;

/** True for the name of an age: `age`, `customer_age`, `ownerAge`. */
export function isAgeName(name: string): boolean {
  return /(?:^|_)age$|(?:\p{Ll})Age$/u.test(name);
}

abstract class NumberPlan extends DonePlan {
  readonly #label: Pick<NumberContext, 'name' | 'isAge'>;

  /** `label`: the name of the alias or field that has the type, or the empty string. */
  constructor(label = '') {
    super();
    this.#label = label === '' ? {} : { name: new AnswerName([label]), isAge: isAgeName(label) };
  }

  override mayBecome(text: string, quoted: boolean): boolean {
    return !quoted && BEGUN.test(text);
  }

  protected coerceOnce(node: ReplyNode): CoercionOutcome {
    if (node.kind === 'number') return this.fromNumber(node);
    if (node.kind === 'string' || node.kind === 'bare') return this.#fromText(node);
    return fromComposite(this, node);
  }

  #fromText(node: ReplyNode): CoercionOutcome {
    const found = findNumber(node.text, { ...this.#label, decimals: this.decimals, quoted: node.quoted });
    if (found === undefined) return mismatch(this.name, node);
    const json = this.format(found.text);
    if (json === undefined) return tooLarge(this.name, node);
    const flags = [...valueFlags(found.exact ? 'string-to-number' : 'number-in-text', node), ...this.flagsOf(json)];
    if (found.cued) flags.push({ flag: 'answer-cue', path: '' });
    return new CoercedValue(json, found.exact ? 1 : 2, { flags });
  }

  /** Returns the flags of a number in a string. */
  protected flagsOf(_json: string): readonly Flag[] {
    return [];
  }

  /** True if the type has decimals. */
  protected abstract readonly decimals: boolean;
  protected abstract fromNumber(node: ReplyNode): CoercionOutcome;
  /** Returns the JSON text of a number, given as JSON; undefined if the type cannot hold it. */
  protected abstract format(number: string): string | undefined;
}

/** Returns a number as JSON writes it. */
function numberText(node: ReplyNode): string {
  return jsonNumberOf(node.text) ?? node.text;
}

export class IntPlan extends NumberPlan {
  readonly name = 'int';
  protected readonly decimals = false;

  override exact(source: string): string | undefined {
    return isJsonNumber(source) && isInteger(source) && isExact(source) ? integerText(source) : undefined;
  }

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    const text = node.kind === 'number' ? numberText(node) : '';
    if (text === '' || !isInteger(text)) return undefined;
    if (isExact(text)) return asWritten(integerText(text), node);
    return isLong(text) ? new CoercedValue(text, 0, { flags: intFlags(text) }) : undefined;
  }

  protected fromNumber(node: ReplyNode): CoercionOutcome {
    const text = numberText(node);
    if (isInteger(text)) return this.cast(node) ?? tooLarge('int', node);
    const json = integerOf(Number(text));
    if (json === undefined) return tooLarge('int', node);
    if (Number.isInteger(Number(text))) return new CoercedValue(json, 0);
    return new CoercedValue(json, 1, { flags: valueFlags('rounded', node) });
  }

  protected override flagsOf(json: string): readonly Flag[] {
    return intFlags(json);
  }

  protected format(number: string): string | undefined {
    if (!isInteger(number)) return integerOf(Number(number));
    return isLong(number) ? integerText(number) : undefined;
  }
}

function tooLarge(type: string, node: ReplyNode): CoercionOutcome {
  return coercionError(`expected ${type}, got ${describeValue(node)}, which is too large`);
}

/** Flags an integer that is exact only as digits. */
function intFlags(digits: string): readonly Flag[] {
  return isExact(digits) ? [] : [{ flag: LARGE_INT, path: '', detail: digits }];
}

export class FloatPlan extends NumberPlan {
  readonly name = 'float';
  protected readonly decimals = true;

  override exact(source: string): string | undefined {
    // In a union with int, a long integer is flagged, which only the tolerant parser does.
    if (!isJsonNumber(source) || (isInteger(source) && !isExact(source))) return undefined;
    return Number.isFinite(Number(source)) ? floatText(source) : undefined;
  }

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    const text = node.kind === 'number' ? numberText(node) : '';
    return text !== '' && Number.isFinite(Number(text)) ? asWritten(floatText(text), node) : undefined;
  }

  protected fromNumber(node: ReplyNode): CoercionOutcome {
    return this.cast(node) ?? tooLarge('float', node);
  }

  protected format(number: string): string | undefined {
    return Number.isFinite(Number(number)) ? floatText(number) : undefined;
  }
}

// --- writing ---------------------------------------------------------------------------------------------------------

/** True for a number without a point and an exponent. */
function isInteger(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at) | 32;
    if (code === 46 || code === SMALL_E) return false;
  }
  return true;
}

function integerText(text: string): string {
  return text === '-0' ? '0' : text;
}

/** Rounds a number to an integer; undefined if a float cannot distinguish it from its neighbours. */
function integerOf(value: number): string | undefined {
  // Halves are rounded away from zero.
  const rounded = value < 0 ? -Math.round(-value) : Math.round(value);
  return Number.isSafeInteger(rounded) ? String(rounded + 0) : undefined;
}

/** True for an integer that is exact as a float. */
function isExact(digits: string): boolean {
  return digits.length <= 15 || Number.isSafeInteger(Number(digits));
}

/** True for an integer of at most 64 bits, which JSON keeps exactly. */
function isLong(digits: string): boolean {
  return digits.length <= 18 || (digits.length <= 20 && BigInt.asIntN(64, BigInt(digits)) === BigInt(digits));
}

function floatText(text: string): string {
  if (isInteger(text)) return integerText(text);
  return isShortest(text) ? text : JSON.stringify(Number(text));
}

/** True for most decimals that JSON.stringify writes in the same way, which this test finds out at little cost. */
function isShortest(text: string): boolean {
  if (text.length > 16 || text.endsWith('0')) return false;
  const start = text.startsWith('-') ? 1 : 0;
  if (text.charCodeAt(start) === ZERO && text.charCodeAt(start + 2) === ZERO) return false;
  for (let at = start; at < text.length; at += 1) if ((text.charCodeAt(at) | 32) === SMALL_E) return false;
  return true;
}

const ZERO = 48;
const SMALL_E = 101;

import { isJsonNumber } from '../text/bare-reader.ts';
import type { ReplyNode } from '../text/reply-node.ts';
import { coercionError, describeValue, mismatch } from './coercion-error.ts';
import { LARGE_INT } from '../reply-parser.ts';
import { CoercedValue, type CoercionOutcome, type Flag } from './outcome.ts';
import { asWritten, DonePlan, fromComposite, valueFlags } from './scalar-plans.ts';

/** The beginning of a number. */
const BEGUN = /^-?\d*\.?\d*(?:[eE][+-]?\d*)?$/u;

abstract class NumberPlan extends DonePlan {
  override mayBecome(text: string, quoted: boolean): boolean {
    return !quoted && BEGUN.test(text);
  }

  protected coerceOnce(node: ReplyNode): CoercionOutcome {
    if (node.kind === 'number') return this.fromNumber(node);
    if (node.kind === 'string' || node.kind === 'bare') return this.#fromText(node);
    return fromComposite(this, node);
  }

  #fromText(node: ReplyNode): CoercionOutcome {
    const found = findNumber(node.text);
    if (found === undefined) return mismatch(this.name, node);
    const json = this.format(found.value, found.integer);
    if (json === undefined) return tooLarge(this.name, node);
    const flags = valueFlags(found.exact ? 'string-to-number' : 'number-in-text', node);
    return new CoercedValue(json, found.exact ? 1 : 2, { flags: [...flags, ...this.flagsOf(json)] });
  }

  /** Returns the flags of a number in a string. */
  protected flagsOf(_json: string): readonly Flag[] {
    return [];
  }

  protected abstract fromNumber(node: ReplyNode): CoercionOutcome;
  /** Returns the JSON text of a number; undefined if the type cannot hold it. `integer`: its digits, if it is whole. */
  protected abstract format(value: number, integer: string | undefined): string | undefined;
}

export class IntPlan extends NumberPlan {
  readonly name = 'int';

  override exact(source: string): string | undefined {
    return isJsonNumber(source) && isInteger(source) && isExact(source) ? integerText(source) : undefined;
  }

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    if (node.kind !== 'number' || !isInteger(node.text)) return undefined;
    if (isExact(node.text)) return asWritten(integerText(node.text), node);
    return isLong(node.text) ? new CoercedValue(node.text, 0, { flags: intFlags(node.text) }) : undefined;
  }

  protected fromNumber(node: ReplyNode): CoercionOutcome {
    if (isInteger(node.text)) return this.cast(node) ?? tooLarge('int', node);
    const json = integerOf(Number(node.text));
    if (json === undefined) return tooLarge('int', node);
    if (Number.isInteger(Number(node.text))) return new CoercedValue(json, 0);
    return new CoercedValue(json, 1, { flags: valueFlags('rounded', node) });
  }

  protected override flagsOf(json: string): readonly Flag[] {
    return intFlags(json);
  }

  protected format(value: number, integer: string | undefined): string | undefined {
    if (integer === undefined) return integerOf(value);
    return isLong(integer) ? integer : undefined;
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

  override exact(source: string): string | undefined {
    // In a union with int, a long integer is flagged, which only the tolerant parser does.
    if (!isJsonNumber(source) || (isInteger(source) && !isExact(source))) return undefined;
    return Number.isFinite(Number(source)) ? floatText(source) : undefined;
  }

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    const isFloat = node.kind === 'number' && Number.isFinite(Number(node.text));
    return isFloat ? asWritten(floatText(node.text), node) : undefined;
  }

  protected fromNumber(node: ReplyNode): CoercionOutcome {
    return this.cast(node) ?? tooLarge('float', node);
  }

  protected format(value: number, integer: string | undefined): string | undefined {
    return Number.isFinite(value) ? (integer ?? JSON.stringify(value)) : undefined;
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

// --- numbers in strings ----------------------------------------------------------------------------------------------

interface FoundNumber {
  readonly value: number;
  /** The digits of an integer as JSON writes them, which can be more than a float holds. */
  readonly integer: string | undefined;
  /** The string contains nothing but the number. */
  readonly exact: boolean;
}

const INTEGER = /^[+-]?\d+$/u;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/u;
const FRACTION = /^([+-]?\d+(?:\.\d+)?)\s*\/\s*(\d+(?:\.\d+)?)$/u;
/** A number inside a string: an optional sign and currency, thousands commas, decimals, an exponent. */
const INSIDE = /[+-]?[$€£¥₹]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?/gu;
/** In `1.234,56`, the decimal sign can be the comma or the point. */
const CONTINENTAL = /\d\.\d{3},\d/u;
/** No number has more characters; the limit keeps the search in a long string short. */
const MAX_NUMBER_TEXT = 100_000;

/** Finds the single number in a string; undefined if there is none or more than one. */
function findNumber(raw: string): FoundNumber | undefined {
  if (raw.length > MAX_NUMBER_TEXT) return undefined;
  const text = withoutCommas(raw.trim());
  if (INTEGER.test(text)) return foundInteger(text, true);
  if (DECIMAL.test(text)) return foundFinite(Number(text), true);
  const fraction = FRACTION.exec(text);
  if (fraction !== null) return foundFinite(Number(fraction[1]) / Number(fraction[2]), false);
  return numberInside(text);
}

/** Removes the commas at the end. */
function withoutCommas(text: string): string {
  let end = text.length;
  while (text[end - 1] === ',') end -= 1;
  return text.slice(0, end);
}

function numberInside(text: string): FoundNumber | undefined {
  if (CONTINENTAL.test(text)) return undefined;
  const matches = text.match(INSIDE);
  if (matches === null || matches.length !== 1) return undefined;
  const digits = (matches[0] ?? '').replace(/[,$€£¥₹]/gu, '');
  return INTEGER.test(digits) ? foundInteger(digits, false) : foundFinite(Number(digits), false);
}

function foundInteger(text: string, exact: boolean): FoundNumber {
  const negative = text.startsWith('-');
  const digits = text.replace(/^[+-]?0*(?=\d)/u, '');
  const integer = negative && digits !== '0' ? `-${digits}` : digits;
  return { value: Number(integer), integer, exact };
}

function foundFinite(value: number, exact: boolean): FoundNumber | undefined {
  return Number.isFinite(value) ? { value, integer: undefined, exact } : undefined;
}

import { LARGE_INT } from '../reply-parser.ts';
import { SCALE_WORD } from '../phrases.ts';
import { isJsonNumber, jsonNumberOf } from '../candidates/scan/bare-reader.ts';
import type { ReplyNode } from '../candidates/scan/reply-node.ts';
import { answerInText, UNREADABLE, type Hit } from './answer-in-text.ts';
import { coercionError, describeValue, mismatch } from './coercion-error.ts';
import { ANSWER_CUE, asWritten, CoercedValue, GUESS, guessedFrom, type CoercionOutcome } from './outcome.ts';
import { INEXACT } from './plan.ts';
import { DonePlan, fromComposite } from './scalars.ts';
import type { Reading } from './step-budget.ts';

/** The beginning of a number. */
const BEGUN = /^[+\-−]?(?:[\d_]*(?:\.\d*)?(?:[eE][+-]?\d*)?|0[xX][\da-fA-F]*)$/u;

abstract class NumberPlan extends DonePlan {
  override mayBecome(text: string, quoted: boolean): boolean {
    return !quoted && BEGUN.test(text);
  }

  protected coerceOnce(node: ReplyNode, reading: Reading, strict: boolean): CoercionOutcome {
    if (node.kind === 'number') return this.fromNumber(node, strict);
    if (strict) return INEXACT;
    if (node.kind === 'string' || node.kind === 'bare') return this.#fromText(node, reading);
    return fromComposite(this, node, reading);
  }

  #fromText(node: ReplyNode, reading: Reading): CoercionOutcome {
    reading.spend(node.text.length);
    const found = findNumber(node.text, this.decimals, node.quoted);
    if (found === undefined) return mismatch(this.name, node);
    const json = this.format(found.text);
    if (json === undefined)
      return this.decimals || isInteger(found.text) ? tooLarge(this.name, node) : mismatch(this.name, node);
    const cues = found.cued ? [ANSWER_CUE] : [];
    const value = found.exact
      ? guessedFrom(node, json, GUESS.spelling, 'string-to-number')
      : guessedFrom(node, json, GUESS.scalar, 'number-in-text', ...cues);
    return this.decimals ? value : withDigits(value);
  }

  /** True if the type has decimals. */
  protected abstract readonly decimals: boolean;
  protected abstract fromNumber(node: ReplyNode, strict: boolean): CoercionOutcome;
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

  protected fromNumber(node: ReplyNode, strict: boolean): CoercionOutcome {
    const text = numberText(node);
    if (isInteger(text)) {
      if (isExact(text)) return asWritten(integerText(text), node);
      return isLong(text) ? withDigits(new CoercedValue(text)) : tooLarge('int', node);
    }
    if (strict) return INEXACT;
    const json = integerOf(Number(text));
    if (json === undefined) return tooLarge('int', node);
    if (Number.isInteger(Number(text))) return new CoercedValue(json);
    return guessedFrom(node, json, GUESS.spelling, 'rounded');
  }

  /** The decimals of a number in a string are not dropped. */
  protected format(number: string): string | undefined {
    if (!isInteger(number)) return Number.isInteger(Number(number)) ? integerOf(Number(number)) : undefined;
    return isLong(number) ? integerText(number) : undefined;
  }
}

function tooLarge(type: string, node: ReplyNode): CoercionOutcome {
  return coercionError(`expected ${type}, got ${describeValue(node)}, which is too large`);
}

/** Flags an integer that is exact only as digits. */
function withDigits(value: CoercedValue): CoercedValue {
  const { json, flags } = value;
  return isExact(json) ? value : value.with({ flags: [...flags, { flag: LARGE_INT, path: '', detail: json }] });
}

export class FloatPlan extends NumberPlan {
  readonly name = 'float';
  protected readonly decimals = true;

  override exact(source: string): string | undefined {
    // In a union with int, a long integer is flagged, which only the tolerant parser does.
    if (!isJsonNumber(source) || (isInteger(source) && !isExact(source))) return undefined;
    return this.format(source);
  }

  protected fromNumber(node: ReplyNode): CoercionOutcome {
    const json = this.format(numberText(node));
    return json === undefined ? tooLarge('float', node) : asWritten(json, node);
  }

  protected format(number: string): string | undefined {
    return Number.isFinite(Number(number)) ? floatText(number) : undefined;
  }
}

// --- writing ---------------------------------------------------------------------------------------------------------

const ZERO = 48;
const SMALL_E = 101;

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

// --- numbers in strings ------------------------------------------------------------------------------------------------

interface FoundNumber {
  /** The number as JSON writes it. An integer can have more digits than a float holds. */
  readonly text: string;
  /** True if the string contains only the number. */
  readonly exact: boolean;
  /** True if its place singles the number out among others. */
  readonly cued: boolean;
}

/** White space, the marks of bold and of code, and a comma at the end. */
const AROUND = /^[\s*_\x60]+|(?<![\s*_\x60,])[\s*_\x60,]+$/gu;
/** No string that is a number as a whole has more characters. */
const MAX_WHOLE = 1000;
/** As an integer, `1.200` can be 1200 or 1. */
const POINT_OR_COMMA = /^[+-]?[1-9]\d{0,2}\.\d{3}$/u;
const FRACTION = /^([+-]?\d+(?:\.\d+)?)\s*\/\s*(\d+(?:\.\d+)?)$/u;

/**
 * Finds the number that a string means; undefined if there is none, or several of which none is the answer. `decimals`: the
 * type has decimals. `quoted`: the string is in quotes; without them, `1,5` can be two members.
 */
function findNumber(raw: string, decimals: boolean, quoted: boolean): FoundNumber | undefined {
  const text = raw.length > MAX_WHOLE ? '' : raw.replace(AROUND, '');
  const isDoubtful = (number: string): boolean => !decimals && POINT_OR_COMMA.test(number);
  if (isDoubtful(text)) return undefined;
  const plain = numberOf(text);
  if (plain !== undefined) return { text: plain, exact: true, cued: false };
  const computed = fractionOf(text) ?? negativeOf(text) ?? (decimals ? withComma(text, quoted) : undefined);
  if (computed !== undefined) return { text: computed, exact: false, cued: false };
  const answer = answerInText(text === '' ? raw : text, (part) => numbersIn(part, decimals));
  if (answer.kind !== 'answer' || isDoubtful(answer.json)) return undefined;
  return { text: answer.json, exact: false, cued: answer.cued };
}

/** Returns the JSON text of a number, without leading zeros. */
function numberOf(text: string): string | undefined {
  return jsonNumberOf(text.replace(/^([+\-−]?)0+(?=\d)/u, '$1'));
}

function fractionOf(text: string): string | undefined {
  const [, over, under] = FRACTION.exec(text) ?? [];
  const ratio = over === undefined ? Number.NaN : Number(over) / Number(under);
  return Number.isFinite(ratio) ? JSON.stringify(ratio) : undefined;
}

/** Reads an amount in parentheses, as accountants write negative ones: `(1,200.50)`. */
function negativeOf(text: string): string | undefined {
  if (!text.startsWith('(') || !text.endsWith(')')) return undefined;
  const digits = text.slice(1, -1).replace(/^[$€£¥₹]\s?/u, '');
  const plain = /^\d*[.,][\d.,]*$/u.test(digits) ? plainDigits(digits, true) : undefined;
  return plain === undefined ? undefined : `-${plain}`;
}

/** Reads `1,5`, whose comma is not the one of a group of thousands. */
function withComma(text: string, quoted: boolean): string | undefined {
  const [, sign = '', whole, fraction] = /^([+-]?)(\d+),(\d+)(?:\s\p{L}{1,20})?$/u.exec(text) ?? [];
  if (whole === undefined || fraction === undefined || !(whole === '0' || (quoted && fraction.length !== 3)))
    return undefined;
  return numberOf(`${sign}${whole}.${fraction}`);
}

/**
 * Digits and letters with single marks between them: `1,234.5`, `2024-01-05`, `A-17`, `5kg`, `1e-3`; or groups of three
 * digits with spaces between them.
 */
const RUN =
  /(?<![\p{L}\p{N}_])(?:\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3}){1,12}(?:[.,]\d+)?(?![\p{L}\p{N}_]|[ ]?\d|[.,:/-]\d)|\d+(?:\.\d+)?[eE]\+\d+(?![\p{L}\p{N}_])|[\p{L}\p{N}_]+(?:[.,:/'’\-–‑][\p{L}\p{N}]+)*)/gu;
/** No number has more characters. */
const MAX_WORD = 400;
/** The characters before and after a number that are read. */
const NEARBY = 20;
/** A sign, a currency and a leading point, which no letter or digit precedes. */
const PREFIX =
  /(?:(?<![\p{L}\p{N}_)])[+\-−](?=[\s$€£¥₹.]*$)(?!\s))?(?:[$€£¥₹]\s?|[A-Z]{3} )?[+\-−]?(?:(?<![\p{L}\p{N}.])\.)?$/u;
const SUFFIX = /^\s?[%€£$¥₹](?![\p{L}\p{N}])|^ (?:USD|EUR|GBP|CHF|JPY|INR)(?![\p{L}\p{N}])/u;
/** Marks around the number of a list item. */
const ITEM = /(?:^|\n)[ \t>*_#-]*$/u;
const ITEM_AFTER = /^[.)]\**[ \t]+\S/u;

function numbersIn(text: string, decimals: boolean): readonly Hit[] {
  return [...text.matchAll(RUN)].flatMap((run) => numberAt(text, run, decimals));
}

function numberAt(text: string, run: RegExpExecArray, decimals: boolean): readonly Hit[] {
  const [word] = run;
  if (word.length > MAX_WORD || !/\d/u.test(word)) return [];
  const end = run.index + word.length;
  const before = text.slice(Math.max(0, run.index - NEARBY), run.index);
  const after = text.slice(end, end + NEARBY);
  const unreadable = [{ from: run.index, to: end, json: UNREADABLE }];
  if (SCALE_WORD.test(after)) return unreadable;
  if (ITEM.test(before) && ITEM_AFTER.test(after)) return [];
  const prefix = PREFIX.exec(before)?.[0] ?? '';
  const suffix = SUFFIX.exec(after)?.[0] ?? '';
  const json = amountOf(prefix, word, decimals && /[$€£¥₹%A-Z]/u.test(prefix + suffix));
  if (json === undefined) return /\d[.,/:]\d/u.test(word) ? unreadable : [];
  return [{ from: run.index - prefix.length, to: end + suffix.length, json }];
}

/** A currency before the digits, and an exponent or a unit after them: `USD500`, `1e-3`, `5kg`, `12.5k`. */
const UNIT = /^(?:USD|EUR|GBP|CHF|JPY|INR)?(\d(?:[\d.,'’_ \u00a0\u2009\u202f]*\d)?)([eE][+-]?\d+)?([a-zA-Zµ]{1,3})?$/u;
/** Letters after digits that multiply them in one reading, and are a unit in another. */
const DOUBTFUL_UNIT = /^(?:m|mm|mn|b|bn|t|e|[A-Z]+)$/u;

function amountOf(prefix: string, word: string, commaIsPoint: boolean): string | undefined {
  const [, body, exponent = '', unit = ''] = UNIT.exec(word) ?? [];
  if (body === undefined || (DOUBTFUL_UNIT.test(unit) && unit !== 'K')) return undefined;
  const digits = plainDigits((prefix.endsWith('.') ? '.' : '') + body, commaIsPoint);
  const sign = prefix.includes('-') || prefix.includes('−') ? '-' : '';
  const number = digits === undefined ? undefined : numberOf(sign + digits + exponent);
  if (number === undefined || unit.toLowerCase() !== 'k') return number;
  // The product of a decimal and a power of ten has no more digits than the decimal.
  return JSON.stringify(Number((Number(number) * 1000).toPrecision(15)));
}

/**
 * Returns a number without the marks between its groups of thousands, the first of which never begins with zero; undefined for
 * a date, a version, or a list of numbers. `commaIsPoint`: `1,5` is a decimal.
 */
function plainDigits(text: string, commaIsPoint: boolean): string | undefined {
  const marks = text.replace(/\d/gu, '');
  const [first = '', ...groups] = text.split(/\D/u);
  if (marks === '' || marks === '.') return text;
  const [mark = ''] = marks;
  const last = groups.at(-1) ?? '';
  if (marks === ',' && commaIsPoint && (last.length <= 2 || first === '0')) return `${first}.${last}`;
  const isGrouped = (between: readonly string[], to: number): boolean =>
    /^[1-9]\d{0,2}$/u.test(first) &&
    marks.slice(0, to) === mark.repeat(to) &&
    between.every((group, at) => group.length === 3 || (mark === ',' && group.length === 2 && at < between.length - 1));
  if (mark !== '.' && isGrouped(groups, marks.length)) return first + groups.join('');
  const point = marks.at(-1);
  const isDecimal = (point === '.' && mark !== '.') || (point === ',' && mark !== ',');
  if (!isDecimal || last === '' || !isGrouped(groups.slice(0, -1), marks.length - 1)) return undefined;
  return `${first}${groups.slice(0, -1).join('')}.${last}`;
}

import { err, ok, type Result } from '../../base/result.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** An assert for a keyword, or the reason why there is none. `keyword`: the same bound as JSON Schema 2020-12. */
type Bound =
  | {
      readonly key: string;
      readonly condition: string;
      readonly keyword: Readonly<Record<string, string | number | boolean>>;
    }
  | { readonly key: string; readonly fault: string };

/** The largest 64-bit integer, as JSON.parse rounds it: no `int` is larger. */
const INT_END = 2 ** 63;

const COMPARISONS: Readonly<Record<string, string>> = {
  minimum: '>=',
  exclusiveMinimum: '>',
  maximum: '<=',
  exclusiveMaximum: '<',
};

const LENGTHS: Readonly<Record<string, string>> = {
  minLength: '>=',
  maxLength: '<=',
  minItems: '>=',
  maxItems: '<=',
};

/** The bounds of a schema with one type, in the order of its keywords. */
export function boundsOf(type: string, schema: Schema): readonly Bound[] {
  return Object.entries(schema).flatMap(([key, value]): readonly Bound[] => {
    if (Object.hasOwn(COMPARISONS, key)) return comparison({ type, key, value, schema });
    if (Object.hasOwn(LENGTHS, key)) return lengthBound(key, value);
    if (key === 'multipleOf') return multiple(type, value);
    if (key === 'pattern') return patternBound(value);
    if (key === 'uniqueItems') return unique(value);
    return [];
  });
}

interface Comparison {
  readonly type: string;
  readonly key: string;
  readonly value: unknown;
  readonly schema: Schema;
}

function comparison({ type, key, value, schema }: Comparison): readonly Bound[] {
  // In OpenAPI 3.0, `exclusiveMinimum` is a boolean about `minimum`.
  if (key.startsWith('exclusive') && typeof value === 'boolean') return [];
  if (typeof value !== 'number' || !Number.isFinite(value)) return [{ key, fault: 'has to be a finite number' }];
  if (type === 'integer' && isNoBound(key, value)) return [];
  if (type === 'integer' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    return [{ key, fault: 'is beyond ±9007199254740991, where numbers of JSON are not exact. Remove it' }];
  }
  const exclusive = schema[key === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum'] === true;
  const operator = COMPARISONS[key] ?? '';
  const strict = exclusive && operator.endsWith('=') ? operator.slice(0, 1) : operator;
  const name = strict === operator ? key : key.replace('m', 'exclusiveM');
  return [{ key, condition: `this ${strict} ${numberText(value)}`, keyword: { [name]: value } }];
}

/** True for the bounds of all safe integers, which libraries write for every integer, and for bounds outside of 64 bits. */
function isNoBound(key: string, value: number): boolean {
  const limit = key.toLowerCase().endsWith('maximum') ? value : -value;
  return limit === Number.MAX_SAFE_INTEGER || limit >= INT_END;
}

/** A number in a template. One without a fraction or exponent is an integer of 128 bits. */
function numberText(value: number): string {
  const text = String(value);
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER || /[.e]/u.test(text) ? text : `${text}.0`;
}

function lengthBound(key: string, value: unknown): readonly Bound[] {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    return [{ key, fault: 'has to be an integer of at least 0' }];
  }
  if (value === 0 && key.startsWith('min')) return [];
  return [{ key, condition: `this|length ${LENGTHS[key] ?? ''} ${value}`, keyword: { [key]: value } }];
}

function multiple(type: string, value: unknown): readonly Bound[] {
  const key = 'multipleOf';
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) {
    if (value === 1 && type === 'integer') return [];
    return [{ key, condition: `this % ${value} == 0`, keyword: { [key]: value } }];
  }
  return [{ key, fault: 'has to be an integer above 0, because remainders of fractions are not exact. Remove it' }];
}

function patternBound(value: unknown): readonly Bound[] {
  const key = 'pattern';
  if (typeof value !== 'string') return [{ key, fault: 'has to be a string' }];
  const conditions = patternConditions(value);
  if (!conditions.ok) return [{ key, fault: `${conditions.failure}. Remove it` }];
  return [{ key, condition: conditions.value.join(' and '), keyword: { [key]: value } }];
}

function unique(value: unknown): readonly Bound[] {
  const key = 'uniqueItems';
  if (typeof value !== 'boolean') return [{ key, fault: 'has to be true or false' }];
  if (!value) return [];
  const condition = 'this|unique(case_sensitive=true)|length == this|length';
  return [{ key, condition, keyword: { [key]: value } }];
}

/** Longer than the patterns for dates and times that schema libraries write. */
const MAX_LENGTH = 2_000;
/** The largest count of a repetition, and the largest size of what repetitions copy. RE2 refuses larger ones. */
const MAX_COUNT = 1_000;
const MAX_SIZE = 4_000;

type Range = readonly [number, number];

const LAST = 0x10ffff;
const DIGITS: readonly Range[] = [[0x30, 0x39]];
const WORD: readonly Range[] = [...DIGITS, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]];
/** https://tc39.es/ecma262/#sec-white-space and the line terminators. */
const SPACE: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const NO_LINE_END = String.raw`[^\x{a}\x{d}\x{2028}\x{2029}]`;

const SETS: ReadonlyMap<string, readonly Range[]> = new Map([
  [String.raw`\d`, DIGITS],
  [String.raw`\D`, others(DIGITS)],
  [String.raw`\w`, WORD],
  [String.raw`\W`, others(WORD)],
  [String.raw`\s`, SPACE],
  [String.raw`\S`, others(SPACE)],
]);

const CONTROLS: ReadonlyMap<string, number> = new Map([
  [String.raw`\n`, 0x0a],
  [String.raw`\r`, 0x0d],
  [String.raw`\t`, 0x09],
  [String.raw`\f`, 0x0c],
  [String.raw`\v`, 0x0b],
]);

const HEX = String.raw`\\u\{[0-9A-Fa-f]+\}|\\u[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}`;
const TOKEN = new RegExp(
  String.raw`${HEX}|\\[pP]\{[^}]*\}|\\[^]|\(\?<[\p{L}_$][^>]*>|\(\?(?:[:=!]|<[=!])|\(\?|[*+?]\??|\{\d+(?:,\d*)?\}\??|[^]`,
  'uy',
);

/**
 * Writes a pattern of JSON Schema (ECMA-262) as conditions on `this` that hold together exactly if the pattern matches: the engine
 * of templates reads the syntax of Rust's regex crate, has larger classes, and takes linear time. It has no lookahead; one at the
 * start of a pattern becomes a condition of its own. Fails with a reason.
 */
function patternConditions(pattern: string): Result<readonly string[], string> {
  if (pattern.length > MAX_LENGTH) return err(`has more than ${MAX_LENGTH} characters`);
  const unicode = isPattern(pattern, 'u');
  if (!unicode && !isPattern(pattern, '')) return err('is not a regular expression');
  try {
    const { tests, rest } = withoutLookaheads(tokensOf(pattern));
    const conditions = tests.map(({ negative, tokens }) => {
      const matches = matchOf(['^', '(?:', ...tokens, ')'], unicode);
      return negative ? `not (${matches})` : matches;
    });
    return ok(rest.length === 1 && conditions.length > 0 ? conditions : [...conditions, matchOf(rest, unicode)]);
  } catch (error) {
    if (error instanceof PatternFault) return err(error.message);
    throw error;
  }
}

class PatternFault extends Error {}

function isPattern(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags).source !== '';
  } catch {
    return false;
  }
}

/** Tokens; one for each set in brackets. */
function tokensOf(pattern: string): readonly string[] {
  const tokens: string[] = [];
  for (let at = 0; at < pattern.length;) {
    TOKEN.lastIndex = at;
    let token = TOKEN.exec(pattern)?.[0] ?? '';
    if (token === '[') {
      let end = at + 1;
      while (end < pattern.length && pattern[end] !== ']') end += pattern[end] === '\\' ? 2 : 1;
      token = pattern.slice(at, end + 1);
    }
    tokens.push(token);
    at += Math.max(1, token.length);
  }
  return tokens;
}

interface Lookahead {
  readonly negative: boolean;
  readonly tokens: readonly string[];
}

/** Separates the lookaheads after a `^` that the whole pattern begins with. */
function withoutLookaheads(tokens: readonly string[]): {
  readonly tests: readonly Lookahead[];
  readonly rest: readonly string[];
} {
  const tests: Lookahead[] = [];
  if (tokens[0] !== '^' || hasAlternatives(tokens)) return { tests, rest: tokens };
  let at = 1;
  while (tokens[at] === '(?!' || tokens[at] === '(?=') {
    const end = closing(tokens, at);
    tests.push({ negative: tokens[at] === '(?!', tokens: tokens.slice(at + 1, end) });
    at = end + 1;
  }
  if (isQuantifier(tokens[at])) throw new PatternFault('repeats a lookahead, which svc cannot check');
  return { tests, rest: ['^', ...tokens.slice(at)] };
}

function hasAlternatives(tokens: readonly string[]): boolean {
  let depth = 0;
  for (const token of tokens) {
    if (token.startsWith('(')) depth += 1;
    else if (token === ')') depth -= 1;
    else if (token === '|' && depth === 0) return true;
  }
  return false;
}

function closing(tokens: readonly string[], from: number): number {
  let depth = 0;
  for (let at = from; at < tokens.length; at += 1) {
    if (tokens[at]?.startsWith('(') === true) depth += 1;
    else if (tokens[at] === ')' && (depth -= 1) === 0) return at;
  }
  return tokens.length;
}

function isQuantifier(token: string | undefined): boolean {
  return token !== undefined && /^(?:[*+?]\??|\{\d+(?:,\d*)?\}\??)$/u.test(token);
}

function matchOf(tokens: readonly string[], unicode: boolean): string {
  // A constraint reads `\\` and `\"` as escapes.
  const text = translated(tokens, unicode).replaceAll(/[\\"]/gu, String.raw`\$&`);
  return `this|regex_match("${text}")`;
}

/** Translates tokens. Throws a PatternFault for those without an equivalent. */
function translated(tokens: readonly string[], unicode: boolean): string {
  /** The sizes of the open groups, without their last part. */
  const outer: number[] = [];
  let size = 0;
  let last = 0;
  const parts = tokens.map((token) => {
    if (token.startsWith('(')) {
      outer.push(size + last);
      size = last = 0;
      return groupOf(token);
    }
    if (token === ')') {
      last += size;
      size = outer.pop() ?? 0;
    } else if (isQuantifier(token)) last *= countOf(token);
    else {
      size += last;
      last = 1;
    }
    if (last > MAX_COUNT || size > MAX_SIZE) throw new PatternFault('repeats too much');
    return token === ')' || isQuantifier(token) ? token : atomOf(token, unicode);
  });
  return parts.join('');
}

function countOf(token: string): number {
  const counts = [...token.matchAll(/\d+/gu)].map(([digits]) => Number(digits));
  const count = Math.max(1, ...counts);
  if (count > MAX_COUNT) throw new PatternFault(`repeats more than ${MAX_COUNT} times`);
  return count;
}

function groupOf(token: string): string {
  if (token === '(' || token === '(?:' || /^\(\?<[^=!]/u.test(token)) return '(?:';
  throw new PatternFault(
    'has a lookahead or lookbehind that is not at the start of the pattern, which svc cannot check',
  );
}

function atomOf(token: string, unicode: boolean): string {
  if (/^[$^|]$/u.test(token)) return token;
  if (token === '.') return NO_LINE_END;
  if (token.startsWith('[') && token.length > 1) return setOf(token, unicode);
  if (token.startsWith(String.raw`\p`) || token.startsWith(String.raw`\P`)) return propertyOf(token, unicode);
  const ranges = SETS.get(token);
  return ranges === undefined ? literal(codePointOf(token, unicode)) : `[${rangesText(ranges)}]`;
}

function propertyOf(token: string, unicode: boolean): string {
  if (unicode) return token;
  throw new PatternFault('is a regular expression only without the flag "u", and svc has no such classes');
}

const SET_TOKEN = new RegExp(String.raw`${HEX}|\\[pP]\{[^}]*\}|\\[^]|[^]`, 'uy');

/** A set in brackets. */
function setOf(token: string, unicode: boolean): string {
  const negative = token.startsWith('[^');
  const tokens: string[] = [];
  for (let at = negative ? 2 : 1; at < token.length - 1;) {
    SET_TOKEN.lastIndex = at;
    const [next = ''] = SET_TOKEN.exec(token) ?? [];
    tokens.push(next);
    at += Math.max(1, next.length);
  }
  if (tokens.length === 0) {
    if (negative) return '(?s:.)';
    throw new PatternFault('has an empty set, which matches nothing');
  }
  let text = negative ? '[^' : '[';
  for (let index = 0; index < tokens.length; index += 1) {
    const first = tokens[index] ?? '';
    const last = tokens[index + 1] === '-' ? tokens[index + 2] : undefined;
    const from = memberOf(first, unicode);
    const to = last === undefined ? undefined : memberOf(last, unicode);
    if (typeof from === 'number' && typeof to === 'number') {
      text += rangesText([[from, to]]);
      index += 2;
    } else text += typeof from === 'number' ? rangesText([[from, from]]) : from;
  }
  return `${text}]`;
}

/** One member of a set: a code point, or the text of several. */
function memberOf(token: string, unicode: boolean): number | string {
  const ranges = SETS.get(token);
  if (ranges !== undefined) return rangesText(ranges);
  if (/^\\[pP]/u.test(token)) return propertyOf(token, unicode);
  return token === String.raw`\b` ? 0x08 : codePointOf(token, unicode);
}

/** The one character that a token denotes. */
function codePointOf(token: string, unicode: boolean): number {
  if (!token.startsWith('\\')) return token.codePointAt(0) ?? 0;
  const control = CONTROLS.get(token);
  if (control !== undefined) return control;
  if (/^\\[ux]/u.test(token) && token.length > 2 && (unicode || !token.includes('{'))) return fromHex(token);
  const character = token.slice(1);
  if (character === '0') return 0;
  if (!/^[\p{L}\p{N}]/u.test(character)) return character.codePointAt(0) ?? 0;
  throw new PatternFault(`contains "${token}", which svc cannot check`);
}

function fromHex(token: string): number {
  const units = [...token.matchAll(/[0-9A-Fa-f]{2,}/gu)].map(([digits]) => Number.parseInt(digits, 16));
  const [high = 0, low] = units.length > 0 ? units : [Number.parseInt(token.replaceAll(/[^0-9A-Fa-f]/gu, ''), 16)];
  const codePoint = low === undefined ? high : (high - 0xd800) * 0x400 + low - 0xdc00 + 0x10000;
  if (codePoint >= 0xd800 && codePoint < 0xe000) throw new PatternFault('contains half a surrogate pair');
  return codePoint;
}

/** Characters of patterns that also mean nothing else in a constraint. */
const PLAIN = /^[\p{L}\p{N}_ /:@,;=!'<>~&-]$/u;

const PLAIN_IN_SET = /^[\w ./:@,;=!'<>%+*?]$/u;

function literal(codePoint: number): string {
  const character = String.fromCodePoint(codePoint);
  if (PLAIN.test(character)) return character;
  return /^[.^$*+?()[\]|\\]$/u.test(character) ? `\\${character}` : hex(codePoint);
}

function hex(codePoint: number): string {
  return `\\x{${codePoint.toString(16)}}`;
}

function rangesText(ranges: readonly Range[]): string {
  return ranges.map(([from, to]) => (from === to ? inSet(from) : `${inSet(from)}-${inSet(to)}`)).join('');
}

function inSet(codePoint: number): string {
  const character = String.fromCodePoint(codePoint);
  return PLAIN_IN_SET.test(character) ? character : hex(codePoint);
}

/** All other code points. */
function others(ranges: readonly Range[]): readonly Range[] {
  const starts = [0, ...ranges.map(([, to]) => to + 1)];
  const ends = [...ranges.map(([from]) => from - 1), LAST];
  return starts.map((start, index): Range => [start, ends[index] ?? LAST]).filter(([from, to]) => from <= to);
}

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { DURATION_RULE, durationMs } from '../../base/amounts.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { didYouMean } from '../../base/suggestion.ts';

/** Takes the place of the string of an environment variable, which the checker does not know. */
export const UNKNOWN_TEXT = Symbol('the string of an environment variable');

/** The value of an option: JSON at run time; with UNKNOWN_TEXT for each `env.X` in the checker. */
export type OptionData =
  | null
  | boolean
  | number
  | string
  | typeof UNKNOWN_TEXT
  | readonly OptionData[]
  | { readonly [key: string]: OptionData };

/** The form of an option's value. `expected` completes a message that begins with `has to be`. */
export type Shape =
  /** Any JSON, passed on unchanged. */
  | { readonly kind: 'json' }
  | { readonly kind: 'text'; readonly pattern?: RegExp; readonly expected?: string }
  /** An http or https URL without credentials; read without a slash at its end. */
  | { readonly kind: 'url' }
  | { readonly kind: 'boolean' }
  /** A string such as `10m`, read as milliseconds. */
  | { readonly kind: 'duration' }
  | { readonly kind: 'number'; readonly expected: string }
  | CountShape
  | { readonly kind: 'one-of'; readonly words: readonly string[]; readonly literal?: true }
  | { readonly kind: 'list'; readonly item: Shape; readonly nonEmpty?: true; readonly expected: string }
  /** Keys are data; `headers`: they are names of HTTP headers, read in lower case. */
  | { readonly kind: 'map'; readonly value: Shape; readonly headers?: true; readonly expected: string }
  /** Any JSON object. */
  | { readonly kind: 'object'; readonly expected: string }
  /** Keys are fixed, and each has a description of its own. */
  | { readonly kind: 'settings'; readonly settings: OptionTable; readonly expected: string }
  | { readonly kind: 'either'; readonly shapes: readonly Shape[]; readonly expected: string };

interface CountShape {
  readonly kind: 'count';
  /** Bounds, both included; 0 and the largest safe integer unless given. */
  readonly min?: number;
  readonly max?: number;
  /** The value is a number in the definition: neither the digits of a string nor an environment variable count. */
  readonly literal?: true;
  readonly expected: string;
}

/** One option: its shape, its default, its use in svc, and the text of its row in docs/clients.md. */
export interface OptionDescription {
  readonly shape: Shape;
  readonly text?: string;
  /** In `settings`: they are wrong without this one. `text` then completes `has no "reply": …`. Null counts as absent. */
  readonly required?: true;
  /** Read in place of an absent value. */
  readonly default?: JsonValue;
  /** Variables that give the value when the client does not, in this order. */
  readonly fromVariables?: readonly string[];
  /** The provider receives it in the request body too. */
  readonly inBody?: true;
  /** Part of the host to which requests go. */
  readonly decidesUrl?: true;
  /** Decides in another way which URL or client a call reaches: as part of the path, or by the choice of a client. */
  readonly decidesTarget?: true;
  /** svc masks the value in errors. */
  readonly secret?: true;
  /** Logs can show the value of an environment variable that the option reads: it is an address or the name of a model. */
  readonly public?: true;
  /** Can name a file or an account of the server, and a request must not choose those. */
  readonly namesAccount?: true;
}

export type OptionTable = Readonly<Record<string, OptionDescription>>;

/** The type of the value that `readValue` returns for a shape. */
type ShapeValue<S> = S extends { readonly kind: keyof ScalarValues }
  ? ScalarValues[S['kind']]
  : S extends { readonly kind: 'one-of'; readonly words: ReadonlyArray<infer Word> }
    ? Word
    : S extends { readonly kind: 'list'; readonly item: infer Item }
      ? ReadonlyArray<ShapeValue<Item>>
      : S extends { readonly kind: 'map'; readonly value: infer Value }
        ? ReadonlyMap<string, ShapeValue<Value>>
        : S extends { readonly kind: 'settings'; readonly settings: infer Table }
          ? OptionValues<Table>
          : S extends { readonly kind: 'either'; readonly shapes: ReadonlyArray<infer Each> }
            ? ShapeValue<Each>
            : never;

interface ScalarValues {
  readonly json: JsonValue;
  readonly object: JsonObject;
  readonly text: string;
  readonly url: string;
  readonly boolean: boolean;
  readonly duration: number;
  readonly number: number;
  readonly count: number;
}

/** The values of a table of options; undefined where an option without a default is absent. */
export type OptionValues<T> = string extends keyof T
  ? Readonly<Record<string, unknown>>
  : {
      readonly [K in keyof T]: T[K] extends
        | { readonly shape: infer S; readonly default: unknown }
        | { readonly shape: infer S; readonly required: true }
        ? ShapeValue<S>
        : T[K] extends { readonly shape: infer S }
          ? ShapeValue<S> | undefined
          : never;
    };

/** Keys of maps and indexes of lists, starting at the options of the client. */
export type OptionPath = ReadonlyArray<string | number>;

/** One violation of the description of a provider by the options of a client. */
export type OptionViolation = {
  readonly path: OptionPath;
  /** Completes a sentence that begins with the path. */
  readonly message: string;
} &
  /**
   * `name`: the key is wrong; `value`: the value is wrong; `empty`: a list that needs an item has none; `incomplete`: a map
   * lacks a member. `isText`: the value is a string, as required, but svc cannot send a request with it.
   */
  (
    | { readonly kind: 'incomplete' }
    | { readonly kind: 'value' | 'name' | 'empty'; readonly isText?: boolean }
    /** `unused`: in definition files it has no effect and is only worth a warning. */
    | { readonly kind: 'unknown' | 'unused'; readonly known: readonly string[] }
    | { readonly kind: 'missing'; readonly alternatives: readonly (readonly string[])[]; readonly why: string }
    | { readonly kind: 'excluded'; readonly other: string }
    | { readonly kind: 'role'; readonly allowed: readonly string[] }
  );

/** A request can contain millions of wrong entries. With one more than an answer lists, the caller knows that there are more. */
export const MAX_VIOLATIONS = 101;

/** Reads the value of one option and adds its violations to `found`. The result counts only when there are none. */
export function readValue(shape: Shape, value: OptionData, path: OptionPath, found: OptionViolation[]): unknown {
  switch (shape.kind) {
    case 'json':
      return value;
    case 'list':
      return readList(shape, value, path, found);
    case 'map':
      return readMap(shape, value, path, found);
    case 'settings':
      if (isMap(value)) found.push(...missingSettings(shape.settings, value, path));
      else found.push(wrongValue(path, shape.expected, value));
      return readTable(shape.settings, isMap(value) ? value : {}, path, found);
    case 'object':
      if (isMap(value)) return value;
      break;
    case 'either':
      for (const each of shape.shapes) {
        const refused: OptionViolation[] = [];
        const read = readValue(each, value, path, refused);
        if (refused.length === 0) return read;
      }
      break;
    default: {
      const read = readScalar(shape, value);
      if (read.ok) return read.value;
      const isText = typeof value === 'string' && (shape.kind === 'text' || shape.kind === 'url');
      found.push({ kind: 'value', path, message: read.failure, isText });
      return undefined;
    }
  }
  const isText = shape.kind === 'either' && typeof value === 'string';
  found.push({ ...wrongValue(path, shape.expected, value), isText });
  return undefined;
}

function wrongValue(path: OptionPath, expected: string, value: OptionData) {
  const hint = value === UNKNOWN_TEXT ? '; an environment variable is a string' : '';
  return { kind: 'value', path, message: `has to be ${expected}${hint}` } as const;
}

type ScalarShape = Extract<
  Shape,
  { readonly kind: 'text' | 'url' | 'boolean' | 'duration' | 'number' | 'count' | 'one-of' }
>;

function readScalar(shape: ScalarShape, value: OptionData): Result<unknown, string> {
  const isUnknown = value === UNKNOWN_TEXT;
  switch (shape.kind) {
    case 'text':
      if (isUnknown || (typeof value === 'string' && shape.pattern?.test(value) !== false)) return ok(value);
      return err(`has to be ${shape.expected ?? 'a string'}`);
    case 'url':
      return isUnknown ? ok(value) : readUrl(value);
    case 'boolean':
      // The value of an environment variable is a string.
      if (value === true || value === 'true' || isUnknown) return ok(true);
      return value === false || value === 'false' ? ok(false) : err('has to be true or false');
    case 'duration': {
      const ms = isUnknown ? 0 : durationMs(typeof value === 'string' ? value : '');
      return ms === undefined ? err(`has to be ${DURATION_RULE} (at most 24d)`) : ok(ms);
    }
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) && value >= 0
        ? ok(value)
        : err(`has to be ${shape.expected}`);
    case 'count':
      return isCount(shape, value) ? ok(Number(isUnknown ? 0 : value)) : err(`has to be ${shape.expected}`);
    case 'one-of':
      if (isUnknown && shape.literal !== true) return ok(value);
      if (typeof value === 'string' && shape.words.includes(value)) return ok(value);
      return err(`has to be one of ${shape.words.map((word) => `"${word}"`).join(', ')}`);
  }
}

function isCount({ min = 0, max = Number.MAX_SAFE_INTEGER, literal }: CountShape, value: OptionData): boolean {
  if (value === UNKNOWN_TEXT) return literal !== true;
  const isDigits = literal !== true && typeof value === 'string' && /^\d{1,15}$/u.test(value);
  const count = isDigits ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= min && count <= max;
}

function readUrl(value: OptionData): Result<string, string> {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (typeof value !== 'string' || url === undefined || !/^https?:$/u.test(url.protocol)) {
    return err('has to be an http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    return err('must not contain a user name or a password; use "headers"');
  }
  return ok(value.endsWith('/') ? value.slice(0, -1) : value);
}

function readList(
  shape: Extract<Shape, { kind: 'list' }>,
  value: OptionData,
  path: OptionPath,
  found: OptionViolation[],
): readonly unknown[] {
  if (!isList(value)) {
    found.push(wrongValue(path, shape.expected, value));
    return [];
  }
  if (shape.nonEmpty === true && value.length === 0) {
    found.push({ kind: 'empty', path, message: `has to be ${shape.expected}` });
  }
  const items: unknown[] = [];
  for (const [index, item] of value.entries()) {
    if (found.length >= MAX_VIOLATIONS) break;
    items.push(readValue(shape.item, item, [...path, index], found));
  }
  return items;
}

function readMap(
  shape: Extract<Shape, { kind: 'map' }>,
  value: OptionData,
  path: OptionPath,
  found: OptionViolation[],
): ReadonlyMap<string, unknown> {
  const members = new Map<string, unknown>();
  if (!isMap(value)) {
    found.push(wrongValue(path, shape.expected, value));
    return members;
  }
  for (const [key, member] of Object.entries(value)) {
    if (found.length >= MAX_VIOLATIONS) break;
    const at = [...path, key];
    const read = readValue(shape.value, member, at, found);
    const problem = shape.headers === true ? headerProblem(key, typeof read === 'string' ? read : '') : undefined;
    if (problem !== undefined) found.push({ kind: problem.of, path: at, message: problem.message, isText: true });
    members.set(shape.headers === true ? key.toLowerCase() : key, read);
  }
  return members;
}

/** Reads a map whose keys are those of the table. */
function readTable(
  table: OptionTable,
  value: Readonly<Record<string, OptionData>>,
  path: OptionPath,
  found: OptionViolation[],
): Readonly<Record<string, unknown>> {
  const known = Object.keys(table);
  for (const key of Object.keys(value)) {
    if (found.length >= MAX_VIOLATIONS) break;
    if (!Object.hasOwn(table, key)) found.push(unknownOption('unknown', [...path, key], known));
  }
  const read: Record<string, unknown> = {};
  for (const [key, { shape, default: fallback }] of Object.entries(table)) {
    const given = Object.hasOwn(value, key) ? value[key] : fallback;
    read[key] = given === undefined ? undefined : readValue(shape, given, [...path, key], found);
  }
  return read;
}

function missingSettings(
  table: OptionTable,
  value: Readonly<Record<string, OptionData>>,
  path: OptionPath,
): readonly OptionViolation[] {
  // An unknown key can be a misspelled one.
  if (Object.keys(value).some((key) => !Object.hasOwn(table, key))) return [];
  const required = Object.entries(table).filter(([, description]) => description.required === true);
  const missing = required.filter(([key]) => (value[key] ?? null) === null);
  return missing.map(([key, { text = '' }]) => ({ kind: 'incomplete', path, message: `has no "${key}": ${text}` }));
}

/** The cost of a suggestion grows with the length of the name, which a request chooses. */
export const LONGEST_SUGGESTED = 64;

export function unknownOption(kind: 'unknown' | 'unused', path: OptionPath, known: readonly string[]): OptionViolation {
  const name = String(path.at(-1));
  const near = name.length > LONGEST_SUGGESTED ? '' : didYouMean(name, known);
  const message = `is unknown; allowed: ${known.join(', ')}${near === '' ? '' : `. ${near}`}`;
  return { kind, path, message, known };
}

function isList(value: OptionData): value is readonly OptionData[] {
  return Array.isArray(value);
}

export function isMap(value: OptionData): value is Readonly<Record<string, OptionData>> {
  return isJsonObject(value);
}

/** A token of RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u;

/** Visible characters, spaces and tabs. CR, LF or NUL would start another header or request. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/u;

/** Headers of the connection (RFC 9110, 7.6.1), and those that frame the request: never taken from options. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

interface HeaderProblem {
  readonly of: 'name' | 'value';
  /** Completes a sentence that begins with the header's name. */
  readonly message: string;
}

/** The reason why svc cannot send a header; undefined when it can. */
export function headerProblem(name: string, value: string): HeaderProblem | undefined {
  if (!TOKEN.test(name)) return { of: 'name', message: 'is not a header name' };
  if (OF_THE_CONNECTION.has(name.toLowerCase())) {
    return { of: 'name', message: 'belongs to the connection and cannot be set' };
  }
  if (VALUE.test(value)) return undefined;
  return { of: 'value', message: 'has a value with characters that no header can contain' };
}

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type CsvError, parse } from 'csv-parse';
import { messageOf } from '../../base/invariant.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  isOptionsKey,
  ownValue,
  OPTIONS_KEYS,
} from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { excessOfJson, MAX_ARGUMENT_VALUES } from '../../base/json-text.ts';
import { didYouMeanOneOf } from '../../base/suggestion.ts';
import { readFault } from '../../config/environment.ts';
import type { Violation } from '../../schema/violation.ts';
import type { RunFailure } from '../local-runtime.ts';

export interface InputRow {
  /** The number of the line in a file of JSON lines, or of the row below the header of CSV; from 1. */
  readonly row: number;
  /** Reads the content: only rows that are asked need it. */
  readonly read: () => RowContent;
}

export interface RowContent {
  readonly args: Result<JsonObject, RunFailure>;
  /** The values of the extra columns that the row has: JSON values, or the cells of CSV. */
  readonly extra: JsonObject;
}

/** The columns that are read beside the arguments. */
export interface ExtraColumns {
  /** Whether a column is one of them. It is an argument, too, if it has the name of a parameter. */
  readonly has: (column: string) => boolean;
  /** The columns that a CSV file must have. */
  readonly required: readonly string[];
}

export const NO_EXTRA: ExtraColumns = { has: () => false, required: [] };

/** Reads the rows of a file, which is never in memory as a whole, once. `onChunk` receives each part of it. */
export type InputRows = (onChunk?: (chunk: Buffer) => void) => AsyncGenerator<InputRow, void>;

/** An error of the whole input, as the end of a sentence. */
class InputFault extends Error {
  override readonly name = 'InputFault';
  readonly code = 'input_fault';
}

/** The largest row: the default of `--max-body`, so that a server accepts every row. */
const MAX_ROW_BYTES = 10 * 2 ** 20;

/** Refuses the one option of requests that changes the form of answers. */
function checkedArguments(args: JsonObject): Result<JsonObject, RunFailure> {
  for (const [key, options] of Object.entries(args)) {
    if (!isOptionsKey(key) || !isJsonObject(options) || !Object.hasOwn(options, 'include')) continue;
    const message = 'A row of a batch cannot have "include": each answer has the tokens and the cost already.';
    return err({ code: 'invalid_options', message, details: [{ path: `${key}.include`, message }] });
  }
  return ok(args);
}

/** A file with one JSON object per line. A blank line is not a row, but it counts in the numbers of later rows. */
async function* jsonRows(
  { path, ...columns }: InputFile,
  onChunk?: (chunk: Buffer) => void,
): AsyncGenerator<InputRow, void> {
  let row = 0;
  for await (const { bytes, tooLong } of splitRecords(path, { maxBytes: MAX_ROW_BYTES, onChunk })) {
    row += 1;
    if (!tooLong && isBlank(bytes)) continue;
    yield { row, read: () => (tooLong ? unreadable(TOO_LONG) : contentOf(bytes, columns)) };
  }
}

const TOO_LONG: RunFailure = {
  code: 'payload_too_large',
  message: `The row is larger than ${MAX_ROW_BYTES} bytes.`,
};

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 32 || byte === 13 || byte === 9);
}

function contentOf(bytes: Buffer, columns: Pick<InputFile, 'signature' | 'extra'>): RowContent {
  if (!isUtf8(bytes)) return invalidJson('The row is not valid UTF-8.');
  const excess = excessOfJson(bytes, MAX_ARGUMENT_VALUES);
  if (excess !== undefined) return invalidJson(`The row ${excess}.`);
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/u, ''));
    return isJsonObject(value) ? contentOfObject(value as JsonObject, columns) : unreadable(NO_OBJECT);
  } catch (error) {
    return invalidJson(`The row is not valid JSON: ${messageOf(error)}.`);
  }
}

function contentOfObject(
  row: JsonObject,
  { signature: { parameters }, extra }: Pick<InputFile, 'signature' | 'extra'>,
): RowContent {
  const entries = Object.entries(row);
  const own = entries.filter(([name]) => extra.has(name));
  if (own.length === 0) return { args: checkedArguments(row), extra: {} };
  const args = entries.filter(([name]) => parameters.has(name) || !extra.has(name));
  return { args: checkedArguments(Object.fromEntries(args)), extra: Object.fromEntries(own) };
}

function unreadable(failure: RunFailure): RowContent {
  return { args: err(failure), extra: {} };
}

function invalidJson(message: string): RowContent {
  return unreadable({ code: 'invalid_json', message });
}

const NO_OBJECT: RunFailure = {
  code: 'invalid_argument',
  message: 'The row must be a JSON object with one key for each parameter.',
};

const OPTIONS_KINDS: ReadonlySet<ValueKind> = new Set(['object', 'null']);

/** A file with rows that exists. */
export interface InputFile {
  readonly path: string;
  /** The separator of CSV columns; undefined for JSON lines. */
  readonly delimiter: string | undefined;
  /** Decides how CSV cells are read. */
  readonly signature: Signature;
  readonly extra: ExtraColumns;
}

/** A CSV file with a header: its columns are parameters and extra columns. */
async function* csvRows(
  { path, delimiter = ',', ...columns }: InputFile,
  onChunk?: (chunk: Buffer) => void,
): AsyncGenerator<InputRow, void> {
  const parser = parse({
    delimiter,
    bom: true,
    // A quote that is not the first character of a cell is text, as in spreadsheets.
    relax_quotes: true,
    // Rows with too many or too few cells fail on their own.
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW_BYTES,
  });
  const file = createReadStream(path);
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  file.on('data', (data) => {
    const chunk = data as Buffer;
    onChunk?.(chunk);
    try {
      utf8.decode(chunk, { stream: true });
    } catch {
      parser.destroy(new InputFault('it is not in UTF-8. Save it as "CSV UTF-8"'));
    }
  });
  file.on('error', (error) => parser.destroy(error));
  file.pipe(parser);
  let header: readonly string[] | undefined;
  let row = 0;
  try {
    for await (const cells of parser as AsyncIterable<readonly string[]>) {
      if (header === undefined) header = checkedHeader(cells, columns);
      else {
        row += 1;
        const names = header;
        yield { row, read: () => contentOfCells(cells, names, columns) };
      }
    }
  } catch (error) {
    throw error instanceof InputFault ? error : faultOf(error, row);
  } finally {
    file.destroy();
  }
  if (header === undefined) throw new InputFault('it has no header, which names the parameters');
}

/** Every row would fail for an unknown column, so the file does. */
function checkedHeader(
  cells: readonly string[],
  { signature: { parameters, required }, extra }: Pick<InputFile, 'signature' | 'extra'>,
): readonly string[] {
  const names = cells.map((cell) => cell.trim());
  const known = [...parameters.keys()];
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new InputFault(`the column "${repeated}" occurs twice`);
  for (const name of names) {
    if (parameters.has(name) || isOptionsKey(name) || extra.has(name)) continue;
    throw new InputFault(`the column "${name}" is not a parameter of the function. ${didYouMeanOneOf(name, known)}`);
  }
  const wanted = [...known.filter((name) => required.has(name)), ...extra.required];
  const missing = wanted.find((name) => !names.includes(name));
  if (missing !== undefined) throw new InputFault(`the column "${missing}" is missing`);
  return names;
}

function contentOfCells(
  cells: readonly string[],
  columns: readonly string[],
  { signature: { parameters }, extra }: Pick<InputFile, 'signature' | 'extra'>,
): RowContent {
  if (cells.length !== columns.length) {
    const message = `The row has ${cells.length} cells, but the header has ${columns.length}.`;
    return unreadable({ code: 'invalid_argument', message });
  }
  const details: Violation[] = [];
  const args: Record<string, JsonValue> = {};
  const own: [string, string][] = [];
  for (const [index, name] of columns.entries()) {
    const cell = cells[index] ?? '';
    if (extra.has(name)) own.push([name, cell]);
    const kinds = parameters.get(name);
    if (kinds === undefined && extra.has(name)) continue;
    const value = valueOfCell(cell, kinds ?? OPTIONS_KINDS);
    if (!value.ok) details.push({ path: name, message: value.failure });
    else if (value.value !== undefined) args[name] = value.value;
  }
  return { args: argumentsWithout(details, args), extra: Object.fromEntries(own) };
}

function argumentsWithout(details: readonly Violation[], args: JsonObject): Result<JsonObject, RunFailure> {
  const [first] = details;
  if (first === undefined) return checkedArguments(args);
  return err({ code: 'invalid_argument', message: `The column "${first.path}" ${first.message}.`, details });
}

/**
 * Returns the value of a cell for a parameter that accepts these kinds of values; undefined for an empty cell of an optional
 * parameter. Only a parameter of strings takes the text as it is; the others take JSON.
 */
export function valueOfCell(cell: string, kinds: ReadonlySet<ValueKind>): Result<JsonValue | undefined, string> {
  if (cell === '' && kinds.has('null')) return ok(undefined);
  const onlyStrings = [...kinds].every((kind) => kind === 'string' || kind === 'null');
  if (onlyStrings) return ok(cell);
  // Spreadsheets write TRUE and FALSE.
  if (kinds.has('boolean') && /^(?:true|false)$/iu.test(cell)) return ok(cell.toLowerCase() === 'true');
  try {
    return ok(JSON.parse(cell) as JsonValue);
  } catch (error) {
    if (kinds.has('string')) return ok(cell);
    return err(cell.trim() === '' ? 'is empty' : `is not valid JSON: ${messageOf(error)}`);
  }
}

function faultOf(error: unknown, row: number): unknown {
  const { code } = error as CsvError;
  if (code === 'CSV_QUOTE_NOT_CLOSED') return new InputFault(`row ${row + 1} has a quote that is not closed`);
  if (code === 'CSV_MAX_RECORD_SIZE') {
    return new InputFault(`row ${row + 1} is larger than ${MAX_ROW_BYTES} bytes, or has a quote that is not closed`);
  }
  return error;
}

export interface InputFacts {
  /** The SHA-256 of the file, in hex. */
  readonly sha256: string;
  /** The number of rows, of which the last has number `lastRow`. */
  readonly rows: number;
  readonly lastRow: number;
}

/** The separator of columns by the end of the file's name; undefined for JSON lines. */
const FORMATS: ReadonlyMap<string, string | undefined> = new Map([
  ['jsonl', undefined],
  ['ndjson', undefined],
  ['csv', ','],
  ['tsv', '\t'],
]);

/** Returns the separator of a CSV file, or undefined for JSON lines; fails for a name that states no format. */
export function delimiterOf(path: string): Result<string | undefined, string> {
  const end = /\.([a-z]+)$/iu.exec(path)?.[1]?.toLowerCase() ?? '';
  if (FORMATS.has(end)) return ok(FORMATS.get(end));
  return err(`the name "${path}" must end in ${[...FORMATS.keys()].map((name) => `.${name}`).join(', ')}`);
}

/** Returns the rows of a file. Iterating throws an `InputFault` if the file as a whole has an error. */
export function inputRows(file: InputFile): InputRows {
  return (onChunk) => (file.delimiter === undefined ? jsonRows(file, onChunk) : csvRows(file, onChunk));
}

/** Reads the whole file once: counts its rows, hashes it, and fails with a sentence if the file has an error. */
export async function scanInput(input: InputRows, path: string): Promise<Result<InputFacts, string>> {
  try {
    const hash = createHash('sha256');
    let rows = 0;
    let lastRow = 0;
    for await (const { row } of input((chunk) => hash.update(chunk))) {
      rows += 1;
      lastRow = row;
    }
    return ok({ sha256: hash.digest('hex'), rows, lastRow });
  } catch (error) {
    return err(readingFault(error, path));
  }
}

/** A sentence about an error of the whole file, or of the system; throws any other one. */
export function readingFault(error: unknown, path: string): string {
  if (error instanceof InputFault) return `"${path}" cannot be read: ${error.message}`;
  if (error instanceof Error && 'syscall' in error) return `"${path}" cannot be read: ${readFault(error)}`;
  throw error;
}

/** A record of a file, without the line feed that ends it. */
export interface FileRecord {
  /** The bytes; empty if there are more than `maxBytes`. */
  readonly bytes: Buffer;
  readonly tooLong: boolean;
  readonly start: number;
  /** The offset after the line feed. */
  readonly end: number;
  /** False for a last record without a line feed. */
  readonly ended: boolean;
}

export interface SplitOptions {
  /** A line feed between quotes is part of the record, as in CSV. */
  readonly quoted?: boolean;
  readonly maxBytes?: number;
  /** Receives each chunk of the file before its records. */
  readonly onChunk?: ((chunk: Buffer) => void) | undefined;
}

const LINE_FEED = 10;
const QUOTE = 34;

/** Reads the records of a file, of which it holds one chunk and one record at a time. */
export async function* splitRecords(path: string, options: SplitOptions = {}): AsyncGenerator<FileRecord, void> {
  const { quoted = false, maxBytes = Infinity, onChunk } = options;
  let parts: Buffer[] = [];
  let start = 0;
  let offset = 0;
  let inQuotes = false;
  const recordUpTo = (end: number, ended: boolean): FileRecord => {
    const tooLong = end - start > maxBytes;
    const record = { bytes: tooLong ? Buffer.alloc(0) : Buffer.concat(parts), tooLong, start, end, ended };
    parts = [];
    start = end;
    return record;
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>) {
    onChunk?.(chunk);
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) {
      if (quoted && (inQuotes = leavesOpen(chunk, from, at, inQuotes))) {
        parts.push(chunk.subarray(from, at + 1));
        from = at + 1;
        continue;
      }
      parts.push(chunk.subarray(from, at));
      yield recordUpTo(offset + at + 1, true);
      from = at + 1;
    }
    if (quoted) inQuotes = leavesOpen(chunk, from, chunk.length, inQuotes);
    offset += chunk.length;
    if (offset - start > maxBytes) parts = [];
    else parts.push(chunk.subarray(from));
  }
  if (offset > start) yield recordUpTo(offset, false);
}

/** Returns whether the bytes end between quotes. A quote inside quotes is doubled, so that counting them suffices. */
function leavesOpen(chunk: Buffer, from: number, to: number, open: boolean): boolean {
  let inQuotes = open;
  for (let at = from; at < to; at += 1) if (chunk[at] === QUOTE) inQuotes = !inQuotes;
  return inQuotes;
}

/** The kinds of JSON values that a schema allows. */
export type ValueKind = 'string' | 'number' | 'boolean' | 'null' | 'list' | 'object';

export interface Signature {
  /** The kinds of values of each parameter, by its name. */
  readonly parameters: ReadonlyMap<string, ReadonlySet<ValueKind>>;
  readonly required: ReadonlySet<string>;
  /** The fields of the value if it is always an object with the same fields. */
  readonly fields?: readonly string[];
}

/**
 * Reads the signature of a function from the OpenAPI document of its program, which a server also publishes; undefined if the
 * document has no such function.
 */
export function signatureOf(openapi: JsonObject, functionName: string): Signature | undefined {
  const operation = schemaAt(openapi, 'paths', `/call/${functionName}`, 'post');
  if (operation === undefined) return undefined;
  const request = resolved(openapi, schemaAt(operation, 'requestBody', 'content', 'application/json', 'schema') ?? {});
  const properties = Object.entries(objectOf(request['properties']));
  const required = Array.isArray(request['required']) ? request['required'].map(String) : [];
  const parameters = new Map(
    properties
      .filter(([name]) => !OPTIONS_KEYS.some((key) => key === name))
      .map(([name, schema]) => [name, kindsOf(openapi, objectOf(schema))] as const),
  );
  const fields = fieldsOf(
    openapi,
    schemaAt(operation, 'responses', '200', 'content', 'application/json', 'schema') ?? {},
  );
  return { parameters, required: new Set(required), ...(fields !== undefined && { fields }) };
}

export function functionsIn(openapi: JsonObject): readonly string[] {
  return Object.keys(objectOf(openapi['paths'])).flatMap((path) => /^\/call\/(.+)$/u.exec(path)?.[1] ?? []);
}

type Schema = Readonly<Record<string, unknown>>;

/** The schema behind a reference. */
function resolved(openapi: JsonObject, schema: Schema): Schema {
  const name = /^#\/components\/schemas\/(.+)$/u.exec(String(schema['$ref']))?.[1];
  return name === undefined ? schema : (schemaAt(openapi, 'components', 'schemas', name) ?? {});
}

/** The names of the fields, unless the value can have others or be something else. */
function fieldsOf(openapi: JsonObject, schema: Schema): readonly string[] | undefined {
  const { type, nullable, additionalProperties: open, properties } = resolved(openapi, schema);
  if (type !== 'object' || nullable === true) return undefined;
  const names = Object.keys(objectOf(properties));
  return names.length === 0 || open === true || isJsonObject(open) ? undefined : names;
}

/** The kinds of values of a schema, added to `found`. */
function kindsOf(
  openapi: JsonObject,
  schema: Schema,
  found = new Set<ValueKind>(),
  seen = new Set<Schema>(),
): ReadonlySet<ValueKind> {
  const target = resolved(openapi, schema);
  if (seen.has(target)) return found;
  seen.add(target);
  if (schema['nullable'] === true || target['nullable'] === true) found.add('null');
  const kind = KINDS.get(String(target['type']));
  if (kind !== undefined) found.add(kind);
  for (const members of [target['anyOf'], target['oneOf'], target['allOf']]) {
    if (Array.isArray(members)) for (const member of members) kindsOf(openapi, objectOf(member), found, seen);
  }
  return found;
}

const KINDS: ReadonlyMap<string, ValueKind> = new Map([
  ['string', 'string'],
  ['integer', 'number'],
  ['number', 'number'],
  ['boolean', 'boolean'],
  ['null', 'null'],
  ['array', 'list'],
  ['object', 'object'],
]);

/** The object at these keys; undefined if there is none. */
function schemaAt(value: Schema, ...keys: readonly string[]): Schema | undefined {
  let found: unknown = value;
  for (const key of keys) found = isJsonObject(found) ? ownValue(found, key) : undefined;
  return isJsonObject(found) ? found : undefined;
}

function objectOf(value: unknown): Schema {
  return isJsonObject(value) ? value : {};
}

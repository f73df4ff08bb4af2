import {
  appendFileSync,
  closeSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  existsSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { stringify } from 'csv-stringify/sync';
import { randomUUID } from 'node:crypto';
import { err, ok, type Result } from '../../base/result.ts';
import { splitRecords, type FileRecord } from './input-rows.ts';
import { memberTexts } from '../../base/json-text.ts';
import { decimal } from '../../schema/price-list.ts';
import type { RunFailure } from '../local-runtime.ts';
import { messageOf } from '../../base/invariant.ts';
import { isJsonObject, type JsonObject, ownValue } from '../../base/json.ts';
import { replaceFile } from '../../base/write-file.ts';

/** The longest beginning of a record that `AnswerFormat.read` needs. */
const START_BYTES = 200;

/** Records that are written together when the file is sorted. */
const SORT_BUFFER_BYTES = 1 << 20;

/** The file that a batch appends its answers to. */
export class AnswersFile {
  readonly answered: RowSet;
  /** The number of failed rows, by code. */
  readonly failures = new Map<string, number>();
  readonly #path: string;
  readonly #format: AnswerFormat;
  readonly #lastRow: number;
  #fd: number | undefined;
  #previousRow = 0;
  #sorted = true;

  private constructor(path: string, format: AnswerFormat, lastRow: number) {
    this.#path = path;
    this.#format = format;
    this.#lastRow = lastRow;
    this.answered = new RowSet(lastRow);
  }

  /**
   * Opens the file, or creates it. Removes a record that a kill cut off and, with `dropFailures`, all failures, so that their
   * rows have no answer. Fails with a sentence if the file has other content.
   */
  static async open(
    path: string,
    format: AnswerFormat,
    { lastRow, dropFailures }: { readonly lastRow: number; readonly dropFailures: boolean },
  ): Promise<Result<AnswersFile, string>> {
    const file = new AnswersFile(path, format, lastRow);
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) {
      const fault = await file.#read(dropFailures);
      if (fault !== undefined) return err(fault);
      if (dropFailures && file.failures.size > 0) {
        await file.#rewrite((write) => file.#copy(write));
        file.failures.clear();
      }
    }
    file.#fd = openSync(path, 'a');
    if (statSync(path).size === 0) appendFileSync(file.#fd, format.header);
    return ok(file);
  }

  /** Writes an answer at once, so that a kill loses nothing that has arrived. Throws if the file cannot be written. */
  append(row: number, answer: RowAnswer): void {
    if (this.#fd === undefined) return;
    appendFileSync(this.#fd, this.#format.record(row, answer));
    this.#add({ row, error: answer.failure?.code ?? '' });
  }

  /** Sorts the answers by row. The file is either sorted or unchanged after a kill. */
  async sortByRow(): Promise<void> {
    if (this.#sorted) return;
    const starts = new Float64Array(this.#lastRow + 1);
    const lengths = new Uint32Array(this.#lastRow + 1);
    for await (const { start, end, row } of this.#answers()) {
      starts[row] = start;
      lengths[row] = end - start;
    }
    const source = openSync(this.#path, 'r');
    try {
      await this.#rewrite((write) => {
        for (const [row, length] of lengths.entries()) {
          if (length === 0) continue;
          const record = Buffer.alloc(length);
          readSync(source, record, 0, length, starts[row] ?? 0);
          write(record);
        }
      });
    } finally {
      closeSync(source);
    }
    this.#sorted = true;
  }

  close(): void {
    if (this.#fd === undefined) return;
    fsyncSync(this.#fd);
    closeSync(this.#fd);
    this.#fd = undefined;
  }

  /** Reads which rows have an answer. Returns the reason why this is not a file of answers, as a sentence. */
  async #read(dropFailures: boolean): Promise<string | undefined> {
    let size = 0;
    let number = 0;
    for await (const record of splitRecords(this.#path, { quoted: this.#format.quoted })) {
      number += 1;
      if (!record.ended) break;
      size = record.end;
      if (number === 1 && this.#isHeader(record)) continue;
      const answer = this.#format.read(startOf(record));
      if ((number === 1 && this.#format.header !== '') || answer === undefined || !this.#isRow(answer.row)) {
        return `line ${number} of "${this.#path}" is not an answer to the input. Correct it, or pass another file to --out.`;
      }
      if (dropFailures && answer.error !== '') this.#fail(answer.error);
      else this.#add(answer);
    }
    if (size < statSync(this.#path).size) truncateSync(this.#path, size);
    return undefined;
  }

  #isHeader({ bytes }: FileRecord): boolean {
    return this.#format.header !== '' && `${bytes.toString()}\n` === this.#format.header;
  }

  #isRow(row: number): boolean {
    return row >= 1 && row <= this.#lastRow;
  }

  #add({ row, error }: AnsweredRow): void {
    this.answered.add(row);
    if (error !== '') this.#fail(error);
    if (row < this.#previousRow) this.#sorted = false;
    this.#previousRow = row;
  }

  #fail(code: string): void {
    this.failures.set(code, (this.failures.get(code) ?? 0) + 1);
  }

  async *#answers(): AsyncGenerator<FileRecord & AnsweredRow, void> {
    for await (const record of splitRecords(this.#path, { quoted: this.#format.quoted })) {
      const answer = this.#format.read(startOf(record));
      if (answer !== undefined) yield { ...record, ...answer };
    }
  }

  async #copy(write: (record: Buffer) => void): Promise<void> {
    for await (const { bytes, error } of this.#answers()) {
      if (error === '') write(Buffer.concat([bytes, LINE_FEED]));
    }
  }

  /** Replaces the file. The new one appears complete or not at all. */
  async #rewrite(fill: (write: (record: Buffer) => void) => void | Promise<void>): Promise<void> {
    const unfinished = `${this.#path}.tmp`;
    const fd = openSync(unfinished, 'w');
    try {
      let waiting: Buffer[] = [Buffer.from(this.#format.header)];
      let bytes = 0;
      const flush = (): void => {
        appendFileSync(fd, Buffer.concat(waiting));
        waiting = [];
        bytes = 0;
      };
      await fill((record) => {
        waiting.push(record);
        bytes += record.length;
        if (bytes > SORT_BUFFER_BYTES) flush();
      });
      flush();
      fsyncSync(fd);
      renameSync(unfinished, this.#path);
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    } finally {
      closeSync(fd);
    }
  }
}

const LINE_FEED = Buffer.from('\n');

function startOf({ bytes }: FileRecord): string {
  return bytes.toString('latin1', 0, START_BYTES);
}

/** A set of row numbers up to a known maximum, in one bit each: a batch can have millions of rows. */
class RowSet {
  size = 0;
  readonly #bits: Uint8Array;

  constructor(max: number) {
    this.#bits = new Uint8Array((max >> 3) + 1);
  }

  has(row: number): boolean {
    return ((this.#bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
  }

  add(row: number): void {
    if (this.has(row)) return;
    this.#bits[row >> 3] = (this.#bits[row >> 3] ?? 0) | (1 << (row & 7));
    this.size += 1;
  }
}

export interface RowAnswer {
  /** The JSON text of the value, without line breaks. */
  readonly value?: string;
  /** Absent for a row with a value. */
  readonly failure?: RunFailure;
  readonly usage?: { readonly inputTokens?: number | undefined; readonly outputTokens?: number | undefined };
  /** US dollars; undefined if a count, or a price, is unknown. */
  readonly cost?: number | undefined;
  /** The copied columns of the input. */
  readonly input?: JsonObject;
}

/** A record of a file of answers, as far as a resumed batch needs it. */
interface AnsweredRow {
  readonly row: number;
  /** The code of its failure; empty if the row has a value. */
  readonly error: string;
}

/** The form of a file of answers. Each record ends with a line feed. */
export interface AnswerFormat {
  /** The first record; empty if the file has none. */
  readonly header: string;
  /** A line feed between quotes is part of a record. */
  readonly quoted: boolean;
  record(row: number, answer: RowAnswer): string;
  /** Reads the beginning of a record; undefined if it is not an answer. */
  read(start: string): AnsweredRow | undefined;
}

export const JSON_ANSWERS: AnswerFormat = {
  header: '',
  quoted: false,
  record: (row, { value, failure, usage, cost, input = {} }) => {
    const { inputTokens, outputTokens } = usage ?? {};
    const counted = inputTokens !== undefined || outputTokens !== undefined;
    // JSON.stringify omits what is undefined.
    const tokens = counted ? { input_tokens: inputTokens, output_tokens: outputTokens } : undefined;
    const copied = Object.keys(input).length === 0 ? undefined : input;
    const rest = JSON.stringify({ usage: tokens, cost, input: copied }).slice(1);
    const outcome = value === undefined ? `"error":${JSON.stringify(failure)}` : `"value":${value}`;
    return `{"row":${row},${outcome}${rest === '}' ? '' : ','}${rest}\n`;
  },
  read: (start) => {
    const [, row, error = ''] = /^\{"row":(\d{1,15}),"(?:value"|error":\{"code":"(\w+)")/u.exec(start) ?? [];
    return row === undefined ? undefined : { row: Number(row), error };
  },
};

/** The columns beside the value. Their names differ from those of fields, which rarely begin with `svc_`. */
const OWN_COLUMNS = [
  'svc_row',
  'svc_error',
  'svc_message',
  'svc_details',
  'svc_input_tokens',
  'svc_output_tokens',
  'svc_cost',
] as const;

/**
 * A row of cells for each answer. `fields`: the columns of the value; without them, it is one column, `value`. `copied`: the columns
 * of the input, each with the prefix `input.`, which no field has.
 */
export function csvAnswers(
  delimiter: string,
  fields?: readonly string[],
  copied: readonly string[] = [],
): AnswerFormat {
  const line = (cells: readonly unknown[]): string => stringify([[...cells]], { delimiter, record_delimiter: '\n' });
  const columns = fields ?? ['value'];
  return {
    header: line([...OWN_COLUMNS, ...copied.map((name) => `input.${name}`), ...columns]),
    quoted: true,
    record: (row, { value, failure, usage = {}, cost, input = {} }) => {
      const { code = '', message = '', details } = failure ?? {};
      const about = [code, message, details === undefined ? '' : JSON.stringify(details)];
      const used = [usage.inputTokens, usage.outputTokens, cost === undefined ? '' : decimal(cost)];
      const own = copied.map((name) => cellOf(JSON.stringify(ownValue(input, name) ?? null)));
      return line([row, ...about, ...used, ...own, ...cellsOf(value, columns, fields !== undefined)]);
    },
    read: (start) => {
      const [, row, error = ''] = /^(\d{1,15})[,\t](\w*)[,\t]/u.exec(start) ?? [];
      return row === undefined ? undefined : { row: Number(row), error };
    },
  };
}

function cellsOf(value: string | undefined, columns: readonly string[], isClass: boolean): readonly string[] {
  if (value === undefined) return columns.map(() => '');
  if (!isClass) return [cellOf(value)];
  const members = memberTexts(value);
  return columns.map((name) => cellOf(members.get(name) ?? 'null'));
}

/** A string is its text, null an empty cell, and everything else JSON. */
function cellOf(json: string): string {
  if (json === 'null') return '';
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** The questions that a file of answers belongs to, in a file beside it (docs/adr/0024-a-batch-has-a-state-file.md). */
interface BatchState {
  readonly format: 1;
  readonly function: string;
  /** The hash of the program, or that of the server's program. */
  readonly definitions: string;
  readonly input: string;
  /** The copied columns, as a list in JSON. */
  readonly copy: string;
  /** A random id. Idempotency keys consist of it, the round and the row. */
  readonly run: string;
  /** How often failed rows were asked again, or changes accepted: these calls need new keys. */
  readonly round: number;
}

type BatchQuestions = Pick<BatchState, 'function' | 'definitions' | 'input' | 'copy'>;

export interface ClaimOptions {
  readonly inputPath: string;
  readonly acceptChanges: boolean;
  readonly retryFailed: boolean;
}

export function statePath(answers: string): string {
  return `${answers}.batch.json`;
}

/** Returns the state of the batch that writes to `answers`: a new one, or that of the batch to continue. Fails with a sentence. */
export function claimAnswers(
  answers: string,
  questions: BatchQuestions,
  { inputPath, acceptChanges, retryFailed }: ClaimOptions,
): Result<BatchState, string> {
  const hasAnswers = (statSync(answers, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const path = statePath(answers);
  if (!hasAnswers) return ok(written(path, { format: 1, ...questions, run: randomUUID(), round: 0 }));
  const found = readState(path);
  if (found === undefined) {
    return err(`"${answers}" exists, and without "${path}" svc cannot continue it. ${OTHER_FILE}`);
  }
  const { function: name } = questions;
  if (found.function !== name) {
    return err(`"${answers}" has the answers of the function "${found.function}", not of "${name}". ${OTHER_FILE}`);
  }
  const changed = changeOf(found, questions, inputPath);
  if (changed !== undefined && !acceptChanges) {
    return err(
      `${changed} since "${answers}" was begun. To continue nevertheless, add --accept-changes. ${OTHER_FILE}`,
    );
  }
  if (changed === undefined && !retryFailed) return ok(found);
  return ok(written(path, { ...found, ...questions, round: found.round + 1 }));
}

function changeOf(
  found: BatchState,
  { definitions, input, copy }: BatchQuestions,
  inputPath: string,
): string | undefined {
  if (found.copy !== copy) return 'the columns of --copy have changed';
  if (found.input !== input) return `"${inputPath}" has changed, or is another file,`;
  return found.definitions === definitions ? undefined : 'the definitions have changed';
}

const OTHER_FILE = 'Pass another file to --out, or delete this one to begin again.';

function readState(path: string): BatchState | undefined {
  let data: unknown;
  try {
    data = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
  if (!isJsonObject(data) || data['format'] !== 1) return undefined;
  const { function: name, definitions, input, copy = '[]', run, round } = data;
  if (typeof name !== 'string' || typeof definitions !== 'string' || typeof input !== 'string') return undefined;
  if (typeof copy !== 'string' || typeof run !== 'string' || typeof round !== 'number') return undefined;
  return { format: 1, function: name, definitions, input, copy, run, round };
}

function written(path: string, state: BatchState): BatchState {
  replaceFile(path, `${JSON.stringify(state, undefined, 2)}\n`);
  return state;
}

/**
 * Keeps other processes on this machine from writing to the same file. Returns a function that releases the file, or a sentence
 * if another process holds it. A process that was killed holds no file.
 */
export function lockAnswers(answers: string): Result<() => void, string> {
  const path = `${answers}.lock`;
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      return ok(() => rmSync(path, { force: true }));
    } catch (error) {
      if (!existsSync(path)) throw error;
    }
    const owner = Number(readFileSync(path, 'utf8'));
    if (owner !== process.pid && isAlive(owner)) {
      return err(`process ${owner} writes to "${answers}". If it is not a batch of svc, delete "${path}".`);
    }
    rmSync(path, { force: true });
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists, but belongs to another user.
    return messageOf(error).includes('EPERM');
  }
}

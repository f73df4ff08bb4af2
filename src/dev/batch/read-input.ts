import { createHash } from 'node:crypto';
import { err, ok, type Result } from '../../base/result.ts';
import { CsvRows } from './csv-rows.ts';
import { InputFault, type InputRows } from './input-rows.ts';
import { JsonRows } from './json-rows.ts';
import type { Signature } from './signature.ts';

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

/**
 * Returns the rows of a file that exists. `signature` decides how CSV cells are read. Iterating throws an `InputFault` if the
 * file as a whole has an error.
 */
export function inputRows(path: string, delimiter: string | undefined, signature: Signature): InputRows {
  return delimiter === undefined ? new JsonRows(path) : new CsvRows(path, delimiter, signature);
}

/** Reads the whole file once: counts its rows, hashes it, and fails with a sentence if the file has an error. */
export async function scanInput(input: InputRows, path: string): Promise<Result<InputFacts, string>> {
  try {
    const hash = createHash('sha256');
    let rows = 0;
    let lastRow = 0;
    for await (const { row } of input.rows((chunk) => hash.update(chunk))) {
      rows += 1;
      lastRow = row;
    }
    return ok({ sha256: hash.digest('hex'), rows, lastRow });
  } catch (error) {
    if (error instanceof InputFault) return err(`"${path}" cannot be read: ${error.message}`);
    throw error;
  }
}

import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { isOptionsKey } from '../../base/options-keys.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { RunFailure } from '../run-failure.ts';

/** One row of the input. */
export interface InputRow {
  /** The number of the line in a file of JSON lines, or of the row below the header of CSV; from 1. */
  readonly row: number;
  /** Reads the arguments: only rows that are asked need it. */
  readonly args: () => Result<JsonObject, RunFailure>;
}

/** The rows of a file, which is never in memory as a whole. */
export interface InputRows {
  /** Reads the file once. `onChunk` receives each part of it. */
  rows(onChunk?: (chunk: Buffer) => void): AsyncGenerator<InputRow, void>;
}

/** An error of the whole input, as the end of a sentence. */
export class InputFault extends Error {
  override readonly name = 'InputFault';
  readonly code = 'input_fault';
}

/** The largest row: the default of `--max-body`, so that a server accepts every row. */
export const MAX_ROW_BYTES = 10 * 2 ** 20;

/** Refuses the one option of requests that changes the form of answers. */
export function checkedArguments(args: JsonObject): Result<JsonObject, RunFailure> {
  for (const [key, options] of Object.entries(args)) {
    if (!isOptionsKey(key) || !isJsonObject(options) || !Object.hasOwn(options, 'include')) continue;
    const message = 'A row of a batch cannot have "include": each answer has the tokens and the cost already.';
    return err({ code: 'invalid_options', message, details: [{ path: `${key}.include`, message }] });
  }
  return ok(args);
}

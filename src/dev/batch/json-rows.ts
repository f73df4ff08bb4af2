import { isUtf8 } from 'node:buffer';
import { messageOf } from '../../base/invariant.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { err, type Result } from '../../base/result.ts';
import { excessOfJson, MAX_ARGUMENT_VALUES } from '../../base/scan-json.ts';
import type { RunFailure } from '../run-failure.ts';
import { checkedArguments, MAX_ROW_BYTES, type InputRow, type InputRows } from './input-rows.ts';
import { splitRecords } from './split-records.ts';

/** A file with one JSON object per line. A blank line is not a row, but it counts in the numbers of later rows. */
export class JsonRows implements InputRows {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async *rows(onChunk?: (chunk: Buffer) => void): AsyncGenerator<InputRow, void> {
    let row = 0;
    for await (const { bytes, tooLong } of splitRecords(this.#path, { maxBytes: MAX_ROW_BYTES, onChunk })) {
      row += 1;
      if (!tooLong && isBlank(bytes)) continue;
      yield { row, args: () => (tooLong ? err(TOO_LONG) : argumentsIn(bytes)) };
    }
  }
}

const TOO_LONG: RunFailure = {
  code: 'payload_too_large',
  message: `The row is larger than ${MAX_ROW_BYTES} bytes.`,
};

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 32 || byte === 13 || byte === 9);
}

function argumentsIn(bytes: Buffer): Result<JsonObject, RunFailure> {
  if (!isUtf8(bytes)) return err(invalidJson('The row is not valid UTF-8.'));
  const excess = excessOfJson(bytes, MAX_ARGUMENT_VALUES);
  if (excess !== undefined) return err(invalidJson(`The row ${excess}.`));
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/u, ''));
    return isJsonObject(value) ? checkedArguments(value as JsonObject) : err(NO_OBJECT);
  } catch (error) {
    return err(invalidJson(`The row is not valid JSON: ${messageOf(error)}.`));
  }
}

function invalidJson(message: string): RunFailure {
  return { code: 'invalid_json', message };
}

const NO_OBJECT: RunFailure = {
  code: 'invalid_argument',
  message: 'The row must be a JSON object with one key for each parameter.',
};

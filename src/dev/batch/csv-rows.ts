import { createReadStream } from 'node:fs';
import { parse, type CsvError } from 'csv-parse';
import { messageOf } from '../../base/invariant.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { isOptionsKey } from '../../base/options-keys.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { didYouMeanOneOf } from '../../base/suggestion.ts';
import type { Violation } from '../../schema/violation.ts';
import type { RunFailure } from '../run-failure.ts';
import { checkedArguments, InputFault, MAX_ROW_BYTES, type InputRow, type InputRows } from './input-rows.ts';
import type { Signature, ValueKind } from './signature.ts';

const OPTIONS_KINDS: ReadonlySet<ValueKind> = new Set(['object', 'null']);

/** A CSV file with a header: its columns are parameters. */
export class CsvRows implements InputRows {
  readonly #path: string;
  readonly #delimiter: string;
  readonly #signature: Signature;

  constructor(path: string, delimiter: string, signature: Signature) {
    this.#path = path;
    this.#delimiter = delimiter;
    this.#signature = signature;
  }

  async *rows(onChunk?: (chunk: Buffer) => void): AsyncGenerator<InputRow, void> {
    const parser = parse({
      delimiter: this.#delimiter,
      bom: true,
      // A quote that is not the first character of a cell is text, as in spreadsheets.
      relax_quotes: true,
      // Rows with too many or too few cells fail on their own.
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: MAX_ROW_BYTES,
    });
    const file = createReadStream(this.#path);
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
        if (header === undefined) header = this.#checkedHeader(cells);
        else {
          row += 1;
          const columns = header;
          yield { row, args: () => this.#arguments(columns, cells) };
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
  #checkedHeader(cells: readonly string[]): readonly string[] {
    const names = cells.map((cell) => cell.trim());
    const { parameters, required } = this.#signature;
    const known = [...parameters.keys()];
    const repeated = names.find((name, index) => names.indexOf(name) !== index);
    if (repeated !== undefined) throw new InputFault(`the column "${repeated}" occurs twice`);
    for (const name of names) {
      if (parameters.has(name) || isOptionsKey(name)) continue;
      throw new InputFault(`the column "${name}" is not a parameter of the function. ${didYouMeanOneOf(name, known)}`);
    }
    const missing = known.find((name) => required.has(name) && !names.includes(name));
    if (missing !== undefined) throw new InputFault(`the column "${missing}" is missing`);
    return names;
  }

  #arguments(columns: readonly string[], cells: readonly string[]): Result<JsonObject, RunFailure> {
    if (cells.length !== columns.length) {
      const message = `The row has ${cells.length} cells, but the header has ${columns.length}.`;
      return err({ code: 'invalid_argument', message });
    }
    const details: Violation[] = [];
    const args: Record<string, JsonValue> = {};
    for (const [index, name] of columns.entries()) {
      const value = valueOfCell(cells[index] ?? '', this.#signature.parameters.get(name) ?? OPTIONS_KINDS);
      if (!value.ok) details.push({ path: name, message: value.failure });
      else if (value.value !== undefined) args[name] = value.value;
    }
    const [first] = details;
    if (first === undefined) return checkedArguments(args);
    return err({ code: 'invalid_argument', message: `The column "${first.path}" ${first.message}.`, details });
  }
}

/**
 * Returns the value of a cell for a parameter that accepts these kinds of values; undefined for an empty cell of an optional
 * parameter. Only a parameter of strings takes the text as it is; the others take JSON.
 */
function valueOfCell(cell: string, kinds: ReadonlySet<ValueKind>): Result<JsonValue | undefined, string> {
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

import { stringify } from 'csv-stringify/sync';
import { memberTexts } from '../../base/json-text.ts';
import { decimal } from '../../schema/price-list.ts';
import type { RunFailure } from '../run-failure.ts';

/** The outcome of one row. */
export interface RowAnswer {
  /** The JSON text of the value, without line breaks. */
  readonly value?: string;
  /** Absent for a row with a value. */
  readonly failure?: RunFailure;
  readonly usage?: { readonly inputTokens?: number | undefined; readonly outputTokens?: number | undefined };
  /** US dollars; undefined if a count, or a price, is unknown. */
  readonly cost?: number | undefined;
}

/** A record of a file of answers, as far as a resumed batch needs it. */
export interface AnsweredRow {
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

/** One JSON object per line. */
export const JSON_ANSWERS: AnswerFormat = {
  header: '',
  quoted: false,
  record: (row, { value, failure, usage, cost }) => {
    const { inputTokens, outputTokens } = usage ?? {};
    const counted = inputTokens !== undefined || outputTokens !== undefined;
    // JSON.stringify omits what is undefined.
    const tokens = counted ? { input_tokens: inputTokens, output_tokens: outputTokens } : undefined;
    const rest = JSON.stringify({ usage: tokens, cost }).slice(1);
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

/** A row of cells for each answer. `fields`: the columns of the value; without them, it is one column, `value`. */
export function csvAnswers(delimiter: string, fields?: readonly string[]): AnswerFormat {
  const line = (cells: readonly unknown[]): string => stringify([[...cells]], { delimiter, record_delimiter: '\n' });
  const columns = fields ?? ['value'];
  return {
    header: line([...OWN_COLUMNS, ...columns]),
    quoted: true,
    record: (row, { value, failure, usage = {}, cost }) => {
      const { code = '', message = '', details } = failure ?? {};
      const about = [code, message, details === undefined ? '' : JSON.stringify(details)];
      const used = [usage.inputTokens, usage.outputTokens, cost === undefined ? '' : decimal(cost)];
      return line([row, ...about, ...used, ...cellsOf(value, columns, fields !== undefined)]);
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

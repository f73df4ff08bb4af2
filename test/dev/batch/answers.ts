import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { csvAnswers, JSON_ANSWERS, type RowAnswer, type AnswerFormat } from '../../../src/dev/batch/answers-file.ts';

/** Both forms of a file of answers, each with a reader of its own that returns the answers as text by row. */
export const FORMATS: ReadonlyArray<readonly [string, AnswerFormat, (path: string) => readonly StoredAnswer[]]> = [
  ['a.jsonl', JSON_ANSWERS, readJsonLines],
  ['a.csv', csvAnswers(',', ['text']), readCsv],
];

export interface StoredAnswer {
  readonly row: number;
  /** The field `text` of the value; undefined for a failure. */
  readonly text: string | undefined;
}

export function textAnswer(text: string): RowAnswer {
  return { value: JSON.stringify({ text }), usage: { inputTokens: 1 } };
}

function readJsonLines(path: string): readonly StoredAnswer[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const { row, value } = JSON.parse(line) as { row: number; value?: { text: string } };
    return { row, text: value?.text };
  });
}

function readCsv(path: string): readonly StoredAnswer[] {
  if (!existsSync(path)) return [];
  const rows = parse(readFileSync(path), { columns: true }) as unknown as Array<Record<string, string>>;
  return rows.map(({ svc_row, svc_error, text }) => ({
    row: Number(svc_row),
    text: svc_error === '' ? text : undefined,
  }));
}

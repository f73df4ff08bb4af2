import type { JsonValue } from '../base/json.ts';
import type { CallContent, CallFacts, CallFeedback, ListedCall } from '../schema/kept-call.ts';

/** A value that every database can store. */
export type SqlValue = string | number | null;

export type SqlRow = Readonly<Record<string, unknown>>;

/** The columns of a kept call that svc writes, in the order of a `CallRow`. */
export const CALL_COLUMNS = [
  'request_id',
  'at',
  'function',
  'route',
  'program',
  'key',
  'status',
  'error',
  'lossy',
  'cache',
  'client',
  'model',
  'attempts',
  'ms',
  'model_ms',
  'first_text_ms',
  'input_tokens',
  'output_tokens',
  'cost',
  'tags',
  'content',
] as const;

/** The values of a kept call. */
export type CallRow = readonly SqlValue[];

/** The texts of a call, as JSON; null if they are not kept, or if the call has none. */
export interface CallTexts {
  readonly tags: string | null;
  /** A `CallContent`. */
  readonly content: string | null;
}

export function callRow(facts: Omit<CallFacts, 'tags'>, { tags, content }: CallTexts): CallRow {
  return [
    facts.requestId,
    facts.at,
    facts.functionName,
    facts.route,
    facts.program,
    facts.key,
    facts.status,
    facts.error,
    facts.lossy ? 1 : 0,
    facts.cache,
    facts.client,
    facts.model,
    facts.attempts,
    facts.ms,
    facts.modelMs,
    facts.firstTextMs,
    facts.inputTokens,
    facts.outputTokens,
    facts.cost,
    tags,
    content,
  ];
}

/** Rows on their way through processes and threads, as one text: that takes a tenth of the time of lists of values. */
export interface PackedCalls {
  /** A row is the JSON text of its values except for the content, then the content. NUL separates the texts. */
  readonly text: string;
  readonly count: number;
}

const SEPARATOR = '\0';

export function packedRow(row: CallRow): string {
  const content = row.at(-1);
  // JSON text has no NUL of its own.
  return `${JSON.stringify(row.slice(0, -1))}${SEPARATOR}${typeof content === 'string' ? content : ''}`;
}

/** `rows`: texts of `packedRow`. */
export function packedCalls(rows: readonly string[]): PackedCalls {
  return { text: rows.join(SEPARATOR), count: rows.length };
}

export function unpackedRows({ text }: PackedCalls): readonly CallRow[] {
  const parts = text.split(SEPARATOR);
  const rows: CallRow[] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const content = parts[index + 1] ?? '';
    rows.push([...(JSON.parse(parts[index] ?? '[]') as SqlValue[]), content === '' ? null : content]);
  }
  return rows;
}

/** The columns of `listedCall`, which leave the contents out. */
export const LISTED_COLUMNS = ['seq', ...CALL_COLUMNS.slice(0, -1)].join(', ');

/** Reads a row of the database. Postgres returns its big integers as text. */
export function listedCall(row: SqlRow): ListedCall {
  const text = (column: string) => (row[column] ?? null) as string | null;
  const number = (column: string) => Number(row[column]);
  const optional = (column: string) => (row[column] === null || row[column] === undefined ? null : number(column));
  return {
    seq: number('seq'),
    requestId: String(row['request_id']),
    at: number('at'),
    functionName: String(row['function']),
    route: row['route'] === 'stream' ? 'stream' : 'call',
    program: String(row['program']),
    key: text('key'),
    status: number('status'),
    error: text('error'),
    lossy: number('lossy') === 1,
    cache: text('cache'),
    client: text('client'),
    model: text('model'),
    attempts: number('attempts'),
    ms: number('ms'),
    modelMs: number('model_ms'),
    firstTextMs: optional('first_text_ms'),
    inputTokens: optional('input_tokens'),
    outputTokens: optional('output_tokens'),
    cost: optional('cost'),
    tags: parsed(row['tags']) as ListedCall['tags'],
    score: optional('score'),
    label: text('label'),
  };
}

export function callContent(row: SqlRow): CallContent | null {
  return parsed(row['content']) as CallContent | null;
}

export function callFeedback(row: SqlRow): CallFeedback {
  const { at, key, score, label, comment, value } = row;
  return {
    at: Number(at),
    key: (key ?? null) as string | null,
    score: score === null || score === undefined ? null : Number(score),
    label: (label ?? null) as string | null,
    comment: (comment ?? null) as string | null,
    value: parsed(value),
  };
}

function parsed(text: unknown): JsonValue {
  return typeof text === 'string' ? (JSON.parse(text) as JsonValue) : null;
}

const MINUTE_MS = 60_000;

export const MINUTE_COLUMNS = [
  'function',
  'minute',
  'calls',
  'failures',
  'lossy',
  'cost',
  'input_tokens',
  'output_tokens',
  'ms',
] as const;

/**
 * Sums calls by function and minute: rows of `MINUTE_COLUMNS`. They are in one order for all machines, so that transactions which
 * add to the same minutes do not wait for one another in a circle.
 */
export function minuteRows(rows: readonly CallRow[]): readonly SqlValue[][] {
  const minutes = new Map<string, [functionName: string, minute: number, ...sums: number[]]>();
  for (const row of rows) {
    const [functionName, at] = [String(row[FUNCTION]), Number(row[AT])];
    const minute = at - (at % MINUTE_MS);
    const key = `${String(minute)} ${functionName}`;
    let sums = minutes.get(key);
    if (sums === undefined) minutes.set(key, (sums = [functionName, minute, 0, 0, 0, 0, 0, 0, 0]));
    const add = (index: number, value: SqlValue | undefined) =>
      void (sums[index] = Number(sums[index]) + Number(value ?? 0));
    add(2, 1);
    add(3, row[ERROR] === null ? 0 : 1);
    add(4, row[LOSSY]);
    add(5, row[COST]);
    add(6, row[INPUT]);
    add(7, row[OUTPUT]);
    add(8, row[MS]);
  }
  return [...minutes].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sums]) => sums);
}

const [FUNCTION, AT, ERROR, LOSSY, COST, INPUT, OUTPUT, MS] = (
  ['function', 'at', 'error', 'lossy', 'cost', 'input_tokens', 'output_tokens', 'ms'] as const
).map((column) => CALL_COLUMNS.indexOf(column)) as [number, number, number, number, number, number, number, number];

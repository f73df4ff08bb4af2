import type {
  CallFeedback,
  CallFilter,
  CallPage,
  CallPoint,
  CallSeries,
  KeptCall,
  ListedCall,
} from '../schema/kept-call.ts';
import {
  CALL_COLUMNS,
  callContent,
  callFeedback,
  type CallRow,
  LISTED_COLUMNS,
  listedCall,
  MINUTE_COLUMNS,
  minuteRows,
  type SqlRow,
  type SqlValue,
} from './call-rows.ts';

/** Rows to insert into a table. */
export interface Insert {
  readonly into: string;
  readonly columns: readonly string[];
  readonly rows: ReadonlyArray<readonly SqlValue[]>;
  /** A clause `ON CONFLICT`. */
  readonly onConflict?: string;
}

/** A connection to a database. Statements have `?` for each parameter. Every method rejects with the error of the database. */
export interface CallDriver {
  /** The operator that ignores the case of letters of ASCII. */
  readonly like: 'LIKE' | 'ILIKE';
  all(sql: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Inserts everything or nothing. */
  insert(inserts: readonly Insert[]): Promise<void>;
  /** Runs a statement and returns the number of rows that it changed. */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>;
  /** The bytes of the calls; undefined if the server of the database decides how much there can be. */
  size(): Promise<number | undefined>;
  close(): Promise<void>;
}

/** How long calls are kept. */
export interface Retention {
  readonly maxAgeMs: number;
  /** In bytes. */
  readonly maxSize: number;
}

const ADD_TO_MINUTE = `ON CONFLICT (minute, function) DO UPDATE SET ${MINUTE_COLUMNS.slice(2)
  .map((column) => `${column} = svc_call_minutes.${column} + excluded.${column}`)
  .join(', ')}`;

/** In one query, SQLite would read the whole table. */
const ENDS = 'SELECT (SELECT min(seq) FROM svc_calls) AS first, (SELECT max(seq) FROM svc_calls) AS last';

/** Calls that one step of a search looks at. Steps grow while they are fast. */
const FIRST_STEP = 20_000;
const FAST_STEP_MS = 50;

/** A page shows what a search has found by then. */
const SEARCH_MS = 1_500;

/** Calls are kept up to this long after they ended, and not exactly in this order. */
const DISORDER_MS = 60_000;

/** Entries of feedback for one call: whoever may call a function could otherwise fill the database. */
const MOST_FEEDBACK = 100;

export type FeedbackOutcome = 'stored' | 'unknown call' | 'too much';

/** Calls that one statement deletes: others can write in between. */
const DELETED_AT_ONCE = 5_000;

/** The kept calls of a database. */
export class CallDatabase {
  readonly #driver: CallDriver;

  constructor(driver: CallDriver) {
    this.#driver = driver;
  }

  /** Keeps all of the calls or none. */
  keep(rows: readonly CallRow[]): Promise<void> {
    return this.#driver.insert([
      { into: 'svc_calls', columns: CALL_COLUMNS, rows },
      { into: 'svc_call_minutes', columns: MINUTE_COLUMNS, rows: minuteRows(rows), onConflict: ADD_TO_MINUTE },
    ]);
  }

  /** Adds feedback to the newest call with this id, unless it belongs to another key. */
  async addFeedback(requestId: string, feedback: CallFeedback): Promise<FeedbackOutcome> {
    const sql = 'SELECT seq, key FROM svc_calls WHERE request_id = ? ORDER BY seq DESC LIMIT 1';
    const [call] = await this.#driver.all(sql, [requestId]);
    if (call === undefined || (feedback.key !== null && feedback.key !== call['key'])) return 'unknown call';
    const seq = Number(call['seq']);
    const [given] = await this.#driver.all('SELECT count(*) AS given FROM svc_call_feedback WHERE call = ?', [seq]);
    if (Number(given?.['given']) >= MOST_FEEDBACK) return 'too much';
    const { at, key, score, label, comment, value } = feedback;
    const row = [seq, at, key, score, label, comment, value === null ? null : JSON.stringify(value)];
    const columns = ['call', 'at', 'key', 'score', 'label', 'comment', 'value'];
    await this.#driver.insert([{ into: 'svc_call_feedback', columns, rows: [row] }]);
    return 'stored';
  }

  /**
   * Returns up to `limit` calls that fit the filter, of those with a lower `seq` than `before`. A search that takes long returns
   * what it has found so far.
   */
  async page(
    filter: CallFilter,
    { before, limit }: { readonly before?: number | undefined; readonly limit: number },
  ): Promise<CallPage> {
    const startedAt = performance.now();
    const [ends] = await this.#driver.all(ENDS);
    if (ends?.['last'] === null || ends === undefined) return { calls: [], next: null, searchedTo: null };
    const { since, until } = filter;
    const first = Math.max(Number(ends['first']), since === undefined ? 0 : await this.#seqAt(since - DISORDER_MS));
    const last = until === undefined ? Infinity : await this.#seqAt(until + DISORDER_MS);
    let end = Math.min(before ?? Infinity, Number(ends['last']) + 1, last);
    const found: SqlRow[] = [];
    const { conditions, values } = this.#conditions(filter);
    const where = ['seq >= ? AND seq < ?', ...conditions].join(' AND ');
    const sql = `SELECT ${LISTED_COLUMNS} FROM svc_calls WHERE ${where} ORDER BY seq DESC LIMIT ?`;
    for (let step = FIRST_STEP; end > first && performance.now() - startedAt < SEARCH_MS;) {
      const begin = Math.max(first, end - step);
      const stepAt = performance.now();
      const rows = await this.#driver.all(sql, [begin, end, ...values, limit - found.length]);
      found.push(...rows);
      const isFull = found.length === limit;
      end = isFull ? Number(rows.at(-1)?.['seq']) : begin;
      if (isFull) break;
      if (performance.now() - stepAt < FAST_STEP_MS) step *= 4;
    }
    const calls = await this.#withFeedback(found.map(listedCall));
    return { calls, next: end > first ? end : null, searchedTo: await this.#timeAt(end) };
  }

  /** Returns a call in full; undefined if it is gone. */
  async call(seq: number): Promise<KeptCall | undefined> {
    const [row] = await this.#driver.all('SELECT * FROM svc_calls WHERE seq = ?', [seq]);
    if (row === undefined) return undefined;
    const rows = await this.#driver.all('SELECT * FROM svc_call_feedback WHERE call = ? ORDER BY id', [seq]);
    const feedback = rows.map(callFeedback);
    const { score = null, label = null } = feedback.at(-1) ?? {};
    return { ...listedCall(row), score, label, content: callContent(row), feedback };
  }

  /** Sums the calls of each function in intervals, which begin at multiples of `intervalMs`: a multiple of a minute. */
  async series({ since, until, intervalMs }: SeriesQuery): Promise<readonly CallSeries[]> {
    const sums = MINUTE_COLUMNS.slice(2).map((column) => `sum(${column}) AS ${column}`);
    const sql = `SELECT function, minute - minute % ? AS start, ${sums.join(', ')} FROM svc_call_minutes
      WHERE minute >= ? AND minute < ? GROUP BY 1, 2 ORDER BY 1, 2`;
    const rows = await this.#driver.all(sql, [intervalMs, since, until]);
    const series = new Map<string, CallPoint[]>();
    for (const row of rows) {
      const functionName = String(row['function']);
      const points = series.get(functionName) ?? [];
      series.set(functionName, points);
      points.push(pointOf(row));
    }
    return [...series].map(([functionName, points]) => ({ functionName, points }));
  }

  /** Deletes the calls that are too old or too many, and returns their number. */
  async prune({ maxAgeMs, maxSize }: Retention, now: number): Promise<number> {
    const oldest = now - maxAgeMs;
    let deleted = await this.#deleteBelow(await this.#seqAt(oldest));
    await this.#driver.run('DELETE FROM svc_call_minutes WHERE minute < ?', [oldest]);
    for (let size = await this.#driver.size(); size !== undefined && size > maxSize; size = await this.#driver.size()) {
      const [ends] = await this.#driver.all(ENDS);
      if (ends === undefined || ends['last'] === null) break;
      const [first, last] = [Number(ends['first']), Number(ends['last'])];
      deleted += await this.#deleteBelow(first + Math.max(1, Math.ceil((last - first) / 20)));
    }
    return deleted;
  }

  close(): Promise<void> {
    return this.#driver.close();
  }

  async #deleteBelow(seq: number): Promise<number> {
    const sql =
      'DELETE FROM svc_calls WHERE seq IN (SELECT seq FROM svc_calls WHERE seq < ? ORDER BY seq LIMIT ' +
      `${String(DELETED_AT_ONCE)})`;
    let deleted = 0;
    for (let count = DELETED_AT_ONCE; count === DELETED_AT_ONCE; deleted += count) {
      count = await this.#driver.run(sql, [seq]);
    }
    return deleted;
  }

  #conditions(filter: CallFilter): { readonly conditions: readonly string[]; readonly values: readonly SqlValue[] } {
    const { functionName, client, key, requestId, error, lossy, slowMs, tag, text, feedback, since, until } = filter;
    const { like } = this.#driver;
    const conditions: string[] = [];
    const values: SqlValue[] = [];
    const add = (condition: string, ...of: readonly SqlValue[]): void => {
      conditions.push(condition);
      values.push(...of);
    };
    if (functionName !== undefined) add('function = ?', functionName);
    if (client !== undefined) add('client = ?', client);
    if (key !== undefined) add('key = ?', key);
    if (requestId !== undefined) add('request_id = ?', requestId);
    if (error === 'any') add('error IS NOT NULL');
    else if (error !== undefined) add('error = ?', error);
    if (lossy === true) add('lossy = 1');
    if (slowMs !== undefined) add('ms >= ?', slowMs);
    if (since !== undefined) add('at >= ?', since);
    if (until !== undefined) add('at < ?', until);
    if (tag !== undefined) {
      add("tags LIKE ? ESCAPE '\\'", `%${likeText(`${JSON.stringify(tag.name)}:${JSON.stringify(tag.value)}`)}%`);
    }
    // The contents are JSON text, in which some characters are escaped.
    if (text !== undefined) add(`content ${like} ? ESCAPE '\\'`, `%${likeText(JSON.stringify(text).slice(1, -1))}%`);
    if (feedback === 'any') add('seq IN (SELECT call FROM svc_call_feedback)');
    else if (feedback !== undefined) add('seq IN (SELECT call FROM svc_call_feedback WHERE label = ?)', feedback);
    return { conditions, values };
  }

  async #withFeedback(calls: readonly ListedCall[]): Promise<readonly ListedCall[]> {
    if (calls.length === 0) return calls;
    const places = calls.map(() => '?').join(', ');
    const sql = `SELECT call, score, label FROM svc_call_feedback WHERE call IN (${places}) ORDER BY id`;
    const rows = await this.#driver.all(
      sql,
      calls.map(({ seq }) => seq),
    );
    const newest = new Map(rows.map((row) => [Number(row['call']), row]));
    return calls.map((call) => {
      const row = newest.get(call.seq);
      return row === undefined ? call : { ...call, score: callFeedback(row).score, label: callFeedback(row).label };
    });
  }

  /** The `seq` of the first call that ended at this time or later: a binary search, because `seq` grows with the time. */
  async #seqAt(time: number): Promise<number> {
    const [ends] = await this.#driver.all(ENDS);
    if (ends === undefined || ends['last'] === null) return 0;
    let low = Number(ends['first']);
    let high = Number(ends['last']) + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const at = await this.#timeAt(middle);
      if (at === null || at >= time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The end of the first call with at least this `seq`; null if there is none. */
  async #timeAt(seq: number): Promise<number | null> {
    const [row] = await this.#driver.all('SELECT at FROM svc_calls WHERE seq >= ? ORDER BY seq LIMIT 1', [seq]);
    return row === undefined ? null : Number(row['at']);
  }
}

/** Times in milliseconds since 1970. */
export interface SeriesQuery {
  readonly since: number;
  readonly until: number;
  readonly intervalMs: number;
}

function pointOf(row: SqlRow): CallPoint {
  return {
    at: Number(row['start']),
    calls: Number(row['calls']),
    failures: Number(row['failures']),
    lossy: Number(row['lossy']),
    cost: Number(row['cost']),
    inputTokens: Number(row['input_tokens']),
    outputTokens: Number(row['output_tokens']),
    ms: Number(row['ms']),
  };
}

function likeText(text: string): string {
  return text.replaceAll(/[\\%_]/gu, '\\$&');
}

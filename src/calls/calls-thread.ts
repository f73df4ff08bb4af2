import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { codeOf, invariant, messageOf } from '../base/invariant.ts';
import type { CallsAddress } from '../config/calls-address.ts';
import type { CallFeedback, CallFilter } from '../schema/kept-call.ts';
import type { CallDatabase, FeedbackOutcome, Retention, SeriesQuery } from './call-database.ts';
import { type CallRow, type PackedCalls, unpackedRows } from './call-rows.ts';
import { openCalls } from './open-calls.ts';

/*
 * A thread of the primary that waits for a database of calls, so that nothing else does. One thread writes; another reads, so that a long
 * search holds up no writer.
 */

export interface CallsThreadData {
  readonly address: CallsAddress;
  readonly role: 'writer' | 'reader';
  readonly retention: Retention;
}

/** Each is answered with a `CallsAnswer` of its id. */
export type CallsTask =
  /** Answered once the rows are in the database, or cannot be stored, however long that takes. */
  | { readonly type: 'keep'; readonly calls: PackedCalls }
  /** Answered with a `FeedbackOutcome`. */
  | { readonly type: 'feedback'; readonly requestId: string; readonly feedback: CallFeedback }
  | CallsQuery
  /** Writes what waits, and closes the database. */
  | { readonly type: 'close' };

export type CallsQuery =
  | { readonly type: 'page'; readonly filter: CallFilter; readonly before?: number | undefined; readonly limit: number }
  | { readonly type: 'call'; readonly seq: number }
  | ({ readonly type: 'series' } & SeriesQuery);

export type CallsAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: string }
  /** The writer cannot write, for this reason; undefined: it can again. */
  | { readonly id: 0; readonly state: string | undefined };

/** The pauses between two attempts to write, in milliseconds: doubled up to the longest. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** Rows of one transaction. */
const MOST_ROWS = 2_000;

const PRUNE_MS = 60_000;

/** A call arrives this long after its answer at most, unless the database fails. */
const ARRIVAL_MS = 1_000;

/** Runs the tasks that arrive at this thread. */
export function runCallsThread(): void {
  const port = parentPort;
  invariant(port !== null, 'not a thread');
  const send = (answer: CallsAnswer): void => port.postMessage(answer, []);
  const thread = new CallsThread(workerData as CallsThreadData, send);
  port.on('message', ({ id, task }: { readonly id: number; readonly task: CallsTask }) => {
    if (task.type === 'keep') thread.keep(id, task.calls);
    else {
      thread.run(task).then(
        (value) => send({ id, value }),
        (error: unknown) => send({ id, failure: messageOf(error) }),
      );
    }
  });
}

class CallsThread {
  readonly #data: CallsThreadData;
  readonly #send: (answer: CallsAnswer) => void;
  #database: Promise<CallDatabase> | undefined;
  #waiting: { readonly id: number; readonly calls: PackedCalls }[] = [];
  #writing: Promise<void> | undefined;
  #closing = false;
  #state: string | undefined;

  constructor(data: CallsThreadData, send: (answer: CallsAnswer) => void) {
    this.#data = data;
    this.#send = send;
    if (data.role !== 'writer') return;
    // The tables exist before the first reader needs them.
    void this.#attempt(() => Promise.resolve());
    setInterval(() => void this.#prune(), PRUNE_MS).unref();
  }

  keep(id: number, calls: PackedCalls): void {
    this.#waiting.push({ id, calls });
    this.#writing ??= this.#write();
  }

  async run(task: Exclude<CallsTask, { readonly type: 'keep' }>): Promise<unknown> {
    switch (task.type) {
      case 'feedback':
        return this.#addFeedback(task);
      case 'close':
        return this.#close();
      case 'page':
        return (await this.#opened()).page(task.filter, task);
      case 'call':
        return (await this.#opened()).call(task.seq);
      case 'series':
        return (await this.#opened()).series(task);
    }
  }

  async #addFeedback({
    requestId,
    feedback,
  }: Extract<CallsTask, { readonly type: 'feedback' }>): Promise<FeedbackOutcome> {
    for (let waited = 0; ; waited += FIRST_PAUSE_MS) {
      await this.#writing;
      const outcome = await (await this.#opened()).addFeedback(requestId, feedback);
      if (outcome !== 'unknown call' || waited >= ARRIVAL_MS) return outcome;
      await sleep(FIRST_PAUSE_MS);
    }
  }

  async #write(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (this.#waiting.length > 0) {
      const taken = this.#take();
      const rows = taken.flatMap(({ calls }) => unpackedRows(calls));
      if (await this.#attempt((database) => keepAll(database, rows))) {
        for (const { id } of taken) this.#send({ id, value: rows.length });
        pauseMs = FIRST_PAUSE_MS;
      } else if (this.#closing) {
        for (const { id } of taken) this.#send({ id, failure: this.#state ?? '' });
      } else {
        this.#waiting = [...taken, ...this.#waiting];
        await sleep(pauseMs);
        pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
      }
    }
    this.#writing = undefined;
  }

  /** Takes tasks with up to `MOST_ROWS` rows, and at least one. */
  #take(): { readonly id: number; readonly calls: PackedCalls }[] {
    let count = 1;
    for (let rows = this.#waiting[0]?.calls.count ?? 0; count < this.#waiting.length; count += 1) {
      rows += this.#waiting[count]?.calls.count ?? 0;
      if (rows > MOST_ROWS) break;
    }
    return this.#waiting.splice(0, count);
  }

  /** Returns false if the database does not work. */
  async #attempt(work: (database: CallDatabase) => Promise<void>): Promise<boolean> {
    try {
      await work(await this.#opened());
      this.#report(undefined);
      return true;
    } catch (error) {
      this.#report(messageOf(error));
      return false;
    }
  }

  #report(state: string | undefined): void {
    if (state !== this.#state) this.#send({ id: 0, state });
    this.#state = state;
  }

  #opened(): Promise<CallDatabase> {
    const { address, role } = this.#data;
    this.#database ??= openCalls(address, { readOnly: role === 'reader' }).catch((error: unknown) => {
      // The next task tries again.
      this.#database = undefined;
      throw error;
    });
    return this.#database;
  }

  async #prune(): Promise<void> {
    await this.#writing;
    await this.#attempt(async (database) => void (await database.prune(this.#data.retention, Date.now())));
  }

  async #close(): Promise<void> {
    this.#closing = true;
    await this.#writing;
    await (await this.#database)?.close();
  }
}

/** Keeps the rows, except those that no database would take. */
async function keepAll(database: CallDatabase, rows: readonly CallRow[]): Promise<void> {
  try {
    await database.keep(rows);
  } catch (error) {
    if (!isAboutData(error)) throw error;
    if (rows.length === 1) return;
    for (const row of rows) await keepAll(database, [row]);
  }
}

/** The numbers of SQLite for TOOBIG, CONSTRAINT and MISMATCH. */
const ABOUT_DATA: ReadonlySet<number> = new Set([18, 19, 20]);

/** The error would come again with the same rows: one of those of SQLite, or of the classes 22, 23 and 54 of SQL. */
function isAboutData(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  if (code === 'ERR_SQLITE_ERROR') {
    // The low byte; the others distinguish the reasons.
    return ABOUT_DATA.has(Number((error as { readonly errcode?: number }).errcode) % 256);
  }
  return /^(?:22|23|54)...$|^SQLITE_(?:TOOBIG|CONSTRAINT|MISMATCH)/u.test(code);
}

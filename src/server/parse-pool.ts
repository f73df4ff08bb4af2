import type { Piscina } from 'piscina';
import type { Cancellation } from '../base/cancellation.ts';
import type { JsonValue } from '../base/json.ts';
import { err, ok } from '../base/result.ts';
import type { ParsedReply, ParseFlag, ParseOutcome } from '../runtime/parsing/reply-parser.ts';
import type { ParseTask, ParseTaskResult } from './parse-task.ts';

/**
 * Replies longer than this (in UTF-16 units) are parsed on a thread. Measured: up to 100 KB inline costs other calls
 * nothing that can be seen; a thread's round trip is about 0.1 ms.
 */
export const PARSE_ELSEWHERE_ABOVE = 250_000;

/** The work is rare and short; more threads would take the cores from the workers. */
const MAX_THREADS = 2;

/** Replies that wait for a thread. At some milliseconds each this is under a second; beyond it calls fail early. */
const MAX_QUEUE = 64;

/** A thread that was not needed for this long ends and gives its memory back. */
const IDLE_MS = 30_000;

/** No reply takes this long to parse: a thread that does is stuck. */
const DEADLINE_MS = 10_000;

type Pool = Piscina<ParseTask, ParseTaskResult>;

/** Threads that parse large replies, so that they hold up no other call. Nothing is started before the first one. */
export class ParsePool {
  readonly #thread: URL;
  readonly #programPath: string;
  #pool: Pool | undefined;
  #creating: Promise<Pool> | undefined;

  /** `thread` is the file of the thread's entry: its default export takes a ParseTask. */
  constructor(thread: URL, programPath: string) {
    this.#thread = thread;
    this.#programPath = programPath;
  }

  get queueSize(): number {
    return this.#pool?.queueSize ?? 0;
  }

  /** Rejects when the queue is full or the thread crashed; a cancelled call's outcome means nothing. */
  async parse(functionName: string, text: string, cancellation: Cancellation): Promise<ParseOutcome> {
    const pool = this.#pool ?? (await (this.#creating ??= this.#create()));
    // piscina does not apply its own limit to tasks with a signal.
    if (pool.queueSize >= MAX_QUEUE) return err(TOO_BUSY);
    const abort = new AbortController();
    const release = cancellation.onCancel(() => abort.abort());
    const timer = setTimeout(() => abort.abort(), DEADLINE_MS);
    try {
      const task = { programPath: this.#programPath, functionName, text };
      return outcomeOf(await pool.run(task, { signal: abort.signal }));
    } catch (error) {
      if (abort.signal.aborted) return err(TOO_SLOW);
      throw error;
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  async close(): Promise<void> {
    const pool = await this.#creating;
    this.#creating = undefined;
    this.#pool = undefined;
    await pool?.destroy();
  }

  /** Most workers never need it: it is not even loaded at the start. */
  async #create(): Promise<Pool> {
    const { Piscina } = await import('piscina');
    this.#pool = new Piscina<ParseTask, ParseTaskResult>({
      filename: this.#thread.href,
      minThreads: 0,
      maxThreads: MAX_THREADS,
      idleTimeout: IDLE_MS,
    });
    return this.#pool;
  }
}

const TOO_BUSY = { message: 'Too many large replies wait to be parsed: try again.', details: [] };
const TOO_SLOW = { message: 'The reply could not be parsed in time.', details: [] };

function outcomeOf(result: ParseTaskResult): ParseOutcome {
  return result.ok ? ok(new ThreadReply(result.json, result.flags)) : err(result.failure);
}

/** Mostly only the text is needed. */
class ThreadReply implements ParsedReply {
  readonly json: string;
  readonly flags: readonly ParseFlag[];
  #value: JsonValue | undefined;

  constructor(json: string, flags: readonly ParseFlag[]) {
    this.json = json;
    this.flags = flags;
  }

  get value(): JsonValue {
    this.#value ??= JSON.parse(this.json) as JsonValue;
    return this.#value;
  }
}

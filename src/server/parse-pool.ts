import type { Piscina } from 'piscina';
import { err, ok, type Result } from '../base/result.ts';
import type { Failure } from '../schema/errors.ts';
import { validationFailure } from '../runtime/call/parse-reply.ts';
import type { WholeReply } from '../runtime/call/runtime.ts';
import { JsonReply } from '../runtime/reply/json-reply.ts';
import type { ParsedReply } from '../runtime/reply/reply-parser.ts';
import { Admission, type Waiter } from './admission.ts';
import { ParseLimit } from './parse-limit.ts';
import type { ParseTask, ParseTaskResult } from './parse-task.ts';

/**
 * Replies longer than this (in UTF-16 units) are parsed on a thread. Measured by `bench/parse-threads.ts`: 250 KB hold a worker
 * up for 2 ms inline, and for 0.4 ms when a thread parses them; 1 MB for 15 ms and 1 ms. Other calls may wait for 5 ms, and
 * texts that have to be repaired all over take a few times as long; below this size a thread saves less than its 30 MB are worth.
 */
export const PARSE_ELSEWHERE_ABOVE = 250_000;

/** The work is rare and short; more threads would take the cores from the workers. */
const MAX_THREADS = 2;

/** Replies that wait for a thread. At some milliseconds each this is under a second; beyond it calls fail early. */
const MAX_QUEUE = 64;

/**
 * A reply whose values need more ends its thread, not the process. 30 MB of usual JSON fit; V8's flag for the heap of workers
 * goes before this.
 */
const MAX_HEAP_MB = 512;

/** A thread that was not needed for this long ends and gives its memory back. */
const IDLE_MS = 30_000;

type Pool = Piscina<ParseTask, ParseTaskResult>;

export interface ParsePoolOptions {
  /** The file of the thread's entry: its default export takes a ParseTask. */
  readonly thread: URL;
  readonly programPath: string;
  /** Hears of threads that ended while nobody waited for them. */
  readonly onThreadError: (error: Error) => void;
  /** Hears once that no thread can ever be started in this process. */
  readonly onUnusable: (error: unknown) => void;
}

/**
 * Threads that parse large replies, so that they hold up no other call. Nothing is started before the first one.
 *
 * piscina gets no more tasks than it has threads: it applies no limit to waiting tasks that carry a signal, and after
 * the end of its last thread they would wait for ever.
 */
export class ParsePool {
  readonly #options: ParsePoolOptions;
  readonly #admission = new Admission(MAX_THREADS, MAX_QUEUE);
  #creating: Promise<Pool> | undefined;
  #closed = false;

  constructor(options: ParsePoolOptions) {
    this.#options = options;
  }

  /** Replies that wait for a thread. */
  get queueSize(): number {
    return this.#admission.waiting;
  }

  /** Rejects only for a bug: full queue, deadline, a caller that left and the end of the pool are failures. */
  async parse(reply: WholeReply): Promise<Result<ParsedReply, Failure>> {
    if (this.#closed) return err(STOPPING);
    const limit = new ParseLimit(reply);
    try {
      return await this.#parseInTurn(reply, limit);
    } finally {
      limit.end();
    }
  }

  /** What waits or runs ends as a failure. */
  async close(): Promise<void> {
    this.#closed = true;
    const pool = await this.#creating?.catch(() => undefined);
    await pool?.destroy();
  }

  async #parseInTurn(reply: WholeReply, limit: ParseLimit): Promise<Result<ParsedReply, Failure>> {
    const turn = new Turn(limit);
    if (!this.#admission.enter(turn)) return err(TOO_BUSY);
    try {
      await turn.comes;
      return limit.failure === undefined ? await this.#parseNow(reply, limit) : err(limit.failure);
    } finally {
      this.#admission.leave(turn);
    }
  }

  async #parseNow(reply: WholeReply, limit: ParseLimit): Promise<Result<ParsedReply, Failure>> {
    const { functionName, text } = reply;
    try {
      const pool = await (this.#creating ??= this.#create());
      if (this.#closed) return err(STOPPING);
      const task = { programPath: this.#options.programPath, functionName, text };
      return outcomeOf(await pool.run(task, { signal: limit.signal }), text);
    } catch (error) {
      const failure = limit.failure ?? (this.#closed ? STOPPING : failureOf(error, text));
      if (failure === undefined) throw error;
      return err(failure);
    }
  }

  /** Most workers never need it: it is not even loaded at the start. */
  async #create(): Promise<Pool> {
    const Pool = await this.#load();
    const pool = new Pool<ParseTask, ParseTaskResult>({
      filename: this.#options.thread.href,
      minThreads: 0,
      maxThreads: MAX_THREADS,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    // A thread may still run out of memory while it is being ended; unheard, that would end the process.
    pool.on('error', this.#options.onThreadError);
    return pool;
  }

  /** A library that could not be loaded, for want of descriptors, say, cannot be loaded by this process any more. */
  async #load(): Promise<typeof Piscina> {
    try {
      return (await import('piscina')).Piscina;
    } catch (error) {
      this.#options.onUnusable(error);
      throw error;
    }
  }
}

const TOO_BUSY: Failure = {
  code: 'overloaded',
  message: 'Too many large replies wait to be parsed: try again.',
  retryAfterSeconds: 1,
};
const STOPPING: Failure = { code: 'draining', message: 'The server stops: try again.', retryAfterSeconds: 1 };

/** What lies in the reply; undefined for a bug. */
function failureOf(error: unknown, text: string): Failure | undefined {
  const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  if (!isMemory) return undefined;
  return validationFailure({ message: 'the reply holds more values than there is memory for', details: [] }, text);
}

function outcomeOf(result: ParseTaskResult, text: string): Result<ParsedReply, Failure> {
  return result.ok ? ok(new JsonReply(result.json, result.flags)) : err(validationFailure(result.failure, text));
}

/** Waits for a thread. */
class Turn implements Waiter {
  /** Resolves when a thread is free, or when the limit is reached. */
  readonly comes: Promise<void>;
  admitted: () => void = () => undefined;

  constructor({ signal }: ParseLimit) {
    this.comes = new Promise((resolve) => {
      this.admitted = resolve;
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve());
    });
  }
}

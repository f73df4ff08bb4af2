import { createRequire } from 'node:module';
import type * as PiscinaPackage from 'piscina';
import { codeOf } from '../base/invariant.ts';
import { err, ok, type Result } from '../base/result.ts';
import type { Failure } from '../schema/failure.ts';
import { validationFailure } from '../runtime/call/parse-reply.ts';
import type { WholeReply } from '../runtime/call/runtime.ts';
import { JsonReply, type ParsedReply } from '../runtime/reply/reply-parser.ts';
import { Admission, DRAINING, type Waiter } from './admission.ts';
import type { ParseTask, ParseTaskResult } from './parse-task.ts';

/**
 * Threads parse replies longer than this (in UTF-16 units), and shorter ones whose parsing takes many steps. Measured by
 * `bench/parse-threads.ts`: 250 KB block a worker for 2 ms inline, and for 0.4 ms when a thread parses them; 1 MB for 15 ms
 * and 1 ms. Other calls can wait for 5 ms; below this size a thread saves less than its 30 MB cost.
 */
export const PARSE_ELSEWHERE_ABOVE = 250_000;

/** The work is rare and short; more threads would take the cores from the workers. */
const MAX_THREADS = 2;

/** Replies that wait for a thread. At some milliseconds each, this is under a second; beyond it, calls fail early. */
const MAX_QUEUE = 64;

/**
 * A reply whose values need more memory ends its thread, not the process. 30 MB of typical JSON fit. The worker's own heap flag
 * takes precedence.
 */
const MAX_HEAP_MB = 512;

/**
 * Node gives a thread 16 MB beyond its limit in which to end. A young generation that is larger may have to move as a whole, and Node 24 then
 * ends the process. Workers have this size by a flag.
 */
const MAX_YOUNG_MB = 12;

/** A thread ends after this idle time and returns its memory. */
const IDLE_MS = 30_000;

/**
 * Ends a thread that hangs. The limit of steps ends the worst texts after half a second of CPU time, but a thread can wait long for a
 * processor.
 */
const LONGEST_PARSE_MS = 30_000;

const load = createRequire(import.meta.url);

type Pool = PiscinaPackage.Piscina<ParseTask, ParseTaskResult>;

export interface ParsePoolOptions {
  /** The entry file of the threads: its default export takes a ParseTask. */
  readonly thread: URL;
  readonly programPath: string;
  /** Called for a thread that ended while no reply waited for it. */
  readonly onThreadError: (error: Error) => void;
  /** Called when this process cannot start a thread. */
  readonly onUnusable: (error: unknown) => void;
  /** The heap of a thread in megabytes. */
  readonly maxHeapMb?: number;
}

/**
 * Threads that parse large and expensive replies, so that they delay no other call. The first reply starts them.
 *
 * piscina gets at most one task per thread: it does not limit waiting tasks that carry a signal, and after the end of its last
 * thread those would wait forever.
 */
export class ParsePool {
  readonly #options: ParsePoolOptions;
  readonly #admission = new Admission(MAX_THREADS, MAX_QUEUE);
  #pool: Pool | undefined;
  /** The number of replies so far, and of those that reached a limit, for metrics. */
  readonly counts = { replies: 0, steps: 0, time: 0, memory: 0 };
  #closed = false;

  constructor(options: ParsePoolOptions) {
    this.#options = options;
  }

  /** Replies that wait for a thread. */
  get queueSize(): number {
    return this.#admission.waiting;
  }

  /** Rejects only for a bug: a full queue, the deadline, a caller that left and the end of the pool are failures. */
  async parse(reply: WholeReply): Promise<Result<ParsedReply, Failure>> {
    if (this.#closed) return err(DRAINING);
    this.counts.replies += 1;
    const job = new ParseJob(reply, () => (this.counts.time += 1));
    try {
      return await this.#parseInTurn(job);
    } finally {
      job.end();
    }
  }

  /** Waiting and running replies end as failures. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#pool?.destroy();
  }

  async #parseInTurn(job: ParseJob): Promise<Result<ParsedReply, Failure>> {
    if (this.#admission.enter(job) !== undefined) return err(TOO_BUSY);
    try {
      await job.turn;
      return job.failure === undefined ? await this.#parseNow(job) : err(job.failure);
    } finally {
      this.#admission.leave(job);
    }
  }

  async #parseNow(job: ParseJob): Promise<Result<ParsedReply, Failure>> {
    const { explain = false, extension, functionName, isCut = false, text, wrapped } = job.reply;
    try {
      if (this.#closed) return err(DRAINING);
      const pool = (this.#pool ??= this.#create());
      job.reply.observer?.taken();
      const { programPath } = this.#options;
      const task = { programPath, functionName, text, wrapped, extension, explain, isCut };
      const result = await pool.run(task, { signal: job.signal });
      if (!result.ok && result.isTooMuchWork) this.counts.steps += 1;
      return outcomeOf(result, text);
    } catch (error) {
      const failure = job.failure ?? (this.#closed ? DRAINING : failureOf(error, text));
      if (failure !== undefined && isOutOfMemory(error)) this.counts.memory += 1;
      if (failure === undefined) throw error;
      return err(failure);
    }
  }

  /** Loads piscina on first use: most workers never need it. It cannot load without descriptors, for example. */
  #create(): Pool {
    try {
      const { Piscina: Pool } = load('piscina') as typeof PiscinaPackage;
      const pool = new Pool<ParseTask, ParseTaskResult>({
        filename: this.#options.thread.href,
        minThreads: 0,
        maxThreads: MAX_THREADS,
        idleTimeout: IDLE_MS,
        resourceLimits: {
          maxOldGenerationSizeMb: this.#options.maxHeapMb ?? MAX_HEAP_MB,
          maxYoungGenerationSizeMb: MAX_YOUNG_MB,
        },
      });
      // A thread can run out of memory while it is being ended; without a listener, that error would end the process.
      pool.on('error', this.#options.onThreadError);
      return pool;
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

function isOutOfMemory(error: unknown): boolean {
  return codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** A failure that the reply caused; undefined for a bug. */
function failureOf(error: unknown, text: string): Failure | undefined {
  if (!isOutOfMemory(error)) return undefined;
  return validationFailure(
    { message: 'parsing the reply needs more memory than the limit for one reply', details: [] },
    text,
  );
}

function outcomeOf(result: ParseTaskResult, text: string): Result<ParsedReply, Failure> {
  if (!result.ok) return err(validationFailure(result.failure, text));
  return ok(new JsonReply(result.json, result.flags, result.losses, result.explanation));
}

/** One reply to parse: waits for its turn, and ends early when its caller left, its call timed out, or it takes too long. */
class ParseJob implements Waiter {
  readonly reply: WholeReply;
  /** Resolves when a thread is free, or when the job ended early. */
  readonly turn: Promise<void>;
  admitted: () => void = () => undefined;
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #forget: () => void;
  #failure: Failure | undefined;

  /** `tooSlow`: called if parsing reaches its time limit. */
  constructor(reply: WholeReply, tooSlow: () => void) {
    const { cancellation, deadlineAt, text } = reply;
    this.reply = reply;
    this.turn = new Promise((resolve) => {
      this.admitted = resolve;
    });
    const leftMs = Math.max(0, deadlineAt - performance.now());
    const callEndsFirst = leftMs < LONGEST_PARSE_MS;
    this.#timer = setTimeout(
      () => {
        if (!callEndsFirst) tooSlow();
        this.#endEarly(callEndsFirst ? callTooSlow(leftMs) : replyTooSlow(text));
      },
      Math.min(leftMs, LONGEST_PARSE_MS),
    );
    this.#forget = cancellation.onCancel((reason) => this.#endEarly({ code: 'cancelled', message: reason }));
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why it ended early; undefined if it did not. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** To be called when the parsing is over. */
  end(): void {
    clearTimeout(this.#timer);
    this.#forget();
  }

  #endEarly(failure: Failure): void {
    this.#failure ??= failure;
    this.#abort.abort();
    this.admitted();
  }
}

function callTooSlow(afterMs: number): Failure {
  return {
    code: 'timeout',
    message: 'The reply arrived, but the time of the call ended before it was parsed.',
    timer: 'total',
    afterMs: Math.round(afterMs),
  };
}

function replyTooSlow(text: string): Failure {
  const message = `the reply was not parsed within ${LONGEST_PARSE_MS / 1000} s`;
  return validationFailure({ message, details: [] }, text);
}

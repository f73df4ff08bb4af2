import { Worker } from 'node:worker_threads';
import type { PackedCalls } from '../calls/call-rows.ts';
import type { FeedbackOutcome } from '../calls/call-database.ts';
import type { CallsAnswer, CallsQuery, CallsTask, CallsThreadData } from '../calls/calls-thread.ts';
import type { Logger } from '../logging/logger.ts';
import type { CallFeedback, CallPage } from '../schema/kept-call.ts';
import type { MetricData } from './protocol.ts';

/** Calls that wait for a database which is slow or down, in UTF-16 units: about 20,000 typical ones. Those beyond are not kept. */
const MOST_WAITING = 64 * 2 ** 20;

/** How long the end of the server waits for the last calls to be written, in milliseconds. */
const CLOSE_MS = 3_000;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The primary's side of kept calls: hands them to a thread that writes, and questions to one that reads. No call waits for it. */
export class CallKeeper {
  readonly #data: Omit<CallsThreadData, 'role'>;
  readonly #logger: Logger;
  readonly #writer: CallsClient;
  #reader: CallsClient | undefined;
  #waiting = 0;
  #kept = 0;
  #dropped = 0;
  #state: string | undefined;

  constructor(data: Omit<CallsThreadData, 'role'>, logger: Logger) {
    this.#data = data;
    this.#logger = logger;
    this.#writer = new CallsClient({ ...data, role: 'writer' }, (state) => this.#report(state));
  }

  /** `dropped`: further calls that a worker could not send. */
  keep(calls: PackedCalls, dropped: number): void {
    this.#dropped += dropped;
    const { length } = calls.text;
    if (this.#waiting + length > MOST_WAITING) {
      this.#dropped += calls.count;
      return;
    }
    this.#waiting += length;
    void this.#hand(calls);
  }

  async #hand(calls: PackedCalls): Promise<void> {
    try {
      await this.#writer.ask({ type: 'keep', calls });
      this.#kept += calls.count;
    } catch {
      this.#dropped += calls.count;
    }
    this.#waiting -= calls.text.length;
  }

  async addFeedback(requestId: string, feedback: CallFeedback): Promise<FeedbackOutcome> {
    return (await this.#writer.ask({ type: 'feedback', requestId, feedback })) as FeedbackOutcome;
  }

  /** A page of calls also has the number of those that were not kept since the start: `dropped`. */
  async query(query: CallsQuery): Promise<unknown> {
    this.#reader ??= new CallsClient({ ...this.#data, role: 'reader' }, () => undefined);
    const answer = await this.#reader.ask(query);
    return query.type === 'page' ? { ...(answer as CallPage), dropped: this.#dropped } : answer;
  }

  metrics(): readonly MetricData[] {
    return keptCallMetrics({ kept: this.#kept, dropped: this.#dropped, waitingBytes: this.#waiting });
  }

  /** Writes what waits, if the database works. */
  async close(): Promise<void> {
    await this.#writer.close();
    await this.#reader?.close();
    if (this.#dropped > 0) this.#logger.warn({ dropped: this.#dropped }, 'calls were not kept');
  }

  #report(state: string | undefined): void {
    if (state !== undefined && this.#state === undefined) {
      this.#logger.warn(
        { reason: state },
        'the database of calls does not work; svc keeps calls in memory for a while',
      );
    } else if (state === undefined && this.#state !== undefined) {
      this.#logger.info({ dropped: this.#dropped }, 'the database of calls works again');
    }
    this.#state = state;
  }
}

interface KeptCallCounts {
  readonly kept: number;
  readonly dropped: number;
  readonly waitingBytes: number;
}

export function keptCallMetrics({ kept, dropped, waitingBytes }: KeptCallCounts): readonly MetricData[] {
  const values = Object.entries({ kept, dropped }).map(([outcome, value]) => ({ labels: { outcome }, value }));
  return [
    {
      name: 'svc_kept_calls_total',
      type: 'counter',
      help: 'Calls for the database of --calls: kept, or dropped because it was slow or down',
      aggregator: 'sum',
      values,
    },
    {
      name: 'svc_kept_calls_waiting_bytes',
      type: 'gauge',
      help: 'Bytes of calls that wait for the database of --calls',
      aggregator: 'sum',
      values: [{ labels: {}, value: waitingBytes }],
    },
  ];
}

/** A thread with a database. It is started at the first task, and again after it has crashed. */
class CallsClient {
  readonly #data: CallsThreadData;
  readonly #onState: (state: string | undefined) => void;
  #thread: Worker | undefined;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  constructor(data: CallsThreadData, onState: (state: string | undefined) => void) {
    this.#data = data;
    this.#onState = onState;
    if (data.role === 'writer') this.#thread = this.#start();
  }

  ask(task: CallsTask): Promise<unknown> {
    const thread = (this.#thread ??= this.#start());
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      thread.postMessage({ id, task }, []);
    });
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    if (thread === undefined) return;
    const late = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref());
    await Promise.race([this.ask({ type: 'close' }).catch(() => undefined), late]);
    this.#thread = undefined;
    for (const { reject } of this.#pending.values()) reject(new Error('the server stops'));
    this.#pending.clear();
    await thread.terminate();
  }

  #start(): Worker {
    const thread = new Worker(THREAD, { workerData: this.#data });
    thread.unref();
    thread.on('message', (answer: CallsAnswer) => {
      if ('state' in answer) {
        this.#onState(answer.state);
        return;
      }
      const pending = this.#pending.get(answer.id);
      this.#pending.delete(answer.id);
      if ('failure' in answer) pending?.reject(new Error(answer.failure));
      else pending?.resolve(answer.value);
    });
    thread.once('error', (error) => this.#ended(thread, error));
    thread.once('exit', () => this.#ended(thread, new Error('the thread of the database ended')));
    return thread;
  }

  #ended(thread: Worker, error: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    const failure = error instanceof Error ? error : new Error(String(error));
    this.#onState(failure.message);
    for (const { reject } of this.#pending.values()) reject(failure);
    this.#pending.clear();
  }
}

/** All programs are bundled into one folder. */
const THREAD = new URL('calls-thread.js', import.meta.url);

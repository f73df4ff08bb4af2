import { err, ok, type Result } from '../../base/result.ts';
import { writeFault } from '../../base/write-file.ts';
import type { AnswersFile, RowAnswer } from './answers-file.ts';
import type { InputRow, InputRows } from './input-rows.ts';
import { decimal } from '../../schema/price-list.ts';
import { counted, durationText } from '../../base/amounts.ts';
import { dollars } from '../testing/test-results.ts';
import { Cancellation } from '../../base/cancellation.ts';
import { type JsonObject, isOptionsKey } from '../../base/json.ts';
import type { Failure } from '../../schema/failure.ts';
import type { Program } from '../../schema/program.ts';
import { createLocalRuntime, type LocalSettings, failureOf } from '../local-runtime.ts';

interface BatchPlan {
  readonly input: InputRows;
  readonly answers: AnswersFile;
  readonly caller: RowCaller;
  readonly concurrency: number;
  /** Only this many rows, from the first one. */
  readonly limit: number;
  /** Called for each answer after it is in the file. */
  readonly onAnswer: (answer: RowAnswer) => void;
}

/** Runs a function on every row that has no answer yet. */
export class BatchRun {
  inFlight = 0;
  readonly #plan: BatchPlan;
  /** Why no further row starts, as a sentence; empty after an interrupt. */
  #stop: string | undefined;

  constructor(plan: BatchPlan) {
    this.#plan = plan;
  }

  /** Starts no further row. `run` resolves when the calls under way have ended. */
  interrupt(): void {
    this.#stop ??= '';
    this.#plan.caller.interrupt();
  }

  /**
   * Resolves to true when every row has an answer, and to false after an interrupt. Fails with a sentence if no row can be asked,
   * or the answers cannot be written.
   */
  async run(): Promise<Result<boolean, string>> {
    const rows = this.#unanswered();
    const work = async (): Promise<void> => {
      while (this.#stop === undefined) {
        const next = await rows.next();
        if (next.done === true) return;
        await this.#ask(next.value);
      }
    };
    await Promise.all(Array.from({ length: this.#plan.concurrency }, work));
    await rows.return();
    if (this.#stop === undefined) return ok(true);
    return this.#stop === '' ? ok(false) : err(this.#stop);
  }

  async *#unanswered(): AsyncGenerator<InputRow, void> {
    const { input, answers, limit } = this.#plan;
    let index = 0;
    for await (const row of input()) {
      if (index === limit) return;
      index += 1;
      if (!answers.answered.has(row.row)) yield row;
    }
  }

  async #ask({ row, read }: InputRow): Promise<void> {
    // Reading the next row waited for the file, and an interrupt can have arrived.
    if (this.#stop !== undefined) return;
    this.inFlight += 1;
    const { args, extra } = read();
    const answer = args.ok ? await this.#plan.caller.call(row, args.value) : { failure: args.failure };
    this.inFlight -= 1;
    if ('stop' in answer) {
      this.#stop ??= answer.stop;
      return;
    }
    try {
      this.#plan.answers.append(row, { ...answer, input: extra });
    } catch (error) {
      this.#stop ||= `the answers cannot be written: ${writeFault(error)}.`;
      return;
    }
    this.#plan.onAnswer(answer);
  }
}

/** The counts of a batch, for the person who waits for it. */
export class BatchProgress {
  readonly #rows: number;
  /** The rows with an answer at the start. */
  readonly #before: number;
  readonly #startedAt: number;
  #done = 0;
  #failed: number;
  #cost: number | undefined;

  /** `rows`: all rows of the batch; `before` and `failed`: those of earlier runs. `now` is in milliseconds. */
  constructor(counts: { readonly rows: number; readonly before: number; readonly failed: number }, now: number) {
    this.#rows = counts.rows;
    this.#before = counts.before;
    this.#failed = counts.failed;
    this.#startedAt = now;
  }

  add({ failure, cost }: RowAnswer): void {
    this.#done += 1;
    if (failure !== undefined) this.#failed += 1;
    if (cost !== undefined) this.#cost = (this.#cost ?? 0) + cost;
  }

  /** `1200 of 10000 rows (12 %), 3 failed, 45.2 rows/s, $0.42, 3 min left` */
  line(now: number): string {
    const answered = this.#before + this.#done;
    const seconds = Math.max(0.001, (now - this.#startedAt) / 1000);
    const rate = this.#done / seconds;
    const parts = [
      `${answered} of ${counted(this.#rows, 'row')} (${Math.floor((100 * answered) / Math.max(1, this.#rows))} %)`,
      `${this.#failed} failed`,
      `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} rows/s`,
      ...(this.#cost === undefined ? [] : [`$${roundedCost(this.#cost)}`]),
      ...(rate === 0 || answered >= this.#rows ? [] : [`${timeLeft((this.#rows - answered) / rate)} left`]),
    ];
    return parts.join(', ');
  }

  /** `10000 rows: 9997 answered, 3 failed, in 41.2 s, cost $0.42` */
  summary(now: number): string {
    const answered = this.#before + this.#done;
    const missing = this.#rows - answered;
    const parts = [
      `${answered - this.#failed} answered`,
      `${this.#failed} failed`,
      ...(missing === 0 ? [] : [`${missing} not asked`]),
      `in ${durationText(now - this.#startedAt)}`,
      ...(this.#cost === undefined ? [] : [`cost ${dollars(Number(decimal(this.#cost)))}`]),
    ];
    const earlier = this.#before === 0 ? '' : ` (${this.#before} in earlier runs)`;
    return `${counted(this.#rows, 'row')}: ${parts.join(', ')}${earlier}`;
  }
}

/** Two decimals, or two digits of an amount below one cent. */
function roundedCost(cost: number): string {
  return cost >= 0.01 || cost === 0 ? cost.toFixed(2) : decimal(Number(cost.toPrecision(2)));
}

/** `45 s`, `3 min`, `2.5 h`. */
function timeLeft(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export interface RowCaller {
  /** Never rejects. Returns the reason as a sentence if no row can be asked any more, such as a missing key. */
  call(row: number, args: JsonObject): Promise<RowAnswer | { readonly stop: string }>;
  /** Ends the waiting for a server: calls that no one answers now resolve to a stop. */
  interrupt(): void;
  close(): Promise<void>;
}

/** Calls a function of a program in this process. */
export function createInProcessCaller(program: Program, functionName: string, settings: LocalSettings): RowCaller {
  const runtime = createLocalRuntime(program, settings, { exposePrompts: false });
  const failed = (failure: Failure): RowAnswer => {
    return { failure: JSON.parse(settings.redact(JSON.stringify(failureOf(failure)))) };
  };
  return {
    call: async (row, args) => {
      const types = await runtime.load(functionName, args);
      const prepared = runtime.prepare(functionName, args, { local: true }, types);
      if (!prepared.ok) return failed(prepared.failure);
      const context = { requestId: `row-${row}`, cancellation: new Cancellation(), deadlineMs: settings.timeoutMs };
      const { result, report } = await runtime.call(prepared.value, context);
      const { usage, cost } = report;
      if (result.ok) return { value: result.value.json, usage, cost };
      // A row can bring its own client; without one, no row has a key.
      const ofAllRows = result.failure.code === 'missing_credential' && !Object.keys(args).some(isOptionsKey);
      if (ofAllRows) return { stop: failureOf(result.failure).message };
      return { ...failed(result.failure), usage, cost };
    },
    // A call in this process always ends, at its time limit at the latest.
    interrupt: () => {},
    close: () => runtime.close(),
  };
}

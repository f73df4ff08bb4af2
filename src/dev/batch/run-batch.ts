import { err, ok, type Result } from '../../base/result.ts';
import { writeFault } from '../../base/write-file.ts';
import type { AnswersFile } from './answers-file.ts';
import type { RowAnswer } from './answer-format.ts';
import type { RowCaller } from './call-in-process.ts';
import type { InputRow, InputRows } from './input-rows.ts';

export interface BatchPlan {
  readonly input: InputRows;
  readonly answers: AnswersFile;
  readonly caller: RowCaller;
  /** The number of calls at once. */
  readonly concurrency: number;
  /** Only this many rows, from the first one. */
  readonly limit: number;
  /** Called for each answer after it is in the file. */
  readonly onAnswer: (answer: RowAnswer) => void;
}

/** Runs a function on every row that has no answer yet. */
export class BatchRun {
  /** The number of calls under way. */
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
    for await (const row of input.rows()) {
      if (index === limit) return;
      index += 1;
      if (!answers.answered.has(row.row)) yield row;
    }
  }

  async #ask({ row, args: read }: InputRow): Promise<void> {
    // Reading the next row waited for the file, and an interrupt can have arrived.
    if (this.#stop !== undefined) return;
    this.inFlight += 1;
    const args = read();
    const answer = args.ok ? await this.#plan.caller.call(row, args.value) : { failure: args.failure };
    this.inFlight -= 1;
    if ('stop' in answer) {
      this.#stop ??= answer.stop;
      return;
    }
    try {
      this.#plan.answers.append(row, answer);
    } catch (error) {
      this.#stop ||= `the answers cannot be written: ${writeFault(error)}.`;
      return;
    }
    this.#plan.onAnswer(answer);
  }
}

import { Cancellation } from '../../base/cancellation.ts';
import { type JsonObject, isOptionsKey } from '../../base/json.ts';
import type { FunctionRuntime } from '../../runtime/call/runtime.ts';
import type { Failure } from '../../schema/failure.ts';
import type { Program } from '../../schema/program.ts';
import { createLocalRuntime, type LocalSettings, failureOf } from '../local-runtime.ts';
import type { RowAnswer } from './answers-file.ts';

/** Asks a function about rows. */
export interface RowCaller {
  /** Never rejects. Returns the reason as a sentence if no row can be asked any more, such as a missing key. */
  call(row: number, args: JsonObject): Promise<RowAnswer | { readonly stop: string }>;
  /** Ends the waiting for a server: calls that no one answers now resolve to a stop. */
  interrupt(): void;
  close(): Promise<void>;
}

/** Calls a function of a program in this process. */
export class InProcessCaller implements RowCaller {
  readonly #functionName: string;
  readonly #settings: LocalSettings;
  readonly #runtime: FunctionRuntime;

  constructor(program: Program, functionName: string, settings: LocalSettings) {
    this.#functionName = functionName;
    this.#settings = settings;
    this.#runtime = createLocalRuntime(program, settings, { exposePrompts: false });
  }

  async call(row: number, args: JsonObject): Promise<RowAnswer | { readonly stop: string }> {
    const types = await this.#runtime.load(this.#functionName, args);
    const prepared = this.#runtime.prepare(this.#functionName, args, { local: true }, types);
    if (!prepared.ok) return this.#failed(prepared.failure);
    const { result, report } = await this.#runtime.call(prepared.value, {
      requestId: `row-${row}`,
      cancellation: new Cancellation(),
      deadlineMs: this.#settings.timeoutMs,
    });
    const { usage, cost } = report;
    if (result.ok) return { value: result.value.json, usage, cost };
    // A row can bring its own client; without one, no row has a key.
    const ofAllRows = result.failure.code === 'missing_credential' && !Object.keys(args).some(isOptionsKey);
    if (ofAllRows) return { stop: failureOf(result.failure).message };
    return { ...this.#failed(result.failure), usage, cost };
  }

  /** A call in this process always ends, at its time limit at the latest. */
  interrupt(): void {}

  close(): Promise<void> {
    return this.#runtime.close();
  }

  #failed(failure: Failure): RowAnswer {
    const text = JSON.stringify(failureOf(failure));
    return { failure: JSON.parse(this.#settings.redact(text)) };
  }
}

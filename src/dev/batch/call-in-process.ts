import { Cancellation } from '../../base/cancellation.ts';
import type { JsonObject } from '../../base/json.ts';
import { isOptionsKey } from '../../base/options-keys.ts';
import { ValidatorCompiler } from '../../compiler/3-emit/validator-compiler.ts';
import type { TypeSource } from '../../schema/type-extension.ts';
import { silentLogger } from '../../logging/logger.ts';
import { createRuntime } from '../../runtime/call/create-runtime.ts';
import type { OnLoss } from '../../runtime/call/losses.ts';
import type { CallReport, FunctionRuntime } from '../../runtime/call/runtime.ts';
import type { Failure } from '../../schema/failure.ts';
import type { PriceList } from '../../schema/price-list.ts';
import type { Program } from '../../schema/program.ts';
import { failureOf } from '../run-failure.ts';
import type { Answer } from './answer-format.ts';

/** Asks a function about rows. */
export interface RowCaller {
  /** Never rejects. Returns the reason as a sentence if no row can be asked any more, such as a missing key. */
  call(row: number, args: JsonObject): Promise<Answer | { readonly stop: string }>;
  /** Ends the waiting for a server: calls that no one answers now resolve to a stop. */
  interrupt(): void;
  close(): Promise<void>;
}

export interface InProcessSettings {
  /** For `env.X` and the providers' keys. */
  readonly env: Readonly<Record<string, string>>;
  /** The time limit of one call in milliseconds, over all attempts. */
  readonly timeoutMs: number;
  readonly onLoss: OnLoss;
  readonly prices?: PriceList | undefined;
  readonly typeSource: TypeSource;
  /** Masks credentials in failures, which can quote a provider. */
  readonly redact: (text: string) => string;
}

/** Calls a function of a program in this process. */
export class InProcessCaller implements RowCaller {
  readonly #functionName: string;
  readonly #settings: InProcessSettings;
  readonly #runtime: FunctionRuntime;

  constructor(program: Program, functionName: string, settings: InProcessSettings) {
    const { env, onLoss, prices, typeSource } = settings;
    const validators = new ValidatorCompiler(program);
    this.#functionName = functionName;
    this.#settings = settings;
    this.#runtime = createRuntime(program, {
      logger: silentLogger,
      env,
      clientRegistry: 'open',
      allowPrivateUrls: true,
      exposePrompts: false,
      onLoss,
      prices,
      parseElsewhereAbove: Infinity,
      validatorSource: (name) => validators.source(name),
      typeSource,
    });
  }

  async call(row: number, args: JsonObject): Promise<Answer | { readonly stop: string }> {
    const types = await this.#runtime.load(this.#functionName, args);
    const prepared = this.#runtime.prepare(this.#functionName, args, { local: true }, types);
    if (!prepared.ok) return this.#failed(prepared.failure);
    const { result, report } = await this.#runtime.call(prepared.value, {
      requestId: `row-${row}`,
      cancellation: new Cancellation(),
      deadlineMs: this.#settings.timeoutMs,
    });
    if (result.ok) return { value: result.value.json, ...usedBy(report) };
    // A row can bring its own client; without one, no row has a key.
    const ofAllRows = result.failure.code === 'missing_credential' && !Object.keys(args).some(isOptionsKey);
    if (ofAllRows) return { stop: failureOf(result.failure).message };
    return { ...this.#failed(result.failure), ...usedBy(report) };
  }

  /** A call in this process always ends, at its time limit at the latest. */
  interrupt(): void {}

  close(): Promise<void> {
    return this.#runtime.close();
  }

  #failed(failure: Failure): Answer {
    const text = JSON.stringify(failureOf(failure));
    return { failure: JSON.parse(this.#settings.redact(text)) };
  }
}

function usedBy({ usage: { inputTokens, outputTokens }, cost }: CallReport): Pick<Answer, 'usage' | 'cost'> {
  const usage = {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
  };
  return { usage, ...(cost !== undefined && { cost }) };
}

import { Cancellation } from '../../base/cancellation.ts';
import type { JsonValue } from '../../base/json.ts';
import { silentLogger } from '../../logging/logger.ts';
import type { Logger } from '../../logging/logger.ts';
import type { Program } from '../../schema/program.ts';
import { createRuntime } from './create-runtime.ts';
import type { CallContext, FunctionRuntime, PreparedCall } from './runtime.ts';
import { CallError } from './call-error.ts';
import type { ClientRegistry } from './client-registry.ts';
import { FunctionEvents } from './function-events.ts';
import type { FunctionEvent } from './function-events.ts';

/** What a library of functions runs with. */
export interface LibraryOptions {
  /** Variables for `env.X` and the providers' keys; usually `process.env`. Without it there are none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where it writes what it does; nowhere without it. */
  readonly logger?: Logger;
}

/** How one call differs from what the definition files say. */
export interface CallSettings {
  /** Name of the client to ask, or `provider/model`. */
  readonly client?: string;
  readonly clientRegistry?: ClientRegistry;
  /** Variables for this call only; null takes one away. */
  readonly env?: Readonly<Record<string, string | null>>;
  /** Ends the call, and its request to the model, when it is aborted. */
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole call, all attempts together; 10 minutes without it. */
  readonly timeoutMs?: number;
}

/** As long as the providers' own libraries wait for one answer. */
const DEFAULT_TIMEOUT_MS = 600_000;

/** The functions of a program, to be called in process. */
export class FunctionLibrary {
  readonly #runtime: FunctionRuntime;

  constructor(program: Program, options: LibraryOptions = {}) {
    this.#runtime = createRuntime(program, {
      logger: options.logger ?? silentLogger,
      env: definedOnly(options.env ?? {}),
      clientRegistry: 'open',
      allowPrivateUrls: true,
      exposePrompts: true,
      parseElsewhereAbove: Infinity,
    });
  }

  get functionNames(): readonly string[] {
    return this.#runtime.functionNames;
  }

  /**
   * Calls a function. `args` has one member for each parameter.
   * @returns the value of the function's return type
   * @throws {CallError} when arguments or settings do not fit, the model fails, or its reply does not fit
   */
  async call<Value = JsonValue>(
    functionName: string,
    args: Readonly<Record<string, unknown>>,
    settings: CallSettings = {},
  ): Promise<Value> {
    const call = this.#prepare(functionName, args, settings);
    const context = contextOf(settings);
    const forget = followSignal(settings.signal, context.cancellation);
    const { result } = await this.#runtime.call(call, context);
    forget();
    if (result.ok) return result.value.value as Value;
    throw new CallError(result.failure);
  }

  /**
   * Calls a function and gives its value while it grows: partial values, and the final one last. Leaving the loop
   * cancels the request to the model.
   * @throws {CallError} at once when arguments or settings do not fit, else from the iteration
   */
  stream<Value = JsonValue>(
    functionName: string,
    args: Readonly<Record<string, unknown>>,
    settings: CallSettings = {},
  ): AsyncIterableIterator<FunctionEvent<Value>> {
    const call = this.#prepare(functionName, args, settings);
    const context = contextOf(settings);
    const forget = followSignal(settings.signal, context.cancellation);
    const events = new FunctionEvents<Value>(context.cancellation, forget);
    events.follow(this.#runtime.stream(call, context, events));
    return events;
  }

  /** Closes connections to providers; calls in flight end with a CallError. */
  close(): Promise<void> {
    return this.#runtime.close();
  }

  #prepare(functionName: string, args: Readonly<Record<string, unknown>>, settings: CallSettings): PreparedCall {
    const prepared = this.#runtime.prepare(functionName, withSettings(args, settings), { local: true });
    if (prepared.ok) return prepared.value;
    throw new CallError(prepared.failure);
  }
}

function withSettings(
  args: Readonly<Record<string, unknown>>,
  { client, clientRegistry, env }: CallSettings,
): Readonly<Record<string, unknown>> {
  if (client === undefined && clientRegistry === undefined && env === undefined) return args;
  const options = {
    ...(client === undefined ? {} : { client }),
    ...(clientRegistry === undefined ? {} : { client_registry: clientRegistry.toOptions() }),
    ...(env === undefined ? {} : { env }),
  };
  return { ...args, svc_options: options };
}

function contextOf({ timeoutMs }: CallSettings): CallContext {
  return {
    requestId: 'in-process',
    cancellation: new Cancellation(),
    deadlineMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
  };
}

/** A signal may live much longer than a call: the function that is returned takes the listener off again. */
function followSignal(signal: AbortSignal | undefined, cancellation: Cancellation): () => void {
  const cancel = (): void => cancellation.cancel('the signal was aborted');
  if (signal?.aborted === true) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  return () => signal?.removeEventListener('abort', cancel);
}

function definedOnly(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

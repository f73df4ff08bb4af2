import { Cancellation } from '../../base/cancellation.ts';
import { invariant } from '../../base/invariant.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { didYouMeanOneOf } from '../../base/suggestion.ts';
import { type Logger, silentLogger } from '../../logging/logger.ts';
import type { Losses } from '../../schema/explanation.ts';
import type { Failure, FailureCode } from '../../schema/failure.ts';
import type { PriceList } from '../../schema/price-list.ts';
import type { Program } from '../../schema/program.ts';
import type { Violation } from '../../schema/violation.ts';
import { LARGE_INT } from '../reply/reply-parser.ts';
import { invalidOptions } from './call-options.ts';
import type { ClientRegistry } from './client-directory.ts';
import { createRuntime } from './create-runtime.ts';
import { isLossy, type OnLoss, type Warning, warningsOf } from './losses.ts';
import { validationFailure } from './parse-reply.ts';
import type {
  CallContext,
  CallOutcome,
  CallReport,
  FunctionRuntime,
  FunctionStream,
  PreparedCall,
  RuntimeOptions,
  StreamObserver,
} from './runtime.ts';

/** The settings of a library of functions. */
export interface LibraryOptions {
  /** Variables for `env.X` and the providers' keys, usually `process.env`. svc reads no other part of the environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Receives the log. Default: no log. */
  readonly logger?: Logger;
  /** Default: accept. A call can override it. */
  readonly onLoss?: OnLoss;
  /** The prices of models whose clients have none. Default: none. */
  readonly prices?: PriceList;
}

/** Overrides of the definition files for one call. */
export interface CallSettings {
  /** The name of the client to call, or `provider/model`. */
  readonly client?: string;
  readonly clientRegistry?: ClientRegistry;
  /** Variables for this call only; null removes one. */
  readonly env?: Readonly<Record<string, string | null>>;
  /** `ctx.tags` in the prompt. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Calls with the same key reach the same member of a round-robin client. At most 256 characters. */
  readonly routeKey?: string;
  /**
   * Extends `@@dynamic` types for this call: definitions, such as `dynamic class Person { age int? }`, or JSON Schemas by the names of
   * types.
   */
  readonly typeBuilder?: string | { readonly jsonSchema: Readonly<Record<string, object>> };
  /** Whether the call returns a value that lacks a part of the reply, or fails. */
  readonly onLoss?: OnLoss;
  /** Receives what the value of a reply lacks, before the call or stream returns that value. */
  readonly onWarnings?: (warnings: readonly Warning[], losses: Losses) => void;
  /** Keeps the model's reasoning, if its provider sends it: in the events of a stream, and in `onMeta`. */
  readonly reasoning?: boolean;
  /** Receives the metadata of a call or stream before it returns its value or throws. */
  readonly onMeta?: (meta: CallMeta) => void;
  /** Aborting the signal ends the call and its request to the model. */
  readonly signal?: AbortSignal;
  /** The time limit of the whole call in milliseconds, over all attempts. Default: 10 minutes. */
  readonly timeoutMs?: number;
}

/** The client and model that answered, the prompt and the reply, attempts, tokens, cost and times. */
export type CallMeta = Omit<CallReport, 'flags' | 'losses'>;

/** The sources of validators and types, which a library compiles in process on first use. */
type LibrarySources = Pick<RuntimeOptions, 'validatorSource' | 'typeSource'>;

/** The time that the providers' own libraries wait for one answer. */
const DEFAULT_TIMEOUT_MS = 600_000;

/** The functions of a program, for calls in process. */
export class FunctionLibrary {
  readonly #runtime: FunctionRuntime;

  constructor(program: Program, { validatorSource, typeSource }: LibrarySources, options: LibraryOptions) {
    this.#runtime = createRuntime(program, {
      logger: options.logger ?? silentLogger,
      env: definedOnly(options.env),
      clientRegistry: 'open',
      allowPrivateUrls: true,
      exposePrompts: true,
      onLoss: options.onLoss ?? 'accept',
      prices: options.prices,
      parseElsewhereAbove: Infinity,
      validatorSource,
      typeSource,
    });
  }

  get functionNames(): readonly string[] {
    return this.#runtime.functionNames;
  }

  /**
   * Calls a function. `args` has one member for each parameter.
   * @returns a value of the function's return type
   * @throws {CallError} if the arguments, settings or reply do not fit, or the model fails
   */
  async call<Value = JsonValue>(
    functionName: string,
    args: Readonly<Record<string, unknown>>,
    settings: CallSettings = {},
  ): Promise<Value> {
    const call = this.#prepare(functionName, args, settings);
    const context = contextOf(settings);
    const forget = followSignal(settings.signal, context.cancellation);
    const outcome = await this.#runtime.call(call, context);
    forget();
    return valueOf(outcome, settings) as Value;
  }

  /**
   * Calls a function and returns its value as it grows: partial values, then the final one. Leaving the loop cancels the
   * request to the model.
   * @throws {CallError} immediately if the arguments or settings do not fit, otherwise from the iteration
   */
  stream<Value = JsonValue>(
    functionName: string,
    args: Readonly<Record<string, unknown>>,
    settings: CallSettings = {},
  ): AsyncIterableIterator<FunctionEvent<Value>> {
    const call = this.#prepare(functionName, args, settings);
    const context = contextOf(settings);
    const forget = followSignal(settings.signal, context.cancellation);
    const events = new FunctionEvents<Value>(context.cancellation, forget, settings);
    events.follow(this.#runtime.stream(call, context, events));
    return events;
  }

  /** Closes the connections to providers. Calls in flight end with a CallError. */
  close(): Promise<void> {
    return this.#runtime.close();
  }

  #prepare(functionName: string, args: Readonly<Record<string, unknown>>, settings: CallSettings): PreparedCall {
    const faults = settingFaults(settings);
    if (faults.length > 0) throw new CallError(invalidOptions(faults));
    const body = withSettings(args, settings);
    const loaded = this.#runtime.load(functionName, body);
    invariant(!(loaded instanceof Promise), 'a library compiles in process');
    const prepared = this.#runtime.prepare(functionName, body, { local: true }, loaded);
    if (prepared.ok) return prepared.value;
    throw new CallError(prepared.failure);
  }
}

/** The names of all settings. */
const SETTINGS = Object.keys({
  client: true,
  clientRegistry: true,
  env: true,
  tags: true,
  routeKey: true,
  typeBuilder: true,
  onLoss: true,
  onWarnings: true,
  reasoning: true,
  onMeta: true,
  signal: true,
  timeoutMs: true,
} satisfies Record<keyof CallSettings, true>);

/** The mistakes that only a caller makes whom no compiler has checked; the options of the request have checks of their own. */
function settingFaults(settings: CallSettings): readonly Violation[] {
  if (!isJsonObject(settings)) return [{ path: 'settings', message: 'expected an object with the settings of a call' }];
  const unknown = Object.keys(settings).filter((key) => !SETTINGS.includes(key));
  const faults = unknown.map((path) => ({ path, message: `unknown setting. ${didYouMeanOneOf(path, SETTINGS)}` }));
  const { timeoutMs } = settings;
  if (timeoutMs === undefined || (typeof timeoutMs === 'number' && timeoutMs > 0)) return faults;
  return [...faults, { path: 'timeoutMs', message: 'expected a number of milliseconds above 0' }];
}

function withSettings(
  args: Readonly<Record<string, unknown>>,
  { client, clientRegistry, env, tags, routeKey, typeBuilder, onLoss, reasoning }: CallSettings,
): Readonly<Record<string, unknown>> {
  const options = {
    ...(client === undefined ? {} : { client }),
    ...(clientRegistry === undefined ? {} : { client_registry: clientRegistry.toOptions() }),
    ...(env === undefined ? {} : { env }),
    ...(tags === undefined ? {} : { tags }),
    ...(routeKey === undefined ? {} : { route_key: routeKey }),
    ...(typeBuilder === undefined ? {} : { type_builder: builderOf(typeBuilder) }),
    ...(onLoss === undefined ? {} : { on_loss: onLoss }),
    ...(reasoning === true ? { include: ['reasoning'] } : {}),
  };
  return Object.keys(options).length === 0 ? args : { ...args, svc_options: options };
}

function builderOf(builder: NonNullable<CallSettings['typeBuilder']>): unknown {
  return typeof builder === 'string' ? builder : { json_schema: builder.jsonSchema };
}

function contextOf({ timeoutMs }: CallSettings): CallContext {
  return {
    requestId: 'in-process',
    cancellation: new Cancellation(),
    deadlineMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
  };
}

/** A signal can live much longer than a call: the returned function removes the listener. */
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

/** Partials that arrive faster than this look simultaneous to a person. */
const COALESCE_MS = 20;

/** The events of a stream, in order; `final` comes once, last. */
export type FunctionEvent<Value, Partial = unknown> =
  /** A snapshot of the value so far. */
  | { readonly type: 'partial'; readonly value: Partial }
  /** More of the model's reasoning, if the call asks for it. */
  | { readonly type: 'reasoning'; readonly delta: string }
  /** An attempt failed midway and another one starts: partials and reasoning start again. */
  | { readonly type: 'reset'; readonly reason: string }
  | { readonly type: 'final'; readonly value: Value };

/** A stream as an iterator. A slow reader receives the newest partial, not all of them. */
class FunctionEvents<Value> implements StreamObserver, AsyncIterableIterator<FunctionEvent<Value>> {
  readonly #cancellation: Cancellation;
  readonly #released: () => void;
  readonly #settings: CallSettings;
  #stream: FunctionStream | undefined;
  #hasText = false;
  #reasoning = '';
  #resets: string[] = [];
  #outcome: CallOutcome | undefined;
  #over = false;
  #wake: (() => void) | undefined;

  /** `released` is called when the stream ends for any reason. */
  constructor(cancellation: Cancellation, released: () => void, settings: CallSettings) {
    this.#cancellation = cancellation;
    this.#released = released;
    this.#settings = settings;
  }

  follow(stream: FunctionStream): void {
    this.#stream = stream;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  text(): void {
    this.#hasText = true;
    this.#wake?.();
  }

  reasoning(delta: string): void {
    this.#reasoning += delta;
    this.#wake?.();
  }

  reset(reason: string): void {
    this.#reasoning = '';
    this.#resets.push(reason);
    this.#wake?.();
  }

  ended(outcome: CallOutcome): void {
    this.#outcome = outcome;
    this.#released();
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<FunctionEvent<Value>, undefined>> {
    for (;;) {
      if (this.#over) return DONE;
      const reason = this.#resets.shift();
      if (reason !== undefined) return { done: false, value: { type: 'reset', reason } };
      const delta = this.#reasoning;
      this.#reasoning = '';
      if (delta !== '') return { done: false, value: { type: 'reasoning', delta } };
      const partial = this.#takePartial();
      if (partial !== undefined)
        return { done: false, value: { type: 'partial', value: JSON.parse(partial.join('')) } };
      if (this.#outcome !== undefined) return this.#end(this.#outcome);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The reader leaves, so the request to the model is cancelled. */
  return(): Promise<IteratorResult<FunctionEvent<Value>, undefined>> {
    this.#over = true;
    this.#cancellation.cancel('the reader left');
    return Promise.resolve(DONE);
  }

  #takePartial(): readonly string[] | undefined {
    if (!this.#hasText || this.#outcome !== undefined) return undefined;
    this.#hasText = false;
    let partial: readonly string[] | undefined;
    do partial = this.#stream?.takePartial();
    while (partial === undefined && this.#stream?.isBehind() === true);
    this.#hasText = this.#stream?.isBehind() === true;
    if (partial !== undefined) this.#stream?.coalesceReads(COALESCE_MS);
    return partial;
  }

  #end(outcome: CallOutcome): IteratorResult<FunctionEvent<Value>, undefined> {
    this.#over = true;
    return { done: false, value: { type: 'final', value: valueOf(outcome, this.#settings) as Value } };
  }
}

/** Returns the value of a call. Throws if the call failed, or if the value contains an int that JavaScript cannot hold. */
function valueOf({ result, report }: CallOutcome, { onMeta, onWarnings }: CallSettings): JsonValue {
  if (onMeta !== undefined) onMeta(metaOf(report));
  if (!result.ok) throw new CallError(result.failure);
  const { flags, json, losses, value } = result.value;
  const details = flags
    .filter(({ flag }) => flag === LARGE_INT)
    .map(({ path, detail }) => ({
      path,
      message: `${detail} is beyond ±${Number.MAX_SAFE_INTEGER}, the bounds within which JavaScript keeps integers exact`,
    }));
  if (details.length === 0) {
    const { list } = warningsOf(result.value);
    if (isLossy(losses) || list.length > 0) onWarnings?.(list, losses);
    return value;
  }
  throw new CallError(
    validationFailure({ message: 'the reply contains an int that is too large for JavaScript', details }, json),
  );
}

function metaOf({ flags: _flags, losses: _losses, ...meta }: CallReport): CallMeta {
  return meta;
}

const DONE = { done: true, value: undefined } as const;

/** A failed call of a function. Distinguish causes by `code`. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly code: FailureCode;
  /** The details: violations with their paths, attempts, the reply that did not fit. */
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.code = failure.code;
    this.failure = failure;
  }
}

/** The types of one function, as `svc types` declares them. */
export interface FunctionTypes {
  readonly args: object;
  readonly result: unknown;
  /** A snapshot of a result that still grows. */
  readonly partial: unknown;
}

/** The functions of a program with their types: names, arguments, results and partials are those of `Functions`. */
export interface TypedFunctions<Functions extends { readonly [Name in keyof Functions]: FunctionTypes }> {
  readonly functionNames: readonly (keyof Functions & string)[];
  /** As `FunctionLibrary.call`. */
  call<Name extends keyof Functions & string>(
    functionName: Name,
    args: Functions[Name]['args'],
    settings?: CallSettings,
  ): Promise<Functions[Name]['result']>;
  /** As `FunctionLibrary.stream`. */
  stream<Name extends keyof Functions & string>(
    functionName: Name,
    args: Functions[Name]['args'],
    settings?: CallSettings,
  ): AsyncIterableIterator<FunctionEvent<Functions[Name]['result'], Functions[Name]['partial']>>;
  /** As `FunctionLibrary.close`. */
  close(): Promise<void>;
}

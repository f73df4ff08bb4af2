import type { CallObserver, ParseObserver, ClientHealth } from '../../base/call-observer.ts';
import type { Cancellation } from '../../base/cancellation.ts';
import type { Result } from '../../base/result.ts';
import type { Message } from '../../schema/message.ts';
import type { Losses, ParseFlag } from '../../schema/explanation.ts';
import type { ConnectionCounts } from '../model/http/origin-pool.ts';
import type { TokenDetails } from '../model/wire/reply-format.ts';
import type { ParsedReply } from '../reply/reply-parser.ts';
import type { Attempt, Failure } from '../../schema/failure.ts';
import type { PriceList } from '../../schema/price-list.ts';
import type { Logger } from '../../logging/logger.ts';
import type { ValidatorSource } from '../arguments/load-validators.ts';
import type { TypeSource } from '../../schema/type-extension.ts';
import type { AnswerPart } from './call-options.ts';
import type { CallTypes, SentExtension } from './call-types.ts';
import type { RequestedTypes } from './dynamic-types.ts';
import type { OnLoss } from './losses.ts';

/** Calls the functions of one program. It handles prompts, models and parsing, but no HTTP. */
export interface FunctionRuntime {
  readonly functionNames: readonly string[];
  has(functionName: string): boolean;
  /** Returns the names of a function's parameters; undefined if the function does not exist. */
  parameters(functionName: string): ReadonlySet<string> | undefined;
  /**
   * Loads what `prepare` and `prepareReply` need for a body: the argument validators of the function, and the types that the body
   * asks for. Pass its result to them. Rejects if the validators are not available now.
   */
  load(functionName: string, body: unknown, origin?: CallOrigin): LoadedTypes | Promise<LoadedTypes>;
  /**
   * Checks an argument object, including its options key. Fails with `function_not_found`, `invalid_argument` or
   * `invalid_options`; `details` lists every violation.
   */
  prepare(
    functionName: string,
    body: unknown,
    origin?: CallOrigin,
    loaded?: LoadedTypes,
  ): Result<PreparedCall, Failure>;
  /** Estimates the tokens of the arguments before a provider counts them. `body`: the text of the request. */
  estimateTokens(prepared: PreparedCall, body: string): number;
  /** Renders the prompt, calls the model and parses the reply. Never rejects: a failure is part of the outcome. */
  call(prepared: PreparedCall, context: CallContext): Promise<CallOutcome>;
  /** Starts the same as a stream. The observer is first called on a later turn of the event loop. */
  stream(prepared: PreparedCall, context: CallContext, observer: StreamObserver): FunctionStream;
  /**
   * Returns text that is equal for two calls only if their answers can replace each other. Undefined for a call whose answer is for
   * its request alone.
   */
  identity(prepared: PreparedCall): string | undefined;
  /** True if the final value of the call has the form of its partials: nothing in it has `@stream.with_state`. */
  hasPlainPartials(prepared: PreparedCall): boolean;
  /** Returns the messages that a call would send to its first client. The credentials of the client can be missing. */
  render(prepared: PreparedCall): Result<readonly Message[], Failure>;
  /**
   * Checks the body of a request to parse a reply that the caller already has: `{"text": …}`. Fails with
   * `function_not_found`, `invalid_argument` or `invalid_options`.
   */
  prepareReply(functionName: string, body: unknown, loaded?: LoadedTypes): Result<PreparedReply, Failure>;
  /** Parses the reply as a call would. */
  parseReply(prepared: PreparedReply, context: CallContext): Promise<ReplyOutcome>;
  /** The connections to providers now. */
  connections(): Connections;
  /** Closes the connections to providers. Calls in flight end as cancelled. */
  close(): Promise<void>;
}

/** The connections to providers, by the version of HTTP, and the number of origins that they lead to. */
export interface Connections {
  readonly origins: number;
  readonly counts: readonly ConnectionCounts[];
}

/** The types that a body asks for, or the reason why there are none; undefined if it asks for none. */
export type LoadedTypes = RequestedTypes | undefined;

/** Opaque to the server: `prepare` creates it, and one call uses it. */
export interface PreparedCall {
  readonly functionName: string;
  /** The parts of the answer that the caller asks for beside the value. */
  readonly include: ReadonlySet<AnswerPart>;
  /** The tags of the call, by name. */
  readonly tags?: ReadonlyMap<string, string> | undefined;
  /** The client of the definitions that the call names, a strategy or not; the function's own if the request decides. */
  readonly client?: string;
  /** The request decides which servers the call reaches, and so how long it takes: its options define clients or set `env`. */
  readonly decidesUpstream?: boolean;
  /** How long the answer can be returned for equal calls, in milliseconds; absent if neither the request nor its client asks for it. */
  readonly cacheTtlMs?: number | undefined;
}

/** A reply to parse. */
export interface PreparedReply extends PreparedCall {
  readonly text: string;
  readonly onLoss: OnLoss;
  readonly types?: CallTypes | undefined;
  /** True if the outcome includes an explanation, beside the value or in a `validation_failure`. */
  readonly explain: boolean;
}

/** The origin of a request, which decides the per-request URLs that are allowed, and whose share of a limit it counts against. */
export interface CallOrigin {
  /** The operator trusts this caller on the same machine, so it can name private and loopback addresses. */
  readonly local: boolean;
  /** The address of the caller, as far as it cannot change it at will. */
  readonly network?: string;
  /** Replaces the policy of the runtime for this caller. */
  readonly clientRegistry?: RuntimeOptions['clientRegistry'] | undefined;
  /** Parts of the answer beside those that the options of the request ask for. */
  readonly include?: ReadonlySet<AnswerPart> | undefined;
}

export interface CallContext {
  readonly requestId: string;
  readonly cancellation: Cancellation;
  /** The time in milliseconds after which the whole call ends with `timeout` (timer `total`). */
  readonly deadlineMs: number;
  /** Undefined if nothing observes the call. */
  readonly observer?: CallObserver | undefined;
}

export interface CallOutcome {
  readonly result: Result<ParsedReply, Failure>;
  readonly report: CallReport;
}

/** What happened during a call, for headers, logs and metrics. A failed call has a report of the steps it reached. */
export interface CallReport {
  readonly client?: string;
  readonly model?: string;
  readonly attempts: readonly Attempt[];
  /** The tokens of all replies together, as far as they are known, with an estimate for each reply that broke off. */
  readonly usage: TokenUsage;
  /** US dollars for these replies. Absent if a count, or a price, is unknown. */
  readonly cost?: number;
  /** Set if the provider did not count all replies. Of a reply that broke off, `usage` has an estimate; this is that of the others. */
  readonly estimatedTokens?: number;
  readonly finishReason?: string;
  /** Milliseconds of waiting for models, summed over all attempts. */
  readonly modelMs: number;
  /** Milliseconds of rendering prompts and of parsing replies, each summed over all attempts. */
  readonly renderMs: number;
  readonly parseMs: number;
  /** Milliseconds from the start to the first model text; absent if none arrived. */
  readonly firstTextMs?: number;
  /** The repairs of the reply; empty for a clean one. */
  readonly flags: readonly ParseFlag[];
  /** What the value lacks, even if the call refused the reply for its losses. */
  readonly losses: Losses;
  /** The prompt of the last attempt, for the log at level debug. */
  readonly prompt?: readonly Message[];
  readonly rawReply?: string;
  /** The reasoning behind that reply, if the call includes it. */
  readonly reasoning?: string;
}

export interface TokenUsage extends TokenDetails {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** Receives the events of a stream, never one during another. `ended` comes exactly once, last. */
export interface StreamObserver {
  /** The parser received this text of the model: `takePartial` may return a new value. */
  text(delta: string): void;
  /** The model sent this part of its reasoning. Only for calls that include the reasoning. */
  reasoning(delta: string): void;
  /** An attempt failed midway and another one starts: partials and reasoning start again. */
  reset(reason: string): void;
  ended(outcome: CallOutcome): void;
}

export interface FunctionStream {
  /** Returns the parts of the newest partial's JSON text, or undefined if there is none or it equals the last one taken. */
  takePartial(): readonly string[] | undefined;
  /** True if the last partial does not include all of the text: another call of `takePartial` reads on. */
  isBehind(): boolean;
  /** True if the offline client makes up the reply that now arrives, because it has none for the call. */
  isMadeUp(): boolean;
  /**
   * Hints that no text is needed for this many milliseconds, so that text which arrives meanwhile can be read together. To be
   * called again after each use of the text.
   */
  coalesceReads(forMs: number): void;
  /** Hints that the reader accepts nothing now, so that reading from the model can pause until `resume`. */
  pause(): void;
  resume(): void;
}

/** The settings of a runtime. */
export interface RuntimeOptions {
  readonly logger: Logger;
  /** Called with each secret that becomes known while the runtime serves, such as an access token. */
  readonly hide?: (secret: string) => void;
  /** The variables for `env.X` and for the providers' keys; a request can override them. */
  readonly env: Readonly<Record<string, string>>;
  /** `open`: requests can define clients. `known`: they can only name clients of the files. `off`: neither. */
  readonly clientRegistry: 'open' | 'known' | 'off';
  /** URLs of requests can lead to private and loopback addresses. */
  readonly allowPrivateUrls: boolean;
  /** Requests can ask for the trace of their call. */
  readonly traces?: boolean;
  /** Answers can contain the prompt, and the reply if the request asks for it. */
  readonly exposePrompts: boolean;
  /** The prices of models whose clients state none. */
  readonly prices?: PriceList | undefined;
  /** The default for requests without `on_loss`. */
  readonly onLoss: OnLoss;
  /** Clients and requests can ask for a cache. */
  readonly cache?: boolean;
  /** Called before svc parses a reply, or the part of it that has arrived, in this process. `length` is in UTF-16 units. */
  readonly onParse?: (functionName: string, length: number) => void;
  /** Parses a long reply where it does not hold up other calls. Rejects only because of a bug. */
  readonly parseElsewhere?: (reply: WholeReply) => Promise<ReplyOutcome>;
  /** Replies longer than this (in UTF-16 units) go to `parseElsewhere`. */
  readonly parseElsewhereAbove: number;
  /** The bytes of replies that this process holds at once. */
  readonly maxReplyBytes?: number;
  /** Returns the compiled argument validators of a function (see `ValidatorCompiler`). */
  readonly validatorSource: ValidatorSource;
  /** Compiles the types of requests; absent if requests cannot extend types. */
  readonly typeSource?: TypeSource | undefined;
  /**
   * Returns the turn of a round-robin client over all processes: 0, 1, 2, … for each client's name. Without it, this
   * process counts the turns.
   */
  readonly roundRobinTurn?: (client: string) => number | Promise<number>;
  /** Absent: no client cools down. */
  readonly clientHealth?: ClientHealth | undefined;
}

/** A reply that has arrived in full, and how long its caller waits for the value. */
export interface WholeReply {
  readonly functionName: string;
  readonly text: string;
  /** True if the reply can be in a wrapper, because a provider received the schema of one. */
  readonly wrapped: boolean;
  /** The types of the request, if it extends any. */
  readonly extension?: SentExtension | undefined;
  /** True if the outcome includes an explanation. */
  readonly explain?: boolean;
  /** The provider cut the reply off. */
  readonly isCut?: boolean;
  readonly cancellation: Cancellation;
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly deadlineAt: number;
  readonly observer?: ParseObserver | undefined;
}

export type ReplyOutcome = Result<ParsedReply, Failure>;

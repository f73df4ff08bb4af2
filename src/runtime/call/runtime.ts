import type { Cancellation } from '../../base/cancellation.ts';
import type { Result } from '../../base/result.ts';
import type { Message } from '../../schema/message.ts';
import type { ParsedReply, ParseFlag } from '../reply/reply-parser.ts';
import type { Attempt, Failure } from '../../schema/errors.ts';
import type { ReplyOutcome } from './whole-reply.ts';

/** Calls functions of one program. Knows prompts, models and parsing, and no HTTP. */
export interface FunctionRuntime {
  readonly functionNames: readonly string[];
  has(functionName: string): boolean;
  /**
   * Checks an argument object, options key included. Fails with `function_not_found`, `invalid_argument` or
   * `invalid_options`; `details` lists every fault at once.
   */
  prepare(functionName: string, body: unknown, origin?: CallOrigin): Result<PreparedCall, Failure>;
  /** Renders, asks the model and parses. Never rejects: every failure is in the outcome. */
  call(prepared: PreparedCall, context: CallContext): Promise<CallOutcome>;
  /** Starts the same as a stream; `observer` is first told something on a later turn of the event loop. */
  stream(prepared: PreparedCall, context: CallContext, observer: StreamObserver): FunctionStream;
  /** The messages that would be sent, for the client that would be asked first. */
  render(prepared: PreparedCall): Result<readonly Message[], Failure>;
  /** The value of a reply that the caller already has. The function has to exist. */
  parseReply(functionName: string, text: string, context: CallContext): Promise<ReplyOutcome>;
  /** Closes connections to providers. In-flight calls end as cancelled. */
  close(): Promise<void>;
}

/** Opaque to the server: made by `prepare`, used once. */
export interface PreparedCall {
  readonly functionName: string;
}

/** What is known of where a request came from; decides which per-request URLs are allowed. */
export interface CallOrigin {
  /** The connection comes from loopback and carries no forwarding header. */
  readonly local: boolean;
}

export interface CallContext {
  readonly requestId: string;
  readonly cancellation: Cancellation;
  /** Milliseconds from now after which the whole call ends with `timeout` (timer `total`). */
  readonly deadlineMs: number;
}

export interface CallOutcome {
  readonly result: Result<ParsedReply, Failure>;
  readonly report: CallReport;
}

/** What happened, for headers, logs and metrics. Known also for failures, as far as the call came. */
export interface CallReport {
  readonly client?: string;
  readonly model?: string;
  readonly attempts: readonly Attempt[];
  readonly usage: TokenUsage;
  readonly finishReason?: string;
  /** Milliseconds spent waiting for models, over all attempts. */
  readonly modelMs: number;
  /** Milliseconds from the start to the first model text; absent when none came. */
  readonly firstTextMs?: number;
  /** How the reply was repaired; empty when it was clean. */
  readonly flags: readonly ParseFlag[];
  /** Of the last attempt, for the log at debug. */
  readonly prompt?: readonly Message[];
  readonly rawReply?: string;
}

export interface TokenUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** Told about a stream; every call happens outside of the others. `ended` comes exactly once, last. */
export interface StreamObserver {
  /** Model text arrived and was fed to the parser: `takePartial` may have something new. */
  text(): void;
  /** An attempt failed midway and another begins: partials start again. */
  reset(reason: string): void;
  ended(outcome: CallOutcome): void;
}

export interface FunctionStream {
  /** The newest partial as JSON text; undefined when there is none or it equals the last one taken. */
  takePartial(): string | undefined;
  /** Hints that partials are taken no more often than this: text that comes faster may be read together. */
  gather(ms: number): void;
  /** Hints that the reader takes nothing now: reading from the model may pause. `resume` undoes it. */
  pause(): void;
  resume(): void;
}

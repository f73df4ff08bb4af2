import type { DefinitionIndex } from '../../schema/program.ts';
import type { Result } from '../../base/result.ts';
import type { Provider } from '../../schema/providers/providers.ts';
import type { Message, PromptClient } from '../../schema/message.ts';
import type { TokenPrices, OnTruncation } from '../../schema/providers/common-options.ts';
import type { StructuredForm } from '../../schema/providers/structured-output.ts';
import type { StructuredOutput } from '../../schema/structured-output.ts';
import type { AttemptFailure } from './attempt-failure.ts';
import type { FinishReasonRule } from './client-options.ts';
import type { ModelReply } from './wire/reply-format.ts';

/** One model behind one set of credentials. Strategies (fallback, round-robin) are plans over such clients. */
export interface ModelClient {
  readonly name: string;
  readonly provider: Provider;
  /** Undefined if the definition names none. */
  readonly model: string | undefined;
  /** The client as templates see it, and the roles it accepts. */
  readonly prompt: PromptClient;
  readonly finishReasons: FinishReasonRule;
  /** Absent: a reply that the provider cut off is a value with a reported loss. */
  readonly onTruncation?: OnTruncation | undefined;
  /** The form in which requests carry the schema of the reply; undefined if they carry none. */
  readonly structured?: StructuredForm | undefined;
  /** Undefined if the definition states none. */
  readonly prices?: TokenPrices | undefined;
  /** The time of its cool-downs, 0 if it has none; absent: the default. */
  readonly coolDownMs?: number | undefined;
  /** The origin of its server, such as `https://api.example.com`; undefined without one. */
  readonly origin?: string | undefined;
  /** Sends the messages. `listener` hears of the reply and of every failure on a later turn of the event loop. */
  ask(request: ModelRequest, listener: ModelListener): ModelAttempt;
}

export interface ModelRequest {
  readonly functionName: string;
  readonly messages: readonly Message[];
  readonly streamed: boolean;
  /** The schema of the reply, for a client with a form for it. */
  readonly output?: StructuredOutput | undefined;
  /** The end of the whole call, on the monotonic clock (`performance.now()`). */
  readonly deadlineAt: number;
  /** Media URLs of arguments can lead to private and loopback addresses. */
  readonly privateUrls: boolean;
  /** For clients that compute their answer themselves. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Returns the trace headers, with which the provider continues the trace of the call; undefined without a trace. */
  readonly traceHeaders?: (() => readonly string[]) | undefined;
  /** The types of the call. */
  readonly definitions?: DefinitionIndex;
}

/** Why the offline client makes up a reply: it has replies for other calls, or none at all. */
export type MadeUp = 'no-reply-matches' | 'no-replies';

export interface ModelListener {
  /** Streamed replies only: more text. The text of one read of the socket comes in one delta. */
  text(delta: string): void;
  /** Present if the caller asks for the reasoning. Called with each part of it, for streamed replies only. */
  readonly reasoning?: ((delta: string) => void) | undefined;
  /** Comes exactly once, last. The reply holds the whole text, streamed or not. */
  ended(result: Result<ModelReply, AttemptFailure>): void;
}

/** One attempt at one model, under way. */
export interface ModelAttempt {
  /** No one wrote the reply: the offline client has none for the call. Known from the start, before any text. */
  readonly madeUp?: MadeUp | undefined;
  /**
   * The part of a streamed reply that has arrived, with the counts that the provider has stated; undefined if there is none. For a reply
   * that broke off: nothing more of it is read.
   */
  takeReceived(): ModelReply | undefined;
  /** The listener hears nothing more, and the provider sees the connection go. */
  cancel(): void;
  /** Releases the memory of the reply after its use. */
  release(): void;
  /** No text is needed for this many milliseconds, so reads that would follow each other within it can be coalesced. */
  coalesceReads(forMs: number): void;
  /** A hint: text on its way can still arrive. */
  pause(): void;
  resume(): void;
}

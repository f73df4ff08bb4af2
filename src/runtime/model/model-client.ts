import type { Result } from '../../base/result.ts';
import type { Provider } from '../../schema/client.ts';
import type { Message, PromptClient } from '../../schema/message.ts';
import type { ModelReply } from './wire/reply-format.ts';
import type { FinishReasonRule } from './options/client-options.ts';
import type { AttemptFailure } from './attempt-failure.ts';

/** One model behind one set of credentials, ready to be asked. Strategies (fallback, round-robin) are not of this kind. */
export interface ModelClient {
  readonly name: string;
  readonly provider: Provider;
  /** Absent where the definition names none. */
  readonly model: string | undefined;
  /** What templates may know of it, and the roles it takes. */
  readonly prompt: PromptClient;
  readonly finishReasons: FinishReasonRule;
  /**
   * Sends the messages. The listener is told on a later turn of the event loop.
   * Never throws: what fails is told to the listener.
   */
  ask(request: ModelRequest, listener: ModelListener): ModelExchange;
}

export interface ModelRequest {
  readonly functionName: string;
  readonly messages: readonly Message[];
  readonly streamed: boolean;
  /** On the monotonic clock (`performance.now()`): when the whole call ends. */
  readonly deadlineAt: number;
  /** Media URLs of arguments may lead to private and loopback addresses. */
  readonly privateUrls: boolean;
  /** What was asked, for the clients that compute their answer themselves. */
  readonly args: Readonly<Record<string, unknown>>;
}

export interface ModelListener {
  /** Streamed replies only: more text. What one read of the socket brought comes in one piece. */
  text(piece: string): void;
  /** Comes exactly once, last. The reply holds the whole text, streamed or not. */
  ended(result: Result<ModelReply, AttemptFailure>): void;
}

/** A question on its way. */
export interface ModelExchange {
  /** The listener hears nothing more, and the provider sees the connection go. */
  cancel(): void;
  /** Text is looked at no more often than this: what comes faster may be read together. */
  gather(ms: number): void;
  pause(): void;
  resume(): void;
}

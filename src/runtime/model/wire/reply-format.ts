import type { Result } from '../../../base/result.ts';
import type { EventListener, FrameReader } from '../http/sse-reader.ts';
import type { UpstreamFailure } from '../http/upstream-failure.ts';
import { countAt } from './json-reading.ts';

/** What a provider's answer says, in one shape for all providers. */
export interface ModelReply {
  /** The whole text. */
  readonly text: string;
  readonly finishReason?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** How one family of providers writes replies. Has no state. */
export interface ReplyFormat {
  /** Reads the body of a whole reply. The failure says what is wrong with it, for the caller. */
  readWhole(body: string): Result<ModelReply, UpstreamFailure>;
  openStream(): StreamedReply;
  /** How a stream is cut into events, where that is not by server-sent events. */
  frames?(listener: EventListener): FrameReader;
}

/** Reads the events of one streamed reply. */
export interface StreamedReply {
  /** The data of one event is `text.slice(start, end)`. */
  event(text: string, start: number, end: number): void;
  /**
   * Takes as many as it can of the events whose data begins at `start` and that follow each other with `gap` between the data
   * of each two; returns where the data of the first one begins that it left.
   */
  run(text: string, start: number, gap: string): number;
  /** The text that came since the last call; empty when none did. */
  takeText(): string;
  /** Set when the provider said that it failed, or when an event cannot be read. */
  readonly fault: UpstreamFailure | undefined;
  /** The provider said that nothing more comes. */
  readonly done: boolean;
  /** A finish reason or an end mark was seen: a stream that ends without one was cut off. */
  readonly complete: boolean;
  /** What is known besides the text. */
  readonly details: Omit<ModelReply, 'text'>;
}

/** An answer that is not what the provider documents. */
export function malformed(message: string): UpstreamFailure {
  return { kind: 'unusable', message };
}

/** Of a streamed event: it holds no piece of a second answer. Several answers (`n: 2`) come in turns, each with its `index`. */
export function isOnlyOne(answers: readonly unknown[]): boolean {
  return answers.length <= 1 && (countAt(answers[0], 'index') ?? 0) === 0;
}

import type { ReplyStream } from '../reply/reply-parser.ts';
import type { FunctionReplies } from './function-replies.ts';
import { parseReply, parseText } from './parse-reply.ts';
import type { ReplyOutcome, WholeReply, RuntimeOptions, StreamObserver } from './runtime.ts';

/** Receives model text: the only part in which a call and a stream differ. */
export interface ReplyReader {
  readonly streamed: boolean;
  /**
   * An attempt starts, and the text of the previous one is void. `reason`: why the previous one failed. `wrapped`: its replies
   * can be in a wrapper.
   */
  begin(reason: string | undefined, wrapped: boolean): void;
  text(delta: string): void;
  reasoning(delta: string): void;
  /** The reply is complete. */
  finish(reply: WholeReply): ReplyOutcome | Promise<ReplyOutcome>;
}

/** Parses a reply once it is complete; a long one on another thread. */
export class WholeReader implements ReplyReader {
  readonly streamed = false;
  readonly #replies: FunctionReplies;
  readonly #options: RuntimeOptions;

  constructor(replies: FunctionReplies, options: RuntimeOptions) {
    this.#replies = replies;
    this.#options = options;
  }

  begin(): void {}

  text(): void {}

  reasoning(): void {}

  finish(reply: WholeReply): ReplyOutcome | Promise<ReplyOutcome> {
    return parseReply(reply, this.#options, parseText(this.#replies.parserFor(reply.wrapped), reply));
  }
}

/**
 * Parses text as it arrives and notifies the observer. The state of a growing reply stays in this thread; a long reply of
 * which much remains to be read, or has to be read again, is parsed on another thread.
 */
export class StreamReader implements ReplyReader {
  readonly streamed = true;
  readonly #replies: FunctionReplies;
  readonly #options: RuntimeOptions;
  readonly #observer: StreamObserver;
  readonly #functionName: string;
  #stream: ReplyStream | undefined;
  /** The observer received a part of this attempt. */
  #reported = false;
  #length = 0;

  constructor(replies: FunctionReplies, options: RuntimeOptions, observer: StreamObserver, functionName: string) {
    this.#functionName = functionName;
    this.#replies = replies;
    this.#options = options;
    this.#observer = observer;
  }

  begin(reason: string | undefined, wrapped: boolean): void {
    const restart = this.#reported;
    this.#reported = false;
    this.#length = 0;
    this.#stream = this.#replies.parserFor(wrapped).openStream();
    if (restart) this.#observer.reset(reason ?? 'another attempt starts');
  }

  text(delta: string): void {
    this.#reported = true;
    this.#length += delta.length;
    this.#options.onParse?.(this.#functionName, this.#length);
    this.#stream?.push(delta);
    this.#observer.text(delta);
  }

  reasoning(delta: string): void {
    this.#reported = true;
    this.#observer.reasoning(delta);
  }

  finish(reply: WholeReply): ReplyOutcome | Promise<ReplyOutcome> {
    const stream = this.#stream;
    this.#stream = undefined;
    const parser = this.#replies.parserFor(reply.wrapped);
    if (stream === undefined) return parseReply(reply, this.#options, parseText(parser, reply));
    const { isCut } = reply;
    const here = { parse: () => stream.finish(isCut), parseShort: () => stream.finishShort(isCut) };
    return parseReply(reply, this.#options, here, stream.toRead);
  }

  takePartial(): readonly string[] | undefined {
    return this.#stream?.takePartial();
  }

  get isBehind(): boolean {
    return this.#stream?.isBehind === true;
  }
}

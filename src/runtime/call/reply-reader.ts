import type { ReplyParser, ReplyStream } from '../reply/reply-parser.ts';
import { parseWholeReply } from './parse-whole-reply.ts';
import type { ReplyOutcome, WholeReply } from './whole-reply.ts';
import type { StreamObserver } from './runtime.ts';
import type { RuntimeOptions } from './runtime-options.ts';

/** What becomes of model text: the one thing in which a call and a stream differ. */
export interface ReplyReader {
  readonly streamed: boolean;
  /** An attempt begins; what an earlier one brought does not count any more. `reason`: why that one failed. */
  begin(reason: string | undefined): void;
  text(piece: string): void;
  /** The reply is whole. */
  finish(reply: WholeReply): ReplyOutcome | Promise<ReplyOutcome>;
}

/** Parses a whole reply, a large one elsewhere. */
export class WholeReader implements ReplyReader {
  readonly streamed = false;
  readonly #parser: ReplyParser;
  readonly #options: RuntimeOptions;

  constructor(parser: ReplyParser, options: RuntimeOptions) {
    this.#parser = parser;
    this.#options = options;
  }

  begin(): void {}

  text(): void {}

  finish(reply: WholeReply): ReplyOutcome | Promise<ReplyOutcome> {
    return parseWholeReply(reply, this.#options, () => this.#parser.parse(reply.text));
  }
}

/**
 * Parses text as it comes, and tells the observer that there is something to look at. What is known of a growing reply
 * stays in this thread; a large reply of which much is not read yet, or has to be read once more, is parsed elsewhere.
 */
export class StreamReader implements ReplyReader {
  readonly streamed = true;
  readonly #parser: ReplyParser;
  readonly #options: RuntimeOptions;
  readonly #observer: StreamObserver;
  #stream: ReplyStream | undefined;
  #sawText = false;

  constructor(parser: ReplyParser, options: RuntimeOptions, observer: StreamObserver) {
    this.#parser = parser;
    this.#options = options;
    this.#observer = observer;
  }

  begin(reason: string | undefined): void {
    const restart = this.#sawText;
    this.#sawText = false;
    this.#stream = this.#parser.openStream();
    if (restart) this.#observer.reset(reason ?? 'another attempt begins');
  }

  text(piece: string): void {
    this.#sawText = true;
    this.#stream?.push(piece);
    this.#observer.text();
  }

  finish(reply: WholeReply): ReplyOutcome | Promise<ReplyOutcome> {
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream === undefined) return parseWholeReply(reply, this.#options, () => this.#parser.parse(reply.text));
    return parseWholeReply(reply, this.#options, () => stream.finish(), stream.toRead);
  }

  takePartial(): string | undefined {
    return this.#stream?.takePartial();
  }
}

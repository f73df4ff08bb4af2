import type { Cancellation } from '../../base/cancellation.ts';
import type { ParseOutcome, ReplyParser, ReplyStream } from '../parsing/reply-parser.ts';
import type { StreamObserver } from './runtime.ts';
import type { RuntimeOptions } from './runtime-options.ts';

/** What becomes of model text: the one thing in which a call and a stream differ. */
export interface ReplyReader {
  readonly streamed: boolean;
  /** An attempt begins; what an earlier one brought does not count any more. `reason`: why that one failed. */
  begin(reason: string | undefined): void;
  text(piece: string): void;
  /** The reply is whole. */
  finish(text: string): ParseOutcome | Promise<ParseOutcome>;
}

/** Parses a whole reply, a large one elsewhere. */
export class WholeReader implements ReplyReader {
  readonly streamed = false;
  readonly #parser: ReplyParser;
  readonly #functionName: string;
  readonly #options: RuntimeOptions;
  readonly #cancellation: Cancellation;

  constructor(parts: {
    readonly parser: ReplyParser;
    readonly functionName: string;
    readonly options: RuntimeOptions;
    readonly cancellation: Cancellation;
  }) {
    this.#parser = parts.parser;
    this.#functionName = parts.functionName;
    this.#options = parts.options;
    this.#cancellation = parts.cancellation;
  }

  begin(): void {}

  text(): void {}

  finish(text: string): ParseOutcome | Promise<ParseOutcome> {
    const { parseElsewhere, parseElsewhereAbove } = this.#options;
    if (parseElsewhere === undefined || text.length <= parseElsewhereAbove) return this.#parser.parse(text);
    return parseElsewhere(this.#functionName, text, this.#cancellation);
  }
}

/** Parses text as it comes, and tells the observer that there is something to look at. */
export class StreamReader implements ReplyReader {
  readonly streamed = true;
  readonly #parser: ReplyParser;
  readonly #observer: StreamObserver;
  #stream: ReplyStream | undefined;
  #sawText = false;

  constructor(parser: ReplyParser, observer: StreamObserver) {
    this.#parser = parser;
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

  finish(text: string): ParseOutcome {
    return this.#stream?.finish() ?? this.#parser.parse(text);
  }

  takePartial(): string | undefined {
    return this.#stream?.takePartial();
  }
}

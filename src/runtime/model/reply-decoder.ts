import { err, ok } from '../../base/result.ts';
import type { Result } from '../../base/result.ts';
import { BodyBuffer } from './http/body-buffer.ts';
import type { ResponseHeaders } from './http/origin-pool.ts';
import { SseReader } from './http/sse-reader.ts';
import type { EventListener, FrameReader } from './http/sse-reader.ts';
import type { UpstreamFailure } from './http/upstream-failure.ts';
import { readWhole, tooLargeToParse } from './wire/reply-format.ts';
import type { ModelReply, ReplyFormat, StreamedReply } from './wire/reply-format.ts';

interface Expectation {
  readonly format: ReplyFormat;
  /** The provider was asked for a stream. */
  readonly streamed: boolean;
  /** A stream is complete if its body ended well and brought text, whatever its events state. */
  readonly endsWithBody: boolean;
  /** True if the caller asks for the reasoning. */
  readonly wantsReasoning: boolean;
}

const TOO_LARGE: UpstreamFailure = { kind: 'unusable', message: 'sent an event larger than 8 MiB' };
const DAMAGED: UpstreamFailure = { kind: 'cut', message: 'sent an event with a wrong checksum' };
const UNFINISHED: UpstreamFailure = { kind: 'cut', message: 'ended its stream before the reply was complete' };
const EMPTY: UpstreamFailure = { kind: 'cut', message: 'sent an empty reply' };
/** Headers of a response that states where its body ends: HTTP/2, which has the first, always does. */
const FRAMING = [':status', 'transfer-encoding', 'content-length'];

const BYTE_ORDER_MARK = 0xfe_ff;

/** Decodes the body of one response into a reply, in the provider's format. */
export class ReplyDecoder {
  readonly #expected: Expectation;
  /** The body of a reply that is not streamed. */
  #body: BodyBuffer | undefined;
  #frames: FrameReader | undefined;
  #stream: StreamedReply | undefined;
  #text = '';
  #reasoning = '';
  /** The response states where its body ends; without that, a cut looks like an end. */
  readonly #framed: boolean;
  #failure: UpstreamFailure | undefined;

  /** `headers`: those of the response. */
  constructor(expected: Expectation, headers: ResponseHeaders) {
    this.#expected = expected;
    this.#framed = FRAMING.some((name) => headers[name] !== undefined);
    // Some servers ignore the request for a stream: their content-type shows it.
    if (expected.streamed && !String(headers['content-type']).startsWith('application/json')) this.#openStream();
    else this.#body = new BodyBuffer();
  }

  /** The reply comes as events, so bytes that arrive together are best decoded together. */
  get isStream(): boolean {
    return this.#stream !== undefined;
  }

  /** Set if the stream cannot be used, or reported an error. */
  get failure(): UpstreamFailure | undefined {
    return this.#failure ?? this.#stream?.fault;
  }

  /** The stream announced that nothing more comes. */
  get done(): boolean {
    return this.#stream?.done === true;
  }

  /** The streamed reply, as far as it is known. */
  get reply(): ModelReply {
    const reply = { text: this.#text, ...this.#stream?.details };
    return this.#reasoning === '' ? reply : { ...reply, reasoning: this.#reasoning };
  }

  push(bytes: Buffer): void {
    this.#body?.add(bytes);
    if (this.#frames?.push(bytes) === false) this.#failure = this.#frames.damaged === true ? DAMAGED : TOO_LARGE;
  }

  /** The bytes that a stream keeps: its text and reasoning so far, with one byte for each character, and an incomplete event. */
  get keptBytes(): number {
    return this.#text.length + this.#reasoning.length + (this.#frames?.waitingBytes ?? 0);
  }

  /** The text of a stream since the last call; empty if there is none. */
  takeDelta(): string {
    const delta = this.#stream?.takeText() ?? '';
    this.#text += delta;
    return delta;
  }

  /** The reasoning of a stream since the last call; empty if there is none, or if the caller does not ask for it. */
  takeReasoning(): string {
    const delta = this.#stream?.takeReasoning() ?? '';
    this.#reasoning += delta;
    return delta;
  }

  /** The body ended. Call `takeDelta` and read `failure` before `finish`: the last event can bring text. */
  endOfBody(): void {
    this.#frames?.end();
  }

  /** The reply, or the reason why the body is none. */
  finish(): Result<ModelReply, UpstreamFailure> {
    if (this.#body !== undefined) return this.#readWhole(this.#body.take());
    if (this.failure !== undefined) return err(this.failure);
    const endedWithBody = this.#expected.endsWithBody && this.#framed && this.#text !== '';
    return this.#stream?.complete === true || endedWithBody ? ok(this.reply) : err(UNFINISHED);
  }

  #openStream(): void {
    const { format, wantsReasoning } = this.#expected;
    const stream = format.openStream(wantsReasoning);
    const listener: EventListener = (source, start, end) => stream.event(source, start, end);
    this.#stream = stream;
    this.#frames =
      format.frames?.(listener) ?? new SseReader(listener, (source, start, gap) => stream.run(source, start, gap));
  }

  #readWhole(bytes: Buffer): Result<ModelReply, UpstreamFailure> {
    const excess = tooLargeToParse(bytes, 'a reply');
    if (excess !== undefined) return err(excess);
    const decoded = bytes.toString('utf8');
    // RFC 8259, 8.1 allows readers to skip a byte order mark.
    const body = decoded.charCodeAt(0) === BYTE_ORDER_MARK ? decoded.slice(1) : decoded;
    const { format, wantsReasoning } = this.#expected;
    const reply = readWhole(format, body, wantsReasoning);
    if (reply.ok) return reply;
    if (body === '') return err(EMPTY);
    // Without a stated length, the reply can have been longer: a retry can succeed.
    const canBeCut = reply.failure.kind === 'unusable' && !this.#framed;
    return canBeCut ? err({ kind: 'cut', message: reply.failure.message }) : reply;
  }
}

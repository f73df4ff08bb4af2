import { inOwnTurn, LARGE, ownTurn } from '../../base/own-turn.ts';
import { Cancellation } from '../../base/cancellation.ts';
import { inMicrotask, type ExchangeLimits } from './http/exchange-clock.ts';
import { type Result, err, ok } from '../../base/result.ts';
import type { Redactor } from '../../logging/redactor.ts';
import type { Failure } from '../../schema/failure.ts';
import type { Message } from '../../schema/message.ts';
import type { StructuredOutput } from '../../schema/structured-output.ts';
import { attemptFailure, clientFailure, finalFailure, type AttemptFailure } from './attempt-failure.ts';
import type { ConnectionPools, Destination } from './http/connection-pools.ts';
import {
  MediaBudget,
  fetchMedia,
  hasMediaUrl,
  inlineMedia,
  mediaUrlFault,
  type MediaHandling,
} from './inline-media.ts';
import { HttpExchange, type ExchangeListener, BodyBuffer } from './http/http-exchange.ts';
import { type HttpCall, type ResponseHeaders, errorText, type UpstreamFailure } from './http/origin-pool.ts';
import type { ModelAttempt, ModelClient, ModelListener, ModelRequest } from './model-client.ts';
import { readWhole, tooLargeToParse, type Expected, type ModelReply, type ReplyFormat } from './wire/reply-format.ts';
import { TextShape, WireStream } from './wire/wire-stream.ts';
import { SseReader, type EventListener, type FrameReader } from './http/sse-reader.ts';

/** The part of an HTTP client that differs between providers. */
export interface WireProtocol {
  /** The request for a prompt. The failure states what the provider does not accept, and completes `The client "X" …`. */
  call(messages: readonly Message[], streamed: boolean, output?: StructuredOutput): CallResult | Promise<CallResult>;
  /** The format of replies. */
  readonly format: ReplyFormat;
  /** Set if a model has to call a tool in reply to a request with a schema: the format of these replies. */
  readonly toolFormat?: ReplyFormat;
}

export type CallResult = Result<HttpCall, string>;

/** A protocol whose requests need nothing that has to be fetched first. */
export interface ReadyProtocol extends WireProtocol {
  call(messages: readonly Message[], streamed: boolean, output?: StructuredOutput): CallResult;
}

interface HttpClientParts extends Omit<ModelClient, 'ask' | 'origin'> {
  readonly supportsStreaming: boolean;
  /** True if the provider receives the trace headers. */
  readonly propagateTrace: boolean;
  readonly destination: Destination;
  readonly limits: ExchangeLimits;
  /** The treatment of media URLs. */
  readonly mediaHandling: MediaHandling;
  /** The server of the client can be in the network of svc, where it would fetch media from private hosts. */
  readonly isSelfHosted: boolean;
  /** Masks the credentials of this client in errors. */
  readonly redactor: Redactor;
  readonly protocol: WireProtocol;
  readonly pools: ConnectionPools;
}

/** The shapes of the events that a client receives: of text, and of the input of a tool. */
interface Shapes {
  readonly text: TextShape;
  readonly tool: TextShape;
}

interface ClientState {
  readonly parts: HttpClientParts;
  readonly shapes: Shapes;
}

/** A client of any provider that is asked by an HTTP POST. */
export function httpModelClient(parts: HttpClientParts): ModelClient {
  const { name, provider, model, prompt, finishReasons, onTruncation } = parts;
  const { structured, prices, coolDownMs, destination } = parts;
  const shapes = { text: new TextShape(), tool: new TextShape() };
  return {
    name,
    provider,
    model,
    prompt,
    finishReasons,
    onTruncation,
    structured,
    prices,
    coolDownMs,
    origin: destination.origin,
    ask(request, listener) {
      const attempt = new HttpAttempt({ parts, shapes }, request, listener);
      attempt.start();
      return attempt;
    },
  };
}

/** The work before a request can be sent: downloads of media, tokens. It ends with the attempt or at the deadline. */
interface Preparation {
  readonly cancellation: Cancellation;
  readonly timer: NodeJS.Timeout;
  /** Held to the end of the attempt. */
  readonly media: MediaBudget | undefined;
}

/** setTimeout takes 31 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One attempt over HTTP: inlines media, encodes the request, and passes on the text and the end of the reply. */
class HttpAttempt implements ModelAttempt, ExchangeListener {
  readonly #client: HttpClientParts;
  readonly #shapes: Shapes;
  readonly #request: ModelRequest;
  readonly #listener: ModelListener;
  /** The provider is asked for a stream. */
  readonly #streamed: boolean;
  #preparation: Preparation | undefined;
  #exchange: HttpExchange | undefined;
  #decoder: ReplyDecoder | undefined;
  /** Chunks of a stream that are not decoded yet. */
  #chunks: Buffer[] = [];
  #decodingIsDue: 'no' | 'in a microtask' | 'later' = 'no';
  #coalescer: ReadCoalescer | undefined;
  #paused = false;
  #over = false;

  constructor({ parts, shapes }: ClientState, request: ModelRequest, listener: ModelListener) {
    this.#client = parts;
    this.#shapes = shapes;
    this.#request = request;
    this.#listener = listener;
    this.#streamed = request.streamed && parts.supportsStreaming;
  }

  start(): void {
    const { messages } = this.#request;
    if (hasMediaUrl(messages)) {
      this.#sendWhenReady(this.#encodeWithMedia());
      return;
    }
    const call = isLargePrompt(messages) ? this.#encodeInTurns(messages) : this.#encode(messages);
    if (call instanceof Promise) {
      this.#prepare(undefined);
      this.#sendWhenReady(call);
    } else this.#send(call);
  }

  #encode(messages: readonly Message[]): CallResult | Promise<CallResult> {
    return this.#client.protocol.call(messages, this.#streamed, this.#request.output);
  }

  /** To write the body and to send it take a turn each, after that of the prompt. */
  async #encodeInTurns(messages: readonly Message[]): Promise<CallResult> {
    await ownTurn();
    const call = await this.#encode(messages);
    await ownTurn();
    return call;
  }

  takeReceived(): ModelReply | undefined {
    const chunks = this.#chunks.splice(0);
    try {
      for (const chunk of chunks) this.#decoder?.push(chunk);
    } catch {
      // Only what can be read counts.
    }
    return this.#decoder?.received();
  }

  cancel(): void {
    this.#close();
    this.#preparation?.cancellation.cancel('no caller waits for the answer');
    this.#exchange?.cancel();
  }

  release(): void {
    this.#exchange?.release();
  }

  pause(): void {
    this.#paused = true;
    this.#exchange?.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#coalescer?.isResting !== true) this.#readOn();
  }

  coalesceReads(forMs: number): void {
    if (this.#over) return;
    this.#coalescer ??= new ReadCoalescer({
      rest: () => this.#exchange?.rest(),
      readOn: () => this.#readOn(),
    });
    this.#coalescer.rest(forMs);
  }

  accepted(headers: ResponseHeaders): void {
    const { format, toolFormat } = this.#client.protocol;
    const tool = this.#request.output === undefined ? undefined : toolFormat;
    const reading = {
      wantsReasoning: this.#listener.reasoning !== undefined,
      asTool: tool !== undefined,
      format: tool ?? format,
      streamed: this.#streamed,
      shape: tool === undefined ? this.#shapes.text : this.#shapes.tool,
    };
    this.#decoder = new ReplyDecoder(reading, headers);
  }

  data(chunk: Buffer): void {
    if (this.#decoder?.isStream !== true) {
      this.#decoder?.push(chunk);
      return;
    }
    // Chunks on their way arrive although reading rests: those that follow are decoded with them.
    if (this.#decodingIsDue === 'later' || this.#coalescer?.isResting === true) {
      this.#chunks.push(Buffer.from(chunk));
      return;
    }
    this.#chunks.push(chunk);
    if (this.#decodingIsDue === 'in a microtask') return;
    // One read of the socket can bring many chunks of the body; all of them are decoded together, after the last one.
    this.#decodingIsDue = 'in a microtask';
    inMicrotask(() => this.#decodeDue());
  }

  /** Many large replies can be complete in one turn. */
  ended(): void {
    if ((this.#decoder?.bodyBytes ?? 0) < LARGE) this.#ended();
    else inOwnTurn(this.#ended);
  }

  readonly #ended = (): void => {
    if (!this.#over) this.#catchErrors(() => this.#decodeEnd());
  };

  failed(failure: UpstreamFailure): void {
    if (this.#over) return;
    this.#exchange?.cancel();
    this.#end(err(attemptFailure(this.#client.name, failure, this.#client.redactor)));
  }

  /** Watches the deadline while something has to be fetched. The exchange watches it afterwards. */
  #prepare(media: MediaBudget | undefined): Cancellation {
    const cancellation = new Cancellation();
    const startedAt = performance.now();
    const left = Math.max(0, this.#request.deadlineAt - startedAt) + 1;
    const timer = setTimeout(
      () => {
        cancellation.cancel('the time of the whole call is over');
        this.failed({ kind: 'timeout', timer: 'total', afterMs: Math.round(performance.now() - startedAt) });
      },
      Math.min(left, LONGEST_TIMER_MS),
    );
    this.#preparation = { cancellation, timer, media };
    return cancellation;
  }

  async #encodeWithMedia(): Promise<Result<HttpCall, string | Failure>> {
    const { pools, mediaHandling, isSelfHosted, destination } = this.#client;
    const { messages, privateUrls } = this.#request;
    const room = new MediaBudget(pools.media);
    const cancellation = this.#prepare(room);
    const guard = privateUrls ? 'not-link-local' : 'public-only';
    const resolve = (name: string) => pools.refusalOf(name, guard, destination.origin);
    const fault = await mediaUrlFault(messages, mediaHandling, guard, isSelfHosted ? resolve : undefined);
    if (fault !== undefined) {
      const message = `The arguments are not allowed: ${fault}`;
      return err({ code: 'invalid_argument', message, details: [{ path: '', message: fault }] });
    }
    const fetch = (url: string): ReturnType<typeof fetchMedia> => fetchMedia(url, { pools, guard, cancellation });
    const inlined = await inlineMedia(messages, mediaHandling, { fetch, room });
    return inlined.ok ? this.#encodeInTurns(inlined.value) : inlined;
  }

  /** A rejection, such as for a string that V8 cannot hold, ends the call immediately and not at its deadline. */
  #sendWhenReady(call: Promise<Result<HttpCall, string | Failure>>): void {
    void call.then(
      (ready) => this.#send(ready),
      (error: unknown) => this.failed({ kind: 'unusable', message: `could not be called: ${errorText(error)}` }),
    );
  }

  #send(call: Result<HttpCall, string | Failure>): void {
    if (!call.ok) {
      const { failure } = call;
      const found = typeof failure === 'string' ? clientFailure(this.#client.name, failure) : failure;
      queueMicrotask(() => this.#end(err(finalFailure(found))));
      return;
    }
    if (this.#over) return;
    clearTimeout(this.#preparation?.timer);
    const { pools, destination, limits } = this.#client;
    const { deadlineAt } = this.#request;
    this.#exchange = new HttpExchange(
      { pools, destination, call: this.#traced(call.value), limits, deadlineAt, streamed: this.#streamed },
      this,
    );
    this.#exchange.start();
  }

  /** Adds the trace headers, except those that the client itself sets. */
  #traced(call: HttpCall): HttpCall {
    const { traceHeaders } = this.#request;
    if (!this.#client.propagateTrace || traceHeaders === undefined) return call;
    const set = new Set(call.headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
    const added = traceHeaders();
    const isFree = (_: string, index: number): boolean => !set.has(added[index - (index % 2)] ?? '');
    return { ...call, headers: [...call.headers, ...added.filter(isFree)] };
  }

  #decodeDue(): void {
    this.#decodingIsDue = 'no';
    this.#catchErrors(() => this.#decode());
  }

  /** No code above catches what decoding throws: it would end the worker, or leave the call without an end. */
  #catchErrors(decode: () => void): void {
    try {
      decode();
    } catch (error) {
      if (this.#over) throw error;
      this.failed({ kind: 'unusable', message: `sent a reply that could not be read: ${errorText(error)}` });
    }
  }

  /** Decodes the chunks of a stream that arrived since the last time. */
  #decode(): void {
    const chunks = this.#chunks;
    const decoder = this.#decoder;
    const [first] = chunks;
    if (this.#over || first === undefined || decoder === undefined) return;
    this.#chunks = [];
    const bytes = chunks.length === 1 ? first : Buffer.concat(chunks);
    decoder.push(bytes);
    this.#exchange?.keeps(decoder.keptBytes);
    this.#coalescer?.wasRead(decoder.takeEvents(), bytes.length);
    this.#passOn(decoder.takeDelta(), decoder.takeReasoning());
    if (decoder.failure !== undefined) this.failed(decoder.failure);
    else if (decoder.done) this.#finish(decoder);
  }

  #decodeEnd(): void {
    this.#decode();
    const decoder = this.#decoder;
    if (this.#over || decoder === undefined) return;
    decoder.endOfBody();
    this.#passOn(decoder.takeDelta(), decoder.takeReasoning());
    this.#finish(decoder);
  }

  /** The socket's bytes arrive at once, the kernel's later in this turn: both are decoded together. */
  #readOn(): void {
    if (this.#paused) return;
    this.#decodingIsDue = 'later';
    this.#exchange?.resume();
    setImmediate(() => this.#decodeDue());
  }

  /** The reasoning comes first: a model reasons before it writes the text that arrives together with it. */
  #passOn(delta: string, reasoning = ''): void {
    if (reasoning !== '' && !this.#over) this.#listener.reasoning?.(reasoning);
    if (delta === '' || this.#over) return;
    this.#exchange?.textArrived();
    this.#listener.text(delta);
  }

  #finish(decoder: ReplyDecoder): void {
    if (this.#over) return;
    const reply = decoder.finish();
    if (!reply.ok) {
      this.failed(reply.failure);
      return;
    }
    if (!decoder.isStream && this.#request.streamed) this.#passOn(reply.value.text, reply.value.reasoning);
    this.#exchange?.finish();
    this.#end(reply);
  }

  #end(result: Result<ModelReply, AttemptFailure>): void {
    if (this.#over) return;
    this.#close();
    this.#listener.ended(result);
  }

  #close(): void {
    this.#over = true;
    clearTimeout(this.#preparation?.timer);
    this.#preparation?.media?.release();
    this.#coalescer?.stop();
  }
}

function isLargePrompt(messages: readonly Message[]): boolean {
  let length = 0;
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.kind === 'text') length += part.text.length;
      else if (part.source.kind === 'base64') length += part.source.data.length;
    }
  }
  return length >= LARGE;
}

interface Reading extends Expected {
  readonly format: ReplyFormat;
  /** The provider was asked for a stream. */
  readonly streamed: boolean;
  readonly shape: TextShape;
}

const TOO_LARGE: UpstreamFailure = { kind: 'unusable', message: 'sent an event larger than 8 MiB' };
const DAMAGED: UpstreamFailure = { kind: 'cut', message: 'sent an event with a wrong checksum' };
const UNFINISHED: UpstreamFailure = { kind: 'cut', message: 'ended its stream before the reply was complete' };
const EMPTY: UpstreamFailure = { kind: 'cut', message: 'sent an empty reply' };
/** Headers of a response that states where its body ends: HTTP/2, which has the first, always does. */
const FRAMING = [':status', 'transfer-encoding', 'content-length'];

const BYTE_ORDER_MARK = 0xfe_ff;

/** Decodes the body of one response into a reply, in the provider's format. */
class ReplyDecoder {
  readonly #expected: Reading;
  /** The body of a reply that is not streamed. */
  #body: BodyBuffer | undefined;
  #frames: FrameReader | undefined;
  #stream: WireStream | undefined;
  #text = '';
  #reasoning = '';
  /** The response states where its body ends; without that, a cut looks like an end. */
  readonly #framed: boolean;
  #failure: UpstreamFailure | undefined;

  /** `headers`: those of the response. */
  constructor(expected: Reading, headers: ResponseHeaders) {
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

  /** The number of events of a stream since the last call. */
  takeEvents(): number {
    return this.#stream?.takeEvents() ?? 0;
  }

  push(bytes: Buffer): void {
    this.#body?.add(bytes);
    if (this.#frames?.push(bytes) === false) this.#failure = this.#frames.damaged === true ? DAMAGED : TOO_LARGE;
  }

  /** The bytes of a whole body so far; 0 for a stream. */
  get bodyBytes(): number {
    return this.#body?.length ?? 0;
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

  /** The part of a stream that has arrived; undefined if there is none. */
  received(): ModelReply | undefined {
    this.takeDelta();
    this.takeReasoning();
    const reply = this.#stream?.reply(this.#text);
    const { inputTokens, outputTokens } = reply ?? {};
    const isEmpty = this.#text === '' && this.#reasoning === '' && (inputTokens ?? outputTokens) === undefined;
    return reply === undefined || isEmpty ? undefined : { ...reply, reasoning: this.#reasoning };
  }

  /** The reply, or the reason why the body is none. */
  finish(): Result<ModelReply, UpstreamFailure> {
    if (this.#body !== undefined) return this.#readWhole(this.#body.take());
    if (this.failure !== undefined) return err(this.failure);
    if (this.#stream?.complete !== true) return err(UNFINISHED);
    const reply = this.#stream.reply(this.#text);
    if (this.#reasoning !== '') reply.reasoning = this.#reasoning;
    return ok(reply);
  }

  #openStream(): void {
    const { format } = this.#expected;
    const stream = new WireStream(format, this.#expected, this.#expected.shape);
    const listener: EventListener = (source, start, end) => stream.event(source, start, end);
    this.#stream = stream;
    this.#frames =
      format.frames?.(listener) ??
      new SseReader(listener, (bytes, from, to, head) => stream.run(bytes, from, to, head));
  }

  #readWhole(bytes: Buffer): Result<ModelReply, UpstreamFailure> {
    const excess = tooLargeToParse(bytes, 'a reply');
    if (excess !== undefined) return err(excess);
    const decoded = bytes.toString('utf8');
    // RFC 8259, 8.1 allows readers to skip a byte order mark.
    const body = decoded.charCodeAt(0) === BYTE_ORDER_MARK ? decoded.slice(1) : decoded;
    const reply = readWhole(this.#expected.format, body, this.#expected);
    if (reply.ok) return reply;
    if (body === '') return err(EMPTY);
    // Without a stated length, the reply can have been longer: a retry can succeed.
    const canBeCut = reply.failure.kind === 'unusable' && !this.#framed;
    return canBeCut ? err({ kind: 'cut', message: reply.failure.message }) : reply;
  }
}

/** A rest has to gather at least this many events. */
const SEVERAL_EVENTS = 2;

/** After a larger read, more bytes are waiting already, and a rest gains nothing. */
const SMALL_READ_BYTES = 32 * 1024;

/** A rest takes at most this share of the time since the first read, so that it delays the end of a quick reply by little. */
const SHARE_OF_REST = 1 / 4;

/** The shortest timer of Node. */
const SHORTEST_REST_MS = 1;

interface Restable {
  rest(): void;
  readOn(): void;
}

/**
 * Coalesces the reads of a stream of many small events, each of which costs a system call, a parser run and a wake-up. While
 * no text is needed, reading rests, and the kernel gathers the events that arrive meanwhile. Slow streams and large reads
 * are not delayed.
 */
export class ReadCoalescer {
  readonly #reading: Restable;
  #firstAt: number | undefined;
  #readAt = -Infinity;
  /** The shortest rest that is likely to gather several events. */
  #gainsFromMs = Infinity;
  #hasRested = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(reading: Restable) {
    this.#reading = reading;
  }

  get isResting(): boolean {
    return this.#timer !== undefined;
  }

  /** Call after each read, with the number of its events and bytes. */
  wasRead(events: number, bytes: number): void {
    const now = performance.now();
    const restMs = this.#hasRested && events >= SEVERAL_EVENTS ? 0 : Infinity;
    this.#gainsFromMs = this.#hasRested ? restMs : SEVERAL_EVENTS * (now - this.#readAt);
    if (bytes > SMALL_READ_BYTES) this.#gainsFromMs = Infinity;
    this.#firstAt ??= now;
    this.#readAt = now;
    this.#hasRested = false;
  }

  /** No text is needed for this long, counted from now. */
  rest(ms: number): void {
    if (this.isResting || this.#firstAt === undefined) return;
    const most = Math.max(SHORTEST_REST_MS, (performance.now() - this.#firstAt) * SHARE_OF_REST);
    const restMs = Math.min(ms, most);
    if (restMs < this.#gainsFromMs) return;
    this.#reading.rest();
    this.#timer = setTimeout(this.#endRest, restMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #endRest = (): void => {
    this.#timer = undefined;
    this.#hasRested = true;
    this.#reading.readOn();
  };
}

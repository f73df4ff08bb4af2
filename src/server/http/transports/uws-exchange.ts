import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse } from 'uWebSockets.js';
import type { Answer, BodyOutcome, HeaderList, HttpRequest, HttpResponse, RequestHeader } from '../transport.ts';
import { BodyReader, type Expiring } from './body-reader.ts';
import type { ExchangeHost } from './exchange-host.ts';
import { Framing } from './framing.ts';
import { headerValue } from './header-value.ts';
import { hasNoContent, statusLine } from './status-line.ts';
import type { Deferred, TurnClock } from './turn-clock.ts';
import { UwsWriter } from './uws-writer.ts';

/** What clients are told; uWebSockets.js closes idle connections after 8 to 12 seconds. */
const KEEP_ALIVE = 'timeout=5';

/** Less than this the system takes at once from a connection that has nothing else to send. */
const LARGE_BYTES = 64 * 1024;

interface UwsHost extends ExchangeHost {
  readonly clock: TurnClock;
  largeAnswerAt: number;
}

/** One request and its answer on uWebSockets.js: one object, since it is made for every request. */
export class UwsExchange implements HttpRequest, HttpResponse, Deferred, Expiring {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly framing: Framing;
  readonly #transport: UwsHost;
  readonly #native: NativeResponse;
  readonly #body: BodyReader;
  /** The turn in which the last input came. */
  #turn: number;
  setIndex = -1;
  #closed = false;
  /** The connection ends with this answer. */
  #closing = false;
  #answer: Answer | undefined;
  #writer: UwsWriter | undefined;
  #abortListener: (() => void) | undefined;
  #left: (() => void) | undefined;

  /** Nothing here may throw before `onAborted` is set: uWebSockets.js would end the process. */
  constructor(transport: UwsHost, native: NativeResponse, request: NativeRequest) {
    native.onAborted(() => this.#aborted());
    this.#transport = transport;
    this.#native = native;
    this.#turn = transport.clock.mark();
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? '';
    this.framing = new Framing(this.path.length + this.query.length);
    readHeaders(request, this.framing);
    this.#body = new BodyReader(this.framing.hasBody, transport.options);
  }

  /** Starts to take the body; after the handler, so that `readBody` was called or the bytes are dropped. */
  openBody(): void {
    const { framing } = this;
    // A header without a name hides those after it from us and from the parser: with no length in sight on a method
    // that has one, what follows might be a body.
    const endIsUnsure = framing.chunked || (framing.lengthIsUnsaid && this.method === 'POST');
    if (framing.closes || endIsUnsure) this.#closing = true;
    if (this.#body.complete || this.#closed) return;
    this.#transport.bodies.add(this);
    this.#native.onData((chunk, isLast) => this.#takeBody(chunk, isLast));
  }

  header(name: RequestHeader): string | undefined {
    return this.framing.header(name);
  }

  get local(): boolean {
    return !this.#closed && this.framing.direct && isLoopback(new Uint8Array(this.#native.getRemoteAddress()));
  }

  readBody(limit: number, done: (outcome: BodyOutcome) => void): void {
    this.#body.read(limit, done);
  }

  get closed(): boolean {
    return this.#closed;
  }

  send(status: number, headers: HeaderList, body: Uint8Array | string | undefined): void {
    if (this.#closed || this.#answer !== undefined || this.#writer !== undefined) return;
    this.#answer = { status, headers, body };
    if (this.#body.complete) this.nextTurn();
  }

  /** Answers what the handler threw. */
  crashed(error: unknown): void {
    this.refuse(this.#transport.options.refuse('crashed', '', { requestId: this.header('x-request-id'), error }));
  }

  /** Answers at once with the end of the connection, whatever is left of the body. */
  refuse(answer: Answer): void {
    this.#closing = true;
    this.#answer = undefined;
    this.#body.complete = true;
    this.send(answer.status, answer.headers, answer.body);
  }

  start(status: number, headers: HeaderList, filler: string): void {
    if (this.#closed || this.#answer !== undefined || this.#writer !== undefined) return;
    const writer = new UwsWriter(this.#native, filler, () => this.#writeHead(status, headers, this.#isLastAnswer));
    this.#writer = writer;
    if (this.#transport.clock.passed(this.#turn, this)) writer.open();
  }

  write(chunk: string): boolean {
    return !this.#closed && this.#writer !== undefined && this.#writer.write(chunk);
  }

  end(): void {
    if (this.#closed || this.#writer === undefined) return;
    this.#left ??= this.#transport.leavingAnswers.begin();
    this.#writer.end(() => {
      this.#closed = true;
      this.#left?.();
    });
  }

  onDrain(listener: (empty: boolean) => void): void {
    if (this.#writer !== undefined) this.#writer.drainListener = listener;
  }

  keepWaiting(): void {
    if (!this.#closed) this.#writer?.keepWaiting();
  }

  onAborted(listener: () => void): void {
    this.#abortListener = listener;
  }

  destroy(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#left?.();
    this.#transport.bodies.delete(this);
    this.#native.close();
  }

  nextTurn(): void {
    if (this.#closed) return;
    if (!this.#transport.clock.passed(this.#turn, this)) return;
    if (this.#writer !== undefined) this.#writer.open();
    else if (this.#answer !== undefined) this.#native.cork(() => this.#writeAnswer());
  }

  expire(now: number): void {
    if (!this.#body.isLate(now)) return;
    this.#transport.bodies.delete(this);
    this.#closing = true;
    this.#body.timeOut();
    this.nextTurn();
  }

  get #isLastAnswer(): boolean {
    return this.#closing || this.#transport.finishing;
  }

  #writeAnswer(): void {
    const answer = this.#answer;
    if (answer === undefined || this.#closed) return;
    this.#closed = true;
    const last = this.#isLastAnswer;
    const headOnly = this.method === 'HEAD' || hasNoContent(answer.status);
    this.#writeHead(answer.status, answer.headers, last && headOnly);
    if (!last) this.#native.writeHeader('Keep-Alive', KEEP_ALIVE);
    // Without any argument: with a length it leaves the connection waiting for that many bytes.
    if (headOnly) this.#native.endWithoutBody();
    else this.#native.end(answer.body ?? '', last);
    if ((answer.body?.length ?? 0) > LARGE_BYTES) this.#transport.largeAnswerAt = performance.now();
  }

  #writeHead(status: number, headers: HeaderList, sayClose: boolean): void {
    this.#native.writeStatus(statusLine(status));
    for (const [name, value] of headers) this.#native.writeHeader(name, headerValue(value));
    if (sayClose) this.#native.writeHeader('Connection', 'close');
  }

  #takeBody(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#closed) return;
    this.#turn = this.#transport.clock.mark();
    try {
      const progress = this.#body.push(new Uint8Array(chunk), isLast);
      if (progress === 'overflow') this.destroy();
      if (progress === 'more') return;
    } catch (error) {
      this.crashed(error);
    }
    this.#transport.bodies.delete(this);
    if (this.#answer !== undefined) this.nextTurn();
  }

  #aborted(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#left?.();
    this.#transport.bodies.delete(this);
    this.#body.aborted();
    this.#abortListener?.();
  }
}

/** The library calls back for each header, synchronously: one function serves all requests. */
let headersOf: Framing | undefined;

function readHeaders(request: NativeRequest, framing: Framing): void {
  headersOf = framing;
  request.forEach(takeHeader);
  headersOf = undefined;
}

function takeHeader(name: string, value: string): void {
  headersOf?.take(name, value);
}

/** 127.0.0.0/8, ::1, and the former as IPv6. */
function isLoopback(address: Uint8Array): boolean {
  if (address.length === 4) return address[0] === 127;
  const isZero = (from: number, to: number) => address.subarray(from, to).every((byte) => byte === 0);
  if (isZero(0, 15)) return address[15] === 1;
  return isZero(0, 10) && address[10] === 255 && address[11] === 255 && address[12] === 127;
}

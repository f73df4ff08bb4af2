import type { IncomingMessage, ServerResponse } from 'node:http';
import { addressOf, isLoopbackAddress } from '../peer-address.ts';
import { INTERNAL_PROBLEM, type Problem } from '../problem.ts';
import { hasNoContent, headerValue, type HeaderList } from '../response-head.ts';
import type { Swept } from '../sweep.ts';
import type { Answer, BodyOutcome, HttpRequest, HttpResponse, RejectedRequest, RequestHeader } from '../transport.ts';
import { BodyReader } from './body-reader.ts';
import { Framing } from './framing.ts';
import type { NativeExchange, NodeConnection } from './node-connection.ts';
import type { TransportState } from './transport-state.ts';
import type { UnreadAnswer } from './unread-answers.ts';

/** A client that accepts nothing of a complete answer for this long is cut. */
const STALLED_ANSWER_MS = 30_000;

/** A request and its response on node:http. */
export class NodeExchange implements HttpRequest, HttpResponse, Swept, UnreadAnswer {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly framing: Framing;
  readonly #state: TransportState;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #body: BodyReader;
  setIndex = -1;
  #closed = false;
  #closing = false;
  #started = false;
  #answer: Answer | undefined;
  #abortListener: (() => void) | undefined;
  unreadBytes = 0;

  constructor(state: TransportState, { incoming, outgoing }: NativeExchange, connection: NodeConnection) {
    this.#state = state;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    outgoing.on('close', () => {
      this.#answerEnded();
      connection.ended(!outgoing.shouldKeepAlive);
    });
    this.method = incoming.method ?? '';
    const target = pathOf(incoming.url ?? '/');
    const mark = target.indexOf('?');
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? '' : target.slice(mark + 1);
    this.framing = new Framing(target.length);
    readHeaders(incoming.rawHeaders, this.framing);
    this.#body = new BodyReader(this.framing.hasBody, state.options, this);
  }

  /** Starts to read the body. To be called after the handler: without its `readBody`, the bytes are discarded. */
  openBody(): void {
    if (this.framing.chunked) this.#closing = true;
    if (this.#body.complete || this.#closed) {
      this.#incoming.resume();
      return;
    }
    this.#state.bodies.add(this);
    this.#incoming.on('data', (chunk: Buffer) => this.#takeBody(chunk, false));
    this.#incoming.on('end', () => this.#takeBody(new Uint8Array(0), true));
  }

  get host(): string {
    return this.framing.host;
  }

  header(name: RequestHeader): string | undefined {
    return this.framing.header(name);
  }

  get local(): boolean {
    return this.framing.namesThisMachine && isLoopbackAddress(this.peer);
  }

  get peer(): string {
    return addressOf(this.#incoming.socket.remoteAddress ?? '');
  }

  readBody(limit: number, done: (outcome: BodyOutcome) => void): void {
    this.#body.read(limit, done);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** True if the request has arrived completely and its answer is outstanding. */
  get awaitsAnswer(): boolean {
    return this.#body.complete && !this.#closed;
  }

  send(status: number, headers: HeaderList, body: Uint8Array | string | undefined): void {
    if (this.#closed || this.#answer !== undefined || this.#started) return;
    this.#answer = { status, headers, body };
    if (this.#body.complete) this.#writeAnswer();
  }

  /** Answers an exception of the handler. */
  crashed(error: unknown): void {
    this.reject(INTERNAL_PROBLEM, { requestId: this.header('x-request-id'), error });
  }

  /** Answers at once and ends the connection, whatever remains of the body. */
  reject(problem: Problem, request?: RejectedRequest): void {
    const answer = this.#state.options.reject(problem, request);
    this.#closing = true;
    this.#answer = undefined;
    this.#body.complete = true;
    this.send(answer.status, answer.headers, answer.body);
  }

  start(status: number, headers: HeaderList): void {
    if (this.#closed || this.#answer !== undefined || this.#started) return;
    this.#started = true;
    this.#outgoing.writeHead(status, this.#flatHeaders(headers));
    this.#outgoing.flushHeaders();
  }

  write(chunk: string): boolean {
    return !this.#closed && this.#started && this.#outgoing.write(chunk);
  }

  end(): void {
    if (this.#closed || !this.#started) return;
    this.#closed = true;
    this.#finish(undefined);
  }

  onDrain(listener: (empty: boolean) => void): void {
    this.#outgoing.on('drain', () => listener(true));
  }

  /** The requests of a connection run one after another. */
  whenAlone(): boolean {
    return !this.#closed;
  }

  /** node:http has no such timer. */
  keepWaiting(): void {}

  onAborted(listener: () => void): void {
    this.#abortListener = listener;
  }

  destroy(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#state.bodies.delete(this);
    // Destroying a complete message would leave the connection open.
    this.#incoming.socket.destroy();
  }

  sweep(now: number): void {
    if (!this.#body.isLate(now)) return;
    this.#state.bodies.delete(this);
    this.#closing = true;
    this.#body.timeOut();
    if (this.#answer !== undefined) this.#writeAnswer();
  }

  #writeAnswer(): void {
    const answer = this.#answer;
    if (answer === undefined || this.#closed) return;
    this.#closed = true;
    // Otherwise, a client that reads nothing would keep the request and its answer in memory.
    this.#abortListener = undefined;
    this.#answer = undefined;
    const headOnly = this.method === 'HEAD' || hasNoContent(answer.status);
    const body = headOnly ? undefined : (answer.body ?? '');
    const headers = this.#flatHeaders(answer.headers);
    if (body !== undefined) headers.push('Content-Length', String(Buffer.byteLength(body)));
    this.#outgoing.writeHead(answer.status, headers);
    this.#finish(body);
  }

  #finish(body: string | Uint8Array | undefined): void {
    if (body === undefined) this.#outgoing.end();
    else this.#outgoing.end(body);
    const { socket } = this.#incoming;
    if (this.#outgoing.writableFinished || socket.writableLength === 0) return;
    this.#state.bodies.delete(this);
    if (typeof body === 'string') this.unreadBytes = socket.writableLength;
    const cut = () => this.cut();
    socket.setTimeout(STALLED_ANSWER_MS, cut);
    // Before the listener of node:http, which sets the keep-alive timeout.
    this.#outgoing.prependOnceListener('finish', () => socket.off('timeout', cut).setTimeout(0));
    this.#state.unread.add(this);
  }

  cut(): void {
    this.#incoming.socket.destroy();
  }

  #flatHeaders(headers: HeaderList): string[] {
    const flat: string[] = [];
    for (const [name, value] of headers) flat.push(name, headerValue(value));
    if (this.#closing || this.#state.finishing || this.#state.takeHandOver()) {
      this.#outgoing.shouldKeepAlive = false;
      flat.push('Connection', 'close');
    } else if (this.#outgoing.shouldKeepAlive) flat.push('Connection', 'keep-alive', 'Keep-Alive', this.#keepAlive());
    return flat;
  }

  /** Half of the real timeout: the next request of a client must not meet the end of the connection. */
  #keepAlive(): string {
    return `timeout=${Math.max(1, Math.floor(this.#state.options.keepAliveTimeoutMs / 2000))}`;
  }

  #takeBody(chunk: Uint8Array, isLast: boolean): void {
    if (this.#closed || this.#body.complete) return;
    try {
      const progress = this.#body.push(chunk, isLast);
      if (progress === 'overflow') this.destroy();
      if (progress === 'more') return;
    } catch (error) {
      this.crashed(error);
    }
    this.#state.bodies.delete(this);
    if (this.#answer !== undefined) this.#writeAnswer();
  }

  /** Called when the answer was sent or the client left. */
  #answerEnded(): void {
    this.#state.unread.delete(this);
    if (this.#closed) return;
    this.#closed = true;
    this.#state.bodies.delete(this);
    this.#body.aborted();
    this.#abortListener?.();
  }
}

function readHeaders(raw: readonly string[], framing: Framing): void {
  for (let index = 0; index + 1 < raw.length; index += 2) {
    framing.take((raw[index] ?? '').toLowerCase(), raw[index + 1] ?? '');
  }
}

/** RFC 9112, 3.2: a path, the absolute form, or `*` for OPTIONS. */
export function isTarget(method: string, target: string): boolean {
  return target.startsWith('/') || /^https?:\/\//i.test(target) || (target === '*' && method === 'OPTIONS');
}

/** RFC 9112, 3.2.2: a server must accept the absolute form, which repeats the host. */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target;
  const match = /^https?:\/\/[^/?]*(.*)$/i.exec(target);
  const path = match?.[1] ?? '';
  return path.startsWith('/') ? path : `/${path}`;
}

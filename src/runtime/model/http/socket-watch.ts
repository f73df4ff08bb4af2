import type { Socket } from 'node:net';

/**
 * Watches the sockets of one pool and corrects three faults of undici 7 before
 * undici sees the events:
 *
 * - The error of a reset does not state whether its connection had been used before, which decides about a resend.
 * - `100 Continue` cuts the connection, although a client must be able to skip it (RFC 9110, 15.2).
 * - If a response that ends with its connection is paused when the connection ends or is cut, undici asserts that it is
 *   not paused, which ends the process. So an end resumes the response (all bytes have been delivered by then), and a cut
 *   is reported as one.
 *
 * The last two need the parser that undici keeps on a socket, for which it has no public interface. If another version
 * keeps it elsewhere, nothing breaks: `100 Continue` is a failure, and responses are not paused.
 */
export class SocketWatch {
  readonly #parserKey: symbol | undefined;
  #canPause = false;
  #answering: Socket | undefined;

  /** `parserKey`: the key under which undici keeps the parser of a socket. */
  constructor(parserKey: symbol | undefined) {
    this.#parserKey = parserKey;
  }

  /** Responses can be paused safely. Known before the first response arrives. */
  get canPause(): boolean {
    return this.#canPause;
  }

  /** The socket of the response whose headers undici reports now. */
  get answering(): Socket | undefined {
    return this.#answering;
  }

  /** Call it before undici sees the socket. Calls `closed` when the connection is closed. */
  watch(socket: Socket, closed: () => void): void {
    socket.prependListener('error', (error) => {
      Object.assign(error, { socket: { bytesRead: socket.bytesRead } });
      this.#ifPaused(socket, endAsCut);
    });
    socket.prependOnceListener('readable', () => this.#firstBytes(socket));
    socket.prependListener('end', () => this.#ifPaused(socket, endPause));
    socket.prependListener('close', () => {
      this.#ifPaused(socket, endAsCut);
      closed();
    });
  }

  #firstBytes(socket: Socket): void {
    const parser = this.#parserOf(socket);
    this.#canPause = parser !== undefined;
    if (parser !== undefined) this.#watchHeaders(parser, socket);
  }

  /** Notes the socket while undici reports headers, and makes undici skip `100 Continue`, as it skips other interim responses. */
  #watchHeaders(parser: ResponseParser, socket: Socket): void {
    const headersComplete = parser.onHeadersComplete.bind(parser);
    parser.onHeadersComplete = (status, upgrade, shouldKeepAlive) => {
      this.#answering = socket;
      const result = headersComplete(status === CONTINUE ? PROCESSING : status, upgrade, shouldKeepAlive);
      this.#answering = undefined;
      return result;
    };
  }

  #ifPaused(socket: Socket, correct: (parser: ResponseParser) => void): void {
    const parser = this.#parserOf(socket);
    if (parser?.paused === true) correct(parser);
  }

  #parserOf(socket: Socket): ResponseParser | undefined {
    const parser: unknown = this.#parserKey === undefined ? undefined : Reflect.get(socket, this.#parserKey);
    return isParser(parser) ? parser : undefined;
  }
}

/** The members of undici's response parser that svc uses. */
interface ResponseParser {
  paused: boolean;
  shouldKeepAlive: boolean;
  readonly ptr: unknown;
  readonly llhttp: { llhttp_resume(parser: unknown): void };
  execute(bytes: Buffer): void;
  onHeadersComplete(status: number, upgrade: boolean, shouldKeepAlive: boolean): number;
}

function isParser(value: unknown): value is ResponseParser {
  if (typeof value !== 'object' || value === null) return false;
  const { paused, shouldKeepAlive, ptr, llhttp, execute, onHeadersComplete } = value as Partial<ResponseParser>;
  return (
    typeof paused === 'boolean' &&
    typeof shouldKeepAlive === 'boolean' &&
    ptr !== undefined &&
    typeof llhttp?.llhttp_resume === 'function' &&
    typeof execute === 'function' &&
    typeof onHeadersComplete === 'function'
  );
}

const CONTINUE = 100;

/** Another interim status, "processing" (RFC 2518, 10.1): undici skips this one as it should skip all of them. */
const PROCESSING = 102;

/**
 * Ends a pause at the end of the connection. A body that is complete by its length needs no more bytes and is reported as
 * complete. For any other body, undici offers the last chunk to the reader again; the reader still pauses, and that pause
 * must end too.
 */
function endPause(parser: ResponseParser): void {
  resume(parser);
  parser.execute(NO_BYTES);
  if (parser.paused) resume(parser);
}

function resume(parser: ResponseParser): void {
  parser.llhttp.llhttp_resume(parser.ptr);
  parser.paused = false;
}

const NO_BYTES = Buffer.alloc(0);

/** The connection was cut. If undici expects another response on it, it reports the missing rest as an error. */
function endAsCut(parser: ResponseParser): void {
  parser.shouldKeepAlive = true;
}

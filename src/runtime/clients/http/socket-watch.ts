import { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { loadParserKey } from './load-undici.ts';

/** The part of undici's parser of responses that counts here. */
interface ResponseParser {
  paused: boolean;
  shouldKeepAlive: boolean;
  readonly ptr: unknown;
  readonly llhttp: { llhttp_resume(parser: unknown): void };
  execute(bytes: Buffer): void;
  onHeadersComplete(status: number, upgrade: boolean, shouldKeepAlive: boolean): number;
}

const CONTINUE = 100;

/** Another interim status, "processing" (RFC 2518, 10.1): undici skips it as it should skip all of them. */
const PROCESSING = 102;

/**
 * Keeps an eye on the sockets of one pool, from the moment they begin to connect, and mends what undici 7 does wrong, before undici hears of it:
 *
 * - A reset says nothing of what happened before on its connection: whether it was used decides about sending again.
 * - `100 Continue` cuts the connection, though a client has to be able to skip it (RFC 9110, 15.2).
 * - When a response that ends with its connection is paused, and the connection ends or is cut, undici asserts that it
 *   is not paused, which ends the process. So an end ends the pause (all bytes are handed out by then), and a cut is
 *   told as one.
 *
 * The last two need the parser that undici keeps at a socket, for which it has no public way. Where another version
 * keeps it elsewhere, nothing breaks: `100 Continue` is a failure, and responses are not paused.
 */
export class SocketWatch {
  readonly #key = loadParserKey();
  readonly #connecting = new Set<Socket>();
  #mayPause = false;

  /** A socket was seen whose pauses are safe; known before the first response arrives. */
  get mayPause(): boolean {
    return this.#mayPause;
  }

  /** What undici calls for a new connection; it hears of a socket only after this class did. */
  connector(connect: buildConnector.connector): buildConnector.connector {
    return (options, callback) => {
      let socket: unknown;
      socket = connect(options, (...result) => {
        if (socket instanceof Socket) this.#connecting.delete(socket);
        if (result[0] === null) this.#watch(result[1]);
        callback(...result);
      });
      if (socket instanceof Socket) this.#connecting.add(socket);
    };
  }

  /** Ends what tries to connect: undici itself would go on when nobody waits for it any more, and after its end. */
  stopConnecting(): void {
    for (const socket of this.#connecting) socket.destroy(new Error('nobody waits for this connection'));
  }

  #watch(socket: Socket): void {
    socket.prependListener('error', (error) => {
      Object.assign(error, { socket: { bytesRead: socket.bytesRead } });
      endsCut(this.#pausedParser(socket));
    });
    socket.prependOnceListener('readable', () => this.#firstBytes(socket));
    socket.prependListener('end', () => endsPause(this.#pausedParser(socket)));
    socket.prependListener('close', () => endsCut(this.#pausedParser(socket)));
  }

  #firstBytes(socket: Socket): void {
    const parser = this.#parser(socket);
    this.#mayPause = parser !== undefined;
    if (parser !== undefined) skipContinue(parser);
  }

  #pausedParser(socket: Socket): ResponseParser | undefined {
    const parser = this.#parser(socket);
    return parser?.paused === true ? parser : undefined;
  }

  #parser(socket: Socket): ResponseParser | undefined {
    const parser: unknown = this.#key === undefined ? undefined : Reflect.get(socket, this.#key);
    return isParser(parser) ? parser : undefined;
  }
}

function skipContinue(parser: ResponseParser): void {
  const headersComplete = parser.onHeadersComplete.bind(parser);
  parser.onHeadersComplete = (status, upgrade, shouldKeepAlive) =>
    headersComplete(status === CONTINUE ? PROCESSING : status, upgrade, shouldKeepAlive);
}

/**
 * A body that is whole by its length waits for no more bytes and is told as whole. The reader of another one is asked
 * once more, and still wants a pause, which must not be.
 */
function endsPause(parser: ResponseParser | undefined): void {
  if (parser === undefined) return;
  resume(parser);
  parser.execute(NO_BYTES);
  if (parser.paused) resume(parser);
}

function resume(parser: ResponseParser): void {
  parser.llhttp.llhttp_resume(parser.ptr);
  parser.paused = false;
}

const NO_BYTES = Buffer.alloc(0);

/** Where the next response would be expected, a missing rest is a fault. */
function endsCut(parser: ResponseParser | undefined): void {
  if (parser !== undefined) parser.shouldKeepAlive = true;
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

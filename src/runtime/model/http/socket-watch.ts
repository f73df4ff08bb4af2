import { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { ParserFinder, endAsCut, endPause, skipContinue } from './response-parser.ts';
import type { ResponseParser } from './response-parser.ts';

/**
 * Keeps an eye on the sockets of one pool, from the moment they begin to connect, and mends what undici 7 does wrong,
 * before undici hears of it:
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
  readonly #parsers = new ParserFinder();
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
      this.#whenPaused(socket, endAsCut);
    });
    socket.prependOnceListener('readable', () => this.#firstBytes(socket));
    socket.prependListener('end', () => this.#whenPaused(socket, endPause));
    socket.prependListener('close', () => this.#whenPaused(socket, endAsCut));
  }

  #firstBytes(socket: Socket): void {
    const parser = this.#parsers.of(socket);
    this.#mayPause = parser !== undefined;
    if (parser !== undefined) skipContinue(parser);
  }

  #whenPaused(socket: Socket, mend: (parser: ResponseParser) => void): void {
    const parser = this.#parsers.of(socket);
    if (parser?.paused === true) mend(parser);
  }
}

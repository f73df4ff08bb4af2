import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

export type Connected = (...result: [null, Socket] | [Error, null]) => void;

/** Ends an attempt that its pool did not end: pools end their attempts as soon as no request waits for them. */
const STUCK_CONNECT_MS = 600_000;

/** An idle connection is checked by TCP after this time, and kept open in NAT tables. */
const TCP_KEEP_ALIVE_MS = 60_000;

/** The error of an attempt that its pool ended. */
export const NO_ONE_WAITS = new Error('no request waits for this connection');

/** The connection attempts of a pool, which end together. */
export class ConnectionAttempts {
  readonly #sockets = new Set<Socket>();

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: Socket): void {
    this.#sockets.add(socket);
  }

  delete(socket: Socket): void {
    this.#sockets.delete(socket);
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy(NO_ONE_WAITS);
  }
}

/** Waits for the end of an attempt and calls `done` once. */
export function whenOpen(socket: Socket, attempts: ConnectionAttempts, done: Connected): void {
  const event = socket instanceof TLSSocket ? 'secureConnect' : 'connect';
  const settle = (): void => {
    clearTimeout(timer);
    attempts.delete(socket);
    socket.off(event, opened).off('error', failed).off('close', closed);
  };
  const opened = (): void => {
    settle();
    done(null, socket);
  };
  const failed = (error: Error): void => {
    settle();
    done(error, null);
  };
  const closed = (): void => failed(new Error('the connection was closed before it was established'));
  const timer = setTimeout(() => socket.destroy(CONNECT_TIMEOUT), STUCK_CONNECT_MS);
  timer.unref();
  attempts.add(socket);
  // A socket that no one uses yet can fail too.
  socket.on('error', ignore);
  socket.once(event, opened).once('error', failed).once('close', closed);
  socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_MS);
}

const CONNECT_TIMEOUT = new Error('did not accept the connection in time');

function ignore(): void {}

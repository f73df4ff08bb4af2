import type { Socket } from 'node:net';
import { loadParserKey } from './load-undici.ts';

/** The part of undici's parser that counts here. */
interface ResponseParser {
  paused: boolean;
  shouldKeepAlive: boolean;
  readonly ptr: unknown;
  readonly llhttp: { llhttp_resume(parser: unknown): void };
}

/**
 * Does what has to be done on a socket before undici hears of it; to be called before undici gets the socket.
 *
 * - A reset says nothing of what happened before on its connection: whether it was used decides about sending again.
 * - When a response that ends with its connection is paused, and the connection ends or is cut, undici 7 asserts that
 *   it is not paused, which ends the process. So an end ends the pause (all bytes are handed out by then), and a cut is told as one.
 */
export function watchSocket(socket: Socket): void {
  const key = loadParserKey();
  socket.prependListener('error', (error) => {
    Object.assign(error, { socket: { bytesRead: socket.bytesRead } });
    endsCut(pausedParser(socket, key));
  });
  socket.prependListener('end', () => endsPause(pausedParser(socket, key)));
  socket.prependListener('close', () => endsCut(pausedParser(socket, key)));
}

/** Its own `resume` would ask the reader, who is still paused, and pause again. */
function endsPause(parser: ResponseParser | undefined): void {
  if (parser === undefined) return;
  parser.llhttp.llhttp_resume(parser.ptr);
  parser.paused = false;
}

/** Where the next response would be expected, a missing rest is a fault. */
function endsCut(parser: ResponseParser | undefined): void {
  if (parser !== undefined) parser.shouldKeepAlive = true;
}

function pausedParser(socket: Socket, key: symbol): ResponseParser | undefined {
  const parser: unknown = Reflect.get(socket, key);
  return isParser(parser) && parser.paused ? parser : undefined;
}

function isParser(value: unknown): value is ResponseParser {
  return typeof value === 'object' && value !== null && 'paused' in value && 'llhttp' in value;
}

import type { Socket } from 'node:net';
import { loadParserKey } from './load-undici.ts';

/** The part of undici's parser of responses that svc uses, for want of a public way. */
export interface ResponseParser {
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

/** Finds the parser that undici keeps at a socket; undefined where there is none, or another version has another. */
export class ParserFinder {
  readonly #key = loadParserKey();

  of(socket: Socket): ResponseParser | undefined {
    const parser: unknown = this.#key === undefined ? undefined : Reflect.get(socket, this.#key);
    return isParser(parser) ? parser : undefined;
  }
}

/** Treats `100 Continue` as what it is, one of the answers that come before the answer. */
export function skipContinue(parser: ResponseParser): void {
  const headersComplete = parser.onHeadersComplete.bind(parser);
  parser.onHeadersComplete = (status, upgrade, shouldKeepAlive) =>
    headersComplete(status === CONTINUE ? PROCESSING : status, upgrade, shouldKeepAlive);
}

/**
 * Ends a pause at the end of the connection. A body that is whole by its length waits for no more bytes and is told as
 * whole. The reader of another one is asked once more, and still wants a pause, which must not be.
 */
export function endPause(parser: ResponseParser): void {
  resume(parser);
  parser.execute(NO_BYTES);
  if (parser.paused) resume(parser);
}

function resume(parser: ResponseParser): void {
  parser.llhttp.llhttp_resume(parser.ptr);
  parser.paused = false;
}

const NO_BYTES = Buffer.alloc(0);

/** The connection was cut: where a next response would be expected on it, a missing rest is a fault. */
export function endAsCut(parser: ResponseParser): void {
  parser.shouldKeepAlive = true;
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

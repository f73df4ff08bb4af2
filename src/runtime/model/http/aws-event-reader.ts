import { crc32 } from 'node:zlib';
import type { EventListener, FrameReader } from './sse-reader.ts';

/** No model sends a larger message. AWS's own limit is 24 MB. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Lengths and their checksum, before the headers. */
const PRELUDE_BYTES = 12;

const CHECKSUM_BYTES = 4;

const STRING_HEADER = 7;

/**
 * Reads the binary frames of an AWS event stream (Smithy, `application/vnd.amazon.eventstream`). The listener receives
 * each message as a JSON object with one member: its name is the event's type, or `exception`, and its value the payload.
 * An exception also has the member `exceptionType`.
 */
export class AwsEventReader implements FrameReader {
  readonly #listener: EventListener;
  #rest: Buffer[] = [];
  #bytes = 0;
  #headerBytes: Buffer = Buffer.alloc(0);
  #lastHeaders: ReadonlyMap<string, string> = new Map();
  damaged = false;

  constructor(listener: EventListener) {
    this.#listener = listener;
  }

  get waitingBytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): boolean {
    this.#rest.push(chunk);
    this.#bytes += chunk.length;
    const needed = this.#needed();
    if (needed === undefined) return false;
    if (this.#bytes < needed) return true;
    const { buffer, end, valid } = this.#messages();
    this.#rest = end === buffer.length ? [] : [Buffer.from(buffer.subarray(end))];
    this.#bytes = buffer.length - end;
    return valid;
  }

  end(): void {}

  /** The bytes that complete the first message; undefined if it is too large. */
  #needed(): number | undefined {
    if (this.#bytes < PRELUDE_BYTES) return PRELUDE_BYTES;
    if ((this.#rest[0]?.length ?? 0) < PRELUDE_BYTES) this.#rest = [Buffer.concat(this.#rest)];
    const length = this.#rest[0]?.readUInt32BE(0) ?? 0;
    return isMessageLength(length) ? length : undefined;
  }

  #messages(): { readonly buffer: Buffer; readonly end: number; readonly valid: boolean } {
    const buffer = this.#rest.length === 1 ? (this.#rest[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#rest);
    let at = 0;
    while (buffer.length - at >= PRELUDE_BYTES) {
      const length = buffer.readUInt32BE(at);
      if (!isMessageLength(length)) return { buffer, end: at, valid: false };
      if (buffer.length - at < length) break;
      const message = buffer.subarray(at, at + length);
      this.damaged = !isIntact(message);
      if (this.damaged) return { buffer, end: at, valid: false };
      this.#message(message);
      at += length;
    }
    return { buffer, end: at, valid: true };
  }

  #message(message: Buffer): void {
    const headersEnd = Math.min(PRELUDE_BYTES + message.readUInt32BE(4), message.length - CHECKSUM_BYTES);
    const headers = this.#headers(message.subarray(PRELUDE_BYTES, headersEnd));
    const payload = message.toString('utf8', headersEnd, message.length - CHECKSUM_BYTES);
    const text =
      headers.get(':message-type') === 'event' ? eventText(headers, payload) : exceptionText(headers, payload);
    this.#listener(text, 0, text.length);
  }

  /** Nearly all messages of a stream repeat the headers of the previous one. */
  #headers(bytes: Buffer): ReadonlyMap<string, string> {
    if (!this.#headerBytes.equals(bytes)) {
      this.#headerBytes = Buffer.from(bytes);
      this.#lastHeaders = stringHeaders(bytes);
    }
    return this.#lastHeaders;
  }
}

function eventText(headers: ReadonlyMap<string, string>, payload: string): string {
  return `{${JSON.stringify(headers.get(':event-type') ?? 'unknown')}:${payload === '' ? '{}' : payload}}`;
}

/** An exception is documented by the service and has a payload; an error has only a code and a message. */
function exceptionText(headers: ReadonlyMap<string, string>, payload: string): string {
  const type = headers.get(':exception-type') ?? headers.get(':error-code') ?? '';
  const exception =
    payload === '' ? JSON.stringify({ message: headers.get(':error-message') ?? 'no message' }) : payload;
  return `{"exceptionType":${JSON.stringify(type)},"exception":${exception}}`;
}

function isMessageLength(length: number): boolean {
  return length >= PRELUDE_BYTES + CHECKSUM_BYTES && length <= MAX_MESSAGE_BYTES;
}

/** One checksum covers the lengths, the other everything before it. */
function isIntact(message: Buffer): boolean {
  const lengths = PRELUDE_BYTES - CHECKSUM_BYTES;
  const end = message.length - CHECKSUM_BYTES;
  return (
    crc32(message.subarray(0, lengths)) === message.readUInt32BE(lengths) &&
    crc32(message.subarray(0, end)) === message.readUInt32BE(end)
  );
}

/** The headers that are strings, up to the first header of another type, whose length is encoded differently. */
function stringHeaders(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  while (at + 4 <= bytes.length) {
    const nameEnd = at + 1 + (bytes[at] ?? 0);
    if (bytes[nameEnd] !== STRING_HEADER || nameEnd + 3 > bytes.length) break;
    const valueEnd = nameEnd + 3 + bytes.readUInt16BE(nameEnd + 1);
    headers.set(bytes.toString('utf8', at + 1, nameEnd), bytes.toString('utf8', nameEnd + 3, valueEnd));
    at = valueEnd;
  }
  return headers;
}

import { REQUEST_HEADERS, type Refusal, type RequestHeader } from '../transport.ts';

/** Methods that any route could know; every other one is answered 501. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** RFC 9110, 8.6: digits only; 15 of them stay below 2^53. */
const CONTENT_LENGTH = /^\d{1,15}$/;

const CLOSE = /(?:^|,)\s*close\s*(?:,|$)/i;

/** Enough for the tokens that gateways put into headers. Counts the target and all names and values. */
const MAX_HEAD_BYTES = 16_384;

/** uWebSockets.js itself refuses 99 lines, with an HTML page. */
const MAX_HEADER_LINES = 96;

/**
 * What the libraries themselves take: uWebSockets.js reads it from `UWS_HTTP_MAX_HEADERS_SIZE` when it is loaded. Above it
 * node:http still lets us answer, uWebSockets.js answers by itself with an HTML page; so there is room between the limits.
 */
export const LIBRARY_MAX_HEAD_BYTES = 65_536;

const KEPT: ReadonlySet<string> = new Set(REQUEST_HEADERS);

/** Headers of proxies: for whom they forward, or no more than the scheme, or what they are themselves. */
const FORWARDED = /^(?:forwarded$|via$|x-real-ip$|x-(?:forwarded|envoy|original)-)/u;

export interface FramingFault {
  readonly refusal: Refusal;
  readonly detail: string;
}

/**
 * What the headers of one request say about where it ends. HTTP parsers differ in what they let through; a request
 * about whose end two parsers could disagree is refused before it is routed (RFC 9112, 6.3: request smuggling).
 */
export class Framing {
  readonly #kept = new Map<string, string>();
  #hosts = 0;
  #lengths = 0;
  #encodings = 0;
  #contentLength = -1;
  #lines = 0;
  #size: number;
  #closes = false;
  #forwarded = false;
  #fault: string | undefined;

  /** `targetLength`: characters of path and query. */
  constructor(targetLength: number) {
    this.#size = targetLength;
  }

  /** Takes one header line; `name` in lower case. */
  take(name: string, value: string): void {
    this.#lines += 1;
    this.#size += name.length + value.length;
    if (KEPT.has(name)) this.#keep(name, value);
    else if (name === 'host') this.#takeHost(value);
    else if (name === 'content-length') this.#takeLength(value);
    else if (name === 'transfer-encoding') this.#takeEncoding(value);
    else if (name === 'connection') this.#closes ||= CLOSE.test(value);
    else if (name === '') this.#fault = 'a header without a name';
    else this.#forwarded ||= FORWARDED.test(name);
  }

  header(name: RequestHeader): string | undefined {
    return this.#kept.get(name);
  }

  /** The client wants the connection to end with the answer (RFC 9112, 9.6). */
  get closes(): boolean {
    return this.#closes;
  }

  get chunked(): boolean {
    return this.#encodings > 0;
  }

  get hasBody(): boolean {
    return this.chunked || this.#contentLength > 0;
  }

  /** No length and no coding: the next request would begin right after the headers. */
  get lengthIsUnsaid(): boolean {
    return this.#lengths === 0 && this.#encodings === 0;
  }

  /** -1 when the request does not say. */
  get contentLength(): number {
    return this.#contentLength;
  }

  /** `olderThan11`: the request says HTTP/1.0, which knows no chunks and no need of a Host. */
  check(method: string, olderThan11 = false): FramingFault | undefined {
    if (!METHODS.has(method)) return { refusal: 'not-implemented', detail: 'This method is not supported.' };
    if (this.#size > MAX_HEAD_BYTES) return tooLarge(`larger than ${MAX_HEAD_BYTES / 1024} KB`);
    if (this.#lines > MAX_HEADER_LINES) return tooLarge(`more than ${MAX_HEADER_LINES} lines`);
    const fault = this.#fault ?? this.#hostFault(olderThan11) ?? this.#lengthFault(olderThan11);
    return fault === undefined ? undefined : { refusal: 'malformed', detail: `The request has ${fault}.` };
  }

  /** True when no proxy says that it forwards for somebody else. */
  get direct(): boolean {
    return !this.#forwarded;
  }

  #keep(name: string, value: string): void {
    // A second credential or content type must not hide the first one: the first is the one that counts.
    if (!this.#kept.has(name)) this.#kept.set(name, value);
  }

  #takeHost(value: string): void {
    this.#hosts += 1;
    if (value === '') this.#fault = 'an empty Host header';
  }

  #takeLength(value: string): void {
    this.#lengths += 1;
    if (CONTENT_LENGTH.test(value)) this.#contentLength = Number(value);
    else this.#fault = 'a Content-Length that is no number';
  }

  #takeEncoding(value: string): void {
    this.#encodings += 1;
    if (value.toLowerCase() !== 'chunked') this.#fault = 'a Transfer-Encoding other than "chunked"';
  }

  #hostFault(olderThan11: boolean): string | undefined {
    if (this.#hosts > 1) return 'two Host headers';
    return this.#hosts === 0 && !olderThan11 ? 'no Host header' : undefined;
  }

  #lengthFault(olderThan11: boolean): string | undefined {
    if (this.#lengths > 1) return 'two Content-Length headers';
    if (this.#encodings > 1) return 'two Transfer-Encoding headers';
    if (this.#encodings > 0 && olderThan11) return 'a Transfer-Encoding, which HTTP/1.0 does not know';
    return this.#lengths > 0 && this.#encodings > 0 ? 'both Content-Length and Transfer-Encoding' : undefined;
  }
}

function tooLarge(by: string): FramingFault {
  return { refusal: 'headers-too-large', detail: `The headers of the request, with its target, are ${by}.` };
}

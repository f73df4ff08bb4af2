import { isForwardingHeader, isLoopbackHost, isLoopbackOrigin } from '../local-caller.ts';
import { problem, type Problem } from '../problem.ts';
import { REQUEST_HEADERS, type RequestHeader } from '../transport.ts';

/** Methods that a route could accept; all others are answered with 501. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Methods for which svc refuses a body: a proxy in front of svc could ignore the body and read it as the next request. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/** RFC 9110, 7.2: a host and a port, without user information, path or list. */
const HOST = /^[^\s/\\?#@,]+$/;

export const METHOD_NOT_IMPLEMENTED = problem('not_implemented', 'This method is not supported.');

/** RFC 9110, 8.6: digits only; 15 of them stay below 2^53. */
const CONTENT_LENGTH = /^\d{1,15}$/;

const CLOSE = /(?:^|,)\s*close\s*(?:,|$)/i;

/** Room for the tokens that gateways add. Counts the target and all header names and values. */
const MAX_HEAD_BYTES = 16_384;

/** uWebSockets.js itself refuses 99 lines, with an HTML page. */
const MAX_HEADER_LINES = 96;

/**
 * The limit of the libraries themselves; uWebSockets.js reads it from `UWS_HTTP_MAX_HEADERS_SIZE` when it is loaded. Above it,
 * node:http still lets svc answer, but uWebSockets.js answers with an HTML page of its own; hence the gap between the limits.
 */
export const LIBRARY_MAX_HEAD_BYTES = 65_536;

const KEPT: ReadonlySet<string> = new Set(REQUEST_HEADERS);

function isKept(name: string): name is RequestHeader {
  return KEPT.has(name);
}

/** A list, because most requests have one or two of these headers, and keep them until they are answered. */
interface KeptHeader {
  readonly name: RequestHeader;
  readonly value: string;
  readonly next: KeptHeader | undefined;
}

/**
 * Determines from its headers where a request ends. HTTP parsers differ in what they accept; a request about whose end two
 * parsers could disagree is rejected before it is routed (RFC 9112, 6.3: request smuggling).
 */
export class Framing {
  #kept: KeptHeader | undefined;
  #hosts = 0;
  #host = '';
  #lengths = 0;
  #encodings = 0;
  #contentLength = -1;
  #lines = 0;
  #size: number;
  #closes = false;
  #forwarded = false;
  #announcesTrailers = false;
  #fault: string | undefined;

  /** `targetLength`: characters of path and query. */
  constructor(targetLength: number) {
    this.#size = targetLength;
  }

  /** Reads one header line; `name` in lower case. */
  take(name: string, value: string): void {
    this.#lines += 1;
    this.#size += name.length + value.length;
    if (isKept(name)) this.#keep(name, value);
    else if (name === 'host') this.#takeHost(value);
    else if (name === 'content-length') this.#takeLength(value);
    else if (name === 'transfer-encoding') this.#takeEncoding(value);
    else if (name === 'connection') this.#closes ||= CLOSE.test(value);
    else if (name === 'trailer') this.#announcesTrailers = true;
    else if (name === '') this.#fault = 'a header without a name';
    else this.#forwarded ||= isForwardingHeader(name);
  }

  header(name: RequestHeader): string | undefined {
    let header = this.#kept;
    while (header !== undefined && header.name !== name) header = header.next;
    return header?.value;
  }

  get host(): string {
    return this.#host;
  }

  /** The client asks to end the connection with the answer (RFC 9112, 9.6). */
  get closes(): boolean {
    return this.#closes;
  }

  get chunked(): boolean {
    return this.#encodings > 0;
  }

  /** Fields follow the last chunk (RFC 9110, 6.6.2). */
  get announcesTrailers(): boolean {
    return this.chunked && this.#announcesTrailers;
  }

  get hasBody(): boolean {
    return this.chunked || this.#contentLength > 0;
  }

  /** -1 without a Content-Length. */
  get contentLength(): number {
    return this.#contentLength;
  }

  /** `version`: HTTP/1.0 has no chunks and needs no Host. */
  check(method: string, version = '1.1'): Problem | undefined {
    if (!METHODS.has(method)) return METHOD_NOT_IMPLEMENTED;
    const olderThan11 = version === '1.0';
    if (this.#size > MAX_HEAD_BYTES) return tooLarge(`larger than ${MAX_HEAD_BYTES / 1024} KB`);
    if (this.#lines > MAX_HEADER_LINES) return tooLarge(`more than ${MAX_HEADER_LINES} lines`);
    // With its default settings, nginx forwards over HTTP/1.0, with a Host of its own and no forwarding header.
    this.#forwarded ||= olderThan11;
    const fault =
      versionFault(version) ??
      this.#fault ??
      this.#hostFault(olderThan11) ??
      this.#lengthFault(olderThan11) ??
      this.#bodyFault(method);
    return fault === undefined ? undefined : problem('bad_request', `The request has ${fault}.`);
  }

  /** True if the request names this machine as its host and its origin, and no proxy states that it forwards for another host. */
  get namesThisMachine(): boolean {
    if (this.#forwarded || !isLoopbackHost(this.#host)) return false;
    const origin = this.header('origin');
    return origin === undefined || isLoopbackOrigin(origin);
  }

  #keep(name: RequestHeader, value: string): void {
    // The first one counts: a second credential or content type must not replace it.
    if (this.header(name) === undefined) this.#kept = { name, value, next: this.#kept };
    else if (name === 'origin') this.#forwarded = true;
  }

  #takeHost(value: string): void {
    this.#hosts += 1;
    this.#host = value;
    if (value === '') this.#fault = 'an empty Host header';
    else if (!HOST.test(value)) this.#fault = 'a Host header that is not a host with an optional port';
  }

  #takeLength(value: string): void {
    this.#lengths += 1;
    if (CONTENT_LENGTH.test(value)) this.#contentLength = Number(value);
    else this.#fault = 'a Content-Length that is not a number';
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
    if (this.#encodings > 0 && olderThan11) return 'a Transfer-Encoding, which HTTP/1.0 does not have';
    return this.#lengths > 0 && this.#encodings > 0 ? 'both Content-Length and Transfer-Encoding' : undefined;
  }

  #bodyFault(method: string): string | undefined {
    return WITHOUT_BODY.has(method) && this.hasBody ? `a body, and svc accepts no body for ${method}` : undefined;
  }
}

function versionFault(version: string): string | undefined {
  return version === '1.1' || version === '1.0' ? undefined : 'an HTTP version other than 1.1 and 1.0';
}

function tooLarge(by: string): Problem {
  return problem('headers_too_large', `The headers of the request, with its target, are ${by}.`);
}

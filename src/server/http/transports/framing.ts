import { REQUEST_HEADERS, type Refusal, type RequestHeader } from '../transport.ts';

/** Methods that any route could know; every other one is answered 501. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** RFC 9110, 8.6: digits only; 15 of them stay below 2^53. */
const CONTENT_LENGTH = /^\d{1,15}$/;

const KEPT: ReadonlySet<string> = new Set(REQUEST_HEADERS);

export interface FramingFault {
  readonly refusal: Refusal;
  readonly detail: string;
}

/**
 * What the headers of one request say about where it ends. HTTP parsers differ in what they let through; a request
 * about whose end two parsers could disagree is refused before it is routed (RFC 9112, 6.3: request smuggling).
 */
export class Framing {
  readonly kept = new Map<string, string>();
  #hosts = 0;
  #lengths = 0;
  #encodings = 0;
  #contentLength = -1;
  #fault: string | undefined;

  /** Takes one header line; `name` in lower case. */
  take(name: string, value: string): void {
    if (KEPT.has(name)) this.#keep(name, value);
    else if (name === 'host') this.#takeHost(value);
    else if (name === 'content-length') this.#takeLength(value);
    else if (name === 'transfer-encoding') this.#takeEncoding(value);
    else if (name === '') this.#fault = 'a header without a name';
  }

  header(name: RequestHeader): string | undefined {
    return this.kept.get(name);
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

  check(method: string): FramingFault | undefined {
    if (!METHODS.has(method)) return { refusal: 'not-implemented', detail: 'This method is not supported.' };
    const fault = this.#fault ?? this.#countFault();
    return fault === undefined ? undefined : { refusal: 'malformed', detail: `The request has ${fault}.` };
  }

  /** True when no proxy says that it forwards for somebody else. */
  get direct(): boolean {
    const { kept } = this;
    return !(kept.has('x-forwarded-for') || kept.has('forwarded') || kept.has('x-real-ip') || kept.has('via'));
  }

  #keep(name: string, value: string): void {
    // A second credential or content type must not hide the first one: the first is the one that counts.
    if (!this.kept.has(name)) this.kept.set(name, value);
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

  #countFault(): string | undefined {
    if (this.#hosts !== 1) return this.#hosts === 0 ? 'no Host header' : 'two Host headers';
    if (this.#lengths > 1) return 'two Content-Length headers';
    if (this.#encodings > 1) return 'two Transfer-Encoding headers';
    return this.#lengths > 0 && this.#encodings > 0 ? 'both Content-Length and Transfer-Encoding' : undefined;
  }
}

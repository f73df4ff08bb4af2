/** A token of RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u;

/** Visible characters, spaces and tabs. CR, LF or NUL would start another header or request. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/u;

/** Headers of the connection (RFC 9110, 7.6.1), and those that frame the request: never taken from options. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

interface HeaderProblem {
  readonly of: 'name' | 'value';
  /** Completes a sentence that begins with the header's name. */
  readonly message: string;
}

/** The reason why svc cannot send a header; undefined when it can. */
export function headerProblem(name: string, value: string): HeaderProblem | undefined {
  if (!TOKEN.test(name)) return { of: 'name', message: 'is not a header name' };
  if (OF_THE_CONNECTION.has(name.toLowerCase())) {
    return { of: 'name', message: 'belongs to the connection and cannot be set' };
  }
  if (VALUE.test(value)) return undefined;
  return { of: 'value', message: 'has a value with characters that no header can contain' };
}

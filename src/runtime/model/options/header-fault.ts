/** A token of RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u;

/** Visible text, spaces and tabs; no CR, LF or NUL, which would begin another header or request. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/u;

/** Headers of the connection, not of the request (RFC 9110, 7.6.1), and those that frame it: never from options. */
const OURS = new Set([
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

/** Why a header cannot be sent; undefined when it can. */
export function headerFault(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return 'is not a header name';
  if (OURS.has(name.toLowerCase())) return 'belongs to the connection and cannot be set';
  return VALUE.test(value) ? undefined : 'has a value with characters that no header may hold';
}

/** The smuggled request: two parsers could disagree about the end of the requests below, and one of them would run it. */
export const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';

const LENGTH = SMUGGLED.length;

/**
 * The outcome for a client. A number: svc's answer, in the form of every other error, and the end of the connection. `page`: the
 * library's own answer, an HTML page, and the end of the connection. `cut`: the end without an answer. `silent`: nothing,
 * until the library's idle timer cuts the connection after 8 to 12 seconds.
 */
export type FramingOutcome = number | `${number} page` | 'cut' | 'silent';

/** The outcome on both transports, or one for each. */
type OnEach = FramingOutcome | { readonly uws: FramingOutcome; readonly node: FramingOutcome };

export interface FramingRow {
  readonly title: string;
  /** The request, without the smuggled one. */
  readonly bytes: string;
  /** The outcome for a client that sends only these bytes. */
  readonly alone: OnEach;
  /** The outcome when another request follows in the same packet. */
  readonly followed: OnEach;
  /** The request itself is valid and reaches the handler; only the requests after it must not run. */
  readonly reaches?: true;
}

/** uWebSockets.js cuts the connection when a second request finds the first one unanswered. */
const REFUSED = { alone: 400, followed: { uws: 'cut', node: 400 } } as const;

/** On uWebSockets.js, the next request is read as its body. */
const REFUSED_BODY = { alone: 400, followed: 400 } as const;

/** The parser of uWebSockets.js refuses it by itself. */
const REFUSED_BY_PAGE = { alone: { uws: '400 page', node: 400 }, followed: { uws: '400 page', node: 400 } } as const;

/** The parser of uWebSockets.js waits for more bytes, and reads the next request as part of this one. */
const IGNORED = { alone: { uws: 'silent', node: 400 }, followed: { uws: 'silent', node: 400 } } as const;

const TOO_LARGE = { alone: 431, followed: { uws: 'cut', node: 431 } } as const;

const TOO_LARGE_BY_PAGE = { alone: { uws: '431 page', node: 431 }, followed: { uws: '431 page', node: 431 } } as const;

const UNKNOWN_METHOD = { alone: 501, followed: { uws: 'cut', node: 501 } } as const;

const NOT_HTTP_1_1 = { alone: { uws: '505 page', node: 400 }, followed: { uws: '505 page', node: 400 } } as const;

function post(...lines: readonly string[]): string {
  return ['POST / HTTP/1.1', 'Host: x', ...lines, '', ''].join('\r\n');
}

function get(...lines: readonly string[]): string {
  return ['GET / HTTP/1.1', ...lines, '', ''].join('\r\n');
}

const CHUNKED = 'Transfer-Encoding: chunked';

export const FRAMING_ROWS: readonly FramingRow[] = [
  {
    title: 'two different Content-Length headers',
    bytes: post('Content-Length: 0', `Content-Length: ${LENGTH}`),
    ...REFUSED,
  },
  {
    title: 'two equal Content-Length headers',
    bytes: post(`Content-Length: ${LENGTH}`, `Content-Length: ${LENGTH}`),
    alone: 400,
    followed: 400,
  },
  { title: 'an empty Content-Length', bytes: post('Content-Length: '), ...REFUSED },
  { title: 'a Content-Length with a sign', bytes: `${post('Content-Length: +5')}hello`, ...REFUSED_BY_PAGE },
  { title: 'a Content-Length in hexadecimal', bytes: `${post('Content-Length: 0x5')}hello`, ...REFUSED_BY_PAGE },
  { title: 'a negative Content-Length', bytes: post('Content-Length: -1'), ...REFUSED_BY_PAGE },
  {
    title: 'a Content-Length beyond all limits',
    bytes: post(`Content-Length: ${'9'.repeat(20)}`),
    ...REFUSED_BY_PAGE,
  },
  {
    title: 'Content-Length and Transfer-Encoding',
    bytes: `${post('Content-Length: 4', CHUNKED)}0\r\n\r\n`,
    ...REFUSED_BY_PAGE,
  },
  {
    title: 'a Transfer-Encoding that is not chunked',
    bytes: post('Transfer-Encoding: gzip'),
    alone: 400,
    followed: { uws: '400 page', node: 400 },
  },
  { title: 'a list of transfer codings', bytes: `${post('Transfer-Encoding: gzip, chunked')}0\r\n\r\n`, ...REFUSED },
  {
    title: 'two Transfer-Encoding headers',
    bytes: post(CHUNKED, 'Transfer-Encoding: identity'),
    alone: 400,
    followed: { uws: '400 page', node: 400 },
  },
  { title: 'a Transfer-Encoding with a vertical tab', bytes: post('Transfer-Encoding: \u000bchunked'), ...IGNORED },
  { title: 'two Host headers', bytes: get('Host: x', 'Host: y'), ...REFUSED },
  { title: 'no Host header', bytes: get('X: y'), ...REFUSED_BY_PAGE },
  {
    title: 'no header at all',
    bytes: get(),
    alone: { uws: 'silent', node: 400 },
    followed: { uws: 'silent', node: 400 },
  },
  { title: 'an empty Host header', bytes: get('Host: '), ...REFUSED },
  ...['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'].map((method): FramingRow => ({
    title: `a header without a name before the length of a ${method}`,
    bytes: `${method} / HTTP/1.1\r\nHost: x\r\n: y\r\nContent-Length: ${LENGTH}\r\n\r\n`,
    // uWebSockets.js hides the length from svc, so svc ends the connection of a request without one.
    alone: { uws: 200, node: 400 },
    followed: { uws: 'cut', node: 400 },
    reaches: true,
  })),
  { title: 'a GET with a body', bytes: get('Host: x', `Content-Length: ${LENGTH}`), ...REFUSED_BODY },
  {
    title: 'a HEAD with a body',
    bytes: get('Host: x', `Content-Length: ${LENGTH}`).replace('GET', 'HEAD'),
    ...REFUSED_BODY,
  },
  {
    title: 'a DELETE with a body',
    bytes: get('Host: x', `Content-Length: ${LENGTH}`).replace('GET', 'DELETE'),
    ...REFUSED_BODY,
  },
  { title: 'a GET with chunks', bytes: `${get('Host: x', CHUNKED)}0\r\n\r\n`, ...REFUSED },
  {
    title: 'announced trailers, which only node:http reads',
    bytes: `${post(CHUNKED, 'Trailer: X')}0\r\nX: y\r\n\r\n`,
    alone: { uws: '505 page', node: 200 },
    followed: { uws: '505 page', node: 200 },
    reaches: true,
  },
  {
    title: 'a length among the trailers',
    bytes: `${post(CHUNKED)}0\r\nContent-Length: ${LENGTH}\r\n\r\n`,
    alone: { uws: '505 page', node: 400 },
    followed: { uws: '505 page', node: 400 },
    reaches: true,
  },
  {
    title: 'a coding among the trailers',
    bytes: `${post(CHUNKED)}0\r\n${CHUNKED}\r\n\r\n`,
    alone: { uws: '505 page', node: 400 },
    followed: { uws: '505 page', node: 400 },
    reaches: true,
  },
  {
    title: 'another host among the trailers, which node:http ignores',
    bytes: `${post(CHUNKED)}0\r\nHost: y\r\n\r\n`,
    alone: { uws: '505 page', node: 200 },
    followed: { uws: '505 page', node: 200 },
    reaches: true,
  },
  { title: 'a Host with user information', bytes: get('Host: x@y'), ...REFUSED },
  { title: 'a Host with a space', bytes: get('Host: x y'), ...REFUSED },
  { title: 'a Host with a path', bytes: get('Host: x/y'), ...REFUSED },
  { title: 'a list of hosts', bytes: get('Host: x, y'), ...REFUSED },
  { title: 'a control character in a value', bytes: get('Host: x', 'A: b\u0001c'), ...IGNORED },
  { title: 'a NUL in a value', bytes: get('Host: x', 'A: b\u0000c'), ...IGNORED },
  { title: 'a CR in a value', bytes: get('Host: x', 'A: b\rc'), ...IGNORED },
  { title: 'a header name that is not a token', bytes: get('Host: x', 'A(b: c'), ...IGNORED },
  { title: 'a header without a colon', bytes: get('Host: x', 'A'), ...IGNORED },
  { title: 'GET with an asterisk', bytes: 'GET * HTTP/1.1\r\nHost: x\r\n\r\n', ...NOT_HTTP_1_1 },
  { title: 'GET of an authority', bytes: 'GET x:1 HTTP/1.1\r\nHost: x\r\n\r\n', ...NOT_HTTP_1_1 },
  { title: 'a space in the target', bytes: 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n', ...NOT_HTTP_1_1 },
  { title: 'HTTP/2.0 with a length', bytes: post('Content-Length: 0').replace('1.1', '2.0'), ...NOT_HTTP_1_1 },
  { title: 'HTTP/1.2', bytes: get('Host: x').replace('1.1', '1.2'), ...NOT_HTTP_1_1 },
  { title: 'a space before the colon of a header', bytes: post(`Content-Length : ${LENGTH}`), ...IGNORED },
  { title: 'a folded header', bytes: get('Host: x', 'A: b', ' c'), ...IGNORED },
  {
    title: 'trailers of a chunked body that look like a request',
    bytes: `${post(CHUNKED)}0\r\n`,
    alone: { uws: 200, node: 'silent' },
    followed: { uws: 'cut', node: 400 },
    reaches: true,
  },
  {
    title: 'a chunk size that is not a number',
    bytes: `${post(CHUNKED)}xyz\r\n\r\n`,
    alone: { uws: '400 page', node: 400 },
    followed: { uws: '400 page', node: 400 },
    reaches: true,
  },
  { title: 'an unknown method', bytes: 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n', ...UNKNOWN_METHOD },
  { title: 'TRACE', bytes: 'TRACE / HTTP/1.1\r\nHost: x\r\n\r\n', ...UNKNOWN_METHOD },
  {
    title: 'CONNECT',
    bytes: 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
    alone: { uws: '505 page', node: 501 },
    followed: { uws: '505 page', node: 501 },
  },
  { title: 'headers of 17 KB', bytes: get('Host: x', `A: ${'a'.repeat(17_000)}`), ...TOO_LARGE },
  { title: 'headers of 40 KB', bytes: get('Host: x', `A: ${'a'.repeat(40_000)}`), ...TOO_LARGE },
  { title: 'headers of 70 KB', bytes: get('Host: x', `A: ${'a'.repeat(70_000)}`), ...TOO_LARGE_BY_PAGE },
  { title: 'a target of 17 KB', bytes: `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, ...TOO_LARGE },
  { title: '97 headers', bytes: get('Host: x', ...Array.from({ length: 96 }, () => 'a: b')), ...TOO_LARGE },
  { title: '200 headers', bytes: get('Host: x', ...Array.from({ length: 199 }, () => 'a: b')), ...TOO_LARGE_BY_PAGE },
  { title: 'lines that end without CR', bytes: 'GET / HTTP/1.1\nHost: x\n\n', ...NOT_HTTP_1_1 },
  { title: 'HTTP/1.0 with chunks', bytes: post(CHUNKED).replace('1.1', '1.0'), ...NOT_HTTP_1_1 },
  {
    title: 'HTTP/1.0 without a Host, which is fine',
    bytes: 'GET /readyz HTTP/1.0\r\n\r\n',
    alone: { uws: '505 page', node: 200 },
    followed: { uws: '505 page', node: 200 },
    reaches: true,
  },
  { title: 'HTTP/2 without its negotiation', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', ...NOT_HTTP_1_1 },
  {
    title: 'a line that is not a request',
    bytes: 'hello\r\n\r\n',
    alone: { uws: 'silent', node: 501 },
    followed: { uws: 'silent', node: 501 },
  },
  {
    title: 'a greeting of TLS',
    bytes: '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001',
    alone: { uws: '505 page', node: 501 },
    followed: { uws: '505 page', node: 501 },
  },
];

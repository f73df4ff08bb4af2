import { gzipSync } from 'node:zlib';
import { chatCompletion, chatEvent, reply, sse, status } from './fake-provider.ts';
import { sleep, type Answer, type Headers, type RecordedRequest } from './fake-wire.ts';
import {
  EVENTS,
  FIRST_TEXT,
  JSON_TYPE,
  MUCH,
  REPLY_TEXT,
  SILENT,
  STREAM,
  STREAM_TYPE,
  UNANSWERED,
  WHOLE,
  always,
  begin,
  beginJson,
  body,
  bytesOf,
  close,
  cut,
  finish,
  firstBytes,
  firstText,
  flood,
  json,
  keysOf,
  silence,
  steps,
  type FaultBehaviour,
  type FaultGroup,
  type Limits,
} from './fault-steps.ts';

/** Bytes arrive every 20 ms, so the idle limit never ends it, although it is shorter than the limit that does. */
const SLOW: Limits = { idle: 1500, first_token: 1700, request: 2000 };

function drip(text: string): Answer {
  return async (_request, wire) => {
    for (const byte of bytesOf(text)) {
      if (wire.gone) return;
      wire.body(byte);
      await sleep(20);
    }
  };
}

/** A status whose headers and body quote the key. */
function refusal(code: number, headers: Headers = {}): Answer {
  return (request, wire) => {
    const error = { message: `no, not with ${keysOf(request)}`, type: `type_${keysOf(request)}` };
    return status(code, { error }, { 'x-key': keysOf(request), ...headers })(request, wire);
  };
}

function redirect(code: number): Answer {
  return (request, wire) =>
    status(code, '', { location: `https://elsewhere.example/?key=${keysOf(request)}` })(request, wire);
}

function errorObject(request: RecordedRequest, type: string): string {
  return JSON.stringify({ error: { message: `broke with ${keysOf(request)}`, type } });
}

function reported(type: string): Pick<FaultBehaviour, 'call' | 'stream'> {
  return {
    call: (request, wire) => json(errorObject(request, type))(request, wire),
    stream: (request, wire) => sse([FIRST_TEXT, `data: ${errorObject(request, type)}\n\n`])(request, wire),
  };
}

const ZIPPED = { ...JSON_TYPE, 'content-encoding': 'gzip' };

function zipped(bytes: Buffer): Answer {
  return steps(begin(200, ZIPPED), body(bytes), finish);
}

/** A thousand times as large when unpacked. */
const ZIPPED_NOTHING = gzipSync(Buffer.alloc(10_000_000));

function inSeconds(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toUTCString();
}

const manyHeaders = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`x-${index}`, 'v']));

const CONNECTION: readonly FaultBehaviour[] = [
  { ...always('refuses the connection', close), leads: 'nowhere', unasked: true },
  {
    ...always('accepts the connection and never finishes the TLS handshake', silence),
    leads: 'to a server that never finishes its TLS handshake',
    unasked: true,
    limits: { connect: 300 },
  },
  { ...always('shows a certificate that has expired', close), certificate: 'expired', unasked: true },
  { ...always('shows a certificate for another host', close), certificate: 'elsewhere', unasked: true },
  { ...always('shows a certificate that no authority signed', close), certificate: 'self-signed', unasked: true },
  { ...always('accepts the request and never answers', silence), limits: UNANSWERED },
  {
    name: 'sends headers, then nothing',
    call: steps(beginJson(), silence),
    stream: steps(begin(200, STREAM_TYPE), silence),
    limits: SILENT,
  },
  {
    name: 'stops sending in the middle',
    call: steps(firstBytes, silence),
    stream: steps(firstText, silence),
    limits: SILENT,
  },
  {
    name: 'sends a byte every 20 ms',
    call: steps(beginJson(), drip(WHOLE)),
    stream: steps(begin(200, STREAM_TYPE), drip(STREAM)),
    limits: SLOW,
  },
  { ...always('cuts the connection before it answers', cut), onNewConnection: true },
  { ...always('closes the connection before it answers', close), onNewConnection: true },
  { name: 'cuts after the status', call: steps(beginJson(), cut), stream: steps(begin(200, STREAM_TYPE), cut) },
  { name: 'cuts in the middle', call: steps(firstBytes, cut), stream: steps(firstText, cut) },
  { name: 'closes in the middle', call: steps(firstBytes, close), stream: steps(firstText, close) },
  {
    name: 'cuts after the reply is whole (`[DONE]`)',
    call: steps(json(WHOLE), cut),
    stream: steps(begin(200, STREAM_TYPE), body(STREAM), cut),
  },
  {
    ...always('closes a kept connection before its next use', reply(REPLY_TEXT)),
    secondUse: true,
  },
];

const FRAMING: readonly FaultBehaviour[] = [
  {
    name: '`content-length` larger than the body',
    call: steps(beginJson(9999), body(WHOLE), finish, close),
    stream: steps(begin(200, { ...STREAM_TYPE, 'content-length': '9999' }), body(FIRST_TEXT), finish, close),
  },
  {
    name: 'trailers after the body',
    call: steps(begin(200, JSON_TYPE), body(WHOLE), (_request, wire) => wire.finish({ 'x-more': 'later' })),
    stream: steps(begin(200, STREAM_TYPE), body(STREAM), (_request, wire) => wire.finish({ 'x-more': 'later' })),
  },
  always('a header of 64 KiB', begin(200, { ...JSON_TYPE, 'x-large': 'x'.repeat(64 * 1024) })),
  always('10,000 headers', begin(200, { ...JSON_TYPE, ...manyHeaders })),
  {
    name: 'gzip that svc did not ask for',
    call: zipped(gzipSync(WHOLE)),
    stream: zipped(gzipSync(STREAM)),
  },
  always('truncated gzip', zipped(gzipSync(WHOLE).subarray(0, 40))),
  { ...always('a gzip bomb', steps(begin(200, ZIPPED), flood(ZIPPED_NOTHING))), floods: true },
  {
    name: 'an endless reply',
    call: steps(begin(200, JSON_TYPE), flood(`${JSON.stringify(MUCH)},`)),
    stream: steps(begin(200, STREAM_TYPE), flood(chatEvent({ content: '', thoughts: MUCH }))),
    floods: true,
  },
  {
    name: 'an endless line',
    call: steps(begin(200, JSON_TYPE), body('{"choices":"'), flood(MUCH)),
    stream: steps(begin(200, STREAM_TYPE), body('data: '), flood(MUCH)),
    floods: true,
  },
  {
    ...always('an endless error body', steps(begin(500, { 'content-type': 'text/html' }), flood(MUCH))),
    floods: true,
  },
];

const EVENT_STREAM: readonly FaultBehaviour[] = [
  {
    name: 'each byte in a chunk of its own (inside UTF-8, inside `data:`)',
    call: steps(begin(200, JSON_TYPE), ...bytesOf(WHOLE).map(body), finish),
    stream: sse(bytesOf(STREAM)),
  },
  {
    name: 'lines that end with CRLF',
    call: json(JSON.stringify(chatCompletion(REPLY_TEXT), null, 1).replaceAll('\n', '\r\n')),
    stream: sse([STREAM.replaceAll('\n', '\r\n')]),
  },
  {
    name: 'lines that end with LF',
    call: json(JSON.stringify(chatCompletion(REPLY_TEXT), null, 1)),
    stream: sse([STREAM]),
  },
  {
    name: 'lines that end with CR',
    call: json(JSON.stringify(chatCompletion(REPLY_TEXT), null, 1).replaceAll('\n', '\r')),
    stream: sse([STREAM.replaceAll('\n', '\r')]),
  },
  { name: 'a byte order mark first', call: json(`\uFEFF${WHOLE}`), stream: sse([`\uFEFF${STREAM}`]) },
  {
    name: 'comments (blanks before JSON) while the model thinks',
    call: json(`${'\n \n'.repeat(9)}${WHOLE}`),
    stream: sse([': thinking\n\n', `:\n${STREAM.replaceAll('\n\n', '\n: still\n\n')}`]),
  },
  {
    name: 'data over several lines',
    call: json(JSON.stringify(chatCompletion(REPLY_TEXT), null, 2)),
    stream: sse([STREAM.replaceAll('","', '",\ndata:"')]),
  },
  {
    name: 'no blank line (no line break) at the end',
    call: json(WHOLE.trimEnd()),
    stream: sse([EVENTS.slice(0, -1).join('').trimEnd()]),
  },
  {
    name: 'an event (a reply) that is not JSON',
    call: (request, wire) => json(`{"choices":[ ${keysOf(request)}`)(request, wire),
    stream: (request, wire) => sse([FIRST_TEXT, `data: {"choices":[ ${keysOf(request)}\n\n`])(request, wire),
  },
  {
    name: '`[DONE]` missing (JSON that stops too early)',
    call: json(WHOLE.slice(0, -20)),
    stream: sse([STREAM.replace('data: [DONE]\n\n', '')]),
  },
  {
    name: '`[DONE]` twice (JSON twice)',
    call: json(`${WHOLE}\n${WHOLE}`),
    stream: sse([`${STREAM}data: [DONE]\n\n`]),
  },
  {
    name: 'neither finish reason nor `[DONE]`',
    call: json(JSON.stringify({ choices: [{ message: { content: REPLY_TEXT } }] })),
    stream: sse(EVENTS.slice(0, -3)),
  },
  { name: 'an empty reply', call: json(''), stream: sse([]) },
  { name: 'JSON for a stream, a stream for JSON', call: sse([STREAM]), stream: json(WHOLE) },
  always('JSON that is not an object', json('[1]')),
  { name: 'an error object with status 200, that a retry can fix', ...reported('server_error') },
  { name: 'an error object with status 200, that no retry can fix', ...reported('invalid_request_error') },
];

function interim(code: number, headers: Headers = {}): Pick<FaultBehaviour, 'call' | 'stream'> {
  const first: Answer = (_request, wire) => wire.interim(code, headers);
  return { call: steps(first, json(WHOLE)), stream: steps(first, sse([STREAM])) };
}

const STATUSES: readonly FaultBehaviour[] = [
  { name: '100 Continue, then the answer', ...interim(100) },
  { name: '103 Early Hints, then the answer', ...interim(103, { link: '</a.css>' }) },
  {
    ...always('endless 103 responses', (_request, wire) => wire.flood(() => wire.interim(103))),
    limits: { first_token: 700, request: 1000 },
    floods: true,
  },
  always('204 No Content', steps(begin(204, {}), finish)),
  ...[301, 302, 303, 307, 308].map((code) => always(String(code), redirect(code))),
  ...[400, 401, 403, 404].map((code) => always(String(code), refusal(code))),
  ...[408, 409, 422, 425].map((code) => always(String(code), refusal(code))),
  always('429', refusal(429)),
  always('429, `retry-after` in seconds', refusal(429, { 'retry-after': '1' })),
  always('429, `retry-after` as a date', (request, wire) =>
    refusal(429, { 'retry-after': inSeconds(1) })(request, wire),
  ),
  always('429, `retry-after` beyond the deadline', refusal(429, { 'retry-after': '99999999999' })),
  always('429, `retry-after` negative', refusal(429, { 'retry-after': '-5' })),
  always('500 with HTML', (request, wire) => status(500, `<h1>no ${keysOf(request)}</h1>`)(request, wire)),
  ...[502, 503, 504, 529].map((code) => always(String(code), refusal(code))),
];

/** The faults over any version of HTTP, in the order of the page. */
export const COMMON_FAULTS: readonly FaultGroup[] = [
  { title: 'Connections', faults: CONNECTION },
  { title: 'HTTP', faults: FRAMING },
  { title: 'Statuses', faults: STATUSES },
  { title: 'Replies and event streams', faults: EVENT_STREAM },
];

import { gzipSync } from 'node:zlib';
import {
  SSE_HEADERS,
  chatCompletion,
  chatEvent,
  chatEvents,
  chunk,
  head,
  reply,
  sleep,
  sse,
  status,
} from './fake-provider.ts';
import type { Behaviour, RecordedRequest, Wire } from './fake-provider.ts';

/** A failure of a provider, or unusual behaviour that is correct. */
export interface UpstreamFault {
  /** The name of the row in docs/faults.md. */
  readonly name: string;
  /** The answer to a request for a whole reply. */
  readonly call: Behaviour;
  /** The answer to a request for a stream. */
  readonly stream: Behaviour;
  /** The target of its URL, if the fault is not in the answer. */
  readonly leads?: 'nowhere' | 'to a server that never finishes its TLS handshake';
  /** True if it sends as fast as svc reads, which keeps a processor busy. */
  readonly floods?: true;
  /** True if the fault happens at the second use of a connection. */
  readonly secondUse?: true;
  /** For a fault that a time limit ends: the short limits of its client, in milliseconds. The other limits are far longer. */
  readonly limits?: Limits;
}

export type LimitName = 'connect' | 'first_token' | 'idle' | 'request';

export type Limits = Readonly<Partial<Record<LimitName, number>>>;

/** The answer after a fault needs little of this time, so a busy machine can be late by most of it. */
const UNANSWERED: Limits = { first_token: 1500, request: 2000, idle: 1000 };
const SILENT: Limits = { idle: 1000 };

/** Bytes arrive every 20 ms, so the idle limit never ends it, although it is shorter than the limit that does. */
const SLOW: Limits = { idle: 1500, first_token: 1700, request: 2000 };

export interface FaultGroup {
  readonly title: string;
  readonly faults: readonly UpstreamFault[];
}

/** The text of a good answer. Its characters have one to four bytes. */
export const REPLY_TEXT = 'fine é ☃ 𝄞';

const WHOLE = JSON.stringify(chatCompletion(REPLY_TEXT));
const EVENTS = chatEvents(REPLY_TEXT, { chunkSize: 3 });
const STREAM = EVENTS.join('');
const FIRST_TEXT = `${EVENTS[0]}${EVENTS[1]}`;

/** A position in the middle of the event after the first text. */
const SHORT_LENGTH = String(Buffer.byteLength(FIRST_TEXT) + 40);

/** Large enough to reach 64 MiB soon. */
const MUCH = 'x'.repeat(256 * 1024);

type Step = (request: RecordedRequest, wire: Wire) => void | Promise<void>;

function steps(...all: readonly Step[]): Behaviour {
  return async (request, wire) => {
    for (const step of all) await step(request, wire);
  };
}

function write(data: string | Uint8Array): Step {
  return (_request, wire) => wire.write(data);
}

const silence: Step = async (_request, wire) => {
  while (!wire.gone) await sleep(5);
};
const close: Step = (_request, wire) => wire.end();
/** Waits until the client has read the earlier writes, because a reset discards unread data. */
const cut: Step = async (_request, wire) => {
  await sleep(200);
  wire.reset();
};

function flood(data: string | Uint8Array): Step {
  return (_request, wire) => wire.flood(data);
}

function drip(text: string): Step {
  return async (_request, wire) => {
    for (const byte of Buffer.from(text)) {
      if (wire.gone) return;
      wire.write(Buffer.from([byte]));
      await sleep(20);
    }
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };
const STREAM_TYPE = { 'content-type': 'text/event-stream' };
const CHUNKED_JSON = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };
const STREAM_HEAD = head(200, SSE_HEADERS);

function jsonHead(length = Buffer.byteLength(WHOLE)): string {
  return head(200, { ...JSON_TYPE, 'content-length': String(length) });
}

/** A whole reply of these bytes, in correct HTTP. */
function json(text: string | Buffer): Behaviour {
  return (_request, wire) => {
    wire.write(jsonHead(Buffer.byteLength(text)));
    wire.write(text);
  };
}

/** A whole reply, byte by byte. */
const wholeInBytes: Behaviour = async (_request, wire) => {
  wire.write(head(200, CHUNKED_JSON));
  for (const byte of bytesOf(WHOLE)) wire.write(chunk(byte));
  wire.write(chunk(''));
};

function bytesOf(text: string): readonly Buffer[] {
  return [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
}

/** The keys of the request, because providers quote keys that they refuse. */
function keysOf(request: RecordedRequest): string {
  const { authorization = '', 'x-other-key': other = '' } = request.headers;
  return `${authorization.replace('Bearer ', '')} ${other} ${/key=([^&]*)/u.exec(request.path)?.[1] ?? ''}`;
}

/** A status whose headers and body quote the key. */
function refusal(code: number, headers: Readonly<Record<string, string>> = {}): Behaviour {
  return (request, wire) => {
    const error = { message: `no, not with ${keysOf(request)}`, type: `type_${keysOf(request)}` };
    return status(code, { error }, { 'x-key': keysOf(request), ...headers })(request, wire);
  };
}

function redirect(code: number): Behaviour {
  return (request, wire) =>
    status(code, '', { location: `https://elsewhere.example/?key=${keysOf(request)}` })(request, wire);
}

function always(name: string, behaviour: Behaviour): UpstreamFault {
  return { name, call: behaviour, stream: behaviour };
}

function errorObject(request: RecordedRequest, type: string): string {
  return JSON.stringify({ error: { message: `broke with ${keysOf(request)}`, type } });
}

function reported(type: string): Pick<UpstreamFault, 'call' | 'stream'> {
  return {
    call: (request, wire) => json(errorObject(request, type))(request, wire),
    stream: (request, wire) => sse([FIRST_TEXT, `data: ${errorObject(request, type)}\n\n`])(request, wire),
  };
}

function zipped(bytes: Buffer): Behaviour {
  return async (_request, wire) => {
    wire.write(head(200, { ...CHUNKED_JSON, 'content-encoding': 'gzip' }));
    wire.write(chunk(bytes));
    wire.write(chunk(''));
  };
}

/** A thousand times as large when unpacked. */
const ZIPPED_NOTHING = gzipSync(Buffer.alloc(10_000_000));

function inSeconds(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toUTCString();
}

const CONNECTION: readonly UpstreamFault[] = [
  { ...always('refuses the connection', close), leads: 'nowhere' },
  {
    ...always('accepts the connection and never finishes the TLS handshake', silence),
    leads: 'to a server that never finishes its TLS handshake',
    limits: { connect: 300 },
  },
  { ...always('accepts the request and never answers', silence), limits: UNANSWERED },
  {
    name: 'sends headers, then nothing',
    call: steps(write(jsonHead()), silence),
    stream: steps(write(STREAM_HEAD), silence),
    limits: SILENT,
  },
  {
    name: 'stops sending in the middle',
    call: steps(write(jsonHead() + WHOLE.slice(0, 40)), silence),
    stream: steps(write(STREAM_HEAD), write(chunk(FIRST_TEXT)), silence),
    limits: SILENT,
  },
  {
    name: 'sends a byte every 20 ms',
    call: steps(write(jsonHead()), drip(WHOLE)),
    stream: steps(write(head(200, STREAM_TYPE)), drip(STREAM)),
    limits: SLOW,
  },
  always('cuts the connection before it answers', cut),
  always('closes the connection before it answers', close),
  { name: 'cuts after the status', call: steps(write(jsonHead()), cut), stream: steps(write(STREAM_HEAD), cut) },
  {
    name: 'cuts in the middle',
    call: steps(write(jsonHead() + WHOLE.slice(0, 40)), cut),
    stream: steps(write(STREAM_HEAD), write(chunk(FIRST_TEXT)), cut),
  },
  {
    name: 'cuts after the reply is whole (`[DONE]`)',
    call: steps(write(jsonHead() + WHOLE), cut),
    stream: steps(write(STREAM_HEAD), write(chunk(STREAM)), cut),
  },
  {
    ...always('closes a kept connection at its next use', (request, wire) => {
      if (wire.used > 0) wire.reset();
      else return reply(REPLY_TEXT)(request, wire);
    }),
    secondUse: true,
  },
];

const FRAMING: readonly UpstreamFault[] = [
  {
    name: '`content-length` larger than the body',
    call: steps(write(jsonHead(9999) + WHOLE), close),
    stream: steps(write(head(200, { ...STREAM_TYPE, 'content-length': '9999' }) + FIRST_TEXT), close),
  },
  {
    name: '`content-length` smaller than the body',
    call: steps(write(jsonHead(40) + WHOLE)),
    stream: steps(write(head(200, { ...STREAM_TYPE, 'content-length': SHORT_LENGTH }) + STREAM)),
  },
  {
    name: 'a chunk whose size is not a number',
    call: steps(write(`${head(200, CHUNKED_JSON)}zz\r\n${WHOLE}\r\n0\r\n\r\n`)),
    stream: steps(write(STREAM_HEAD), write(chunk(FIRST_TEXT)), write('zz\r\n')),
  },
  {
    name: 'no length, and the end of the connection ends the reply',
    call: steps(write(head(200, JSON_TYPE) + WHOLE), close),
    stream: steps(write(head(200, STREAM_TYPE) + STREAM), close),
  },
  {
    name: 'no length, and the connection ends too early',
    call: steps(write(head(200, JSON_TYPE) + WHOLE.slice(0, 40)), close),
    stream: steps(write(head(200, STREAM_TYPE) + FIRST_TEXT), close),
  },
  always('no HTTP at all', steps(write('hello\r\n\r\n'), close)),
  {
    ...always('endless headers', steps(write('HTTP/1.1 200 OK\r\n'), flood(`x-more: ${'x'.repeat(1000)}\r\n`))),
    floods: true,
  },
  {
    name: 'gzip that svc did not ask for',
    call: zipped(gzipSync(WHOLE)),
    stream: zipped(gzipSync(STREAM)),
  },
  always('truncated gzip', zipped(gzipSync(WHOLE).subarray(0, 40))),
  {
    ...always(
      'a gzip bomb',
      steps(write(head(200, { ...CHUNKED_JSON, 'content-encoding': 'gzip' })), flood(chunk(ZIPPED_NOTHING))),
    ),
    floods: true,
  },
  {
    name: 'an endless reply',
    call: steps(write(head(200, CHUNKED_JSON)), flood(chunk(`${JSON.stringify(MUCH)},`))),
    stream: steps(write(STREAM_HEAD), flood(chunk(chatEvent({ content: '', thoughts: MUCH })))),
    floods: true,
  },
  {
    name: 'an endless line',
    call: steps(write(head(200, CHUNKED_JSON)), write(chunk('{"choices":"')), flood(chunk(MUCH))),
    stream: steps(write(STREAM_HEAD), write(chunk('data: ')), flood(chunk(MUCH))),
    floods: true,
  },
  {
    ...always(
      'an endless error body',
      steps(write(head(500, { 'content-type': 'text/html', 'transfer-encoding': 'chunked' })), flood(chunk(MUCH))),
    ),
    floods: true,
  },
];

const EVENT_STREAM: readonly UpstreamFault[] = [
  {
    name: 'each byte in a chunk of its own (inside UTF-8, inside `data:`)',
    call: wholeInBytes,
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

function interim(line: string): Pick<UpstreamFault, 'call' | 'stream'> {
  return {
    call: steps(write(`HTTP/1.1 ${line}\r\n\r\n`), json(WHOLE)),
    stream: steps(write(`HTTP/1.1 ${line}\r\n\r\n`), sse([STREAM])),
  };
}

const STATUSES: readonly UpstreamFault[] = [
  { name: '100 Continue, then the answer', ...interim('100 Continue') },
  { name: '103 Early Hints, then the answer', ...interim('103 Early Hints\r\nlink: </a.css>') },
  {
    ...always('endless 103 responses', flood('HTTP/1.1 103 Early Hints\r\n\r\n')),
    limits: { first_token: 700, request: 1000 },
    floods: true,
  },
  always('101 Switching Protocols', steps(write(head(101, { connection: 'upgrade', upgrade: 'h2c' })), cut)),
  always('204 No Content', steps(write(head(204, {})))),
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

/** All faults, in the order of the page. */
export const FAULT_GROUPS: readonly FaultGroup[] = [
  { title: 'Connections', faults: CONNECTION },
  { title: 'HTTP', faults: FRAMING },
  { title: 'Statuses', faults: STATUSES },
  { title: 'Replies and event streams', faults: EVENT_STREAM },
];

export const FAULTS: readonly UpstreamFault[] = FAULT_GROUPS.flatMap((group) => group.faults);

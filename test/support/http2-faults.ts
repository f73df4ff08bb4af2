import type { Settings } from 'node:http2';
import { reply, sse } from './fake-provider.ts';
import type { Behaviour } from './fake-wire.ts';
import {
  FIRST_TEXT,
  JSON_TYPE,
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
  close,
  finish,
  firstBytes,
  firstText,
  json,
  silence,
  steps,
  type FaultBehaviour,
  type Limits,
} from './fault-steps.ts';
import type { Http2Wire } from './http2-connection.ts';
import {
  ERROR,
  FLAG,
  FRAME,
  SETTING,
  SETTINGS_ACK,
  dataFrame,
  frame,
  goawayFrame,
  headerBlock,
  headersFrames,
  pingFrame,
  pushFrame,
  resetFrame,
  settingsFrame,
  windowFrame,
} from './http2-frames.ts';
import type { Greeting, TlsProviderOptions } from './tls-provider.ts';

/** A fault over HTTP/2. */
export interface Http2Fault extends FaultBehaviour<Http2Wire>, Pick<TlsProviderOptions, 'speaks' | 'settings'> {
  /** The first connection of a call gets this instead of HTTP/2. */
  readonly greeting?: Greeting;
}

export interface Http2FaultGroup {
  readonly title: string;
  readonly faults: readonly Http2Fault[];
}

type Step = Behaviour<Http2Wire>;

/** What a fault has besides its steps. */
type More = Partial<Omit<Http2Fault, 'name'>>;

/** The limit for a connection also ends the wait for a place on one. */
const UNCONNECTED: Limits = { connect: 1500 };

/** Frames of the stream. */
function frames(...all: ReadonlyArray<(streamId: number) => Uint8Array>): Step {
  return (_request, wire) => wire.inject(...all.map((of) => of(wire.streamId)));
}

function reset(code: keyof typeof ERROR): Step {
  return frames((id) => resetFrame(id, ERROR[code]));
}

/** GOAWAY; the stream is the last one that the server takes, or the first one beyond it. */
function leave(code: keyof typeof ERROR, stream: 'included' | 'excluded'): Step {
  return frames((id) => goawayFrame(ERROR[code], stream === 'included' ? id : Math.max(0, id - 2)));
}

/** Steps instead of an answer. */
function unanswered(name: string, ...all: readonly Step[]): Http2Fault {
  return always(name, steps(...all));
}

/** Steps before a good answer. */
function answered(name: string, ...all: readonly Step[]): Http2Fault {
  return unanswered(name, ...all, reply(REPLY_TEXT));
}

/** Steps after the status. */
function begun(name: string, ...all: readonly Step[]): Http2Fault {
  return {
    name,
    call: steps<Http2Wire>(begin(200, JSON_TYPE), ...all),
    stream: steps<Http2Wire>(begin(200, STREAM_TYPE), ...all),
  };
}

/** Steps in the middle of a reply. */
function midway(name: string, ...all: readonly Step[]): Http2Fault {
  return { name, call: steps<Http2Wire>(firstBytes, ...all), stream: steps<Http2Wire>(firstText, ...all) };
}

/** Steps after a whole reply, which has ended. */
function afterwards(name: string, ...all: readonly Step[]): Http2Fault {
  return { name, call: steps<Http2Wire>(json(WHOLE), ...all), stream: steps<Http2Wire>(sse([STREAM]), ...all) };
}

/** Another begin of a connection, which then stays open. */
function greeted(name: string, bytes: string | Uint8Array, more: More = {}): Http2Fault {
  const greeting: Greeting = (socket) => socket.write(bytes);
  return { ...always<Http2Wire>(name, reply(REPLY_TEXT)), greeting, onNewConnection: true, unasked: true, ...more };
}

function withSettings(name: string, settings: Settings, more: More = {}): Http2Fault {
  return { ...always<Http2Wire>(name, reply(REPLY_TEXT)), settings, ...more };
}

/** Frames without an end, as fast as svc reads them. */
function flood(of: (streamId: number) => Uint8Array): Step {
  return (_request, wire) => {
    const many = Buffer.concat(Array.from({ length: 500 }, () => of(wire.streamId)));
    return wire.flood(() => wire.inject(many));
  };
}

/** From now on, Node's answers to what svc sends do not disturb the fault. */
const freeze: Step = (_request, wire) => wire.freeze();

const STATUS = [[':status', '200']] as const;
const MORE = [['x-more', 'x'.repeat(1000)]] as const;

/** RFC 7838, 4. */
const ALTERNATIVE = frame(FRAME.alternative, 0, 0, Buffer.from('\0\u0009https://ah3=":1"'));

const PADDING = Buffer.concat([Buffer.from([255]), Buffer.alloc(255)]);

const MANY = Array.from({ length: 10_000 }, (_, index) => [`x-${index}`, 'x'] as const);

const CONNECTIONS: readonly Http2Fault[] = [
  greeted('agrees on HTTP/2, and sends nothing', '', { limits: UNCONNECTED }),
  greeted('agrees on HTTP/2, and closes the connection', '', { greeting: (socket) => socket.end() }),
  greeted('agrees on HTTP/2, and speaks HTTP/1.1', 'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'),
  greeted('agrees on HTTP/2, and sends bytes that are not frames', Buffer.alloc(10_000, 0xa5)),
  greeted('never acknowledges the settings of svc', settingsFrame(), { limits: UNCONNECTED }),
  greeted('sends a window of 2 GiB in its settings', settingsFrame([SETTING.initialWindow, 2 ** 31])),
  greeted('sends a frame size of 5 bytes in its settings', settingsFrame([SETTING.frameSize, 5])),
  greeted('allows pushes in its settings', settingsFrame([SETTING.enablePush, 1])),
  greeted('sends 10,000 settings', Buffer.concat(Array.from({ length: 10_000 }, () => settingsFrame()))),
  greeted('sends GOAWAY instead of settings', goawayFrame(ERROR.NO_ERROR, 0)),
  greeted('sends GOAWAY after its settings', Buffer.concat([settingsFrame(), goawayFrame(ERROR.NO_ERROR, 0)])),
  greeted(
    'sends GOAWAY as soon as it can take a request',
    Buffer.concat([settingsFrame(), SETTINGS_ACK, goawayFrame(ERROR.NO_ERROR, 0)]),
  ),
  greeted(
    'sends GOAWAY after its settings: `ENHANCE_YOUR_CALM`',
    Buffer.concat([settingsFrame(), goawayFrame(ERROR.ENHANCE_YOUR_CALM, 0)]),
  ),
  withSettings('allows no requests', { maxConcurrentStreams: 0 }, { limits: { connect: 300 }, unasked: true }),
  withSettings('allows one request at a time', { maxConcurrentStreams: 1 }),
  withSettings('takes no byte of a request', { initialWindowSize: 0 }, { limits: UNANSWERED, unasked: true }),
  withSettings('takes one byte of a request at a time', { initialWindowSize: 1 }),
  withSettings('takes frames of 16 MiB', { maxFrameSize: 2 ** 24 - 1 }),
  withSettings('keeps no table of headers', { headerTableSize: 0 }),
  { ...unanswered('freezes before it answers', freeze), limits: UNANSWERED, deaf: true },
  { ...midway('freezes in the middle', freeze), limits: SILENT, deaf: true },
];

const RESETS: readonly Http2Fault[] = [
  unanswered('resets the stream before it answers: `REFUSED_STREAM`', reset('REFUSED_STREAM')),
  { ...unanswered('resets the stream six times: `REFUSED_STREAM`', reset('REFUSED_STREAM')), times: 6 },
  {
    ...unanswered('resets the stream before it answers: `HTTP_1_1_REQUIRED`', (request, wire) =>
      // Without a stream, the request came over HTTP/1.1.
      (wire.streamId === 0 ? reply(REPLY_TEXT) : reset('HTTP_1_1_REQUIRED'))(request, wire),
    ),
    speaks: ['h2', 'http/1.1'],
  },
  ...(['NO_ERROR', 'INTERNAL_ERROR', 'CANCEL', 'ENHANCE_YOUR_CALM'] as const).map((code) =>
    unanswered(`resets the stream before it answers: \`${code}\``, reset(code)),
  ),
  ...(['NO_ERROR', 'INTERNAL_ERROR', 'CANCEL', 'REFUSED_STREAM', 'HTTP_1_1_REQUIRED'] as const).flatMap((code) => [
    begun(`resets the stream after the status: \`${code}\``, reset(code)),
    midway(`resets the stream in the middle: \`${code}\``, reset(code)),
  ]),
  {
    name: 'resets the stream after the reply is whole (`[DONE]`)',
    call: steps<Http2Wire>(beginJson(), body(WHOLE), reset('INTERNAL_ERROR')),
    stream: steps<Http2Wire>(begin(200, STREAM_TYPE), body(STREAM), reset('INTERNAL_ERROR')),
  },
  afterwards('resets the stream after its end', reset('INTERNAL_ERROR')),
  begun('ends the stream after the status', finish),
  unanswered(
    'ends the stream with the status',
    frames((id) => headersFrames(id, STATUS, FLAG.endStream)),
  ),
  {
    name: 'ends the stream in the middle of an event (of JSON)',
    call: steps(begin(200, JSON_TYPE), body(WHOLE.slice(0, 40)), finish),
    stream: steps(firstText, body('data: {"choices":['), finish),
  },
  {
    name: 'sends more than `content-length`',
    call: steps(beginJson(40), body(WHOLE), finish),
    stream: steps(begin(200, { ...STREAM_TYPE, 'content-length': '40' }), body(STREAM), finish),
  },
];

const GOAWAYS: readonly Http2Fault[] = [
  unanswered('sends GOAWAY that excludes the request: `NO_ERROR`', leave('NO_ERROR', 'excluded')),
  unanswered('sends GOAWAY that excludes the request: `ENHANCE_YOUR_CALM`', leave('ENHANCE_YOUR_CALM', 'excluded')),
  unanswered(
    'sends GOAWAY twice, and the second one excludes the request',
    frames(() => goawayFrame(ERROR.NO_ERROR)),
    leave('NO_ERROR', 'excluded'),
  ),
  answered('sends GOAWAY that includes the request, and answers it', leave('NO_ERROR', 'included')),
  unanswered('sends GOAWAY that includes the request, and closes the connection', leave('NO_ERROR', 'included'), close),
  unanswered('sends GOAWAY that includes the request: `ENHANCE_YOUR_CALM`', leave('ENHANCE_YOUR_CALM', 'included')),
  {
    name: 'sends GOAWAY in the middle, and then the rest',
    call: steps<Http2Wire>(firstBytes, leave('NO_ERROR', 'included'), body(WHOLE.slice(40)), finish),
    stream: steps<Http2Wire>(firstText, leave('NO_ERROR', 'included'), body(STREAM.slice(FIRST_TEXT.length)), finish),
  },
  midway('sends GOAWAY in the middle, and closes the connection', leave('NO_ERROR', 'included'), close),
  midway('sends GOAWAY that excludes the request in the middle', leave('NO_ERROR', 'excluded')),
  midway('sends GOAWAY in the middle: `ENHANCE_YOUR_CALM`', leave('ENHANCE_YOUR_CALM', 'included')),
];

const FRAMES: readonly Http2Fault[] = [
  unanswered(
    'sends no status',
    frames((id) => headersFrames(id, MORE)),
  ),
  unanswered(
    'sends a status that is not a number',
    frames((id) => headersFrames(id, [[':status', 'fine']])),
  ),
  unanswered(
    'sends two statuses at once',
    frames((id) => headersFrames(id, [...STATUS, ...STATUS])),
  ),
  begun(
    'sends the status twice',
    frames((id) => headersFrames(id, STATUS)),
  ),
  unanswered(
    'answers 101',
    frames((id) => headersFrames(id, [[':status', '101']])),
  ),
  unanswered(
    'sends a header in upper case',
    frames((id) => headersFrames(id, [...STATUS, ['X-More', 'x']])),
  ),
  unanswered(
    'sends a header of HTTP/1.1',
    frames((id) => headersFrames(id, [...STATUS, ['connection', 'close']])),
  ),
  begun(
    'sends 10,000 trailers',
    body(' '),
    frames((id) => headersFrames(id, MANY, FLAG.endStream)),
  ),
  unanswered(
    'sends headers without an end',
    frames((id) => frame(FRAME.headers, 0, id, headerBlock(STATUS))),
    flood((id) => frame(FRAME.continuation, 0, id, headerBlock(MORE))),
  ),
  {
    ...unanswered(
      'sends headers that stop',
      frames((id) => frame(FRAME.headers, 0, id, headerBlock(STATUS))),
      silence,
    ),
    limits: UNANSWERED,
    deaf: true,
  },
  answered(
    'sends frames of unknown types',
    frames((id) => frame(99, 0, id, Buffer.from('hello'))),
  ),
  unanswered(
    'pushes a response',
    frames((id) => pushFrame(id)),
  ),
  unanswered(
    'opens a stream of its own',
    frames(() => headersFrames(2, STATUS)),
  ),
  unanswered(
    'resets a stream that svc never opened',
    frames((id) => resetFrame(id + 2, ERROR.CANCEL)),
  ),
  unanswered(
    'enlarges the window by 0',
    frames((id) => windowFrame(id, 0)),
  ),
  unanswered(
    'enlarges the window of the stream beyond 2 GiB',
    frames((id) => windowFrame(id, 2 ** 31 - 1)),
  ),
  unanswered(
    'enlarges the window of the connection beyond 2 GiB',
    frames(() => windowFrame(0, 2 ** 31 - 1)),
  ),
  { ...unanswered('sends pings without end', freeze, flood(pingFrame)), floods: true },
  {
    ...begun(
      'sends empty frames without end',
      flood((id) => dataFrame(id, '')),
    ),
    floods: true,
  },
  ...(
    [
      ['sends interim responses without end', (id) => headersFrames(id, [[':status', '103']])],
      ['enlarges the window without end', (id) => windowFrame(id, 1)],
      ['sends priorities without end', (id) => frame(FRAME.priority, 0, id, Buffer.from([0, 0, 0, 0, 1]))],
      ['sends alternative services without end', () => ALTERNATIVE],
      ['sends frames of unknown types without end', (id) => frame(99, 0, id)],
    ] as const satisfies ReadonlyArray<readonly [string, (streamId: number) => Uint8Array]>
  ).map(([name, of]) => ({ ...unanswered(name, flood(of)), floods: true as const })),
  {
    ...begun(
      'sends frames of padding without end',
      flood((id) => frame(FRAME.data, FLAG.padded, id, PADDING)),
    ),
    floods: true,
  },
];

/** From this version on, Node ends the connection with an error: 22.23 does. Before, it stops reading, and the time limit ends the request. */
const REPORTED_BY_NODE = 22;

const UNREPORTED: readonly Http2Fault[] = [
  ...[
    answered(
      'sends data before the status',
      frames((id) => dataFrame(id, 'x')),
    ),
    unanswered(
      'sends data on a stream that svc never opened',
      frames((id) => dataFrame(id + 2, 'x')),
    ),
    unanswered(
      'sends headers that cannot be decompressed',
      frames((id) => frame(FRAME.headers, FLAG.endHeaders, id, Buffer.alloc(9, 255))),
    ),
  ].map((fault) => endedBy(UNANSWERED, fault)),
  ...[
    begun(
      'sends a frame that is too large',
      frames((id) => dataFrame(id, 'x'.repeat(20_000))),
    ),
    midway(
      'sends bytes that are not frames in the middle',
      frames(() => Buffer.alloc(10_000, 0xa5)),
    ),
  ].map((fault) => endedBy(SILENT, fault)),
];

function endedBy(limits: Limits, fault: Http2Fault): Http2Fault {
  const isReported = Number.parseInt(process.versions.node, 10) >= REPORTED_BY_NODE;
  return isReported ? { ...fault, reported: true } : { ...fault, limits, deaf: true };
}

export const HTTP2_FAULTS: readonly Http2FaultGroup[] = [
  { title: 'HTTP/2: connections', faults: CONNECTIONS },
  { title: 'HTTP/2: streams', faults: RESETS },
  { title: 'HTTP/2: GOAWAY', faults: GOAWAYS },
  { title: 'HTTP/2: frames', faults: [...FRAMES, ...UNREPORTED] },
];

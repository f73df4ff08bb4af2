/** Frame types of RFC 9113, 6. */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
  alternative: 10,
};

/** Error codes of RFC 9113, 7. */
export const ERROR = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  SETTINGS_TIMEOUT: 4,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  CONNECT_ERROR: 10,
  ENHANCE_YOUR_CALM: 11,
  INADEQUATE_SECURITY: 12,
  HTTP_1_1_REQUIRED: 13,
};

/** Settings of RFC 9113, 6.5.2. */
export const SETTING = { headerTableSize: 1, enablePush: 2, streams: 3, initialWindow: 4, frameSize: 5 };

/** Flags of HEADERS; `endStream` is one of DATA, too. */
export const FLAG = { endStream: 1, endHeaders: 4, padded: 8 };

/** A receiver takes frames of this size unless it asked for larger ones. */
const MAX_FRAME_BYTES = 16_384;

const MOST = 2 ** 31 - 1;

/** One frame of HTTP/2. */
export function frame(type: number, flags: number, streamId: number, payload: Uint8Array = NO_BYTES): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

const NO_BYTES = Buffer.alloc(0);

export function resetFrame(streamId: number, code: number): Buffer {
  return frame(FRAME.reset, 0, streamId, numbers(code));
}

/** `lastTaken`: the last stream that the server takes; by default, all. */
export function goawayFrame(code: number, lastTaken = MOST): Buffer {
  return frame(FRAME.goaway, 0, 0, numbers(lastTaken, code));
}

export function windowFrame(streamId: number, bytes: number): Buffer {
  return frame(FRAME.windowUpdate, 0, streamId, numbers(bytes));
}

export function settingsFrame(...settings: ReadonlyArray<readonly [id: number, value: number]>): Buffer {
  const payload = settings.map(([id, value]) => Buffer.concat([Buffer.from([0, id]), numbers(value)]));
  return frame(FRAME.settings, 0, 0, Buffer.concat(payload));
}

/** The acknowledgement of the other side's settings. */
export const SETTINGS_ACK = frame(FRAME.settings, 1, 0);

export function pingFrame(): Buffer {
  return frame(FRAME.ping, 0, 0, Buffer.alloc(8));
}

export function dataFrame(streamId: number, data: string | Uint8Array, flags = 0): Buffer {
  return frame(FRAME.data, flags, streamId, Buffer.from(data));
}

/** The promise of a pushed response. */
export function pushFrame(streamId: number): Buffer {
  const fields = [':method', ':scheme', ':authority', ':path'].map((name) => [name, 'x'] as const);
  return frame(FRAME.pushPromise, FLAG.endHeaders, streamId, Buffer.concat([numbers(2), headerBlock(fields)]));
}

/** HEADERS with these fields, and CONTINUATION frames as needed. */
export function headersFrames(streamId: number, fields: Fields, flags = 0): Buffer {
  const block = headerBlock(fields);
  const parts = [block.subarray(0, MAX_FRAME_BYTES)];
  for (let at = MAX_FRAME_BYTES; at < block.length; at += MAX_FRAME_BYTES) {
    parts.push(block.subarray(at, at + MAX_FRAME_BYTES));
  }
  return Buffer.concat(
    parts.map((part, index) => {
      const last = index === parts.length - 1 ? FLAG.endHeaders : 0;
      return frame(index === 0 ? FRAME.headers : FRAME.continuation, index === 0 ? flags | last : last, streamId, part);
    }),
  );
}

type Fields = ReadonlyArray<readonly [name: string, value: string]>;

/** Literal fields that are not indexed (RFC 7541, 6.2.2): they change no table. */
export function headerBlock(fields: Fields): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

/** RFC 7541, 5.1 and 5.2, without Huffman coding. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

import { crc32 } from 'node:zlib';

/** One frame of an AWS event stream (https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html). */
export function awsEventFrame(headers: Readonly<Record<string, string>>, payload: object | string): Buffer {
  const names = Object.entries(headers).map(([name, value]) => {
    const bytes = Buffer.alloc(1 + name.length + 3 + value.length);
    bytes.writeUInt8(name.length, 0);
    bytes.write(name, 1);
    bytes.writeUInt8(7, 1 + name.length);
    bytes.writeUInt16BE(value.length, 2 + name.length);
    bytes.write(value, 4 + name.length);
    return bytes;
  });
  const named = Buffer.concat(names);
  const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + named.length + body.length, 0);
  prelude.writeUInt32BE(named.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const checked = Buffer.concat([prelude, named, body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(checked));
  return Buffer.concat([checked, checksum]);
}

export function awsEvent(type: string, payload: object): Buffer {
  return awsEventFrame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload);
}

export function awsException(type: string, payload: object): Buffer {
  return awsEventFrame({ ':message-type': 'exception', ':exception-type': type }, payload);
}

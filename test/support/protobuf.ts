/** A field of a message: a varint or fixed-size number as its bits, or the bytes of a string, a message or a packed list. */
export type WireValue = bigint | Buffer;

/** The fields of one message in the Protocol Buffers wire format, by number. */
export type WireMessage = ReadonlyMap<number, readonly WireValue[]>;

/** Reads one message: https://protobuf.dev/programming-guides/encoding/ */
export function readMessage(bytes: Buffer): WireMessage {
  const fields = new Map<number, WireValue[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const value = (type: number): WireValue => {
    if (type === 0) return varint();
    const length = type === 1 ? 8 : type === 5 ? 4 : Number(varint());
    at += length;
    const part = bytes.subarray(at - length, at);
    if (type === 1) return part.readBigUInt64LE();
    return type === 5 ? BigInt(part.readUInt32LE()) : part;
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const list = fields.get(tag >> 3) ?? [];
    list.push(value(tag & 7));
    fields.set(tag >> 3, list);
  }
  return fields;
}

export function messagesAt(message: WireMessage, field: number): readonly WireMessage[] {
  return buffersAt(message, field).map(readMessage);
}

export function bytesAt(message: WireMessage, field: number): Buffer {
  return buffersAt(message, field)[0] ?? Buffer.alloc(0);
}

export function stringAt(message: WireMessage, field: number): string {
  return bytesAt(message, field).toString();
}

export function bitsAt(message: WireMessage, field: number): bigint {
  const value = message.get(field)?.[0];
  return typeof value === 'bigint' ? value : 0n;
}

export function doubleOf(bits: bigint): number {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(bits);
  return bytes.readDoubleLE();
}

/** The numbers of eight bytes in a packed list. */
export function packedAt(message: WireMessage, field: number): readonly bigint[] {
  const bytes = bytesAt(message, field);
  return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readBigUInt64LE(index * 8));
}

function buffersAt(message: WireMessage, field: number): readonly Buffer[] {
  return (message.get(field) ?? []).filter((value) => typeof value !== 'bigint');
}

import { type Attributes, type AttributeValue, TraceFlags } from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { RecordedSpan, SpanEvent } from './spans.ts';

/**
 * The tags of the fields: eight times their number, and 0 for a varint, 1 for eight bytes and 2 for a string or a message.
 * https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
 */
const REQUEST = { resourceSpans: 0x0a } as const;
const RESOURCE_SPANS = { resource: 0x0a, scopeSpans: 0x12 } as const;
const RESOURCE = { attribute: 0x0a } as const;
const SCOPE_SPANS = { scope: 0x0a, span: 0x12 } as const;
const SCOPE = { name: 0x0a, version: 0x12 } as const;
const SPAN = {
  traceId: 0x0a,
  spanId: 0x12,
  traceState: 0x1a,
  parentId: 0x22,
  name: 0x2a,
  kind: 0x30,
  startTime: 0x39,
  endTime: 0x41,
  attribute: 0x4a,
  event: 0x5a,
  droppedEvents: 0x60,
  status: 0x7a,
} as const;
const EVENT = { time: 0x09, name: 0x12, attribute: 0x1a } as const;
const STATUS = { code: 0x18 } as const;
const KEY_VALUE = { key: 0x0a, value: 0x12 } as const;
const VALUE = { string: 0x0a, boolean: 0x10, integer: 0x18, double: 0x21, array: 0x2a } as const;
const ARRAY = { value: 0x0a } as const;

const STATUS_ERROR = 2;

/** The field `flags` of a span (16, four bytes): it is sampled, and whether its parent is of another process is known. */
const FLAGS = Buffer.from([0x85, 0x01, TraceFlags.SAMPLED, 0x01, 0, 0]);
const FLAGS_OF_REMOTE_PARENT = Buffer.from([0x85, 0x01, TraceFlags.SAMPLED, 0x03, 0, 0]);

/** The objects that all spans of a process share. */
export interface SpanOrigin {
  readonly resource: Pick<Resource, 'attributes'>;
  readonly scope: InstrumentationScope;
}

/**
 * Encodes spans for OTLP as they end. The library encodes a whole batch twice, to learn its size first, which takes more than
 * twice as long, and keeps objects until then.
 */
export class SpanEncoder {
  readonly #resource: Buffer;
  readonly #scope: Buffer;
  readonly #spans = new ProtobufWriter();
  /** The encoded names of attributes. All of them are constants. */
  readonly #names = new Map<string, Buffer>();
  /** The encoded attributes that many spans share. */
  readonly #shared = new WeakMap<Attributes, Buffer>();

  constructor({ resource, scope }: SpanOrigin) {
    this.#resource = this.#encodedResource(resource);
    this.#scope = encodedScope(scope);
  }

  /** The number of bytes of all spans since the last `take`. */
  get length(): number {
    return this.#spans.length;
  }

  add(span: RecordedSpan): void {
    const to = this.#spans;
    const { position, parentId } = span;
    const start = to.open(SCOPE_SPANS.span);
    to.words(SPAN.traceId, position.traceId);
    to.words(SPAN.spanId, span.id);
    if (position.traceState !== '') to.text(SPAN.traceState, position.traceState);
    if (parentId !== undefined) to.words(SPAN.parentId, parentId);
    to.text(SPAN.name, span.name);
    // The kinds of the API have other numbers: 0 is internal there, and unspecified here.
    to.integer(SPAN.kind, span.kind + 1);
    to.nanoseconds(SPAN.startTime, span.startedAt);
    to.nanoseconds(SPAN.endTime, span.endedAt);
    for (const shared of span.shared) to.raw(this.#encodedAttributes(shared));
    for (const [name, value] of span.attributes) this.#attribute(to, SPAN.attribute, name, value);
    for (const event of span.events) this.#event(to, event);
    if (span.droppedEvents > 0) to.integer(SPAN.droppedEvents, span.droppedEvents);
    if (span.failed) {
      const status = to.open(SPAN.status);
      to.integer(STATUS.code, STATUS_ERROR);
      to.close(status);
    }
    to.raw(span.hasRemoteParent ? FLAGS_OF_REMOTE_PARENT : FLAGS);
    to.close(start);
  }

  /** Forgets the spans after this length. */
  truncate(length: number): void {
    this.#spans.truncate(length);
  }

  /** Returns a request with all spans since the last call. */
  take(): Buffer {
    const scope = head(RESOURCE_SPANS.scopeSpans, [this.#scope], this.#spans.length);
    const resource = head(REQUEST.resourceSpans, [this.#resource, ...scope], this.#spans.length);
    return this.#spans.take(resource);
  }

  #encodedResource({ attributes }: SpanOrigin['resource']): Buffer {
    const to = new ProtobufWriter();
    const start = to.open(RESOURCE_SPANS.resource);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined) this.#attribute(to, RESOURCE.attribute, name, value);
    }
    to.close(start);
    return to.take();
  }

  #encodedAttributes(attributes: Attributes): Buffer {
    let encoded = this.#shared.get(attributes);
    if (encoded === undefined) {
      const to = new ProtobufWriter();
      for (const [name, value] of Object.entries(attributes)) {
        if (value !== undefined) this.#attribute(to, SPAN.attribute, name, value);
      }
      encoded = to.take();
      this.#shared.set(attributes, encoded);
    }
    return encoded;
  }

  #event(to: ProtobufWriter, { name, at, attributes }: SpanEvent): void {
    const start = to.open(SPAN.event);
    to.nanoseconds(EVENT.time, at);
    to.text(EVENT.name, name);
    for (const [key, value] of attributes) this.#attribute(to, EVENT.attribute, key, value);
    to.close(start);
  }

  #attribute(to: ProtobufWriter, tag: number, name: string, value: AttributeValue): void {
    const start = to.open(tag);
    to.raw(this.#encodedName(name));
    const inner = to.open(KEY_VALUE.value);
    this.#value(to, value);
    to.close(inner);
    to.close(start);
  }

  #encodedName(name: string): Buffer {
    let encoded = this.#names.get(name);
    if (encoded === undefined) {
      const to = new ProtobufWriter();
      to.text(KEY_VALUE.key, name);
      encoded = to.take();
      this.#names.set(name, encoded);
    }
    return encoded;
  }

  #value(to: ProtobufWriter, value: AttributeValue | null | undefined): void {
    if (typeof value === 'string') to.text(VALUE.string, value);
    else if (typeof value === 'boolean') to.integer(VALUE.boolean, value ? 1 : 0);
    else if (typeof value === 'number') {
      if (Number.isSafeInteger(value)) to.integer(VALUE.integer, value);
      else to.double(VALUE.double, value);
    } else if (value !== null && value !== undefined) {
      const start = to.open(VALUE.array);
      for (const each of value) {
        const inner = to.open(ARRAY.value);
        this.#value(to, each);
        to.close(inner);
      }
      to.close(start);
    }
  }
}

function encodedScope({ name, version }: InstrumentationScope): Buffer {
  const to = new ProtobufWriter();
  const start = to.open(SCOPE_SPANS.scope);
  to.text(SCOPE.name, name);
  if (version !== undefined) to.text(SCOPE.version, version);
  to.close(start);
  return to.take();
}

/** The first parts of a message, which this number of bytes completes. */
function head(tag: number, parts: readonly Buffer[], more: number): readonly Buffer[] {
  const to = new ProtobufWriter();
  // A tag of a message and its length look like those of an integer.
  to.integer(
    tag,
    parts.reduce((sum, part) => sum + part.length, more),
  );
  return [to.take(), ...parts];
}

const FIRST_BYTES = 256;

/** The largest buffer that is used again: a batch of spans without content is smaller. */
const MOST_KEPT_BYTES = 1024 * 1024;

/** The longest varint, in bytes. */
const LONGEST_VARINT = 10;

/** Writes fields in the Protocol Buffers wire format: https://protobuf.dev/programming-guides/encoding/. A tag is a number of one byte. */
class ProtobufWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;

  /** The number of bytes so far. */
  get length(): number {
    return this.#at;
  }

  /** Forgets the bytes after this length. */
  truncate(length: number): void {
    this.#at = length;
  }

  /** Returns the bytes so far, after these parts, and forgets them. */
  take(parts: readonly Buffer[] = []): Buffer {
    const taken = Buffer.concat([...parts, this.#bytes.subarray(0, this.#at)]);
    this.#at = 0;
    if (this.#bytes.length > MOST_KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(FIRST_BYTES);
    return taken;
  }

  /** Starts a message. Returns its position for `close`. */
  open(tag: number): number {
    this.#reserve(2);
    this.#bytes[this.#at] = tag;
    this.#at += 2;
    return this.#at;
  }

  /** Ends the message that started here. Most messages are shorter than 128 bytes, so their length takes the one byte before them. */
  close(start: number): void {
    const length = this.#at - start;
    if (length < 0x80) {
      this.#bytes[start - 1] = length;
      return;
    }
    const more = varintBytes(length) - 1;
    this.#reserve(more);
    this.#bytes.copyWithin(start + more, start, this.#at);
    this.#at = start - 1;
    this.#varint(length);
    this.#at += length;
  }

  /** Bytes that contain complete fields. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  text(tag: number, value: string): void {
    // A UTF-16 unit takes up to three bytes in UTF-8.
    this.#reserve(2 + 3 * value.length);
    const start = this.open(tag);
    this.#at += this.#bytes.write(value, start);
    this.close(start);
  }

  /** An id as bytes, from its 32-bit words. */
  words(tag: number, words: readonly number[]): void {
    this.#reserve(2 + 4 * words.length);
    const start = this.open(tag);
    for (const word of words) this.#at = this.#bytes.writeUInt32BE(word, this.#at);
    this.close(start);
  }

  /** A varint; `value` is a safe integer. */
  integer(tag: number, value: number): void {
    this.#reserve(1 + LONGEST_VARINT);
    this.#bytes[this.#at] = tag;
    this.#at += 1;
    if (value >= 0) this.#varint(value);
    else this.#negative(value);
  }

  double(tag: number, value: number): void {
    this.#reserve(9);
    this.#bytes[this.#at] = tag;
    this.#at = this.#bytes.writeDoubleLE(value, this.#at + 1);
  }

  /** The fixed 64-bit number `1,000,000 * millis`, which is larger than a safe integer. */
  nanoseconds(tag: number, millis: number): void {
    const whole = Math.floor(millis);
    const nanos = Math.round((millis - whole) * 1e6);
    // Both factors of each product are small enough for an exact result.
    const upper = Math.floor(whole / 2 ** 21) * 1e6;
    const lower = (whole % 2 ** 21) * 1e6 + nanos + (upper % 2 ** 11) * 2 ** 21;
    this.#reserve(9);
    this.#bytes[this.#at] = tag;
    this.#at = this.#bytes.writeUInt32LE(lower % 2 ** 32, this.#at + 1);
    this.#at = this.#bytes.writeUInt32LE(Math.floor(upper / 2 ** 11) + Math.floor(lower / 2 ** 32), this.#at);
  }

  #varint(value: number): void {
    let left = value;
    while (left >= 0x80) {
      this.#bytes[this.#at] = (left % 0x80) + 0x80;
      this.#at += 1;
      left = Math.floor(left / 0x80);
    }
    this.#bytes[this.#at] = left;
    this.#at += 1;
  }

  /** A negative number has the ten bytes of its two's complement with 64 bits. */
  #negative(value: number): void {
    let left = BigInt.asUintN(64, BigInt(value));
    while (left >= 0x80n) {
      this.#bytes[this.#at] = Number(left & 0x7fn) + 0x80;
      this.#at += 1;
      left >>= 7n;
    }
    this.#bytes[this.#at] = Number(left);
    this.#at += 1;
  }

  #reserve(more: number): void {
    const needed = this.#at + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) bytes += 1;
  return bytes;
}

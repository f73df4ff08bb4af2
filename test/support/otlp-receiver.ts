import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import {
  bitsAt,
  bytesAt,
  doubleOf,
  messagesAt,
  packedAt,
  readMessage,
  stringAt,
  type WireMessage,
} from './protobuf.ts';

export type AttributeValue = string | number | boolean | readonly AttributeValue[];

export type AttributeMap = Readonly<Record<string, AttributeValue>>;

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a span without a parent. */
  readonly parentId: string;
  readonly traceState: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: AttributeMap;
  readonly events: ReadonlyArray<{ readonly name: string; readonly time: bigint; readonly attributes: AttributeMap }>;
  readonly droppedEvents: number;
  /** 0 unset, 2 error. */
  readonly status: number;
  readonly statusMessage: string;
  readonly resource: AttributeMap;
}

export interface ReceivedHistogram {
  readonly name: string;
  readonly unit: string;
  readonly attributes: AttributeMap;
  readonly count: number;
  readonly sum: number;
  readonly bounds: readonly number[];
  readonly resource: AttributeMap;
}

/** A receiver of OTLP over HTTP with protobuf, on a free port of loopback. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** The data points of each export; sums of one process grow from export to export. */
  readonly histograms: readonly ReceivedHistogram[];
  /** The headers of every request. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** The bodies of all requests, decompressed. */
  readonly bytes: readonly Buffer[];
  /** How it answers; `hang` accepts requests and never answers. */
  mode: 'accept' | 'refuse' | 'hang';
  /** Forgets what it received. */
  clear(): void;
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const receiver = new Receiver();
  await receiver.listen();
  return receiver;
}

class Receiver implements OtlpReceiver {
  mode: OtlpReceiver['mode'] = 'accept';
  readonly spans: ReceivedSpan[] = [];
  readonly histograms: ReceivedHistogram[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  readonly bytes: Buffer[] = [];
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => this.#answer(request, response, Buffer.concat(chunks)));
  });

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  clear(): void {
    for (const list of [this.spans, this.histograms, this.headers, this.bytes]) list.length = 0;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => void this.#server.close(() => resolve()));
  }

  #answer({ url = '', headers }: IncomingMessage, response: ServerResponse, body: Buffer): void {
    this.headers.push(headers);
    if (this.mode === 'hang') return;
    if (this.mode === 'refuse') {
      response.writeHead(400).end();
      return;
    }
    const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    this.bytes.push(bytes);
    if (url === '/v1/traces') this.spans.push(...spansOf(bytes));
    if (url === '/v1/metrics') this.histograms.push(...histogramsOf(readMessage(bytes)));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  }
}

// The numbers of the fields: https://github.com/open-telemetry/opentelemetry-proto
function spansOf(request: Buffer): readonly ReceivedSpan[] {
  return messagesAt(readMessage(request), 1).flatMap((group) => {
    const resource = attributesAt(messagesAt(group, 1)[0], 1);
    return messagesAt(group, 2).flatMap((scope) => messagesAt(scope, 2).map((span) => spanOf(span, resource)));
  });
}

function spanOf(span: WireMessage, resource: AttributeMap): ReceivedSpan {
  const [status = new Map()] = messagesAt(span, 15);
  return {
    traceId: bytesAt(span, 1).toString('hex'),
    spanId: bytesAt(span, 2).toString('hex'),
    traceState: stringAt(span, 3),
    parentId: bytesAt(span, 4).toString('hex'),
    name: stringAt(span, 5),
    kind: Number(bitsAt(span, 6)),
    start: bitsAt(span, 7),
    end: bitsAt(span, 8),
    attributes: attributesAt(span, 9),
    events: messagesAt(span, 11).map((event) => ({
      name: stringAt(event, 2),
      time: bitsAt(event, 1),
      attributes: attributesAt(event, 3),
    })),
    droppedEvents: Number(bitsAt(span, 12)),
    status: Number(bitsAt(status, 3)),
    statusMessage: stringAt(status, 2),
    resource,
  };
}

function histogramsOf(request: WireMessage): readonly ReceivedHistogram[] {
  return messagesAt(request, 1).flatMap((group) => {
    const resource = attributesAt(messagesAt(group, 1)[0], 1);
    const metrics = messagesAt(group, 2).flatMap((scope) => messagesAt(scope, 2));
    return metrics.flatMap((metric) => pointsOf(metric, resource));
  });
}

function pointsOf(metric: WireMessage, resource: AttributeMap): readonly ReceivedHistogram[] {
  const points = messagesAt(metric, 9).flatMap((histogram) => messagesAt(histogram, 1));
  return points.map((point) => ({
    name: stringAt(metric, 1),
    unit: stringAt(metric, 3),
    attributes: attributesAt(point, 9),
    count: Number(bitsAt(point, 4)),
    sum: doubleOf(bitsAt(point, 5)),
    bounds: packedAt(point, 7).map(doubleOf),
    resource,
  }));
}

function attributesAt(message: WireMessage | undefined, field: number): AttributeMap {
  if (message === undefined) return {};
  const pairs = messagesAt(message, field).map((pair) => [stringAt(pair, 1), valueOf(messagesAt(pair, 2)[0])] as const);
  return Object.fromEntries(pairs);
}

function valueOf(value: WireMessage | undefined): AttributeValue {
  if (value === undefined || value.has(1)) return value === undefined ? '' : stringAt(value, 1);
  if (value.has(2)) return bitsAt(value, 2) === 1n;
  if (value.has(3)) return Number(BigInt.asIntN(64, bitsAt(value, 3)));
  if (value.has(4)) return doubleOf(bitsAt(value, 4));
  return messagesAt(value, 5).flatMap((list) => messagesAt(list, 1).map(valueOf));
}

import { chatCompletion, chatEvents } from './fake-provider.ts';
import {
  sleep,
  type Answer,
  type AnswerWire,
  type Behaviour,
  type Headers,
  type RecordedRequest,
} from './fake-wire.ts';
import type { CertificateName } from './certificates.ts';

/** A failure of a provider, or unusual behaviour that is correct. */
export interface UpstreamFault {
  /** The name of the row in docs/faults.md. */
  readonly name: string;
  /** The target of its URL, if the fault is not in the answer. */
  readonly leads?: 'nowhere' | 'to a server that never finishes its TLS handshake';
  /** The certificate of a provider over TLS. */
  readonly certificate?: CertificateName;
  /** True if it sends as fast as svc reads, which keeps a processor busy. */
  readonly floods?: true;
  /** True if the provider cuts its connections before the second calls. */
  readonly secondUse?: true;
  /** True if the fault needs a new connection: if a kept one ends at once, svc sends the request again. */
  readonly onNewConnection?: true;
  /** True if no request reaches the provider while the fault lasts. */
  readonly unasked?: true;
  /** True if the provider does not notice the end of a request. */
  readonly deaf?: true;
  /** For a fault that a time limit ends: the short limits of its client, in milliseconds. The other limits are far longer. */
  readonly limits?: Limits;
  /** On this version of Node, the failure comes at once; the page has the row of versions where a time limit ends the fault. */
  readonly reported?: true;
  /** The number of requests of a call that meet the fault, if it is not 1. */
  readonly times?: number;
}

/** A fault over one version of HTTP, or over any. */
export interface FaultBehaviour<W extends AnswerWire = AnswerWire> extends UpstreamFault {
  /** The answer to a request for a whole reply. */
  readonly call: Behaviour<W>;
  /** The answer to a request for a stream. */
  readonly stream: Behaviour<W>;
}

export interface FaultGroup<W extends AnswerWire = AnswerWire> {
  readonly title: string;
  readonly faults: ReadonlyArray<FaultBehaviour<W>>;
}

export type LimitName = 'connect' | 'first_token' | 'idle' | 'request';

export type Limits = Readonly<Partial<Record<LimitName, number>>>;

/** The answer after a fault needs only a small part of these limits; the rest is a margin for a busy machine. */
export const UNANSWERED: Limits = { first_token: 3000, request: 4000, idle: 2000 };
export const SILENT: Limits = { idle: 2000 };

/** The text of a good answer. Its characters have one to four bytes. */
export const REPLY_TEXT = 'fine é ☃ 𝄞';

export const WHOLE = JSON.stringify(chatCompletion(REPLY_TEXT));
export const EVENTS = chatEvents(REPLY_TEXT, { chunkSize: 3 });
export const STREAM = EVENTS.join('');
export const FIRST_TEXT = `${EVENTS[0]}${EVENTS[1]}`;

/** Large enough to reach 64 MiB soon. */
export const MUCH = 'x'.repeat(256 * 1024);

export const STREAM_TYPE = { 'content-type': 'text/event-stream' };
export const JSON_TYPE = { 'content-type': 'application/json' };

export function always<W extends AnswerWire>(name: string, behaviour: Behaviour<W>): FaultBehaviour<W> {
  return { name, call: behaviour, stream: behaviour };
}

export function steps<W extends AnswerWire>(...all: ReadonlyArray<Behaviour<W>>): Behaviour<W> {
  return async (request, wire) => {
    for (const step of all) await step(request, wire);
  };
}

export function begin(code: number, headers: Headers): Answer {
  return (_request, wire) => wire.head(code, headers);
}

export function beginJson(length = Buffer.byteLength(WHOLE)): Answer {
  return begin(200, { ...JSON_TYPE, 'content-length': String(length) });
}

export function body(data: string | Uint8Array): Answer {
  return (_request, wire) => wire.body(data);
}

export const finish: Answer = (_request, wire) => wire.finish();

export const silence: Answer = async (_request, wire) => {
  while (!wire.gone) await sleep(25);
};

export const close: Answer = (_request, wire) => wire.end();

/** Waits until the client has read the earlier bytes, because a reset discards unread data. */
export const cut: Answer = async (_request, wire) => {
  await sleep(200);
  await wire.reset();
};

/** Sends a body without an end. */
export function flood(data: string | Uint8Array): Answer {
  return (_request, wire) => wire.flood(() => wire.body(data));
}

/** The first text of a stream. */
export const firstText = steps(begin(200, STREAM_TYPE), body(FIRST_TEXT));

/** The beginning of a whole reply. */
export const firstBytes = steps(beginJson(), body(WHOLE.slice(0, 40)));

/** A whole reply of these bytes. */
export function json(text: string | Buffer): Answer {
  return steps(beginJson(Buffer.byteLength(text)), body(text), finish);
}

export function bytesOf(text: string): readonly Buffer[] {
  return [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
}

/** The keys of the request, because providers quote keys that they refuse. */
export function keysOf(request: RecordedRequest): string {
  const { authorization = '', 'x-other-key': other = '' } = request.headers;
  return `${authorization.replace('Bearer ', '')} ${other} ${/key=([^&]*)/u.exec(request.path)?.[1] ?? ''}`;
}

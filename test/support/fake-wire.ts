import type { Writable } from 'node:stream';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown;
  readonly at: number;
}

/** The behaviour of a provider that speaks HTTP/1.1, unless another wire is named. */
export type Behaviour<W extends AnswerWire = Wire> = (request: RecordedRequest, wire: W) => void | Promise<void>;

/** A behaviour over any version of HTTP. */
export type Answer = Behaviour<AnswerWire>;

export type Headers = Readonly<Record<string, string>>;

/** The connection of a request, in the terms of any version of HTTP. A write to a closed connection does nothing. */
export interface AnswerWire {
  /** An interim response. */
  interim(code: number, headers?: Headers): void;
  /** The status and the headers. */
  head(code: number, headers: Headers): void;
  /** The next bytes of the body. */
  body(data: string | Uint8Array): void;
  /** The end of the body. */
  finish(trailers?: Headers): void;
  /** Repeats a step, as fast as the other side reads, until no one reads any more. */
  flood(step: () => void | Promise<void>): Promise<void>;
  /** Closes the connection (FIN). */
  end(): void | Promise<void>;
  /** Cuts the connection (RST). */
  reset(): void | Promise<void>;
  /** No one reads the answer any more. */
  readonly gone: boolean;
}

/** The connection of a request over HTTP/1.1. */
export interface Wire extends AnswerWire {
  end(): void;
  reset(): void;
  /** Writes these bytes unchanged. */
  write(data: string | Uint8Array): void;
}

/** What a connection reports to its provider. */
export interface ConnectionOwner<W extends AnswerWire> {
  /** Answers a complete request. */
  handle(request: RecordedRequest, wire: W): Promise<void>;
  /** The client left before the answer to a request for this path was complete. */
  left(path: string): void;
}

/** Waits, for slow behaviours. When it resolves, this process has also read the data that had arrived for it. */
export async function sleep(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  await turn();
}

/** Resolves when this process has read the data that had arrived for it. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });
}

/** Resolves when the writer can accept more data, or is closed. */
export function drained(writer: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      writer.off('drain', done).off('close', done);
      resolve();
    };
    writer.on('drain', done).on('close', done);
  });
}

/** The JSON of a request; undefined if it is none. */
export function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

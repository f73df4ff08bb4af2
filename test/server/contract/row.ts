import type { Config } from '../../../src/config/config.ts';
import type { TestServer } from '../support/test-server.ts';

/** One request and its expected answer. */
export interface Row {
  readonly title: string;
  readonly config?: Partial<Config>;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly arrange?: (server: TestServer) => void;
  readonly status: number;
  /** A part of the JSON body. */
  readonly answer?: unknown;
  /** Null: the header is absent. */
  readonly answerHeaders?: Readonly<Record<string, string | RegExp | null>>;
}

export const JSON_HEADERS = { 'content-type': 'application/json' };

/** A request whose answer is "hello". */
export const GREET = { method: 'POST', path: '/call/Greet', headers: JSON_HEADERS, body: '{}' };

export const KEY: Partial<Config> = { apiKey: 'open sesame' };

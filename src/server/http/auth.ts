import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpRequest } from './transport.ts';

/** `open`: the server has no key. `missing`: the request has none. */
export type AuthOutcome = 'open' | 'pass' | 'missing' | 'wrong';

/**
 * Checks whether a request has the key: in `x-svc-api-key`, in `x-baml-api-key` (for callers that migrate from BAML's server)
 * or as `Authorization: Bearer`; the first of these that a request has decides. Compares digests, so that neither the duration
 * nor a length reveals anything about the key.
 */
export class Authenticator {
  readonly #digest: Buffer | undefined;

  constructor(apiKey: string | undefined) {
    this.#digest = apiKey === undefined ? undefined : digest(apiKey, 'utf8');
  }

  check(request: HttpRequest): AuthOutcome {
    if (this.#digest === undefined) return 'open';
    const given =
      request.header('x-svc-api-key') ?? request.header('x-baml-api-key') ?? bearer(request.header('authorization'));
    if (given === undefined) return 'missing';
    // One transport decodes header values as Latin-1, the other as UTF-8; for ASCII the result is the same.
    const asBytes = timingSafeEqual(digest(given, 'latin1'), this.#digest);
    const asText = timingSafeEqual(digest(given, 'utf8'), this.#digest);
    return asBytes || asText ? 'pass' : 'wrong';
  }
}

function digest(text: string, encoding: 'latin1' | 'utf8'): Buffer {
  return createHash('sha256').update(text, encoding).digest();
}

function bearer(value: string | undefined): string | undefined {
  return value === undefined ? undefined : /^Bearer +(.+)$/i.exec(value)?.[1];
}

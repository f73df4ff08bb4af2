import type { Result } from '../../../base/result.ts';
import { ok } from '../../../base/result.ts';

/** Credentials with an end live for an hour or more; new ones are fetched this long before. */
const RENEW_BEFORE_MS = 5 * 60 * 1000;

export interface Lease<T> {
  readonly value: T;
  readonly livesMs: number;
}

/** A credential with an end: fetched when it is first needed and kept until shortly before that end. */
export class RenewedCredential<T> {
  readonly #fetch: () => Promise<Result<Lease<T>, string>>;
  #held: { readonly value: T; readonly until: number } | undefined;
  #fetching: Promise<Result<T, string>> | undefined;

  constructor(fetch: () => Promise<Result<Lease<T>, string>>) {
    this.#fetch = fetch;
  }

  /** Calls that come while it is fetched wait for the same answer. */
  get(): Promise<Result<T, string>> {
    if (this.#held !== undefined && performance.now() < this.#held.until) return Promise.resolve(ok(this.#held.value));
    this.#fetching ??= this.#renew().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #renew(): Promise<Result<T, string>> {
    const lease = await this.#fetch();
    if (!lease.ok) return lease;
    const { value, livesMs } = lease.value;
    this.#held = { value, until: performance.now() + Math.max(0, livesMs - RENEW_BEFORE_MS) };
    return ok(value);
  }
}

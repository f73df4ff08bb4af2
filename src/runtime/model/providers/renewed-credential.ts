import type { Result } from '../../../base/result.ts';
import { ok } from '../../../base/result.ts';

/** New ones are fetched this long before the end, or halfway when they live for less than twice as long. */
const RENEW_BEFORE_MS = 5 * 60 * 1000;

/** Credentials that do not say when they end are fetched again as if they lived this long. */
export const DEFAULT_LIFE_MS = 60 * 60 * 1000;

export interface Lease<T> {
  readonly value: T;
  /** Not above 0 when it is over already. */
  readonly livesMs: number;
}

/**
 * A credential with an end: fetched when it is first needed and kept until shortly before that end. While a new one
 * cannot be had, the old one serves until its end.
 */
export class RenewedCredential<T> {
  readonly #fetch: () => Promise<Result<Lease<T>, string>>;
  #held: { readonly value: T; readonly renewAt: number; readonly endsAt: number } | undefined;
  #fetching: Promise<Result<T, string>> | undefined;

  constructor(fetch: () => Promise<Result<Lease<T>, string>>) {
    this.#fetch = fetch;
  }

  /** The credential, as long as it need not be fetched. */
  get held(): T | undefined {
    return this.#held !== undefined && performance.now() < this.#held.renewAt ? this.#held.value : undefined;
  }

  /** Calls that come while it is fetched wait for the same answer. */
  get(): Promise<Result<T, string>> {
    const { held } = this;
    if (held !== undefined) return Promise.resolve(ok(held));
    this.#fetching ??= this.#renew().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #renew(): Promise<Result<T, string>> {
    const lease = await this.#fetch();
    const now = performance.now();
    if (!lease.ok) return this.#held !== undefined && now < this.#held.endsAt ? ok(this.#held.value) : lease;
    const { value, livesMs } = lease.value;
    const life = Math.max(0, livesMs);
    this.#held = { value, renewAt: now + life - Math.min(RENEW_BEFORE_MS, life / 2), endsAt: now + life };
    return ok(value);
  }
}

/** Makes something with a credential: at once when it is there, as it nearly always is. */
export function withCredential<T, Made>(
  credential: T | RenewedCredential<T>,
  make: (value: T) => Made,
): Result<Made, string> | Promise<Result<Made, string>> {
  if (!(credential instanceof RenewedCredential)) return ok(make(credential));
  const { held } = credential;
  if (held !== undefined) return ok(make(held));
  return credential.get().then((fetched) => (fetched.ok ? ok(make(fetched.value)) : fetched));
}

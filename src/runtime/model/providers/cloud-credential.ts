import { readFileSync } from 'node:fs';
import { ok, type Result } from '../../../base/result.ts';

/** A cloud that gives its machines an account of their own. */
export type CloudMachine = 'amazon' | 'google';

/** The vendor of the machine according to its firmware; Linux shows it to every user, in containers too. */
const VENDOR_FILE = '/sys/class/dmi/id/sys_vendor';

/**
 * The cloud on whose machine svc runs. Elsewhere, asking for a service that only those machines have would cost every
 * call a timeout.
 */
export function cloudMachine(vendorFile: string = VENDOR_FILE): CloudMachine | undefined {
  const vendor = readVendor(vendorFile);
  if (vendor.startsWith('Amazon')) return 'amazon';
  return vendor.startsWith('Google') ? 'google' : undefined;
}

function readVendor(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** svc renews a credential this long before it expires, or halfway when it lives for less than twice as long. */
const RENEW_BEFORE_MS = 5 * 60 * 1000;

/** The assumed lifetime of credentials that do not state one. */
export const DEFAULT_LIFE_MS = 60 * 60 * 1000;

export interface Lease<T> {
  readonly value: T;
  /** The remaining lifetime; 0 or less when the credential has expired. */
  readonly livesMs: number;
}

/**
 * A credential that expires: fetched when it is first needed and kept until shortly before it expires. While a new one
 * is unavailable, the old one serves until it expires.
 */
export class RenewedCredential<T> {
  readonly #fetch: () => Promise<Result<Lease<T>, string>>;
  #held: { readonly value: T; readonly renewAt: number; readonly endsAt: number } | undefined;
  #fetching: Promise<Result<T, string>> | undefined;

  constructor(fetch: () => Promise<Result<Lease<T>, string>>) {
    this.#fetch = fetch;
  }

  /** The credential; undefined when it has to be fetched. */
  get held(): T | undefined {
    return this.#held !== undefined && performance.now() < this.#held.renewAt ? this.#held.value : undefined;
  }

  /** Calls that arrive during a fetch wait for its result. */
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

/** Builds something from a credential: synchronously when it is held, as it nearly always is. */
export function withCredential<T, Made>(
  credential: T | RenewedCredential<T>,
  make: (value: T) => Made,
): Result<Made, string> | Promise<Result<Made, string>> {
  if (!(credential instanceof RenewedCredential)) return ok(make(credential));
  const { held } = credential;
  if (held !== undefined) return ok(make(held));
  return credential.get().then((fetched) => (fetched.ok ? ok(make(fetched.value)) : fetched));
}

/** The content of a key file. */
export interface KeyFile {
  /** Absent: the file has only default limits, and the server asks for no key of its own. */
  readonly keys?: readonly KeyEntry[];
  /** The limits of callers whose entry has none, and of each address if the server has no keys. */
  readonly defaultLimits?: CallerLimits;
}

/** One key of a caller. */
export interface KeyEntry {
  readonly name: string;
  /** The SHA-256 of the key, in lower-case hex. */
  readonly sha256: string;
  /** The functions that it can call, in which `*` matches any text; absent: all. */
  readonly functions?: readonly string[];
  /** Replaces `--client-registry` for this key. */
  readonly clientRegistry?: ClientRegistryPolicy;
  /** Replaces the default limits for this key; empty: no limits. */
  readonly limits?: CallerLimits;
  /** When the key stops working, in milliseconds since 1970. */
  readonly expiresAt?: number;
  readonly disabled?: boolean;
}

export type KeyState = 'active' | 'disabled' | 'expired';

/** `now`: milliseconds since 1970. */
export function keyState({ disabled, expiresAt }: Pick<KeyEntry, 'disabled' | 'expiresAt'>, now: number): KeyState {
  if (disabled === true) return 'disabled';
  return expiresAt !== undefined && now >= expiresAt ? 'expired' : 'active';
}

export const CLIENT_REGISTRY_POLICIES = ['open', 'known', 'off'] as const;

export type ClientRegistryPolicy = (typeof CLIENT_REGISTRY_POLICIES)[number];

/** The limits of a caller; one that is absent does not apply. */
export interface CallerLimits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly inFlight?: number;
  /** US dollars. */
  readonly costPerDay?: number;
}

/** The name of the key in `SVC_PASSWORD`. */
export const PASSWORD_NAME = 'default';

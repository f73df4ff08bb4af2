import { hash, timingSafeEqual } from 'node:crypto';
import { matchesWildcard } from '../../base/wildcard.ts';
import {
  PASSWORD_NAME,
  type CallerLimits,
  type ClientRegistryPolicy,
  type KeyEntry,
  type KeyFile,
} from '../../config/key-file.ts';
import type { HttpRequest } from './transport.ts';

/** The holder of a key. */
export class Caller {
  /** For logs, metrics and traces. */
  readonly name: string;
  /** Replaces the policy of the server. */
  readonly clientRegistry: ClientRegistryPolicy | undefined;
  readonly limits: CallerLimits | undefined;
  /** The patterns of the functions that it can call; undefined: all. */
  readonly functions: readonly string[] | undefined;

  constructor(entry: Omit<KeyEntry, 'sha256'>, defaultLimits?: CallerLimits) {
    this.name = entry.name;
    this.clientRegistry = entry.clientRegistry;
    this.limits = entry.limits ?? defaultLimits;
    this.functions = entry.functions;
  }

  /** True unless the key can call only some functions. */
  get callsAll(): boolean {
    return this.functions === undefined;
  }

  mayCall(functionName: string): boolean {
    return this.functions === undefined || this.functions.some((pattern) => matchesWildcard(pattern, functionName));
  }
}

/** Why a request has no caller. */
export type AuthRefusal = 'missing' | 'wrong' | 'disabled' | 'expired';

interface KnownKey {
  /** SHA-256 of the key. */
  readonly digest: Buffer;
  readonly caller: Caller;
  readonly entry: Pick<KeyEntry, 'disabled' | 'expiresAt'>;
  /** False until a request has the key: only then its text is known, so that logs can mask it. */
  seen: boolean;
}

interface AuthenticatorOptions {
  /** The time of day in milliseconds. */
  readonly now?: () => number;
  /** Called with each key of the file when it is first used. */
  readonly onKey?: (key: string) => void;
}

/** The keys of a server. */
export interface ServerKeys {
  /** The content of the key file. */
  readonly file?: KeyFile | undefined;
  /** The one key of a server without a key file. */
  readonly password?: string | undefined;
}

/** True if every request needs a key. */
export function requiresKey({ file, password }: ServerKeys): boolean {
  return password !== undefined || file?.keys !== undefined;
}

/**
 * Finds the caller of a request by its key: in `x-svc-api-key`, in `x-baml-api-key` (for callers that migrate from BAML's server)
 * or as `Authorization: Bearer`; the first of these that a request has decides. Compares digests, so that neither the duration
 * nor a length reveals anything about a key.
 */
export class Authenticator {
  readonly #password: string | undefined;
  readonly #now: () => number;
  readonly #onKey: (key: string) => void;
  /** By digest, as Latin-1. */
  #keys: ReadonlyMap<string, KnownKey> | undefined;

  constructor(keys: ServerKeys, { now = Date.now, onKey = () => undefined }: AuthenticatorOptions = {}) {
    this.#password = keys.password;
    this.#now = now;
    this.#onKey = onKey;
    this.#keys = this.#load(keys);
  }

  /** True if every request needs a key. */
  get required(): boolean {
    return this.#keys !== undefined;
  }

  /** Uses the keys of a new file from now on. */
  replace(file: KeyFile): void {
    this.#keys = this.#load({ file, password: this.#password });
  }

  /** Returns the caller, or why there is none; undefined if the server has no keys. */
  identify(request: Pick<HttpRequest, 'header'>): Caller | AuthRefusal | undefined {
    const keys = this.#keys;
    if (keys === undefined) return undefined;
    const given =
      request.header('x-svc-api-key') ?? request.header('x-baml-api-key') ?? bearer(request.header('authorization'));
    if (given === undefined) return 'missing';
    // One transport decodes header values as Latin-1, the other as UTF-8; for ASCII the result is the same.
    const found = find(keys, given) ?? (isAscii(given) ? undefined : find(keys, Buffer.from(given, 'latin1')));
    if (found === undefined) return 'wrong';
    if (!found.seen) {
      found.seen = true;
      this.#onKey(given);
    }
    const { caller, entry } = found;
    if (entry.disabled === true) return 'disabled';
    return entry.expiresAt !== undefined && this.#now() >= entry.expiresAt ? 'expired' : caller;
  }

  #load({ file, password }: ServerKeys): ReadonlyMap<string, KnownKey> | undefined {
    if (!requiresKey({ file, password })) return undefined;
    const keys = new Map<string, KnownKey>();
    const add = (found: Buffer, entry: Omit<KeyEntry, 'sha256'>): void => {
      const caller = new Caller(entry, file?.defaultLimits);
      keys.set(found.toString('latin1'), { digest: found, caller, entry, seen: false });
    };
    if (password !== undefined) add(hash('sha256', password, 'buffer'), { name: PASSWORD_NAME });
    for (const entry of file?.keys ?? []) add(Buffer.from(entry.sha256, 'hex'), entry);
    return keys;
  }
}

/** The digest of the key that is looked up. One buffer serves all requests, because a look-up is synchronous. */
const digestBytes = Buffer.alloc(32);

/** A hash as text takes a third of the time of one in a buffer. */
function find(keys: ReadonlyMap<string, KnownKey>, given: string | Buffer): KnownKey | undefined {
  const digest = hash('sha256', given, 'binary');
  const found = keys.get(digest);
  if (found === undefined) return undefined;
  digestBytes.write(digest, 'latin1');
  return timingSafeEqual(found.digest, digestBytes) ? found : undefined;
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text, 'utf8') === text.length;
}

function bearer(value: string | undefined): string | undefined {
  return value === undefined ? undefined : /^Bearer +(.+)$/i.exec(value)?.[1];
}

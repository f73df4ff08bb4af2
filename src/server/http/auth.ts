import { hash, timingSafeEqual } from 'node:crypto';
import { PASSWORD_NAME, type KeyEntry, type KeyFile } from '../../config/key-file.ts';
import { Caller } from './caller.ts';
import type { HttpRequest } from './transport.ts';

/** Why a request has no caller. */
export type AuthRefusal = 'missing' | 'wrong' | 'disabled' | 'expired';

interface KnownKey {
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

/** Keys by the first bits of their digests. */
type KeysByDigest = ReadonlyMap<number, readonly KnownKey[]>;

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
  #keys: KeysByDigest | undefined;

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
    const found =
      find(keys, digest(given, 'utf8')) ?? (isAscii(given) ? undefined : find(keys, digest(given, 'latin1')));
    if (found === undefined) return 'wrong';
    if (!found.seen) {
      found.seen = true;
      this.#onKey(given);
    }
    const { caller, entry } = found;
    if (entry.disabled === true) return 'disabled';
    return entry.expiresAt !== undefined && this.#now() >= entry.expiresAt ? 'expired' : caller;
  }

  #load({ file, password }: ServerKeys): KeysByDigest | undefined {
    if (!requiresKey({ file, password })) return undefined;
    const keys = new Map<number, KnownKey[]>();
    const add = (found: Buffer, entry: Omit<KeyEntry, 'sha256'>): void => {
      const caller = new Caller(entry, file?.defaultLimits);
      const bits = firstBits(found);
      // An entry of the file comes before the password, if both have the same key.
      keys.set(bits, [{ digest: found, caller, entry, seen: false }, ...(keys.get(bits) ?? [])]);
    };
    if (password !== undefined) add(digest(password, 'utf8'), { name: PASSWORD_NAME });
    for (const entry of file?.keys ?? []) add(Buffer.from(entry.sha256, 'hex'), entry);
    return keys;
  }
}

function find(keys: KeysByDigest, given: Buffer): KnownKey | undefined {
  return keys.get(firstBits(given))?.find(({ digest: known }) => timingSafeEqual(known, given));
}

/** 24 bits: a thousand keys seldom share them. Nothing follows from them for the text of a key. */
function firstBits(of: Buffer): number {
  return of.readUIntBE(0, 3);
}

/** One call takes half the time of a hash object. */
function digest(text: string, encoding: 'latin1' | 'utf8'): Buffer {
  return hash('sha256', encoding === 'utf8' ? text : Buffer.from(text, encoding), 'buffer');
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text, 'utf8') === text.length;
}

function bearer(value: string | undefined): string | undefined {
  return value === undefined ? undefined : /^Bearer +(.+)$/i.exec(value)?.[1];
}

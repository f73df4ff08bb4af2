import { hash, timingSafeEqual } from 'node:crypto';
import { matchesWildcard } from '../../base/wildcard.ts';
import {
  type CallerLimits,
  type ClientRegistryPolicy,
  type KeyEntry,
  type KeyFile,
  keyState,
  type KeyState,
  PASSWORD_NAME,
} from '../../config/key-file.ts';
import type { HttpRequest, HttpResponse } from './transport.ts';
import { setNewest } from '../../base/set-newest.ts';
import type { SwapRemoveSet } from '../../base/swap-remove-set.ts';
import { CallerShares, type Drainable } from '../admission.ts';
import { networkOf } from './local-caller.ts';

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
  /** A request had the key since the last report of uses. */
  used: boolean;
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
    const state = keyState(found.entry, this.#now());
    if (state !== 'active') return state;
    found.used = true;
    return found.caller;
  }

  /** All keys with their state now, in the order of the file, after that of the password. */
  get states(): ReadonlyArray<Pick<KnownKey, 'caller' | 'entry'> & { readonly state: KeyState }> {
    const all = [...(this.#keys?.values() ?? [])];
    return all.map(({ caller, entry }) => ({ caller, entry, state: keyState(entry, this.#now()) }));
  }

  /** Returns the names of the keys that were used since the last call. */
  takeUsed(): readonly string[] {
    const names: string[] = [];
    for (const key of this.#keys?.values() ?? []) {
      if (key.used) names.push(key.caller.name);
      key.used = false;
    }
    return names;
  }

  #load({ file, password }: ServerKeys): ReadonlyMap<string, KnownKey> | undefined {
    if (!requiresKey({ file, password })) return undefined;
    const keys = new Map<string, KnownKey>();
    const add = (found: Buffer, entry: Omit<KeyEntry, 'sha256'>): void => {
      const caller = new Caller(entry, file?.defaultLimits);
      keys.set(found.toString('latin1'), { digest: found, caller, entry, seen: false, used: false });
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

/** Wrong keys without a delay, for a person who mistypes and a program that retries with an old key. */
const FREE_FAILURES = 3;

/** The first delay; it doubles with each further wrong key. */
const FIRST_DELAY_MS = 100;

/** Short enough for a client that retries, and long enough that one connection tries fewer than a thousand keys in an hour. */
const LONGEST_DELAY_MS = 5_000;

/** An address that sends no wrong key for this long starts again without a delay. */
const FORGET_MS = 60_000;

/** The most addresses that svc remembers, about 1 MB. It forgets the one with the oldest wrong key first. */
const MAX_ADDRESSES = 10_000;

/** The most delayed answers of one address. A client with more of them is guessing, so svc cuts its connections. */
const MAX_WAITING_OF_ADDRESS = 64;

/** The most delayed answers in one process; each holds a connection. */
const MAX_WAITING = 1_024;

interface Failures {
  count: number;
  lastAt: number;
}

/**
 * Slows down an address that sends wrong keys: each further answer has a longer delay. A right key is never delayed, because
 * its caller can share the address with one that guesses.
 */
export class WrongKeys {
  readonly #active: SwapRemoveSet<Drainable>;
  /** By network, in the order of their last wrong keys. */
  readonly #failures = new Map<string, Failures>();
  #waiting = 0;
  readonly #waitingOf = new CallerShares(MAX_WAITING_OF_ADDRESS);

  /** `active`: the requests that a drain ends. */
  constructor(active: SwapRemoveSet<Drainable>) {
    this.#active = active;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get addresses(): number {
    return this.#failures.size;
  }

  /** Counts a wrong key of this network at `now`, and returns the delay of its answer, both in milliseconds. */
  count(network: string, now: number): number {
    const known = this.#failures.get(network);
    const failures = known === undefined ? { count: 0, lastAt: now } : known;
    if (now - failures.lastAt >= FORGET_MS) failures.count = 0;
    failures.count += 1;
    failures.lastAt = now;
    setNewest(this.#failures, network, failures, MAX_ADDRESSES);
    const over = failures.count - FREE_FAILURES;
    return over <= 0 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (over - 1));
  }

  /** Calls `answer` when the request with a wrong key can be answered: now or later, unless the caller leaves. */
  refuse(request: Pick<HttpRequest, 'peer'>, response: HttpResponse, answer: () => void): void {
    const network = networkOf(request.peer);
    const delayMs = this.count(network, performance.now());
    if (delayMs === 0) answer();
    else if (this.#takesRoom(network)) {
      const waiting = new WaitingAnswer(answer, () => {
        this.#active.delete(waiting);
        this.#waiting -= 1;
        this.#waitingOf.give(network, 1);
      });
      this.#active.add(waiting);
      waiting.start(response, delayMs);
    } else response.destroy();
  }

  #takesRoom(network: string): boolean {
    if (this.#waiting >= MAX_WAITING || !this.#waitingOf.take(network, 1)) return false;
    this.#waiting += 1;
    return true;
  }
}

/** A delayed answer to a wrong key. A drain sends it immediately. */
class WaitingAnswer implements Drainable {
  setIndex = -1;
  readonly #answer: () => void;
  readonly #ended: () => void;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(answer: () => void, ended: () => void) {
    this.#answer = answer;
    this.#ended = ended;
  }

  start(response: HttpResponse, delayMs: number): void {
    this.#timer = setTimeout(() => this.drain(), delayMs);
    response.onAborted(() => this.#end());
  }

  drain(): void {
    this.#end();
    this.#answer();
  }

  /** Also called when the caller leaves before the answer is complete. */
  #end(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    this.#ended();
  }
}

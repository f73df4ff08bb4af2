import { hash } from 'node:crypto';
import { LARGE, ownTurn } from '../../../base/own-turn.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { KeptAnswerFields } from '../../../logging/request-log.ts';
import type { OwnClaim } from '../../../policy/answer-store.ts';
import type { ErrorCode } from '../../../schema/errors.ts';
import type { Failure } from '../../../schema/failure.ts';
import type { PreparedCall } from '../../../runtime/call/runtime.ts';
import { problem, problemOf, type Problem } from '../problem.ts';
import type { JsonBody } from '../read-json.ts';
import type { RequestContext } from '../request-context.ts';
import type { HeaderList } from '../response-head.ts';
import type { AnswerTexts } from './answer-parts.ts';

/** An answer without what belongs to one request alone, such as its id. Calls and streams replay the same one. */
export type KeptAnswer = KeptValue | { readonly kind: 'problem'; readonly problem: Problem };

export interface KeptValue {
  readonly kind: 'value';
  /** The JSON text of the value. */
  readonly json: string;
  readonly texts?: AnswerTexts | undefined;
  /** The headers that describe the value. */
  readonly headers: HeaderList;
}

/** An answer as the store keeps it. */
interface KeptRecord {
  readonly answer: KeptAnswer;
  /** The hash of the body of its request; only under an idempotency key. */
  readonly body?: string | undefined;
}

/** `run`: no answer is kept, so the call runs; it has to end with `keep` or `release`. */
export type ClaimOutcome =
  | { readonly kind: 'run' }
  | { readonly kind: 'replay'; readonly answer: KeptAnswer }
  | { readonly kind: 'refused'; readonly problem: Problem };

/**
 * The failures that are kept under an idempotency key: a model has answered or none was asked, so a repetition would cost the same
 * again. All others are released: a repetition can succeed.
 */
const KEPT_FAILURES: ReadonlySet<ErrorCode> = new Set([
  'validation_failure',
  'finish_reason_error',
  'refusal',
  'content_filtered',
  'prompt_error',
] satisfies readonly ErrorCode[]);

/** Visible ASCII, so that a proxy cannot change it. A UUID has 36 characters. */
const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/u;

/** Enough to find the requests with a key in the log. */
const LOGGED_HASH = 12;

/** A key in the store. The store lets one request at a time produce the answer. */
interface KeptKey {
  readonly feature: 'idempotency' | 'cache';
  readonly key: string;
  readonly ttlMs: number;
}

/** How long a request can wait, in milliseconds: now, and in all. */
interface Wait {
  readonly remainingMs: () => number;
  readonly timeoutMs: number;
}

/** The part of its time that a call waits in the cache for an equal one. The rest is for a call of its own. */
const WAITED_SHARE = 0.5;

/** `busy`: another call still runs, and the wait is over. */
type Taken =
  | { readonly kind: 'kept'; readonly record: KeptRecord; readonly ageMs: number }
  | { readonly kind: 'mine' | 'failed' | 'busy' }
  | Extract<ClaimOutcome, { readonly kind: 'refused' }>;

/**
 * The claims of a request on kept answers; undefined if neither the request nor its client asks for one, as is usual. Fails if its
 * idempotency key is wrong.
 */
export function keptCall(
  context: RequestContext,
  prepared: PreparedCall,
  body: JsonBody,
): Result<CallClaims, Failure> | undefined {
  const { idempotencyTtlMs } = context.services.config;
  const idempotencyKey = idempotencyTtlMs === 0 ? undefined : context.request.header('idempotency-key');
  if (idempotencyKey === undefined && prepared.cacheTtlMs === undefined) return undefined;
  if (idempotencyKey !== undefined && !IDEMPOTENCY_KEY.test(idempotencyKey)) return err(wrongKey());
  return ok(new CallClaims(context, prepared, { idempotencyKey, body }));
}

/**
 * The claims of one request on kept answers: under its idempotency key first, then in the cache. A request that owns a key of the cache
 * waits for no other key, so that no two requests wait for each other.
 */
export class CallClaims {
  readonly #context: RequestContext;
  readonly #prepared: PreparedCall;
  readonly #idempotencyKey: string | undefined;
  readonly #body: JsonBody;
  readonly #owned: Array<KeptKey & { readonly claim: OwnClaim }> = [];
  #bodyHash: string | undefined;
  #ended = false;
  #idempotency: KeptAnswerFields['idempotency'];
  #cache: KeptAnswerFields['cache'];
  #cacheAgeMs: number | undefined;

  constructor(
    context: RequestContext,
    prepared: PreparedCall,
    { idempotencyKey, body }: { readonly idempotencyKey: string | undefined; readonly body: JsonBody },
  ) {
    this.#context = context;
    this.#prepared = prepared;
    this.#idempotencyKey = idempotencyKey;
    this.#body = body;
  }

  /** To write the identity of the call and to hash a text take a turn each. */
  get #isLarge(): boolean {
    return this.#body.text.length >= LARGE;
  }

  /** Equal calls can wait for the answer of this one. */
  get owns(): boolean {
    return this.#owned.length > 0;
  }

  /** The fields of the log line. */
  get facts(): KeptAnswerFields {
    const key = this.#idempotencyKey;
    return {
      ...(this.#cache === undefined ? {} : { cache: this.#cache }),
      ...(this.#cacheAgeMs === undefined ? {} : { cacheAgeMs: Math.round(this.#cacheAgeMs) }),
      ...(this.#idempotency === undefined ? {} : { idempotency: this.#idempotency }),
      ...(key === undefined ? {} : { idempotencyKey: sha256(key).slice(0, LOGGED_HASH) }),
    };
  }

  /** The headers that tell the caller about kept answers; complete after `claim`. */
  get headers(): HeaderList {
    const headers: Array<readonly [string, string]> = [];
    if (this.#idempotency === 'replayed') headers.push(['idempotency-replayed', 'true']);
    if (this.#cache !== undefined) headers.push(['x-svc-cache', this.#cache]);
    if (this.#cacheAgeMs !== undefined) headers.push(['age', String(Math.floor(this.#cacheAgeMs / 1000))]);
    return headers;
  }

  /** Waits while an equal call runs, until `remainingMs` returns 0. Never rejects because of the store. */
  async claim(remainingMs: () => number, timeoutMs: number): Promise<ClaimOutcome> {
    const wait: Wait = { remainingMs, timeoutMs };
    return (await this.#claimRepeated(wait)) ?? (await this.#claimCached(wait)) ?? { kind: 'run' };
  }

  /** Keeps the answer of a call that ran, or that the cache had. */
  keep(answer: KeptAnswer): void {
    for (const { claim, feature, ttlMs } of this.#owned.splice(0)) {
      const keeps = answer.kind === 'value' || (feature === 'idempotency' && KEPT_FAILURES.has(answer.problem.code));
      const record: KeptRecord = feature === 'idempotency' ? { answer, body: this.#bodyHash } : { answer };
      if (keeps) claim.keep(JSON.stringify(record), ttlMs);
      else claim.release();
    }
  }

  /** The request has ended: without an answer that was kept, the next equal call runs. */
  release(): void {
    this.#ended = true;
    for (const { claim } of this.#owned.splice(0)) claim.release();
  }

  /** Undefined if the request has no idempotency key, or is the first one with it. */
  async #claimRepeated(wait: Wait): Promise<ClaimOutcome | undefined> {
    if (this.#idempotencyKey === undefined) return undefined;
    const { caller, services } = this.#context;
    const { config, metrics } = services;
    const { functionName } = this.#prepared;
    // An answer for a door has parts that one for another route lacks.
    const { include } = this.#context;
    const { text } = this.#body;
    this.#bodyHash = sha256(include === undefined ? text : `${[...include].join()} ${text}`);
    // No caller gets the answer of another one.
    const key = sha256(JSON.stringify(['idempotency', caller?.name ?? '', functionName, this.#idempotencyKey]));
    const taken = await this.#take({ feature: 'idempotency', key, ttlMs: config.idempotencyTtlMs }, wait.remainingMs);
    if (taken.kind === 'refused') return taken;
    if (taken.kind === 'failed') return undefined;
    if (taken.kind === 'busy') return { kind: 'refused', problem: stillRuns(wait.timeoutMs) };
    const isSame = taken.kind === 'kept' && taken.record.body === this.#bodyHash;
    this.#idempotency = taken.kind === 'mine' ? 'first' : isSame ? 'replayed' : 'conflict';
    metrics.idempotentCall(functionName, this.#idempotency);
    if (taken.kind === 'mine') return undefined;
    return isSame ? { kind: 'replay', answer: taken.record.answer } : { kind: 'refused', problem: conflict() };
  }

  /**
   * Undefined if the call asks for no cache, or if the cache has no answer. When an equal call takes too long, this one runs as well,
   * and its answer is not kept.
   */
  async #claimCached({ remainingMs, timeoutMs }: Wait): Promise<ClaimOutcome | undefined> {
    const { cacheTtlMs: ttlMs, functionName } = this.#prepared;
    if (ttlMs === undefined) return undefined;
    if (this.#isLarge && this.#bodyHash !== undefined) await ownTurn();
    const { metrics, runtime } = this.#context.services;
    const identity = ttlMs === 0 ? undefined : runtime.identity(this.#prepared);
    if (this.#isLarge) await ownTurn();
    const key = identity === undefined ? undefined : sha256(`cache ${identity}`);
    const ownTime = (): number => remainingMs() - timeoutMs * (1 - WAITED_SHARE);
    const taken = key === undefined ? undefined : await this.#take({ feature: 'cache', key, ttlMs }, ownTime);
    if (taken?.kind === 'refused') return taken;
    this.#cache = taken === undefined ? 'bypass' : taken.kind === 'kept' ? 'hit' : 'miss';
    metrics.cachedCall(functionName, this.#cache);
    if (taken?.kind !== 'kept') return undefined;
    const { answer } = taken.record;
    this.#cacheAgeMs = taken.ageMs;
    this.keep(answer);
    return { kind: 'replay', answer };
  }

  async #take(place: KeptKey, remainingMs: () => number): Promise<Taken> {
    const claim = await this.#context.services.keptAnswers.claim(place.key, remainingMs);
    if (claim === 'failed') return { kind: 'failed' };
    if (claim === 'full') return { kind: 'refused', problem: problemOf(TOO_MANY_WAIT) };
    if (claim.kind === 'busy') return claim;
    if (claim.kind === 'mine') {
      this.#own(place, claim);
      return { kind: 'mine' };
    }
    return { kind: 'kept', record: JSON.parse(claim.answer) as KeptRecord, ageMs: claim.ageMs };
  }

  /** The caller can leave before the claim succeeds. */
  #own(place: KeptKey, claim: OwnClaim): void {
    if (this.#ended) claim.release();
    else this.#owned.push({ ...place, claim });
  }
}

/** In hex. */
function sha256(text: string): string {
  return hash('sha256', text);
}

function wrongKey(): Failure {
  const path = 'Idempotency-Key';
  const message = 'has to have 1 to 255 visible ASCII characters, without spaces';
  return { code: 'invalid_options', message: `The header "${path}" ${message}.`, details: [{ path, message }] };
}

const TOO_MANY_WAIT: Failure = {
  code: 'overloaded',
  message: 'Too many calls wait for the answers of equal calls: try again.',
  retryAfterSeconds: 1,
};

function conflict(): Problem {
  const message =
    'Another request with this Idempotency-Key had a different body: use a new key for a new call, and repeat a call with the same body.';
  return problem('idempotency_conflict', message);
}

function stillRuns(timeoutMs: number): Problem {
  const message = 'An equal call still runs: the request waited for its answer until its own time was over.';
  return problemOf({ code: 'timeout', message, timer: 'total', afterMs: Math.round(timeoutMs) });
}

import { createHash } from 'node:crypto';
import { err, ok, type Result } from '../../../base/result.ts';
import type { KeptAnswerFields } from '../../../logging/request-log.ts';
import type { OwnClaim } from '../../../policy/answer-store.ts';
import type { ErrorCode } from '../../../schema/errors.ts';
import type { Failure } from '../../../schema/failure.ts';
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
  'prompt_error',
] satisfies readonly ErrorCode[]);

/** Visible ASCII, so that a proxy cannot change it. A UUID has 36 characters. */
const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/u;

const NO_HEADERS: HeaderList = [];

/** Enough to find the requests with a key in the log. */
const LOGGED_HASH = 12;

/**
 * The claims of a request on kept answers; undefined if it asks for none, as nearly all requests do. Fails if its idempotency key is
 * wrong.
 */
export function keptCall(
  context: RequestContext,
  functionName: string,
  body: JsonBody,
): Result<KeptCall, Failure> | undefined {
  const { config } = context.services;
  const key = config.idempotencyTtlMs === 0 ? undefined : context.request.header('idempotency-key');
  if (key === undefined) return undefined;
  if (!IDEMPOTENCY_KEY.test(key)) return err(wrongKey());
  return ok(new KeptCall(context, functionName, { key, body: hash(body.text) }));
}

/** The claim of one request on the answer that is kept under its idempotency key. */
export class KeptCall {
  readonly #context: RequestContext;
  readonly #functionName: string;
  readonly #idempotency: { readonly key: string; readonly body: string };
  #owned: OwnClaim | undefined;
  #ended = false;
  #state: KeptAnswerFields['idempotency'];

  constructor(context: RequestContext, functionName: string, idempotency: { key: string; body: string }) {
    this.#context = context;
    this.#functionName = functionName;
    this.#idempotency = idempotency;
  }

  get facts(): KeptAnswerFields {
    const idempotencyKey = hash(this.#idempotency.key).slice(0, LOGGED_HASH);
    return this.#state === undefined ? { idempotencyKey } : { idempotency: this.#state, idempotencyKey };
  }

  /** The headers that tell the caller about kept answers; complete after `claim`. */
  get headers(): HeaderList {
    return this.#state === 'replayed' ? [['idempotency-replayed', 'true']] : NO_HEADERS;
  }

  /** Waits while an equal call runs, until `remainingMs` returns 0. Never rejects because of the store. */
  async claim(remainingMs: () => number, timeoutMs: number): Promise<ClaimOutcome> {
    const { caller, services } = this.#context;
    const { keptAnswers, metrics } = services;
    const { key, body } = this.#idempotency;
    // No caller gets the answer of another one.
    const scope = hash(JSON.stringify(['idempotency', caller?.name ?? '', this.#functionName, key]));
    const claim = await keptAnswers.claim(scope, remainingMs);
    if (claim === 'failed') return { kind: 'run' };
    if (claim === 'full') return { kind: 'refused', problem: problemOf(TOO_MANY_WAIT) };
    if (claim.kind === 'busy') return { kind: 'refused', problem: stillRuns(timeoutMs) };
    if (claim.kind === 'mine') this.#own(claim);
    const record = claim.kind === 'kept' ? (JSON.parse(claim.answer) as KeptRecord) : undefined;
    this.#state = record === undefined ? 'first' : record.body === body ? 'replayed' : 'conflict';
    metrics.idempotentCall(this.#functionName, this.#state);
    if (record === undefined) return { kind: 'run' };
    if (this.#state === 'conflict') return { kind: 'refused', problem: conflict() };
    return { kind: 'replay', answer: record.answer };
  }

  /** Keeps the answer of a call that ran. */
  keep(answer: KeptAnswer): void {
    const owned = this.#owned;
    this.#owned = undefined;
    if (answer.kind === 'problem' && !KEPT_FAILURES.has(answer.problem.code)) owned?.release();
    else if (owned !== undefined) {
      const record: KeptRecord = { answer, body: this.#idempotency.body };
      owned.keep(JSON.stringify(record), this.#context.services.config.idempotencyTtlMs);
    }
  }

  /** The request has ended: without an answer that was kept, the next equal call runs. */
  release(): void {
    this.#ended = true;
    this.#owned?.release();
    this.#owned = undefined;
  }

  /** The caller can leave before the claim succeeds. */
  #own(claim: OwnClaim): void {
    if (this.#ended) claim.release();
    else this.#owned = claim;
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
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
  const message =
    'The call with this Idempotency-Key still runs: the request waited for its answer until its own time was over.';
  return problemOf({ code: 'timeout', message, timer: 'total', afterMs: Math.round(timeoutMs) });
}

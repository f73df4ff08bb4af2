import type { AttemptEnd } from '../../base/call-observer.ts';
import type { Result } from '../../base/result.ts';
import { Redactor } from '../../logging/redactor.ts';
import type { ClientFailure, Failure } from '../../schema/failure.ts';
import type { InvalidReply } from '../../schema/message.ts';
import { DEFAULT_COOL_DOWN_MS } from '../../schema/providers/common-options.ts';
import type { Violation } from '../../schema/violation.ts';
import type { UpstreamFailure } from './http/origin-pool.ts';
import { readErrorBody } from './wire/reply-format.ts';

/** A failed attempt at one client, or a failed list of attempts: the failure for the caller and the facts for a retry policy. */
export interface AttemptFailure {
  readonly failure: Failure;
  /** `never`: the same request would fail again. `status`: the policy decides by `upstreamStatus`. */
  readonly retry: 'always' | 'status' | 'never';
  readonly upstreamStatus?: number;
  /** The wait that the provider asked for, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The reply that caused the failure, if its client can be asked to correct it. */
  readonly invalidReply?: InvalidReply;
}

/** A failure that no retry can fix: a missing key, a prompt that does not render, a reply of the wrong type. */
export function finalFailure(failure: Failure): AttemptFailure {
  return { failure, retry: 'never' };
}

/** A failure of a client with an empty list of attempts: the call adds them when it ends. */
export function clientFailure(client: string, problem: string, upstreamStatus?: number): ClientFailure {
  const message = `The client "${client}" ${problem}`;
  const status = upstreamStatus === undefined ? {} : { upstreamStatus };
  return { code: 'client_error', message, client, ...status, attempts: [] };
}

/** The failure of a client whose options are wrong. Each detail has the path of an option within the client. */
export function invalidClientOptions(client: string, details: readonly Violation[]): Failure {
  const [first] = details;
  const message = `The client "${client}" is not set up: "${first?.path ?? ''}" ${first?.message ?? ''}`;
  return { code: 'invalid_options', message, details };
}

/** The failure of a call whose client could not be created. The caller did not cause wrong options in the files. */
export function uncreatedClientFailure(client: string, failure: Failure): Failure {
  if (failure.code !== 'invalid_options') return failure;
  return { code: 'client_error', message: failure.message, client, attempts: [] };
}

/** For each kind of failure, the words after `The client "X" `, and whether the same request can succeed later. */
const BY_KIND = {
  network: { prefix: 'could not be reached: ', retry: 'always' },
  cut: { prefix: '', retry: 'always' },
  reported: { prefix: 'reported an error: ', retry: 'always' },
  unusable: { prefix: '', retry: 'never' },
  forbidden: { prefix: 'must not be contacted: ', retry: 'never' },
} as const;

const BY_TIMER = {
  connect: 'did not accept the connection in time',
  first_token: 'did not begin its reply in time',
  idle: 'stopped sending in the middle of its reply',
  request: 'did not finish its reply in time',
  total: 'had not finished its reply when the time of the whole call was over',
} as const;

/** For clients without credentials. */
const NO_SECRETS = new Redactor([]);

/** Translates an upstream failure for the caller. Secrets that the provider echoed are masked. */
export function attemptFailure(client: string, cause: UpstreamFailure, redactor = NO_SECRETS): AttemptFailure {
  if (cause.kind === 'status') return statusFailure(client, cause, redactor);
  if (cause.kind === 'timeout') {
    const { timer, afterMs } = cause;
    const message = `The client "${client}" ${BY_TIMER[timer]} (${afterMs} ms)`;
    return { failure: { code: 'timeout', message, timer, afterMs }, retry: timer === 'total' ? 'never' : 'always' };
  }
  const { prefix, retry } = BY_KIND[cause.kind];
  const status = cause.kind === 'unusable' ? cause.status : undefined;
  const final = cause.kind === 'reported' && !cause.retryable;
  const failure = clientFailure(client, prefix + quotable(cause.message, redactor), status);
  return { failure, retry: final ? 'never' : retry };
}

function statusFailure(
  client: string,
  { status, body, retryAfterMs }: Extract<UpstreamFailure, { kind: 'status' }>,
  redactor: Redactor,
): AttemptFailure {
  const stated = readErrorBody(body);
  const text = quotable(stated.text, redactor);
  const failure = clientFailure(client, `answered ${status}${text === '' ? '' : `: ${text}`}`, status);
  const waitMs = retryAfterMs ?? stated.retryAfterMs;
  if (waitMs === undefined) return { failure, retry: 'status', upstreamStatus: status };
  const waiting = { ...failure, retryAfterSeconds: waitMs / 1000 };
  return { failure: waiting, retry: 'status', upstreamStatus: status, retryAfterMs: waitMs };
}

/** The length at which upstream text in an error is cut: enough for any message, too little to flood a log. */
const MAX_UPSTREAM_TEXT = 2000;

/** Masks secrets before it cuts the text, so that no half of a secret remains at the edge. */
function quotable(text: string, redactor: Redactor): string {
  const scrubbed = redactor.redact(text);
  return scrubbed.length > MAX_UPSTREAM_TEXT ? `${scrubbed.slice(0, MAX_UPSTREAM_TEXT)}…` : scrubbed;
}

/** The attempt asked no model: its prompt did not render, its key is missing, or its caller left. */
export const UNDECIDED: AttemptEnd = { outcome: 'undecided', coolDownMs: 0 };

/** The statuses with which a provider asks for patience. Only with these does `retry-after` start a cool-down. */
const PATIENCE: ReadonlySet<number> = new Set([429, 503]);

/** Statuses below 500 that mean that the provider cannot answer now. All others below 500 are faults of the request. */
const PROVIDER_STATUSES: ReadonlySet<number> = new Set([408, 429]);

/** Judges the answer of a provider. Whether the reply fits the return type does not count. */
export function attemptEnd(answer: Result<unknown, AttemptFailure>, coolDownMs = DEFAULT_COOL_DOWN_MS): AttemptEnd {
  if (answer.ok) return { outcome: 'ok', coolDownMs };
  const { failure, retry, retryAfterMs, upstreamStatus: status } = answer.failure;
  if (status !== undefined) {
    const failed = status >= 500 || PROVIDER_STATUSES.has(status);
    const wait = PATIENCE.has(status) ? retryAfterMs : undefined;
    return { outcome: failed ? 'failed' : 'undecided', retryAfterMs: wait, coolDownMs };
  }
  // A reply or an error that would come again is a fault of the request or of the definition.
  const failed = failure.code === 'timeout' || retry === 'always';
  return { outcome: failed ? 'failed' : 'undecided', coolDownMs };
}

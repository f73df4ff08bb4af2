import type { AttemptEnd } from '../../base/client-health.ts';
import type { Result } from '../../base/result.ts';
import { DEFAULT_COOL_DOWN_MS } from '../../schema/providers/common-options.ts';
import type { AttemptFailure } from './attempt-failure.ts';

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

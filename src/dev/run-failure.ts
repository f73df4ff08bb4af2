import type { Failure } from '../schema/failure.ts';
import type { Violation } from '../schema/violation.ts';

/** Why a call of a function has no value, for the person at a terminal. */
export interface RunFailure {
  /** A code of a failed call; or, in tests, `not_recorded`, or `invalid_test` for a test that cannot run. */
  readonly code: string;
  /** One or more sentences. */
  readonly message: string;
  readonly details?: readonly Violation[];
}

/** Advice for callers of the server, which the person at a terminal does not need. */
const ADVICE_FOR_CALLERS = / Set it for the server, or send it in "env" of the request's options$/u;

export function failureOf(failure: Failure): RunFailure {
  const message = failure.message.replace(ADVICE_FOR_CALLERS, ' Set it, or add it to .env.');
  const details = 'details' in failure ? { details: failure.details } : {};
  return { code: failure.code, message, ...details };
}

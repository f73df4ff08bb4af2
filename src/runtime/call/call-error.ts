import type { Failure, FailureCode } from '../../schema/errors.ts';

/** Why a call of a function gave no value. Tell causes apart by `code`. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly code: FailureCode;
  /** All that is known: paths of faults, attempts, the reply that did not fit. */
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.code = failure.code;
    this.failure = failure;
  }
}

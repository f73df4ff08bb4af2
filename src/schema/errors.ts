import type { Violation } from './violation.ts';

/**
 * Every way in which a call can fail, as data. Recognised by `code`, since failures cross threads and processes.
 * `message` is for the caller: what is wrong, then what to do; it holds no secret.
 */
export type Failure =
  | FunctionNotFound
  | InvalidInput
  | MissingCredential
  | ValidationFailure
  | FinishReasonFailure
  | PromptFailure
  | ClientFailure
  | TimeoutFailure
  | CapacityFailure
  | CancelledFailure
  | InternalFailure;

export type FailureCode = Failure['code'];

interface FunctionNotFound {
  readonly code: 'function_not_found';
  readonly message: string;
  readonly suggestions: readonly string[];
}

interface InvalidInput {
  readonly code: 'invalid_argument' | 'invalid_options';
  readonly message: string;
  /** Every fault at once. */
  readonly details: readonly Violation[];
}

interface MissingCredential {
  readonly code: 'missing_credential';
  readonly message: string;
  readonly client: string;
  readonly variable: string;
}

/** The reply does not fit the return type. */
export interface ValidationFailure {
  readonly code: 'validation_failure';
  readonly message: string;
  readonly rawOutput: string;
  readonly details: readonly Violation[];
}

interface FinishReasonFailure {
  readonly code: 'finish_reason_error';
  readonly message: string;
  readonly client: string;
  readonly finishReason: string;
}

/** The template could not be rendered; names function, file, line and column, never an argument's content. */
export interface PromptFailure {
  readonly code: 'prompt_error';
  readonly message: string;
}

/** The provider could not be reached or answered an error. */
export interface ClientFailure {
  readonly code: 'client_error';
  readonly message: string;
  readonly client: string;
  readonly upstreamStatus?: number;
  readonly attempts: readonly Attempt[];
}

export interface TimeoutFailure {
  readonly code: 'timeout';
  readonly message: string;
  readonly timer: 'connect' | 'first_token' | 'idle' | 'request' | 'total';
  readonly afterMs: number;
  readonly attempts?: readonly Attempt[];
}

interface CapacityFailure {
  readonly code: 'overloaded' | 'draining';
  readonly message: string;
  readonly retryAfterSeconds: number;
}

/** The caller left; nobody reads this, it is for logs and metrics. */
interface CancelledFailure {
  readonly code: 'cancelled';
  readonly message: string;
}

interface InternalFailure {
  readonly code: 'internal_error';
  readonly message: string;
}

/** One try at one client, as listed in the error of an exhausted chain and in logs. */
export interface Attempt {
  readonly client: string;
  readonly outcome: 'ok' | FailureCode;
  readonly upstreamStatus?: number;
  readonly message?: string;
  readonly durationMs: number;
}

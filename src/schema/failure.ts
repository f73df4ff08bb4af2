import type { Losses } from './explanation.ts';
import type { Violation } from './violation.ts';

/**
 * Every way in which a call can fail, as data. Recognise a failure by its `code`: failures cross threads and processes.
 * `message` is for the caller: it states what is wrong and what to do, and contains no secret.
 */
export type Failure =
  | FunctionNotFound
  | InvalidInput
  | MissingCredential
  | ValidationFailure
  | FinishReasonFailure
  | UnansweredFailure
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
  /** Every fault, not only the first. */
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
  /** The counts of what the value of a refused reply lacks; absent if the reply does not match the type. */
  readonly losses?: Losses;
  /** How svc read the reply, if the caller asks for it. */
  readonly explanation?: object;
  /** Absent if there was only one. */
  readonly attempts?: readonly Attempt[];
}

interface FinishReasonFailure {
  readonly code: 'finish_reason_error';
  readonly message: string;
  readonly client: string;
  readonly finishReason: string;
}

/** The provider states that there is no answer: the model refused, a filter withheld it, or it ended in another way. */
interface UnansweredFailure {
  readonly code: 'refusal' | 'content_filtered' | 'no_answer';
  readonly message: string;
  readonly client: string;
  readonly rawOutput: string;
  /** The provider's word; absent if it states none. */
  readonly finishReason?: string;
}

/**
 * The template could not be rendered, or a constraint of the function's types could not be read. The message names the function,
 * and the file, line and column of the template, never the content of an argument.
 */
export interface PromptFailure {
  readonly code: 'prompt_error';
  readonly message: string;
}

/** The provider could not be reached or returned an error. */
export interface ClientFailure {
  readonly code: 'client_error';
  readonly message: string;
  readonly client: string;
  readonly upstreamStatus?: number;
  /** The wait that the provider asked for. */
  readonly retryAfterSeconds?: number;
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

/** The caller left. No one reads this failure; it is for logs and metrics. */
interface CancelledFailure {
  readonly code: 'cancelled';
  readonly message: string;
}

interface InternalFailure {
  readonly code: 'internal_error';
  readonly message: string;
}

/** One attempt at one client, as listed in logs and in the error of an exhausted chain. */
export interface Attempt {
  readonly client: string;
  readonly outcome: 'ok' | FailureCode;
  readonly upstreamStatus?: number;
  readonly message?: string;
  readonly durationMs: number;
  /** The attempt asked its client to correct the reply of the one before. */
  readonly reask?: true;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** US dollars. Absent if a count, or a price, is unknown. */
  readonly cost?: number;
}

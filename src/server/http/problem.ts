import { ERRORS, type ErrorCode } from '../../schema/errors.ts';
import type { Attempt, Failure } from '../../schema/failure.ts';
import type { Redactor } from '../../logging/redactor.ts';
import type { CallReport } from '../../runtime/call/runtime.ts';
import type { HeaderList } from './response-head.ts';

/** The answer to an error: the status, and a JSON body with `error`, `message`, `request_id` and `fields`. */
export interface Problem {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly headers: HeaderList;
}

const NO_FIELDS: Readonly<Record<string, unknown>> = {};
const NO_HEADERS: HeaderList = [];

export function problem(code: ErrorCode, message: string, fields = NO_FIELDS, headers = NO_HEADERS): Problem {
  return { status: ERRORS[code].status, code, message, fields, headers };
}

/** The JSON text of an answer, without known secrets: a message can quote what a caller, a provider or a model wrote. */
export function problemBody(of: Problem, requestId: string, redactor: Redactor): string {
  return redactor.redactValues(
    JSON.stringify({ error: of.code, message: of.message, request_id: requestId, ...of.fields }),
  );
}

/** The answer to a bug, without any detail. */
export const INTERNAL_PROBLEM = problem('internal_error', 'The server failed because of a bug.');

/** Characters of a reply in an answer: a whole reply can have megabytes, and this much shows the fault. */
const MAX_RAW_OUTPUT = 65_536;

/** The answer to a failure. Pass the report only where callers are allowed to see prompts. */
export function problemOf(failure: Failure, exposed?: CallReport): Problem {
  const seconds = 'retryAfterSeconds' in failure ? failure.retryAfterSeconds : undefined;
  return problem(failure.code, failure.message, failureFields(failure, exposed), retryAfter(seconds));
}

function retryAfter(seconds: number | undefined): HeaderList {
  return seconds === undefined ? NO_HEADERS : [['retry-after', String(Math.max(1, Math.ceil(seconds)))]];
}

function failureFields(failure: Failure, exposed: CallReport | undefined): Readonly<Record<string, unknown>> {
  switch (failure.code) {
    case 'function_not_found':
      return { suggestions: failure.suggestions };
    case 'invalid_argument':
    case 'invalid_options':
      return { details: failure.details };
    case 'missing_credential':
      return { client: failure.client, variable: failure.variable };
    case 'validation_failure':
      return {
        details: failure.details,
        raw_output: failure.rawOutput.slice(0, MAX_RAW_OUTPUT),
        ...(failure.losses === undefined ? {} : { losses: failure.losses }),
        ...(failure.explanation === undefined ? {} : { explanation: failure.explanation }),
        ...(failure.attempts === undefined ? {} : { attempts: failure.attempts.map(attemptFields) }),
        ...(exposed?.prompt === undefined ? {} : { prompt: exposed.prompt }),
      };
    case 'finish_reason_error':
      return { client: failure.client, finish_reason: failure.finishReason };
    case 'refusal':
    case 'content_filtered':
    case 'no_answer':
      return {
        client: failure.client,
        finish_reason: failure.finishReason,
        raw_output: failure.rawOutput.slice(0, MAX_RAW_OUTPUT),
      };
    case 'client_error':
      return {
        client: failure.client,
        upstream_status: failure.upstreamStatus,
        attempts: failure.attempts.map(attemptFields),
      };
    case 'timeout':
      return { timer: failure.timer, after_ms: failure.afterMs, attempts: failure.attempts?.map(attemptFields) };
    case 'overloaded':
    case 'draining':
    case 'prompt_error':
    case 'cancelled':
    case 'internal_error':
      return NO_FIELDS;
  }
}

/** An attempt in the form of answers. */
export function attemptFields(attempt: Attempt): Readonly<Record<string, unknown>> {
  return {
    client: attempt.client,
    outcome: attempt.outcome,
    upstream_status: attempt.upstreamStatus,
    message: attempt.message,
    duration_ms: Math.round(attempt.durationMs),
    reask: attempt.reask,
    input_tokens: attempt.inputTokens,
    output_tokens: attempt.outputTokens,
  };
}

/** The answer above the limit of connections, on both transports. */
export const TOO_MANY_CONNECTIONS = problemOf({
  code: 'overloaded',
  message: 'Too many connections are open: try again.',
  retryAfterSeconds: 1,
});

import { expect, test } from 'vitest';
import { NO_LOSSES } from '../../src/runtime/reply/reply-parser.ts';
import { problemOf } from '../../src/server/http/problem.ts';
import { ERRORS, type ErrorField } from '../../src/schema/errors.ts';
import type { Failure, FailureCode } from '../../src/schema/failure.ts';

const message = 'why';
const details = [{ path: 'a', message }];
const attempts = [{ client: 'C', outcome: 'timeout', durationMs: 1 }] as const;

/** One failure of each code, with every member that it can have. */
const FAILURES: { readonly [Code in FailureCode]: Failure & { readonly code: Code } } = {
  function_not_found: { code: 'function_not_found', message, suggestions: [] },
  invalid_argument: { code: 'invalid_argument', message, details },
  invalid_options: { code: 'invalid_options', message, details },
  missing_credential: { code: 'missing_credential', message, client: 'C', variable: 'V' },
  validation_failure: {
    code: 'validation_failure',
    message,
    rawOutput: 'x',
    details,
    losses: { dropped: 1, defaulted: 0 },
    explanation: {},
    attempts,
  },
  finish_reason_error: { code: 'finish_reason_error', message, client: 'C', finishReason: 'length' },
  refusal: { code: 'refusal', message, client: 'C', rawOutput: 'x' },
  content_filtered: { code: 'content_filtered', message, client: 'C', rawOutput: '', finishReason: 'SAFETY' },
  no_answer: { code: 'no_answer', message, client: 'C', rawOutput: '', finishReason: 'tool_calls' },
  prompt_error: { code: 'prompt_error', message },
  client_error: { code: 'client_error', message, client: 'C', upstreamStatus: 500, retryAfterSeconds: 2, attempts },
  timeout: { code: 'timeout', message, timer: 'total', afterMs: 1, attempts },
  overloaded: { code: 'overloaded', message, retryAfterSeconds: 1 },
  draining: { code: 'draining', message, retryAfterSeconds: 1 },
  cancelled: { code: 'cancelled', message },
  internal_error: { code: 'internal_error', message },
};

test.each(Object.values(FAILURES))('a failure with $code is answered with the declared members', (failure) => {
  const report = {
    attempts: [],
    usage: {},
    modelMs: 0,
    renderMs: 0,
    parseMs: 0,
    flags: [],
    losses: NO_LOSSES,
    prompt: [],
  };
  const problem = problemOf(failure, report);
  const declared: readonly ErrorField[] = ERRORS[failure.code].fields ?? [];
  expect(problem.status).toBe(ERRORS[failure.code].status);
  expect(Object.keys(problem.fields).toSorted()).toEqual([...declared].toSorted());
  expect(problem.headers.map(([name]) => name)).toEqual([...(ERRORS[failure.code].headers ?? [])]);
});

import type { Logger } from '../../logging/logger.ts';
import { INTERNAL_PROBLEM, problem, problemBody, problemOf, type Problem } from './problem.ts';
import { JSON_TYPE } from './request-context.ts';
import { requestId } from './request-id.ts';
import type { Refusal, RefusalWriter } from './transport.ts';

/** Answers what never becomes a request, in the same form as every other error. */
export function createRefusals(logger: Logger): RefusalWriter {
  return (refusal, detail, { requestId: asked, error } = {}) => {
    const id = requestId(asked);
    if (refusal === 'crashed') logger.error({ requestId: id, err: error }, 'a bug in the server');
    const of = problemFor(refusal, detail);
    const headers = [JSON_TYPE, ['x-request-id', id] as const, ...of.headers];
    return { status: of.status, headers, body: problemBody(of, id) };
  };
}

function problemFor(refusal: Refusal, detail: string): Problem {
  switch (refusal) {
    case 'malformed':
      return problem('bad_request', detail);
    case 'not-implemented':
      return problem('not_implemented', 'This method is not supported.');
    case 'headers-too-large':
      return problem('headers_too_large', detail);
    case 'request-timeout':
      return problem('request_timeout', 'The request did not arrive in time.');
    case 'too-many':
      return problemOf({ code: 'overloaded', message: 'Too many connections are open.', retryAfterSeconds: 1 });
    case 'crashed':
      return INTERNAL_PROBLEM;
  }
}

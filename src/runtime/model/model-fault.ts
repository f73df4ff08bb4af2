import type { Failure } from '../../schema/errors.ts';
import type { HttpFault } from './http/http-fault.ts';
import { errorBodyText } from './wire/reported-error.ts';
import { parseJson } from './wire/json-reading.ts';
import { scrubSecrets } from './scrub-secrets.ts';

/** A failed attempt: what the caller is told, and what a retry policy needs to know. */
export interface ModelFault {
  readonly failure: Failure;
  /** `never`: the same request would fail again. `status`: the policy decides by `upstreamStatus`. */
  readonly retry: 'always' | 'status' | 'never';
  readonly upstreamStatus?: number;
  /** As the provider asked, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** Upstream text in an error is cut here: enough for any message, too little to flood a log. */
const MAX_UPSTREAM_TEXT = 2000;

/** A fault of the network path as a failure of a client; secrets that the provider echoed are taken out. */
export function modelFault(client: string, fault: HttpFault, secrets: readonly string[]): ModelFault {
  switch (fault.kind) {
    case 'timeout':
      return { failure: timeoutFailure(client, fault), retry: fault.timer === 'total' ? 'never' : 'always' };
    case 'status': {
      const text = clean(errorBodyText(fault.body, parseJson(fault.body)), secrets);
      return {
        failure: clientFailure(client, `answered ${fault.status}${text === '' ? '' : `: ${text}`}`, fault.status),
        retry: 'status',
        upstreamStatus: fault.status,
        ...(fault.retryAfterMs === undefined ? {} : { retryAfterMs: fault.retryAfterMs }),
      };
    }
    case 'network':
      return {
        failure: clientFailure(client, `could not be reached: ${clean(fault.message, secrets)}`),
        retry: 'always',
      };
    case 'cut':
      return { failure: clientFailure(client, clean(fault.message, secrets)), retry: 'always' };
    case 'reported':
      return {
        failure: clientFailure(client, `reported an error: ${clean(fault.message, secrets)}`),
        retry: fault.retryable ? 'always' : 'never',
      };
    case 'unusable':
      return { failure: clientFailure(client, clean(fault.message, secrets), fault.status), retry: 'never' };
    case 'forbidden':
      return { failure: clientFailure(client, `may not be asked: ${fault.message}`), retry: 'never' };
  }
}

/** A client failure with no attempts listed yet: the call adds them when it ends. */
export function clientFailure(client: string, what: string, upstreamStatus?: number): Failure {
  return {
    code: 'client_error',
    message: `The client "${client}" ${what}`,
    client,
    ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
    attempts: [],
  };
}

function timeoutFailure(client: string, fault: Extract<HttpFault, { kind: 'timeout' }>): Failure {
  const { timer, afterMs } = fault;
  return { code: 'timeout', message: `The client "${client}" ${TIMEOUTS[timer]} (${afterMs} ms)`, timer, afterMs };
}

const TIMEOUTS = {
  connect: 'did not take the connection in time',
  first_token: 'did not begin its reply in time',
  idle: 'fell silent in the middle of its reply',
  request: 'did not finish its reply in time',
  total: 'was still being asked when the time of the whole call was over',
} as const;

function clean(text: string, secrets: readonly string[]): string {
  const cut = text.length > MAX_UPSTREAM_TEXT ? `${text.slice(0, MAX_UPSTREAM_TEXT)}…` : text;
  // Scrubbed before it is cut, so that no half of a secret stays at the edge.
  return cut === text ? scrubSecrets(text, secrets) : `${scrubSecrets(text, secrets).slice(0, MAX_UPSTREAM_TEXT)}…`;
}

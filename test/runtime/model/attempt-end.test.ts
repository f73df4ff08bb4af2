import { expect, test } from 'vitest';
import { err, ok } from '../../../src/base/result.ts';
import { attemptEnd, attemptFailure, finalFailure } from '../../../src/runtime/model/attempt-failure.ts';
import type { UpstreamFailure } from '../../../src/runtime/model/http/origin-pool.ts';

function status(code: number, retryAfterMs?: number): UpstreamFailure {
  return { kind: 'status', status: code, body: '', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

const TIMERS = ['connect', 'first_token', 'idle', 'request', 'total'] as const;

const CASES: ReadonlyArray<readonly [name: string, failure: UpstreamFailure, outcome: 'failed' | 'undecided']> = [
  ...[400, 401, 403, 404, 409, 413, 422].map((code) => [`${code}`, status(code), 'undecided'] as const),
  ...[408, 429, 500, 502, 503, 529].map((code) => [`${code}`, status(code), 'failed'] as const),
  ...TIMERS.map((timer) => [`timeout ${timer}`, { kind: 'timeout', timer, afterMs: 1 }, 'failed'] as const),
  ['a refused connection', { kind: 'network', message: 'refused' }, 'failed'],
  ['a reply that breaks off', { kind: 'cut', message: 'broke off' }, 'failed'],
  ['an error inside a reply', { kind: 'reported', message: 'overloaded_error', retryable: true }, 'failed'],
  ['an error that would come again', { kind: 'reported', message: 'invalid', retryable: false }, 'undecided'],
  ['a reply that svc cannot use', { kind: 'unusable', message: 'answered no JSON' }, 'undecided'],
  ['an address that is not allowed', { kind: 'forbidden', message: 'private' }, 'undecided'],
];

test.each(CASES)('%s: the outcome of the attempt for its client', (_name, failure, outcome) => {
  expect(attemptEnd(err(attemptFailure('A', failure)))).toMatchObject({ outcome, coolDownMs: 30_000 });
});

test('a reply is a success, and a cancelled call says nothing', () => {
  expect(attemptEnd(ok({}), 5)).toEqual({ outcome: 'ok', coolDownMs: 5 });
  expect(attemptEnd(err(finalFailure({ code: 'cancelled', message: 'the caller left' })))).toMatchObject({
    outcome: 'undecided',
  });
});

test.each([
  [429, 7],
  [503, 7],
  [500, undefined],
])('with the status %i, the wait that the provider asks for is %s', (code, expected) => {
  expect(attemptEnd(err(attemptFailure('A', status(code, 7)))).retryAfterMs).toBe(expected);
});

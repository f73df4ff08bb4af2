import type { Failure } from '../../../src/schema/failure.ts';
import { failed } from '../support/scripted-runtime.ts';
import type { TestServer } from '../support/test-server.ts';
import { GREET, type Row } from './row.ts';

function failing(failure: Failure): (server: TestServer) => void {
  return ({ runtime }) => {
    runtime.onCall = () => failed(failure);
  };
}

/** Every way in which a call can fail. */
export const FAILURE_ROWS: readonly Row[] = [
  {
    title: 'a missing credential',
    ...GREET,
    arrange: failing({ code: 'missing_credential', message: 'no key', client: 'Fast', variable: 'OPENAI_API_KEY' }),
    status: 500,
    answer: { error: 'missing_credential', message: 'no key', client: 'Fast', variable: 'OPENAI_API_KEY' },
  },
  {
    title: 'a reply that does not match',
    ...GREET,
    arrange: failing({
      code: 'validation_failure',
      message: 'no',
      rawOutput: 'x'.repeat(70_000),
      details: [{ path: 'a', message: 'b' }],
    }),
    status: 500,
    answer: { error: 'validation_failure', raw_output: 'x'.repeat(65_536), details: [{ path: 'a', message: 'b' }] },
  },
  {
    title: 'a bad finish',
    ...GREET,
    arrange: failing({ code: 'finish_reason_error', message: 'cut', client: 'Fast', finishReason: 'length' }),
    status: 500,
    answer: { error: 'finish_reason_error', finish_reason: 'length' },
  },
  {
    title: 'a refusal',
    ...GREET,
    arrange: failing({ code: 'refusal', message: 'no', client: 'Fast', rawOutput: 'I cannot.' }),
    status: 500,
    answer: { error: 'refusal', client: 'Fast', raw_output: 'I cannot.' },
  },
  {
    title: 'a reply that a filter withheld',
    ...GREET,
    arrange: failing({
      code: 'content_filtered',
      message: 'no',
      client: 'Fast',
      rawOutput: '',
      finishReason: 'SAFETY',
    }),
    status: 500,
    answer: { error: 'content_filtered', client: 'Fast', finish_reason: 'SAFETY', raw_output: '' },
  },
  {
    title: 'a reply without an answer',
    ...GREET,
    arrange: failing({
      code: 'no_answer',
      message: 'no',
      client: 'Fast',
      rawOutput: '',
      finishReason: 'tool_calls',
    }),
    status: 500,
    answer: { error: 'no_answer', client: 'Fast', finish_reason: 'tool_calls', raw_output: '' },
  },
  {
    title: 'a prompt that fails',
    ...GREET,
    arrange: failing({ code: 'prompt_error', message: 'bad' }),
    status: 500,
    answer: { error: 'prompt_error' },
  },
  {
    title: 'a provider that fails',
    ...GREET,
    arrange: failing({
      code: 'client_error',
      message: 'down',
      client: 'Fast',
      upstreamStatus: 503,
      attempts: [{ client: 'Fast', outcome: 'client_error', upstreamStatus: 503, message: 'busy', durationMs: 2.4 }],
    }),
    status: 502,
    answer: {
      error: 'client_error',
      client: 'Fast',
      upstream_status: 503,
      attempts: [{ client: 'Fast', outcome: 'client_error', upstream_status: 503, message: 'busy', duration_ms: 2 }],
    },
  },
  {
    title: 'a timeout',
    ...GREET,
    arrange: failing({ code: 'timeout', message: 'late', timer: 'total', afterMs: 50 }),
    status: 504,
    answer: { error: 'timeout', timer: 'total', after_ms: 50 },
  },
  {
    title: 'an internal failure',
    ...GREET,
    arrange: failing({ code: 'internal_error', message: 'sorry' }),
    status: 500,
    answer: { error: 'internal_error' },
  },
  {
    title: 'a runtime that rejects',
    ...GREET,
    arrange: ({ runtime }) => (runtime.onCall = () => Promise.reject(new Error('secret inside'))),
    status: 500,
    answer: { error: 'internal_error', message: 'The server failed because of a bug.' },
  },
  {
    title: 'a runtime that throws',
    ...GREET,
    arrange: ({ runtime }) =>
      (runtime.onPrepare = () => {
        throw new Error('secret inside');
      }),
    status: 500,
    answer: { error: 'internal_error' },
  },
  {
    title: 'no slot and no queue',
    config: { maxInFlight: 0, maxQueue: 0 },
    ...GREET,
    status: 503,
    answer: { error: 'overloaded' },
    answerHeaders: { 'retry-after': '1' },
  },
  {
    title: 'probes are answered without a slot',
    config: { maxInFlight: 0, maxQueue: 0 },
    path: '/readyz',
    status: 200,
  },
  {
    title: 'no slot and no queue for a stream',
    config: { maxInFlight: 0, maxQueue: 0 },
    ...GREET,
    path: '/stream/Greet',
    status: 503,
    answer: { error: 'overloaded' },
    answerHeaders: { 'retry-after': '1' },
  },
];

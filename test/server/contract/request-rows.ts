import { hash } from 'node:crypto';
import type { AnswerStore } from '../../../src/policy/answer-store.ts';
import { err } from '../../../src/base/result.ts';
import { lossySuccess, REPORT, success, WARNINGS } from '../support/scripted-runtime.ts';
import { MADE_UP } from '../../../src/runtime/reply/reply-parser.ts';
import { GREET, JSON_HEADERS, type Row } from './row.ts';

function deep(levels: number): string {
  return `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
}

const IDEMPOTENCY_KEY_RULE = 'has to have 1 to 255 visible ASCII characters, without spaces';

/** A store with the answer "kept" to a request with this body. */
function keptFor(body: string): AnswerStore['claim'] {
  const answer = { kind: 'value', json: '"kept"', headers: [['x-svc-client', 'Kept']] };
  const record = { answer, body: hash('sha256', body) };
  return () => Promise.resolve({ kind: 'kept', answer: JSON.stringify(record), ageMs: 5_000 });
}

/** Calls that succeed, and bodies that svc refuses. */
const EMPTY = { error: 'invalid_json', message: 'The body is empty: send a JSON object.' };

export const REQUEST_ROWS: readonly Row[] = [
  { title: 'a call answers the value', ...GREET, status: 200, answer: 'hello' },
  {
    title: 'a call reports the client that answered, and the cost',
    ...GREET,
    status: 200,
    answerHeaders: {
      'content-type': 'application/json',
      'x-svc-client': 'Fast',
      'x-svc-model': 'small-1',
      'x-svc-attempts': '1',
      'x-svc-input-tokens': '12',
      'x-svc-output-tokens': '7',
      'server-timing': /^model;dur=3\.0, total;dur=\d+\.\d$/,
      'x-request-id': /^[A-Za-z0-9._-]{1,128}$/,
      'access-control-allow-origin': null,
      'x-svc-lossy': null,
      'x-svc-made-up': null,
    },
  },
  {
    title: 'a call with an idempotency key that no one used runs',
    ...GREET,
    headers: { ...JSON_HEADERS, 'idempotency-key': 'key-1' },
    status: 200,
    answer: 'hello',
    answerHeaders: { 'idempotency-replayed': null },
  },
  {
    title: 'a call with a used idempotency key and the same body gets the kept answer',
    ...GREET,
    headers: { ...JSON_HEADERS, 'idempotency-key': 'key-1' },
    arrange: ({ answers }) => (answers.claim = keptFor('{}')),
    status: 200,
    answer: 'kept',
    answerHeaders: { 'idempotency-replayed': 'true', 'x-svc-client': 'Kept', 'x-svc-attempts': null },
  },
  {
    title: 'a call with a used idempotency key and another body is refused',
    ...GREET,
    headers: { ...JSON_HEADERS, 'idempotency-key': 'key-1' },
    arrange: ({ answers }) => (answers.claim = keptFor('{ }')),
    status: 422,
    answer: { error: 'idempotency_conflict' },
    answerHeaders: { 'idempotency-replayed': null },
  },
  {
    title: 'an idempotency key with a space is refused',
    ...GREET,
    headers: { ...JSON_HEADERS, 'idempotency-key': 'key 1' },
    status: 400,
    answer: { error: 'invalid_options', details: [{ path: 'Idempotency-Key', message: IDEMPOTENCY_KEY_RULE }] },
  },
  {
    title: 'an idempotency key of 256 characters is refused',
    ...GREET,
    headers: { ...JSON_HEADERS, 'idempotency-key': 'k'.repeat(256) },
    status: 400,
    answer: { error: 'invalid_options' },
  },
  {
    title: 'with --idempotency-ttl 0, idempotency keys are ignored',
    ...GREET,
    config: { idempotencyTtlMs: 0 },
    headers: { ...JSON_HEADERS, 'idempotency-key': 'key 1' },
    status: 200,
    answer: 'hello',
  },
  {
    title: 'a call reports the losses of its value, which stays bare',
    ...GREET,
    arrange: ({ runtime }) => (runtime.onCall = lossySuccess),
    status: 200,
    answer: [1],
    answerHeaders: { 'x-svc-lossy': 'dropped=2, defaulted=1' },
  },
  {
    title: 'a call reports that an offline client made up its value',
    ...GREET,
    arrange: ({ runtime }) => {
      const { result, report } = success('name 125');
      runtime.onCall = () => ({ result, report: { ...report, flags: [{ flag: MADE_UP, path: '' }] } });
    },
    status: 200,
    answer: 'name 125',
    answerHeaders: { 'x-svc-made-up': 'true', 'x-svc-lossy': null },
  },
  {
    title: 'a call has the parts that its request includes beside the value',
    ...GREET,
    arrange: ({ runtime }) => {
      runtime.onCall = lossySuccess;
      runtime.include = new Set(['warnings', 'usage']);
    },
    status: 200,
    answer: {
      result: [1],
      meta: { usage: { input_tokens: 12, output_tokens: 7 }, warnings: WARNINGS, more_warnings: 1 },
    },
    answerHeaders: { 'x-svc-lossy': 'dropped=2, defaulted=1' },
  },
  {
    title: 'the usage of a call is empty if the provider reports no tokens',
    ...GREET,
    arrange: ({ runtime }) => {
      runtime.onCall = () => ({ ...success('hello'), report: { ...REPORT, usage: {} } });
      runtime.include = new Set(['usage']);
    },
    status: 200,
    answer: { result: 'hello', meta: { usage: {} } },
  },
  {
    title: 'the caller can choose the request id',
    ...GREET,
    headers: { ...JSON_HEADERS, 'x-request-id': 'my.id_1-2' },
    status: 200,
    answerHeaders: { 'x-request-id': 'my.id_1-2' },
  },
  {
    title: 'a request id of another form is replaced',
    ...GREET,
    headers: { ...JSON_HEADERS, 'x-request-id': 'a b' },
    status: 200,
    answerHeaders: { 'x-request-id': /^[a-z0-9-]+$/ },
  },
  { title: '+json types are JSON', ...GREET, headers: { 'content-type': 'application/vnd.x+json' }, status: 200 },
  {
    title: 'a charset of utf-8 is accepted',
    ...GREET,
    headers: { 'content-type': 'Application/JSON; charset="UTF-8"' },
    status: 200,
  },
  { title: 'names can be percent-encoded', ...GREET, path: '/call/Gr%C3%B6%C3%9Fe', status: 200 },
  { title: 'a depth of 128 is accepted', ...GREET, body: deep(128), status: 200 },
  {
    title: 'brackets in a string do not count as depth',
    ...GREET,
    body: JSON.stringify({ a: '[{\\"'.repeat(500) }),
    status: 200,
  },
  { title: 'a depth of 129 is refused', ...GREET, body: deep(129), status: 400, answer: { error: 'invalid_json' } },
  { title: 'a depth of 4,000 is refused', ...GREET, body: deep(4_000), status: 400, answer: { error: 'invalid_json' } },
  {
    title: 'a body that is not JSON is refused',
    ...GREET,
    body: '{"a":',
    status: 400,
    answer: { error: 'invalid_json' },
  },
  { title: 'an empty body is refused', ...GREET, body: '', status: 400, answer: EMPTY },
  { title: 'a body of spaces is refused', ...GREET, body: ' \n', status: 400, answer: EMPTY },
  {
    title: 'no body and no type is refused as an empty body',
    method: 'POST',
    path: '/call/Greet',
    status: 400,
    answer: EMPTY,
  },
  {
    title: 'no body is an empty object for a function without parameters',
    method: 'POST',
    path: '/call/Sum',
    status: 200,
    answer: 'hello',
  },
  {
    title: 'an empty body is an empty object for a function without parameters',
    ...GREET,
    path: '/call/Sum',
    body: '',
    status: 200,
  },
  {
    title: 'a reply to parse is not empty',
    method: 'POST',
    path: '/parse/Sum',
    config: { features: ['beta'] },
    status: 400,
    answer: EMPTY,
  },
  {
    title: 'a page of another origin cannot call a function without parameters',
    method: 'POST',
    path: '/call/Sum',
    headers: { origin: 'https://elsewhere.example' },
    status: 415,
    answer: { error: 'unsupported_media_type' },
  },
  {
    title: 'a form cannot call a function without parameters',
    method: 'POST',
    path: '/call/Sum',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    answer: { error: 'unsupported_media_type' },
  },
  {
    title: 'invalid UTF-8 is refused',
    ...GREET,
    body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    status: 400,
    answer: { error: 'invalid_json', message: 'The body is not valid UTF-8.' },
  },
  { title: 'a list is not a body', ...GREET, body: '[]', status: 400, answer: { error: 'invalid_argument' } },
  { title: 'null is not a body', ...GREET, body: 'null', status: 400, answer: { error: 'invalid_argument' } },
  {
    title: 'every argument that does not match is reported',
    ...GREET,
    arrange: ({ runtime }) => {
      runtime.onPrepare = () =>
        err({ code: 'invalid_argument', message: 'no', details: [{ path: 'a.b', message: 'wrong' }] });
    },
    status: 400,
    answer: { error: 'invalid_argument', message: 'no', details: [{ path: 'a.b', message: 'wrong' }] },
  },
  {
    title: 'options that do not match are reported',
    ...GREET,
    arrange: ({ runtime }) => {
      runtime.onPrepare = () => err({ code: 'invalid_options', message: 'no', details: [] });
    },
    status: 400,
    answer: { error: 'invalid_options', details: [] },
  },
  {
    title: 'a form is not JSON',
    ...GREET,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    answer: { error: 'unsupported_media_type' },
  },
  { title: 'text is not JSON', ...GREET, headers: { 'content-type': 'text/plain' }, status: 415 },
  {
    title: 'another charset is not accepted',
    ...GREET,
    headers: { 'content-type': 'application/json; charset=latin1' },
    status: 415,
  },
  {
    title: 'a compressed body is not accepted',
    ...GREET,
    headers: { ...JSON_HEADERS, 'content-encoding': 'gzip' },
    status: 415,
    answer: { error: 'unsupported_media_type', message: 'Send the body uncompressed.' },
    answerHeaders: { 'accept-encoding': 'identity' },
  },
  {
    title: 'a body over the limit is refused, with the limit',
    ...GREET,
    body: JSON.stringify({ a: 'x'.repeat(11_000) }),
    status: 413,
    answer: { error: 'payload_too_large', limit: 10_000 },
  },
  {
    title: 'a byte order mark is skipped',
    ...GREET,
    body: '\ufeff{"text":"a"}',
    status: 200,
    answer: 'hello',
  },
  {
    title: 'if a key occurs twice, the last one counts',
    ...GREET,
    path: '/parse/Greet',
    config: { features: ['beta'] },
    body: '{"text":"first","text":"second"}',
    status: 200,
    answer: 'second',
  },
  { title: 'white space around the object is accepted', ...GREET, body: ' \n\t{}\r\n ', status: 200 },
  {
    title: 'text after the object is refused',
    ...GREET,
    body: '{} {}',
    status: 400,
    answer: { error: 'invalid_json' },
  },
  { title: 'NaN is not JSON', ...GREET, body: '{"a":NaN}', status: 400, answer: { error: 'invalid_json' } },
  {
    title: 'a request id of 128 characters is kept',
    ...GREET,
    headers: { ...JSON_HEADERS, 'x-request-id': 'r'.repeat(128) },
    status: 200,
    answerHeaders: { 'x-request-id': 'r'.repeat(128) },
  },
  {
    title: 'a request id of 129 characters is replaced',
    ...GREET,
    headers: { ...JSON_HEADERS, 'x-request-id': 'r'.repeat(129) },
    status: 200,
    answerHeaders: { 'x-request-id': /^[a-z0-9-]{1,40}$/ },
  },
  { title: 'a query is ignored', ...GREET, path: '/call/Greet?x=1&y', status: 200, answer: 'hello' },
  {
    title: 'a body without a type is refused, and the answer names the accepted type',
    ...GREET,
    headers: {},
    body: new Uint8Array([0x7b, 0x7d]),
    status: 415,
    answer: { error: 'unsupported_media_type' },
    answerHeaders: { 'accept-post': 'application/json' },
  },
];

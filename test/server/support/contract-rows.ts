import { err } from '../../../src/base/result.ts';
import type { Config } from '../../../src/config/config.ts';
import type { Failure } from '../../../src/runtime/function/failure.ts';
import { validationFailure } from '../../../src/runtime/function/parse-whole-reply.ts';
import { failed } from './scripted-runtime.ts';
import type { TestServer } from './test-server.ts';

export const JSON_HEADERS = { 'content-type': 'application/json' };

/** One request and what has to come back. */
export interface Row {
  readonly title: string;
  readonly config?: Partial<Config>;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly arrange?: (server: TestServer) => void;
  readonly status: number;
  /** A part of the JSON body. */
  readonly answer?: unknown;
  readonly answerHeaders?: Readonly<Record<string, string | RegExp | null>>;
}

function failing(failure: Failure): (server: TestServer) => void {
  return ({ runtime }) => {
    runtime.onCall = () => failed(failure);
  };
}

const KEY: Partial<Config> = { apiKey: 'open sesame' };
const GREET = { method: 'POST', path: '/call/Greet', headers: JSON_HEADERS, body: '{}' };

function deep(levels: number): string {
  return `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
}

export const ROWS: readonly Row[] = [
  { title: 'a call answers the value', ...GREET, status: 200, answer: 'hello' },
  {
    title: 'a call says who answered, at what cost',
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
    },
  },
  {
    title: 'the caller may choose the request id',
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
    title: 'a charset of utf-8 may be named',
    ...GREET,
    headers: { 'content-type': 'Application/JSON; charset="UTF-8"' },
    status: 200,
  },
  { title: 'names may be percent-encoded', ...GREET, path: '/call/Gr%C3%B6%C3%9Fe', status: 200 },
  { title: 'a depth of 128 is taken', ...GREET, body: deep(128), status: 200 },
  {
    title: 'brackets in a string are no depth',
    ...GREET,
    body: JSON.stringify({ a: '[{\\"'.repeat(500) }),
    status: 200,
  },
  { title: 'a depth of 129 is refused', ...GREET, body: deep(129), status: 400, answer: { error: 'invalid_json' } },
  { title: 'a depth of 4,000 is refused', ...GREET, body: deep(4_000), status: 400, answer: { error: 'invalid_json' } },
  { title: 'no JSON is refused', ...GREET, body: '{"a":', status: 400, answer: { error: 'invalid_json' } },
  { title: 'an empty body is refused', ...GREET, body: '', status: 400, answer: { error: 'invalid_json' } },
  {
    title: 'invalid UTF-8 is refused',
    ...GREET,
    body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    status: 400,
    answer: { error: 'invalid_json', message: 'The body is not valid UTF-8.' },
  },
  { title: 'a list is no body', ...GREET, body: '[]', status: 400, answer: { error: 'invalid_argument' } },
  { title: 'null is no body', ...GREET, body: 'null', status: 400, answer: { error: 'invalid_argument' } },
  {
    title: 'arguments that do not fit are all told',
    ...GREET,
    arrange: ({ runtime }) => {
      runtime.onPrepare = () =>
        err({ code: 'invalid_argument', message: 'no', details: [{ path: 'a.b', message: 'wrong' }] });
    },
    status: 400,
    answer: { error: 'invalid_argument', message: 'no', details: [{ path: 'a.b', message: 'wrong' }] },
  },
  {
    title: 'options that do not fit are told',
    ...GREET,
    arrange: ({ runtime }) => {
      runtime.onPrepare = () => err({ code: 'invalid_options', message: 'no', details: [] });
    },
    status: 400,
    answer: { error: 'invalid_options', details: [] },
  },
  {
    title: 'a form is no JSON',
    ...GREET,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    answer: { error: 'unsupported_media_type' },
  },
  { title: 'text is no JSON', ...GREET, headers: { 'content-type': 'text/plain' }, status: 415 },
  {
    title: 'another charset is not taken',
    ...GREET,
    headers: { 'content-type': 'application/json; charset=latin1' },
    status: 415,
  },
  {
    title: 'a compressed body is not taken',
    ...GREET,
    headers: { ...JSON_HEADERS, 'content-encoding': 'gzip' },
    status: 415,
  },
  {
    title: 'a body over the limit is refused, with the limit',
    ...GREET,
    body: JSON.stringify({ a: 'x'.repeat(11_000) }),
    status: 413,
    answer: { error: 'payload_too_large', limit: 10_000 },
  },
  {
    title: 'an unknown function is told with the nearest names',
    ...GREET,
    path: '/call/greet',
    status: 404,
    answer: {
      error: 'function_not_found',
      suggestions: ['Greet'],
      message: 'There is no function "greet". Did you mean "Greet"?',
    },
  },
  {
    title: 'a wrong percent-encoding is an unknown function',
    ...GREET,
    path: '/call/%E0%A4',
    status: 404,
    answer: { error: 'function_not_found' },
  },
  { title: 'an unknown path', path: '/nope', status: 404, answer: { error: 'not_found' } },
  {
    title: 'an unknown path near a known one',
    path: '/openapi.jso',
    status: 404,
    answer: { error: 'not_found', suggestions: ['/openapi.json'] },
  },
  { title: 'the root is not found', path: '/', status: 404 },
  {
    title: 'a call is no page',
    path: '/call/Greet',
    status: 405,
    answer: { error: 'method_not_allowed' },
    answerHeaders: { allow: 'POST' },
  },
  {
    title: 'a page takes no POST',
    method: 'POST',
    path: '/openapi.json',
    body: '{}',
    status: 405,
    answerHeaders: { allow: 'GET, HEAD' },
  },
  { title: 'preflight is not known without CORS', method: 'OPTIONS', path: '/call/Greet', status: 405 },
  { title: 'without the key', config: KEY, ...GREET, status: 403, answer: { error: 'Unauthorized' } },
  {
    title: 'with a wrong key',
    config: KEY,
    ...GREET,
    headers: { ...JSON_HEADERS, 'x-svc-api-key': 'open sesam' },
    status: 403,
  },
  {
    title: 'with the key',
    config: KEY,
    ...GREET,
    headers: { ...JSON_HEADERS, 'x-svc-api-key': 'open sesame' },
    status: 200,
  },
  {
    title: 'with the key as bearer',
    config: KEY,
    ...GREET,
    headers: { ...JSON_HEADERS, authorization: 'bearer open sesame' },
    status: 200,
  },
  {
    title: 'with a wrong bearer',
    config: KEY,
    ...GREET,
    headers: { ...JSON_HEADERS, authorization: 'Basic b3Blbg==' },
    status: 403,
  },
  {
    title: 'an unknown function says nothing without the key',
    config: KEY,
    ...GREET,
    path: '/call/greet',
    status: 403,
  },
  {
    title: 'unknown paths suggest no functions without the key',
    config: KEY,
    path: '/calls/Greet',
    status: 404,
    answer: { suggestions: [] },
  },
  { title: 'a stream needs the key', config: KEY, ...GREET, path: '/stream/Greet', status: 403 },
  {
    title: 'the document needs the key',
    config: KEY,
    path: '/openapi.json',
    status: 403,
    answer: { error: 'Unauthorized' },
  },
  { title: 'metrics need the key', config: KEY, path: '/metrics', status: 403 },
  { title: 'the page needs no key', config: KEY, path: '/docs', status: 200 },
  { title: 'ping needs no key', config: KEY, path: '/_debug/ping', status: 200, answer: { status: 'ok' } },
  { title: 'livez needs no key', config: KEY, path: '/livez', status: 200 },
  { title: 'readyz needs no key', config: KEY, path: '/readyz', status: 200 },
  { title: 'healthz needs no key', config: KEY, path: '/healthz', status: 200 },
  {
    title: 'status without authentication',
    path: '/_debug/status',
    status: 200,
    answer: { authz: { enforcement: 'none' } },
  },
  {
    title: 'status with the key',
    config: KEY,
    path: '/_debug/status',
    headers: { 'x-svc-api-key': 'open sesame' },
    status: 200,
    answer: { authz: { enforcement: 'active', outcome: 'pass' } },
  },
  {
    title: 'status with a wrong key',
    config: KEY,
    path: '/_debug/status',
    headers: { 'x-svc-api-key': 'x' },
    status: 403,
    answer: { error: 'Unauthorized', authz: { enforcement: 'active', outcome: 'fail' } },
  },
  {
    title: 'readyz while draining',
    path: '/readyz',
    arrange: ({ services }) => (services.health.ready = false),
    status: 503,
    answer: { error: 'draining' },
    answerHeaders: { 'retry-after': '1' },
  },
  {
    title: 'livez while draining',
    path: '/livez',
    arrange: ({ services }) => (services.health.ready = false),
    status: 200,
  },
  {
    title: 'the document',
    path: '/openapi.json',
    status: 200,
    answer: { openapi: '3.0.3' },
    answerHeaders: { 'content-type': 'application/json', etag: /^"[\w-]{22}"$/ },
  },
  {
    title: 'metrics',
    path: '/metrics',
    status: 200,
    answerHeaders: { 'content-type': /^text\/plain; version=0\.0\.4/ },
  },
  {
    title: 'the page has a policy',
    path: '/docs',
    status: 200,
    answerHeaders: {
      'content-security-policy': /default-src 'none'/,
      'x-content-type-options': 'nosniff',
      'content-type': /text\/html/,
    },
  },
  {
    title: 'a file of the page',
    path: '/docs/swagger-ui.css',
    status: 200,
    answerHeaders: { 'content-type': /text\/css/ },
  },
  { title: 'no other file', path: '/docs/../../package.json', status: 404 },
  { title: 'no page with a slash at the end', path: '/docs/', status: 404 },
  { title: 'HEAD of a page', method: 'HEAD', path: '/livez', status: 200 },
  { title: 'HEAD of the document', method: 'HEAD', path: '/openapi.json', status: 200, answerHeaders: { etag: /^"/ } },
  { title: 'HEAD of a call', method: 'HEAD', path: '/call/Greet', status: 405 },
  {
    title: 'a missing credential',
    ...GREET,
    arrange: failing({ code: 'missing_credential', message: 'no key', client: 'Fast', variable: 'OPENAI_API_KEY' }),
    status: 500,
    answer: { error: 'missing_credential', message: 'no key', client: 'Fast', variable: 'OPENAI_API_KEY' },
  },
  {
    title: 'a reply that does not fit',
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
    answer: { error: 'internal_error', message: 'The server failed in a way that it should not.' },
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
    title: 'no place and no queue',
    config: { maxInFlight: 0, maxQueue: 0 },
    ...GREET,
    status: 503,
    answer: { error: 'overloaded' },
    answerHeaders: { 'retry-after': '1' },
  },
  {
    title: 'probes are answered without any place',
    config: { maxInFlight: 0, maxQueue: 0 },
    path: '/readyz',
    status: 200,
  },
  {
    title: 'render is unknown without beta',
    ...GREET,
    path: '/render/Greet',
    status: 404,
    answer: { error: 'not_found' },
  },
  { title: 'parse is unknown without beta', ...GREET, path: '/parse/Greet', status: 404 },
  {
    title: 'render shows the messages',
    config: { features: ['beta'] },
    ...GREET,
    path: '/render/Greet',
    status: 200,
    answer: { messages: [{ role: 'user', parts: [{ kind: 'text', text: 'prompt of Greet' }] }] },
  },
  {
    title: 'parse gives the value',
    config: { features: ['beta'] },
    ...GREET,
    path: '/parse/Greet',
    body: '{"text":"abc"}',
    status: 200,
    answer: 'abc',
  },
  {
    title: 'parse needs a text',
    config: { features: ['beta'] },
    ...GREET,
    path: '/parse/Greet',
    body: '{"text":1}',
    status: 400,
    answer: {
      error: 'invalid_argument',
      details: [{ path: 'text', message: 'has to be a string: the reply of a model' }],
    },
  },
  {
    title: 'parse knows no other key',
    config: { features: ['beta'] },
    ...GREET,
    path: '/parse/Greet',
    body: '{"text":"","x":1}',
    status: 400,
  },
  {
    title: 'parse of a text that does not fit',
    config: { features: ['beta'] },
    ...GREET,
    path: '/parse/Greet',
    body: '{"text":"abc"}',
    arrange: ({ runtime }) =>
      (runtime.onParse = (text) => err(validationFailure({ message: 'no', details: [] }, text))),
    status: 500,
    answer: { error: 'validation_failure', raw_output: 'abc' },
  },
  { title: 'a path prefix', config: { basePath: '/llm' }, ...GREET, path: '/llm/call/Greet', status: 200 },
  { title: 'without the path prefix', config: { basePath: '/llm' }, path: '/livez', status: 200 },
  {
    title: 'something that only begins like the prefix',
    config: { basePath: '/llm' },
    path: '/llms/livez',
    status: 404,
  },
  {
    title: 'an invited origin',
    config: { corsOrigins: ['https://a.example'] },
    ...GREET,
    headers: { ...JSON_HEADERS, origin: 'https://a.example' },
    status: 200,
    answerHeaders: { 'access-control-allow-origin': 'https://a.example', vary: 'origin' },
  },
  {
    title: 'another origin',
    config: { corsOrigins: ['https://a.example'] },
    ...GREET,
    headers: { ...JSON_HEADERS, origin: 'https://b.example' },
    status: 200,
    answerHeaders: { 'access-control-allow-origin': null, vary: 'origin' },
  },
  {
    title: 'any origin',
    config: { corsOrigins: ['*'] },
    ...GREET,
    headers: { ...JSON_HEADERS, origin: 'https://b.example' },
    status: 200,
    answerHeaders: { 'access-control-allow-origin': '*' },
  },
  {
    title: 'preflight',
    config: { corsOrigins: ['*'] },
    method: 'OPTIONS',
    path: '/call/Greet',
    headers: { origin: 'https://b.example' },
    status: 204,
    answerHeaders: { 'access-control-allow-headers': /x-svc-api-key/ },
  },
];

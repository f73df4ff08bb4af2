import { hash } from 'node:crypto';
import type { Config } from '../../../src/config/config.ts';
import type { LimitSet } from '../../../src/policy/limiter.ts';
import type { TestServer } from '../support/test-server.ts';
import { GREET, JSON_HEADERS, KEY, type Row } from './row.ts';

function sha256(key: string): string {
  return hash('sha256', key);
}

const KEYS: Partial<Config> = {
  keyFile: {
    keys: [
      { name: 'all', sha256: sha256('key of all') },
      { name: 'few', sha256: sha256('key of few'), functions: ['Other*'] },
      { name: 'old', sha256: sha256('key of old'), expiresAt: 1 },
      { name: 'off', sha256: sha256('key of off'), disabled: true },
    ],
  },
};

function withKey(key: string): Record<string, string> {
  return { ...JSON_HEADERS, 'x-svc-api-key': key };
}

const LIMITED: Partial<Config> = {
  keyFile: { keys: [{ name: 'few', sha256: sha256('key of few'), limits: { inFlight: 2 } }] },
};

const ADDRESS_LIMITED: Partial<Config> = { keyFile: { defaultLimits: { requestsPerMinute: 60, inFlight: 2 } } };

/** Takes both units of the limit of calls in flight. */
function reachLimit({ services }: TestServer, set: LimitSet | undefined): void {
  const { limiter } = services;
  if (limiter === undefined || set === undefined) return;
  for (let call = 0; call < 2; call += 1) void limiter.take(limiter.reservation(set, { functionName: 'Greet' }, 0));
}

/** The limits of callers. */
const LIMIT_ROWS: readonly Row[] = [
  {
    title: 'the answer of a limited key states its limits',
    config: LIMITED,
    ...GREET,
    headers: withKey('key of few'),
    status: 200,
    answerHeaders: { 'ratelimit-policy': '"in_flight";q=2;qu="concurrent-requests"', ratelimit: '"in_flight";r=1' },
  },
  {
    title: 'a key that has reached its limit',
    config: LIMITED,
    arrange: (server) => {
      const limits = { inFlight: 2 };
      reachLimit(server, server.services.limiter?.setOfKey({ name: 'few', limits }));
    },
    ...GREET,
    headers: withKey('key of few'),
    status: 429,
    answer: {
      error: 'rate_limited',
      message: 'The key "few" has reached its limit of calls in flight: try again in 1 s.',
      limit_name: 'in_flight',
    },
    answerHeaders: { 'retry-after': '1', ratelimit: '"in_flight";r=0' },
  },
  {
    title: 'an address that has reached its limit on a server without keys',
    config: ADDRESS_LIMITED,
    arrange: (server) =>
      reachLimit(
        server,
        server.services.limiter?.setOfAddress(() => '127.0.0.1'),
      ),
    ...GREET,
    status: 429,
    answer: {
      error: 'rate_limited',
      message: 'Your address has reached its limit of calls in flight: try again in 1 s.',
    },
  },
  {
    title: 'a request with a fault does not count',
    config: ADDRESS_LIMITED,
    ...GREET,
    body: '[]',
    status: 400,
    answerHeaders: { ratelimit: '"requests_per_minute";r=60;t=60, "in_flight";r=2' },
  },
  { title: 'without limits there are no such headers', ...GREET, status: 200, answerHeaders: { ratelimit: null } },
];

/** The keys of a file. */
const FILE_ROWS: readonly Row[] = [
  { title: 'with a key of the file', config: KEYS, ...GREET, headers: withKey('key of all'), status: 200 },
  { title: 'with a key that the file lacks', config: KEYS, ...GREET, headers: withKey('key of none'), status: 403 },
  {
    title: 'with an expired key',
    config: KEYS,
    ...GREET,
    headers: withKey('key of old'),
    status: 403,
    answer: {
      error: 'Unauthorized',
      message: 'The API key has expired: ask the operator of this server for another one.',
    },
  },
  {
    title: 'with a disabled key',
    config: KEYS,
    ...GREET,
    headers: withKey('key of off'),
    status: 403,
    answer: {
      error: 'Unauthorized',
      message: 'The API key is disabled: ask the operator of this server for another one.',
    },
  },
  {
    title: 'a key calls no function that it does not allow',
    config: KEYS,
    ...GREET,
    headers: withKey('key of few'),
    status: 403,
    answer: { error: 'Forbidden', message: 'The key "few" cannot call the function "Greet".' },
  },
  {
    title: 'the answer is the same for a function that does not exist',
    config: KEYS,
    ...GREET,
    path: '/stream/Greets',
    headers: withKey('key of few'),
    status: 403,
    answer: { error: 'Forbidden', message: 'The key "few" cannot call the function "Greets".' },
  },
  {
    title: 'unknown paths suggest no functions that the key does not allow',
    config: KEYS,
    path: '/calls/Greet',
    headers: withKey('key of few'),
    status: 404,
    answer: { suggestions: [] },
  },
  {
    title: 'a key for some functions reads no metrics',
    config: KEYS,
    path: '/metrics',
    headers: withKey('key of few'),
    status: 403,
    answer: { error: 'Forbidden' },
  },
  {
    title: 'a key for all functions reads metrics',
    config: KEYS,
    path: '/metrics',
    headers: withKey('key of all'),
    status: 200,
  },
  {
    title: 'status with a key of the file',
    config: KEYS,
    path: '/_debug/status',
    headers: withKey('key of few'),
    status: 200,
    answer: { authz: { enforcement: 'active', outcome: 'pass' } },
  },
];

/** The paths that need the key, the ways to send it, and the open paths. */
export const AUTHENTICATION_ROWS: readonly Row[] = [
  { title: 'without the key', config: KEY, ...GREET, status: 403, answer: { error: 'Unauthorized' } },
  {
    title: 'without a key, a playground serves no page of another origin',
    config: { playground: true },
    ...GREET,
    headers: { ...JSON_HEADERS, origin: 'https://other.example' },
    status: 403,
    answer: { error: 'not_local' },
  },
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
    title: 'with the key in the header of BAML',
    config: KEY,
    ...GREET,
    headers: { ...JSON_HEADERS, 'x-baml-api-key': 'open sesame' },
    status: 200,
  },
  {
    title: 'with a wrong key in the header of BAML',
    config: KEY,
    ...GREET,
    headers: { ...JSON_HEADERS, 'x-baml-api-key': 'open sesame!' },
    status: 403,
  },
  {
    title: 'with a wrong key in its own header, which decides',
    config: KEY,
    ...GREET,
    headers: { ...JSON_HEADERS, 'x-svc-api-key': 'x', 'x-baml-api-key': 'open sesame' },
    status: 403,
  },
  {
    title: 'with a wrong bearer',
    config: KEY,
    ...GREET,
    headers: { ...JSON_HEADERS, authorization: 'Basic b3Blbg==' },
    status: 403,
  },
  {
    title: 'an unknown function reveals nothing without the key',
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
    answer: {
      authz: { enforcement: 'active', outcome: 'pass' },
      version: '1.2.3',
      program: 'abc',
      uptime_seconds: 90,
      workers: [],
      clients: [],
    },
  },
  {
    title: 'status with a wrong key',
    config: KEY,
    path: '/_debug/status',
    headers: { 'x-svc-api-key': 'x' },
    status: 403,
    answer: { error: 'Unauthorized', authz: { enforcement: 'active', outcome: 'fail' } },
  },
  ...FILE_ROWS,
  ...LIMIT_ROWS,
];

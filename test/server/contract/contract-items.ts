import { ERROR_CODES } from '../../../src/schema/errors.ts';
import type { Row } from './row.ts';

/** One promise to callers, and the tests that verify it. */
export interface ContractItem {
  readonly promise: string;
  /** Rows that verify it. */
  readonly rows?: (row: Row) => boolean;
  /** Names of tests for promises that one request cannot verify; each runs over both transports. */
  readonly tests?: readonly string[];
}

/** Errors of input that never becomes a request: tests send it as bytes on a socket. */
const REFUSED_EARLY: ReadonlySet<string> = new Set([
  'bad_request',
  'headers_too_large',
  'not_implemented',
  'request_timeout',
]);

function answersAt(path: RegExp): (row: Row) => boolean {
  return (row) => row.status === 200 && path.test(row.path);
}

const ENDPOINTS: readonly ContractItem[] = [
  { promise: 'POST /call/{function}', rows: answersAt(/^\/call\//) },
  {
    promise: 'POST /stream/{function}',
    tests: ['sends the first partial at once, then at most one in 50 ms, then one final value'],
  },
  { promise: 'GET /docs', rows: answersAt(/^\/docs$/) },
  {
    promise: 'GET /openapi.json, with an ETag',
    rows: (row) => row.answerHeaders?.['etag'] !== undefined,
    tests: ['answers 304 to the etag that it sent'],
  },
  { promise: 'GET /_debug/ping', rows: answersAt(/^\/_debug\/ping$/) },
  { promise: 'GET /_debug/status', rows: answersAt(/^\/_debug\/status$/) },
  { promise: 'GET /livez, /readyz, /healthz', rows: (row) => /^\/(?:livez|readyz|healthz)$/.test(row.path) },
  { promise: 'GET /metrics', rows: answersAt(/^\/metrics$/) },
  { promise: 'POST /render/{function} (beta)', rows: (row) => row.path.startsWith('/render/') },
  { promise: 'POST /parse/{function} (beta)', rows: (row) => row.path.startsWith('/parse/') },
  { promise: 'HEAD where GET works', rows: (row) => row.method === 'HEAD' && row.status === 200 },
  { promise: 'names are case-sensitive and can be percent-encoded', rows: (row) => /%|greet/.test(row.path) },
];

const ERRORS: readonly ContractItem[] = ERROR_CODES.map((code) => ({
  promise: `error ${code}`,
  rows: (row) => (row.answer as { readonly error?: string } | undefined)?.error === code,
  tests: REFUSED_EARLY.has(code) ? [`answers ${code} in the form of every other error`] : [],
}));

const ANSWERS: readonly ContractItem[] = [
  {
    promise: 'x-request-id, the caller’s if its form is valid',
    rows: (row) => row.answerHeaders?.['x-request-id'] !== undefined,
  },
  { promise: 'x-svc-lossy of calls with losses', rows: (row) => row.answerHeaders?.['x-svc-lossy'] !== undefined },
  {
    promise: 'warnings beside the final result',
    tests: ['lists what the final value lacks if the caller asks for warnings'],
  },
  { promise: 'x-svc-* and server-timing of calls', rows: (row) => row.answerHeaders?.['server-timing'] !== undefined },
  { promise: '405 with Allow', rows: (row) => row.status === 405 && row.answerHeaders?.['allow'] !== undefined },
  {
    promise: '503 with Retry-After',
    rows: (row) => row.status === 503 && row.answerHeaders?.['retry-after'] !== undefined,
  },
  {
    promise: 'the first answer again for an idempotency key',
    rows: (row) => row.answerHeaders?.['idempotency-replayed'] === 'true',
  },
  {
    promise: 'the prompt in failures only with --expose-prompts',
    tests: ['includes the prompt in a failure only where that is allowed'],
  },
];

const STREAMS: readonly ContractItem[] = [
  {
    promise: 'zero or more partials, then one final result',
    tests: ['sends only a final value when there was no text before it'],
  },
  {
    promise: 'after a failure, the error instead of the final result',
    tests: ['ends with an error event when the failure happens later'],
  },
  { promise: 'reset before partials start again', tests: ['reports when partials start again'] },
  {
    promise: 'always exactly one last message',
    tests: [
      'ignores events after the last message',
      'receives the error of a drain as the last message, before and after the first text',
    ],
  },
  {
    promise: 'true status before the first text',
    tests: ['answers a failure before the first text with its true status'],
  },
  { promise: '… or 5 s', tests: ['opens after a time without text, and reports later failures in the stream'] },
  {
    promise: 'comments when it opens and in silence',
    tests: [
      'has the headers of a stream, and a comment first',
      'sends a comment after a time of silence',
      'opens after this time while it waits for a slot, too',
    ],
  },
  {
    promise: 'no reader takes a character of an event for the end of a line',
    tests: ['escapes the characters that some readers take for the end of a line'],
  },
  { promise: 'one partial per interval, 0: every one', tests: ['sends every partial when the interval is 0'] },
  {
    promise: 'a slow reader receives the newest partial',
    tests: ['sends a slow reader the newest value instead of all, and the complete final one'],
  },
  {
    promise: 'order and exact bytes under random stalls',
    tests: ['keeps the order and all bytes under random stalls'],
  },
  { promise: 'a time limit', tests: ['has a time limit that includes the wait for a slot'] },
  {
    promise: 'large events are sent whole, in parts that the library accepts',
    tests: ['sends a large chunk byte for byte to a reader that stalls'],
  },
  {
    promise: 'a reader that accepts nothing is cut',
    tests: [
      'waits for a reader that takes nothing, longer than the libraries do',
      'cuts a reader that accepts nothing for too long, and cancels its call',
    ],
  },
  {
    promise: 'buffered bytes are capped',
    tests: [
      'cuts a reader when the backlog is full, and releases its share',
      'limits the bytes of unfinished bodies over all connections',
    ],
  },
  {
    promise: 'the end of a reader cancels the call upstream',
    tests: ['cancels the upstream call when the reader leaves', 'cancels the call of a caller who left'],
  },
];

const AUTHENTICATION: readonly ContractItem[] = [
  { promise: 'x-svc-api-key', rows: (row) => keyed(row) && row.headers?.['x-svc-api-key'] !== undefined },
  { promise: 'x-baml-api-key', rows: (row) => keyed(row) && row.headers?.['x-baml-api-key'] !== undefined },
  { promise: 'Authorization: Bearer', rows: (row) => keyed(row) && row.headers?.['authorization'] !== undefined },
  {
    promise: 'open without a key: ping, probes, the page',
    rows: (row) => keyed(row) && row.status === 200 && row.headers === undefined,
  },
  { promise: 'closed without a key: everything else', rows: (row) => keyed(row) && row.status === 403 },
  {
    promise: 'status with a bad key',
    rows: (row) => keyed(row) && row.path === '/_debug/status' && row.status === 403,
  },
];

const LIMITS: readonly ContractItem[] = [
  {
    promise: 'keep-alive, with a hint of how long',
    tests: ['answers with status, headers and body, and keeps the connection'],
  },
  { promise: 'depth of 128', rows: (row) => row.title.startsWith('a depth of') },
  { promise: 'body size, with the limit', rows: (row) => row.status === 413 },
  {
    promise: 'in-flight and queue',
    rows: (row) => row.config?.maxInFlight === 0,
    tests: ['serves waiting calls in order of arrival', 'releases the slot of a caller who left while it waited'],
  },
  { promise: 'CORS only for allowed origins', rows: (row) => row.config?.corsOrigins !== undefined },
  { promise: 'a path prefix', rows: (row) => row.config?.basePath !== undefined },
];

function keyed(row: Row): boolean {
  return row.config?.apiKey !== undefined;
}

/** All promises. */
export const CONTRACT_ITEMS: readonly ContractItem[] = [
  ...ENDPOINTS,
  ...ERRORS,
  ...ANSWERS,
  ...STREAMS,
  ...AUTHENTICATION,
  ...LIMITS,
];

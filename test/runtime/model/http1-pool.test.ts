import type { Dispatcher } from 'undici';
import { Dispatcher as UndiciDispatcher } from 'undici';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Http1Pool } from '../../../src/runtime/model/http/http1-pool.ts';
import type { SentRequest } from '../../../src/runtime/model/http/origin-pool.ts';

/** Connections that accept requests and never answer: the test calls the handler of the latest one. */
class SilentConnections extends UndiciDispatcher {
  handler: Dispatcher.DispatchHandler | undefined;
  requests = 0;

  override dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.handler = handler;
    this.requests += 1;
    return true;
  }
}

const CALL = { path: '/', headers: [], body: '{}' };

/** The end of a connection that was used before. */
const ENDED_AFTER_USE = Object.assign(new Error('reset'), { code: 'ECONNRESET', socket: { bytesRead: 100 } });

let aborted: number;
const controller: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort: () => (aborted += 1),
  pause: () => {},
  resume: () => {},
};

beforeEach(() => {
  aborted = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

interface Sent {
  readonly connections: SilentConnections;
  readonly request: SentRequest;
  /** The events that the listener received. */
  readonly received: readonly string[];
  /** How often the last waiting request of the pool gave up. */
  readonly stopped: () => number;
}

function sent(): Sent {
  const connections = new SilentConnections();
  let stopped = 0;
  const pool = new Http1Pool(connections, { canPause: true, answering: undefined }, { stop: () => (stopped += 1) });
  const received: string[] = [];
  const request = pool.send(CALL, {
    onSent: () => received.push('sent'),
    onResend: () => received.push('resend'),
    onHeaders: (status) => received.push(`headers ${status}`),
    onData: (chunk) => received.push(`data ${chunk.length}`),
    onEnd: () => received.push('end'),
    onFailure: (failure) => received.push(failure.kind),
  });
  return { connections, request, received, stopped: () => stopped };
}

test('the pool repeats a request if its kept connection ends at once, at most twice', async () => {
  const { connections, received } = sent();
  for (let count = 1; count <= 3; count += 1) {
    expect(connections.requests).toBe(count);
    connections.handler?.onRequestStart?.(controller, {});
    connections.handler?.onResponseError?.(controller, ENDED_AFTER_USE);
    await vi.runAllTimersAsync();
  }
  expect(connections.requests).toBe(3);
  expect(received).toEqual(['sent', 'resend', 'sent', 'resend', 'sent', 'network']);
});

test('the pool does not repeat a request whose connection ends after a while, because the provider can have received it', async () => {
  const { connections, received } = sent();
  connections.handler?.onRequestStart?.(controller, {});
  await vi.advanceTimersByTimeAsync(200);
  connections.handler?.onResponseError?.(controller, ENDED_AFTER_USE);
  await vi.runAllTimersAsync();
  expect(connections.requests).toBe(1);
  expect(received).toEqual(['sent', 'network']);
});

test('the pool does not repeat a request after an interim answer, because the provider has received it', async () => {
  const { connections, received } = sent();
  connections.handler?.onRequestStart?.(controller, {});
  connections.handler?.onResponseStart?.(controller, 103, {});
  connections.handler?.onResponseError?.(controller, ENDED_AFTER_USE);
  await vi.runAllTimersAsync();
  expect(connections.requests).toBe(1);
  expect(received).toEqual(['sent', 'network']);
});

test('the pool does not repeat a request on a new connection', async () => {
  const { connections, received } = sent();
  connections.handler?.onRequestStart?.(controller, {});
  const error = Object.assign(new Error('reset'), { code: 'ECONNRESET', socket: { bytesRead: 0 } });
  connections.handler?.onResponseError?.(controller, error);
  await vi.runAllTimersAsync();
  expect(connections.requests).toBe(1);
  expect(received).toEqual(['sent', 'network']);
});

test('the pool does not repeat a cancelled request', async () => {
  const { connections, request, received } = sent();
  connections.handler?.onRequestStart?.(controller, {});
  connections.handler?.onResponseError?.(controller, ENDED_AFTER_USE);
  request.cancel();
  await vi.runAllTimersAsync();
  expect(connections.requests).toBe(1);
  expect(received).toEqual(['sent', 'resend']);
});

test('a cancelled request that receives its connection afterwards gives it up at once', () => {
  const { connections, request, received, stopped } = sent();
  request.cancel();
  expect(stopped()).toBe(1);
  connections.handler?.onRequestStart?.(controller, {});
  expect(aborted).toBe(1);
  expect(received).toEqual([]);
});

test('a reply that breaks off is cut', () => {
  const { connections, received } = sent();
  connections.handler?.onRequestStart?.(controller, {});
  connections.handler?.onResponseStart?.(controller, 200, {});
  connections.handler?.onResponseError?.(controller, new Error('reset'));
  expect(received).toEqual(['sent', 'headers 200', 'cut']);
});

/** A request that its reader has finished before the end of the response. */
function finished(): Sent {
  const made = sent();
  made.connections.handler?.onRequestStart?.(controller, {});
  made.connections.handler?.onResponseStart?.(controller, 200, {});
  made.request.finish();
  return made;
}

test('the pool keeps the connection of a finished request if its response ends soon', async () => {
  const { connections, received } = finished();
  connections.handler?.onResponseData?.(controller, Buffer.alloc(60_000));
  connections.handler?.onResponseEnd?.(controller, {});
  await vi.runAllTimersAsync();
  expect(aborted).toBe(0);
  expect(received).toEqual(['sent', 'headers 200']);
});

test.each<[string, (connections: SilentConnections) => void]>([
  ['sends more', ({ handler }) => handler?.onResponseData?.(controller, Buffer.alloc(70_000))],
  ['does not end', () => vi.advanceTimersByTime(1000)],
])('the pool gives up the connection of a finished request whose response %s', (_what, go) => {
  const { connections, received } = finished();
  expect(aborted).toBe(0);
  go(connections);
  expect(aborted).toBe(1);
  expect(received).toEqual(['sent', 'headers 200']);
});

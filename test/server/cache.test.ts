import { afterEach, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import type { CallOutcome } from '../../src/runtime/call/runtime.ts';
import type { Failure } from '../../src/schema/failure.ts';
import { readStream } from '../support/sse.ts';
import { failed, lossySuccess, success } from './support/scripted-runtime.ts';
import { startServer, type TestServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';
import { until } from './support/until.ts';

const servers: TestServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

function call({ url }: TestServer, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${url}/call/Greet`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{}',
  });
}

function holdCalls({ runtime }: TestServer): Array<(outcome: CallOutcome) => void> {
  const ends: Array<(outcome: CallOutcome) => void> = [];
  runtime.onCall = () => new Promise((resolve) => ends.push(resolve));
  return ends;
}

/** Makes every kept answer this old. */
function age({ answers }: TestServer, ageMs: number): void {
  const claim = answers.claim.bind(answers);
  answers.claim = async (key, waitMs) => {
    const claimed = await claim(key, waitMs);
    return claimed.kind === 'kept' ? { ...claimed, ageMs } : claimed;
  };
}

describe.each(TRANSPORTS)('over %s', (name) => {
  async function start(config: Partial<Config> = {}): Promise<TestServer> {
    const server = await startServer(name, config);
    servers.push(server);
    server.runtime.cacheTtlMs = 600_000;
    return server;
  }

  it('answers equal calls from the cache, with their age', async () => {
    const server = await start();
    age(server, 61_999);
    server.runtime.onCall = lossySuccess;
    const first = await call(server);
    expect(first.headers.get('x-svc-cache')).toBe('miss');
    expect(first.headers.get('age')).toBeNull();
    const hit = await call(server);
    expect(await hit.json()).toEqual(await first.json());
    expect(Object.fromEntries(hit.headers)).toMatchObject({
      'x-svc-cache': 'hit',
      age: '61',
      'x-svc-client': 'Fast',
      'x-svc-lossy': 'dropped=2, defaulted=1',
    });
    expect(hit.headers.get('x-svc-input-tokens')).toBeNull();
    expect(server.runtime.calls).toHaveLength(1);
  });

  it('says nothing about the cache to calls that do not ask for it', async () => {
    const server = await start();
    server.runtime.cacheTtlMs = undefined;
    for (let at = 0; at < 2; at += 1) expect((await call(server)).headers.get('x-svc-cache')).toBeNull();
    expect(server.runtime.calls).toHaveLength(2);
    expect(server.answers.counts).toEqual({ entries: 0, bytes: 0, waits: 0 });
  });

  it('bypasses the cache for a call that no other call equals, and for a time of 0', async () => {
    const server = await start();
    server.runtime.onIdentity = () => undefined;
    for (let at = 0; at < 2; at += 1) expect((await call(server)).headers.get('x-svc-cache')).toBe('bypass');
    server.runtime.onIdentity = () => 'same';
    server.runtime.cacheTtlMs = 0;
    for (let at = 0; at < 2; at += 1) expect((await call(server)).headers.get('x-svc-cache')).toBe('bypass');
    expect(server.runtime.calls).toHaveLength(4);
  });

  it('keeps no failure', async () => {
    const server = await start();
    const failure: Failure = { code: 'validation_failure', message: 'no', rawOutput: '?', details: [] };
    server.runtime.onCall = () => failed(failure);
    const refused = await call(server);
    expect([refused.status, refused.headers.get('x-svc-cache')]).toEqual([500, 'miss']);
    server.runtime.onCall = () => success('fine');
    const answer = await call(server);
    expect([await answer.json(), answer.headers.get('x-svc-cache')]).toEqual(['fine', 'miss']);
  });

  it('lets one of several equal calls run', async () => {
    const server = await start();
    const ends = holdCalls(server);
    const all = Array.from({ length: 5 }, () => call(server));
    await until(() => ends.length === 1 && server.answers.counts.waits === 4);
    ends[0]?.(success('once'));
    const outcomes = (await Promise.all(all)).map(({ headers }) => headers.get('x-svc-cache'));
    expect(outcomes.filter((outcome) => outcome === 'hit')).toHaveLength(4);
    expect(ends).toHaveLength(1);
  });

  it('lets a call run whose wait for an equal one takes half of its time', async () => {
    const server = await start({ requestTimeoutMs: 1_000 });
    const ends = holdCalls(server);
    const first = call(server);
    await until(() => ends.length === 1);
    const second = call(server);
    await until(() => ends.length === 2);
    ends[1]?.(success('second'));
    const answer = await second;
    expect([await answer.json(), answer.headers.get('x-svc-cache')]).toEqual(['second', 'miss']);
    ends[0]?.(success('first'));
    expect(await (await first).json()).toBe('first');
    expect(await (await call(server)).json()).toBe('first');
  });

  it('gives streams and calls the same answer', async () => {
    const server = await start();
    server.runtime.onCall = () => success('value');
    await call(server);
    const stream = await readStream(`${server.url}/stream/Greet`, {});
    expect(stream.headers.get('x-svc-cache')).toBe('hit');
    expect(stream.messages.map(({ data }) => data)).toEqual([{ partial_result: 'value' }, { final_result: 'value' }]);
    expect(server.runtime.streams).toHaveLength(0);
  });

  it('keeps the answer of the cache under an idempotency key too', async () => {
    const server = await start();
    await call(server);
    const hit = await call(server, { 'idempotency-key': 'k' });
    expect([hit.headers.get('x-svc-cache'), hit.headers.get('idempotency-replayed')]).toEqual(['hit', null]);
    const again = await call(server, { 'idempotency-key': 'k' });
    expect([again.headers.get('x-svc-cache'), again.headers.get('idempotency-replayed')]).toEqual([null, 'true']);
    expect(server.runtime.calls).toHaveLength(1);
  });

  it('runs calls when the store fails', async () => {
    const server = await start();
    server.answers.claim = () => Promise.reject(new Error('no store'));
    const answer = await call(server);
    expect([answer.status, answer.headers.get('x-svc-cache')]).toEqual([200, 'miss']);
  });

  it('logs and counts what happened', async () => {
    const server = await start();
    age(server, 1_500);
    await call(server);
    await call(server);
    server.runtime.cacheTtlMs = 0;
    await call(server);
    const lines = server.log.filter(({ message }) => message === 'request');
    expect(lines.map(({ fields }) => [fields['cache'], fields['cacheAgeMs']])).toEqual([
      ['miss', undefined],
      ['hit', 1_500],
      ['bypass', undefined],
    ]);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    for (const outcome of ['hit', 'miss', 'bypass']) {
      expect(metrics).toContain(`svc_cached_calls_total{function="Greet",outcome="${outcome}"} 1`);
    }
  });
});

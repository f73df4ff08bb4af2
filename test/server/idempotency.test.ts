import { afterEach, describe, expect, it } from 'vitest';
import { err } from '../../src/base/result.ts';
import type { Config } from '../../src/config/config.ts';
import type { CallOutcome } from '../../src/runtime/call/runtime.ts';
import type { Failure } from '../../src/schema/failure.ts';
import { readStream } from '../support/sse.ts';
import { failed, lossySuccess, REPORT, success } from './support/scripted-runtime.ts';
import { startServer, type TestServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';
import { until } from './support/until.ts';

const servers: TestServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

interface CallOptions {
  readonly key?: string;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

function call({ url }: TestServer, { key = 'k', body = '{}', signal }: CallOptions = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  return fetch(`${url}/call/Greet`, { method: 'POST', headers, body, ...(signal === undefined ? {} : { signal }) });
}

/** The calls of the runtime that have not ended, each with its end. */
function holdCalls({ runtime }: TestServer): Array<(outcome: CallOutcome) => void> {
  const ends: Array<(outcome: CallOutcome) => void> = [];
  runtime.onCall = () => new Promise((resolve) => ends.push(resolve));
  return ends;
}

const REFUSED: Failure = { code: 'refusal', message: 'No.', client: 'Fast', rawOutput: 'I will not.' };

describe.each(TRANSPORTS)('over %s', (name) => {
  async function start(config: Partial<Config> = {}): Promise<TestServer> {
    const server = await startServer(name, config);
    servers.push(server);
    return server;
  }

  it('runs a call once, and answers all equal ones', async () => {
    const server = await start();
    const ends = holdCalls(server);
    const all = Array.from({ length: 5 }, () => call(server));
    await until(() => ends.length === 1 && server.services.active.size === 5);
    ends[0]?.(success('once'));
    const answers = await Promise.all(all);
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual(Array(5).fill('once'));
    const replayed = answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
    expect(replayed).toHaveLength(4);
    for (const { headers } of replayed) {
      expect(headers.get('x-svc-client')).toBe('Fast');
      // A repetition asks no model, so it has no attempts and no cost.
      expect(headers.get('x-svc-attempts')).toBeNull();
      expect(headers.get('server-timing')).toMatch(/^total;dur=/u);
    }
    expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(5);
    expect(ends).toHaveLength(1);
  });

  it('keeps the parts and the losses of an answer', async () => {
    const server = await start();
    server.runtime.include = new Set(['warnings', 'usage']);
    server.runtime.onCall = lossySuccess;
    const first = await call(server);
    const again = await call(server);
    expect(await again.json()).toEqual(await first.json());
    expect(again.headers.get('x-svc-lossy')).toBe(first.headers.get('x-svc-lossy'));
    expect(server.runtime.calls).toHaveLength(1);
  });

  it('runs calls with other keys, functions and bodies', async () => {
    const server = await start();
    await call(server);
    await call(server, { key: 'other' });
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
    await fetch(`${server.url}/call/Sum`, { method: 'POST', headers, body: '{}' });
    expect(server.runtime.calls).toHaveLength(3);
    const conflict = await call(server, { body: '{ }' });
    expect(conflict.status).toBe(422);
    expect(await conflict.json()).toMatchObject({ error: 'idempotency_conflict' });
    expect(server.runtime.calls).toHaveLength(3);
  });

  it.each([
    ['refusal', REFUSED],
    ['prompt_error', { code: 'prompt_error', message: 'main.svc:4:9' } as const],
    ['validation_failure', { code: 'validation_failure', message: 'no', rawOutput: '?', details: [] } as const],
  ])('keeps the failure %s', async (_, failure) => {
    const server = await start();
    server.runtime.onCall = () => failed(failure);
    const first = (await (await call(server)).json()) as { readonly request_id: string };
    const again = await call(server);
    expect(again.status).toBe(500);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.json()).toEqual({ ...first, request_id: again.headers.get('x-request-id') });
    expect(server.runtime.calls).toHaveLength(1);
  });

  it.each([
    ['client_error', { code: 'client_error', message: 'down', client: 'Fast', attempts: [] } as const],
    ['overloaded', { code: 'overloaded', message: 'full', retryAfterSeconds: 1 } as const],
    ['timeout', { code: 'timeout', message: 'late', timer: 'total', afterMs: 5 } as const],
    ['missing_credential', { code: 'missing_credential', message: 'no', client: 'Fast', variable: 'K' } as const],
    ['internal_error', { code: 'internal_error', message: 'bug' } as const],
  ])('runs the call again after %s', async (_, failure) => {
    const server = await start();
    server.runtime.onCall = () => failed(failure);
    expect((await call(server)).status).toBeGreaterThanOrEqual(500);
    server.runtime.onCall = () => success('fine');
    const again = await call(server);
    expect(await again.json()).toBe('fine');
    expect(again.headers.get('idempotency-replayed')).toBeNull();
  });

  it('runs the next waiting call when the first one fails, or its caller leaves', async () => {
    const server = await start();
    const ends = holdCalls(server);
    const leaver = new AbortController();
    const left = call(server, { signal: leaver.signal }).catch(() => 'left');
    await until(() => ends.length === 1);
    const others = [call(server), call(server)];
    await until(() => server.services.active.size === 3);
    leaver.abort();
    expect(await left).toBe('left');
    await until(() => ends.length === 2);
    ends[1]?.({ result: err({ code: 'client_error', message: 'down', client: 'Fast', attempts: [] }), report: REPORT });
    await until(() => ends.length === 3);
    ends[2]?.(success('third'));
    const statuses = (await Promise.all(others)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 502]));
  });

  it('does not disturb the others when a waiting caller leaves', async () => {
    const server = await start();
    const ends = holdCalls(server);
    const first = call(server);
    await until(() => ends.length === 1);
    const leaver = new AbortController();
    const left = call(server, { signal: leaver.signal }).catch(() => 'left');
    await until(() => server.services.active.size === 2);
    leaver.abort();
    await left;
    await until(() => server.services.active.size === 1);
    const last = call(server);
    await until(() => server.services.active.size === 2);
    ends[0]?.(success('once'));
    expect(await (await first).json()).toBe('once');
    expect(await (await last).json()).toBe('once');
    expect(ends).toHaveLength(1);
  });

  it('ends waiting calls with the drain', async () => {
    const server = await start();
    const ends = holdCalls(server);
    const all = [call(server), call(server)];
    await until(() => ends.length === 1 && server.services.active.size === 2);
    for (const request of server.services.active.list()) request.drain();
    for (const answer of await Promise.all(all)) expect(answer.status).toBe(503);
    expect(server.services.active.size).toBe(0);
  });

  it('refuses calls when too many wait', async () => {
    const server = await start({ maxInFlight: 2, maxQueue: 1 });
    const ends = holdCalls(server);
    const first = call(server);
    await until(() => ends.length === 1);
    const all = [first, ...Array.from({ length: 3 }, () => call(server))];
    await until(() => server.answers.counts.waits === 3);
    const refused = await call(server);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    ends[0]?.(success('once'));
    for (const answer of await Promise.all(all)) expect(answer.status).toBe(200);
  });

  it('runs calls without the store if it fails, and warns once', async () => {
    const server = await start();
    server.answers.claim = () => Promise.reject(new Error('no store'));
    for (let at = 0; at < 3; at += 1) expect(await (await call(server)).json()).toBe('hello');
    expect(server.runtime.calls).toHaveLength(3);
    expect(server.services.keptAnswers.failures).toBe(3);
    expect(server.log.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  it('replays in a stream as one partial and the final value, and a stream in a call', async () => {
    const server = await start();
    const headers = { 'idempotency-key': 'k' };
    const running = readStream(`${server.url}/stream/Greet`, {}, headers);
    await until(() => server.runtime.streams.length === 1);
    server.runtime.streams[0]?.observer.ended(success('streamed'));
    await running;
    const answer = await call(server);
    expect(await answer.json()).toBe('streamed');
    const again = await readStream(`${server.url}/stream/Greet`, {}, headers);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.messages.map(({ data }) => data)).toEqual([
      { partial_result: 'streamed' },
      { final_result: 'streamed' },
    ]);
    server.runtime.plainPartials = false;
    const bare = await readStream(`${server.url}/stream/Greet`, {}, headers);
    expect(bare.messages.map(({ data }) => data)).toEqual([{ final_result: 'streamed' }]);
    expect(server.runtime.streams).toHaveLength(1);
  });

  it('logs and counts what happened, with a hash instead of the key', async () => {
    const server = await start();
    await call(server, { key: 'customer-4711' });
    await call(server, { key: 'customer-4711' });
    await call(server, { key: 'customer-4711', body: '{ }' });
    const lines = server.log.filter(({ message }) => message === 'request');
    expect(lines.map(({ fields }) => fields['idempotency'])).toEqual(['first', 'replayed', 'conflict']);
    for (const { fields } of lines) expect(fields['idempotencyKey']).toMatch(/^[0-9a-f]{12}$/u);
    expect(JSON.stringify(server.log)).not.toContain('4711');
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    for (const outcome of ['first', 'replayed', 'conflict']) {
      expect(metrics).toContain(`svc_idempotent_calls_total{function="Greet",outcome="${outcome}"} 1`);
    }
  });
});

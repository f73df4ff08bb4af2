import { afterEach, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { REPORT, success } from './support/scripted-runtime.ts';
import { startServer, type TestServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';
import { until } from './support/until.ts';

const servers: TestServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Every call takes longer than this. */
const ANY = 0.000_001;

function call({ url }: TestServer): Promise<Response> {
  return fetch(`${url}/call/Greet`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
}

function lineOf({ log }: TestServer): (typeof log)[number] | undefined {
  return log.find(({ message }) => message === 'request');
}

describe.each(TRANSPORTS)('over %s', (name) => {
  async function start(config: Partial<Config>): Promise<TestServer> {
    const server = await startServer(name, config);
    servers.push(server);
    return server;
  }

  it('logs a slow call at warn, with where its time went', async () => {
    const server = await start({ slowMs: ANY });
    const client = 'x'.repeat(500);
    const attempts = Array.from({ length: 30 }, () => ({ client, outcome: 'ok', durationMs: 3 }) as const);
    server.runtime.onCall = () => ({ ...success('hello'), report: { ...REPORT, attempts } });
    await call(server);
    await until(() => lineOf(server) !== undefined);
    const { level, fields } = lineOf(server) ?? {};
    expect(level).toBe('warn');
    const times = fields?.['times'] as Record<string, number> & { readonly attempts: readonly unknown[] };
    expect(times).toMatchObject({ queue: 0, render: 0.2, model: 3, parse: 0.1 });
    expect(times.attempts).toHaveLength(20);
    expect(times.attempts[0]).toEqual({ client: expect.stringMatching(/^x{253}\.{3}$/u), outcome: 'ok', ms: 3 });
  });

  it('counts the wait for a slot separately', async () => {
    const server = await start({ slowMs: ANY, maxInFlight: 1 });
    const releases: Array<() => void> = [];
    server.runtime.onCall = () => new Promise((resolve) => releases.push(() => resolve(success('hello'))));
    const first = call(server);
    await until(() => releases.length === 1);
    const second = call(server);
    await until(() => server.services.admission.waiting === 1);
    const waitedFrom = performance.now();
    await until(() => performance.now() - waitedFrom > 20);
    releases[0]?.();
    await until(() => releases.length === 2);
    releases[1]?.();
    await Promise.all([first, second]);
    const lines = () => server.log.filter(({ message }) => message === 'request');
    await until(() => lines().length === 2);
    const queued = lines().map(({ fields }) => (fields['times'] as { readonly queue: number }).queue);
    expect(queued[0]).toBe(0);
    expect(queued[1]).toBeGreaterThan(20);
  });

  it('logs no times for calls that are not slow', async () => {
    const server = await start({ slowMs: 1_000_000 });
    await call(server);
    await until(() => lineOf(server) !== undefined);
    expect(lineOf(server)).toMatchObject({ level: 'info', fields: { times: undefined } });
  });
});

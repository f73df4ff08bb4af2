import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { TRANSPORTS } from '../server/support/transports.ts';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { waitUntil } from '../support/load.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';
import { RESUME_FILES, RESUME_REPLY } from './definitions.ts';

const IN_FLIGHT = 8;
const QUEUE = 6;
const CALLERS = 64;

let fake: FakeProvider;
let server: RunningServer | undefined;

beforeAll(async () => {
  fake = await startFakeProvider();
});

afterEach(async () => {
  await server?.stop();
  fake.clear();
});

afterAll(() => fake.close());

async function start(transport: string): Promise<RunningServer> {
  const flags = ['--workers', '2', '--max-in-flight', String(IN_FLIGHT), '--max-queue', String(QUEUE)];
  const env = { PROVIDER_URL: `${fake.url}/v1`, OPENAI_API_KEY: 'sk-test' };
  server = await startServer({ files: RESUME_FILES, flags: [...flags, '--transport', transport], env });
  return server;
}

/** The sum of a gauge over the workers. */
function gauge(figures: string, name: string): number {
  const values = figures.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'gmu'));
  return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
}

test.each(TRANSPORTS)('limits hold for the whole server, and probes are never refused (%s)', async (transport) => {
  const { url } = await start(transport);
  const gate = new AbortController();
  const opened = once(gate.signal, 'abort');
  fake.answer(async (request, wire) => {
    await opened;
    await reply(RESUME_REPLY)(request, wire);
  });
  // Each caller has a connection of its own: enough of them reach each worker to fill its share.
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"text":"Ada"}' };
  const answers: Response[] = [];
  const calls: Array<Promise<{ readonly status: number; readonly body: string }>> = [];
  const call = async (): Promise<{ readonly status: number; readonly body: string }> => {
    const route = calls.length % 2 === 0 ? 'call' : 'stream';
    const answer = await fetch(`${url}/${route}/ExtractResume`, init);
    answers.push(answer);
    return { status: answer.status, body: await answer.text() };
  };
  // On a busy machine, one worker can get nearly all connections: then there are more callers.
  await waitUntil('all slots and places of the queue to be taken', async () => {
    const open = calls.length - answers.length;
    if (open <= IN_FLIGHT + QUEUE) for (let caller = 0; caller < CALLERS; caller += 1) calls.push(call());
    const figures = await (await fetch(`${url}/metrics`)).text();
    return gauge(figures, 'svc_queue_length') === QUEUE && fake.requests.length === IN_FLIGHT;
  });
  await waitUntil('the rest to be refused', () => calls.length - answers.length === IN_FLIGHT + QUEUE);
  expect(answers.every((answer) => answer.status === 503 && answer.headers.get('retry-after') === '1')).toBe(true);
  for (const probe of ['livez', 'readyz', 'healthz', 'metrics', '_debug/ping', '_debug/status']) {
    expect((await fetch(`${url}/${probe}`)).status, probe).toBe(200);
  }
  expect(fake.requests).toHaveLength(IN_FLIGHT);
  gate.abort();
  const ended = await Promise.all(calls);
  expect(ended.filter((end) => end.status === 200)).toHaveLength(IN_FLIGHT + QUEUE);
  const codes = ended.filter((end) => end.status !== 200).map((end) => JSON.parse(end.body) as { error: string });
  expect(new Set(codes.map((code) => code.error))).toEqual(new Set(['overloaded']));
  expect((await fetch(`${url}/call/ExtractResume`, init)).status).toBe(200);
});

import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TRANSPORTS } from '../server/support/transports.ts';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { HAPROXY, startGateway, type Gateway } from '../support/gateway.ts';
import { waitUntil } from '../support/load.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';
import { readStream } from '../support/sse.ts';
import { RESUME_FILES, RESUME_REPLY, RESUME_VALUE } from '../e2e/definitions.ts';

const CALLS = 10_000;
const CONCURRENCY = 64;
const TEXT = JSON.stringify({ text: 'Ada' });

/** Programs of the operating system, which must be installed. */
const GATEWAYS = [
  { name: 'nginx', program: '/usr/sbin/nginx', file: 'nginx.conf', flags: ['-c'] },
  { ...HAPROXY, file: 'haproxy.cfg' },
] as const;

let fake: FakeProvider;

beforeAll(async () => {
  fake = await startFakeProvider();
});

afterAll(() => fake.close());

/** Runs the gateway in front of the server, with the configuration file in this folder. */
function startInFrontOf(server: RunningServer, of: (typeof GATEWAYS)[number]): Promise<Gateway> {
  const text = readFileSync(new URL(of.file, import.meta.url), 'utf8');
  return startGateway(of, text.replaceAll('SERVER', `127.0.0.1:${server.port}`));
}

/** Sends a call on a connection of the agent; resolves to the body if the status is 200, otherwise to the failure. */
function call(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': TEXT.length };
    const sent = request(`${url}/call/ExtractResume`, { method: 'POST', agent, headers }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('error', (error) => resolve(error.message));
      response.on('end', () => resolve(response.statusCode === 200 ? body : `status ${response.statusCode}: ${body}`));
    });
    sent.on('error', (error) => resolve(error.message));
    sent.end(TEXT);
  });
}

/** Sends all calls; resolves to the answers that are not the value. */
async function callMany(url: string): Promise<readonly string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const wanted = JSON.stringify(RESUME_VALUE);
  const wrong: string[] = [];
  let left = CALLS;
  const loop = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const answer = await call(url, agent);
      if (answer !== wanted) wrong.push(answer);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, loop));
  agent.destroy();
  return wrong;
}

describe.each(TRANSPORTS)('transport %s', (transport) => {
  let server: RunningServer;

  beforeAll(async () => {
    const env = { PROVIDER_URL: `${fake.url}/v1`, OPENAI_API_KEY: 'sk-test' };
    server = await startServer({ files: RESUME_FILES, flags: ['--transport', transport, '--log-level', 'warn'], env });
  });

  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  describe.each(GATEWAYS)('behind $name', (program) => {
    let gateway: Gateway;

    beforeAll(async () => {
      gateway = await startInFrontOf(server, program);
    });

    afterAll(() => gateway.stop());

    test('the gateway passes on the answers of 10,000 calls, 64 at a time', async () => {
      fake.answer(reply(RESUME_REPLY));
      const started = performance.now();
      expect(await callMany(gateway.url)).toEqual([]);
      const seconds = (performance.now() - started) / 1000;
      console.log(`${program.name}, ${transport}: ${CALLS} calls in ${seconds.toFixed(1)} s, none failed`);
    });

    test('partial results of eight streams arrive as svc sends them', async () => {
      fake.answer(reply(RESUME_REPLY, { chunkSize: 8, delayMs: 40 }));
      const streams = Array.from({ length: 8 }, () =>
        readStream(`${gateway.url}/stream/ExtractResume`, { text: 'Ada' }),
      );
      for (const { status, messages } of await Promise.all(streams)) {
        expect(status).toBe(200);
        expect(messages.at(-1)?.data).toEqual({ final_result: RESUME_VALUE });
        const times = messages.map((message) => message.atMs);
        // The model sends text for about 1.6 s; a gateway that buffers would send all of it at once.
        expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(500);
        expect(new Set(times.map((time) => Math.round(time / 25))).size).toBeGreaterThan(8);
      }
    });

    test('a caller that leaves a stream cancels the call to the model', async () => {
      fake.clear();
      fake.answer(reply(RESUME_REPLY, { chunkSize: 1, delayMs: 50 }));
      const abort = new AbortController();
      const headers = { 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body: TEXT, signal: abort.signal };
      const response = await fetch(`${gateway.url}/stream/ExtractResume`, init);
      await response.body?.getReader().read();
      const at = performance.now();
      abort.abort();
      await waitUntil('the call to the model to be cut', () => fake.abandoned.length === 1, 2000);
      expect((fake.abandoned[0]?.at ?? Infinity) - at).toBeLessThan(250);
    });
  });
});

import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TRANSPORTS } from '../server/support/transports.ts';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { APACHE, CADDY, HAPROXY, NGINX, startGateway, type Gateway, type GatewayProgram } from '../support/gateway.ts';
import { childrenOf, startLoad, waitUntil } from '../support/load.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';
import { RESUME_FILES, RESUME_REPLY, RESUME_VALUE } from '../e2e/definitions.ts';
import { endlessReply, readSteppedStreams } from './stepped-streams.ts';

const CALLS = 10_000;
const CONCURRENCY = 64;

interface GatewayFile extends GatewayProgram {
  readonly file: string;
  /** The shortest `--drain-delay` with which svc can be replaced behind this gateway without a failed call. */
  readonly drainDelay?: '0' | '2s';
}

/** Programs of the operating system, which must be installed. */
const GATEWAYS: readonly GatewayFile[] = [
  { ...NGINX, file: 'nginx.conf' },
  { ...HAPROXY, file: 'haproxy.cfg' },
  { ...CADDY, file: 'caddy.conf', drainDelay: '2s' },
  { ...APACHE, file: 'apache.conf' },
];

let fake: FakeProvider;

beforeAll(async () => {
  fake = await startFakeProvider();
});

afterAll(() => fake.close());

function start(...flags: readonly string[]): Promise<RunningServer> {
  const env = { PROVIDER_URL: `${fake.url}/v1`, OPENAI_API_KEY: 'sk-test' };
  return startServer({ files: RESUME_FILES, flags: ['--log-level', 'warn', ...flags], env });
}

/** Runs the gateway in front of the servers, with the configuration file in this folder. */
function startInFrontOf(servers: readonly RunningServer[], of: GatewayFile): Promise<Gateway> {
  let text = readFileSync(new URL(of.file, import.meta.url), 'utf8');
  servers.forEach(({ port }, index) => (text = text.replaceAll(`SERVER_${index + 1}`, `127.0.0.1:${port}`)));
  return startGateway(of, text);
}

/** Sends a call on a connection of the agent; resolves to the body if the status is 200, otherwise to the failure. */
function call(url: string, agent: Agent, text = 'Ada'): Promise<string> {
  return new Promise((resolve) => {
    const sent = JSON.stringify({ text });
    const headers = { 'content-type': 'application/json', 'content-length': sent.length };
    const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('error', (error) => resolve(error.message));
      response.on('end', () => resolve(response.statusCode === 200 ? body : `status ${response.statusCode}: ${body}`));
    });
    outgoing.on('error', (error) => resolve(error.message));
    outgoing.end(sent);
  });
}

const VALUE = JSON.stringify(RESUME_VALUE);

/** Sends so many calls, `CONCURRENCY` at a time; resolves to the answers that are not the value. */
async function callMany(url: string, calls: number): Promise<readonly string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const wrong: string[] = [];
  let left = calls;
  const loop = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const answer = await call(`${url}/call/ExtractResume`, agent);
      if (answer !== VALUE) wrong.push(answer);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, loop));
  agent.destroy();
  return wrong;
}

/** Calls of a burst: the gateway keeps a connection to svc for each one, which is idle until the next burst. */
const PAUSING = 250;

/** Seconds: around the 5 s after which the gateways close connections, and the 8 to 12 s of the fast transport. */
const PAUSES = [4.8, 5, 5.1, 5.3, 7.9, 8.5, 9.5, 10.5, 11.5, 12.5];

/** Sends a burst of calls after each pause; resolves to the answers that are not the value. */
async function callAfterPauses(url: string): Promise<readonly string[]> {
  const agent = new Agent();
  const wrong: string[] = [];
  for (const seconds of PAUSES) {
    const burst = Array.from({ length: PAUSING }, () => call(`${url}/call/ExtractResume`, agent));
    const answers = await Promise.all(burst);
    wrong.push(...answers.filter((answer) => answer !== VALUE));
    await sleep(seconds * 1000);
  }
  return wrong;
}

/** Calls that this server has answered. */
async function answered({ url }: RunningServer): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('svc_requests_total{function="ExtractResume"'));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe.each(TRANSPORTS)('transport %s', (transport) => {
  let servers: RunningServer[];

  beforeAll(async () => {
    servers = [await start('--transport', transport), await start('--transport', transport)];
  });

  afterAll(async () => {
    for (const server of servers) expect(await server.stop()).toBe(0);
  });

  test('no gateway sends a call on a connection that svc closes, in 10,000 calls after pauses around the timeouts', async () => {
    fake.answer(reply(RESUME_REPLY));
    const gateways = await Promise.all(GATEWAYS.map((of) => startInFrontOf(servers, of)));
    const wrong = await Promise.all(
      gateways.map(async ({ url }, index) => {
        // The queue of a listener, also that of the provider, has room for the connections of one burst.
        await sleep(index * 1000);
        return callAfterPauses(url);
      }),
    );
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    expect(wrong).toEqual(GATEWAYS.map(() => []));
    expect(PAUSING * PAUSES.length * GATEWAYS.length).toBe(CALLS);
  }, 600_000);

  describe.each(GATEWAYS)('behind $name', (program) => {
    let gateway: Gateway;

    beforeAll(async () => {
      gateway = await startInFrontOf(servers, program);
    });

    afterAll(() => gateway.stop());

    test('the gateway passes on the answers of 10,000 calls, 64 at a time', async () => {
      fake.answer(reply(RESUME_REPLY));
      const started = performance.now();
      expect(await callMany(gateway.url, CALLS)).toEqual([]);
      const seconds = (performance.now() - started) / 1000;
      console.log(`${program.name}, ${transport}: ${CALLS} calls in ${seconds.toFixed(1)} s, none failed`);
    });

    test('partial results of eight streams arrive as svc sends them', async () => {
      const last = { final_result: RESUME_VALUE };
      expect(await readSteppedStreams(fake, gateway.url, 8)).toEqual(Array.from({ length: 8 }, () => last));
    });

    test('a caller that leaves a stream cancels the call to the model', async () => {
      fake.clear();
      fake.answer(endlessReply);
      const abort = new AbortController();
      const headers = { 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body: '{"text":"Ada"}', signal: abort.signal };
      const response = await fetch(`${gateway.url}/stream/ExtractResume`, init);
      await response.body?.getReader().read();
      abort.abort();
      await waitUntil('the call to the model to be cut', () => fake.abandoned.length > 0);
      expect(fake.abandoned).toHaveLength(1);
    });

    test.each(['call', 'stream'])('no %s is repeated when its worker dies, so that it fails', async (route) => {
      fake.clear();
      fake.answer(reply(RESUME_REPLY, { latencyMs: 3_000 }));
      const agent = new Agent();
      const sent = Array.from({ length: 16 }, () => call(`${gateway.url}/${route}/ExtractResume`, agent));
      await waitUntil('the calls to the model', () => fake.requests.length === sent.length);
      // The others stay, so that a repeated call would meet a server that accepts it.
      for (const { child } of servers) process.kill(childrenOf(child.pid ?? 0)[0] ?? 0, 'SIGKILL');
      const failed = (await Promise.all(sent)).filter((answer) => !answer.includes(RESUME_VALUE.name));
      console.log(`${program.name}, ${transport}: ${failed.length} of 16 failed, ${fake.requests.length} at the model`);
      expect(failed.length).toBeGreaterThan(0);
      expect(fake.requests.length).toBe(sent.length);
      fake.answer(reply(RESUME_REPLY));
      await waitUntil('new workers', async () => (await callMany(gateway.url, CONCURRENCY)).length === 0);
    });

    test('no call fails while instances are replaced one after the other', async () => {
      fake.answer(reply(RESUME_REPLY, { latencyMs: 20 }));
      const { drainDelay = '0' } = program;
      const startOne = (port = 0) => start('--transport', transport, '--drain-delay', drainDelay, '--port', `${port}`);
      const instances = [await startOne(), await startOne()];
      const front = await startInFrontOf(instances, program);
      const load = startLoad(`${front.url}/call/ExtractResume`, { text: 'Ada' }, 12);
      const more = async (): Promise<void> => {
        const { served } = load.counts;
        await waitUntil('more calls', () => load.counts.served > served + 300);
      };
      for (const [index, old] of [...instances, ...instances].entries()) {
        await more();
        expect(await (instances[index % 2] ?? old).stop()).toBe(0);
        await more();
        const replacement = await startOne(old.port);
        instances[index % 2] = replacement;
        await waitUntil('calls of the new instance', async () => (await answered(replacement)) > 0);
      }
      const { failed, refused, served, errors } = await load.stop();
      console.log(`${program.name}, ${transport}, --drain-delay ${drainDelay}: ${served} calls, ${failed} failed`);
      expect(errors).toEqual([]);
      expect(refused).toBe(0);
      await front.stop();
      for (const instance of instances) expect(await instance.stop()).toBe(0);
    });
  });
});

describe('behind nginx with nothing but proxy_pass, which sends HTTP/1.0', () => {
  test('--accept-http-10 serves calls and streams', async () => {
    const server = await start('--accept-http-10');
    const gateway = await startInFrontOf([server], { ...NGINX, file: 'nginx-plain.conf' });
    fake.answer(reply(RESUME_REPLY));
    expect(await callMany(gateway.url, 1_000)).toEqual([]);
    expect(await readSteppedStreams(fake, gateway.url, 1)).toEqual([{ final_result: RESUME_VALUE }]);
    await gateway.stop();
    expect(await server.stop()).toBe(0);
  });
});

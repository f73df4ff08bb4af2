import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { temporaryFolder } from '../support/running-server.ts';
import { JSON_HEADERS, startMachines, storeBecomes, storeFailures, type Machines } from './support/machines.ts';
import { RedisServer } from './support/redis-server.ts';

const DEFINITIONS = `
client<llm> Main {
  provider openai
  options {
    base_url "URL/v1"
    api_key "sk-test"
    model "m"
  }
}
function Hi(name: string) -> string {
  client Main
  prompt #"Greet {{ name }}. {{ ctx.output_format }}"#
}
`;

const LIMITS = '    limits: {requests_per_minute: 500}\n';

let fake: FakeProvider;
let redis: RedisServer;
let machines: Machines;
let keyFile: string;

/** Writes the key file: a key for each name, with these limits. */
function writeKeys(entries: Readonly<Record<string, string>>): void {
  const lines = Object.entries(entries).map(([name, limits]) => {
    const sha256 = createHash('sha256').update(keyOf(name)).digest('hex');
    return `  - name: ${name}\n    sha256: "${sha256}"\n${limits}`;
  });
  writeFileSync(keyFile, `keys:\n${lines.join('')}`);
}

function keyOf(name: string): string {
  return `svc_key-of-${name}-4711`;
}

function call(name: string, url = machines.url): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${keyOf(name)}` };
  return fetch(`${url}/call/Hi`, { method: 'POST', headers, body: '{"name": "Ada"}' });
}

beforeAll(async () => {
  fake = await startFakeProvider();
  fake.answer(reply('Hello'));
  redis = await RedisServer.start();
  keyFile = join(temporaryFolder({}), 'keys.yaml');
  writeKeys({ limited: LIMITS });
  const files = { 'a.svc': DEFINITIONS.replaceAll('URL', fake.url) };
  machines = await startMachines({ files, flags: ['--keys', keyFile], env: { SVC_STORE: redis.url } });
  await storeBecomes(machines, 'up');
});

afterAll(async () => {
  await machines.stop();
  await redis.kill();
  await fake.close();
});

/** The questions of workers that their primary did not answer in time. */
async function limitFailures(): Promise<number> {
  const texts = await Promise.all(
    machines.servers.map(async ({ url }) => (await fetch(`${url}/metrics`, { headers: JSON_HEADERS })).text()),
  );
  return texts
    .flatMap((text) => [...text.matchAll(/^svc_limit_failures_total (\d+)$/gmu)])
    .reduce((sum, [, count]) => sum + Number(count), 0);
}

test('a limit of 500 requests a minute is one limit for four workers on two machines', async () => {
  const statuses: number[] = [];
  const loop = async (): Promise<void> => {
    while (statuses.length < 700) {
      const { status } = await call('limited');
      statuses.push(status);
    }
  };
  await Promise.all(Array.from({ length: 16 }, loop));
  const served = statuses.filter((status) => status === 200).length;
  const late = (await storeFailures(machines, 'take')) + (await limitFailures());
  console.log(`${served} of ${statuses.length} calls were served, with ${late} late answers`);
  // A worker that got no answer in time counts by itself, as on a machine that is too busy for this test.
  expect(served).toBeLessThanOrEqual(late === 0 ? 500 : 1_000);
  expect(served).toBeGreaterThanOrEqual(490 - 3 * late);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
});

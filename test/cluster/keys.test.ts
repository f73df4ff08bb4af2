import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { startLoad, waitUntil } from '../support/load.ts';
import { temporaryFolder } from '../support/running-server.ts';
import { startMachines, storeBecomes, type Machines } from './support/machines.ts';
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

let fake: FakeProvider;
let redis: RedisServer;
let machines: Machines;
let keyFile: string;

/** Writes the key file, with these names. */
function writeKeys(...names: readonly string[]): void {
  const lines = names.map((name) => {
    const sha256 = createHash('sha256').update(keyOf(name)).digest('hex');
    return `  - name: ${name}\n    sha256: "${sha256}"\n`;
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
  writeKeys('one');
  const files = { 'a.svc': DEFINITIONS.replaceAll('URL', fake.url) };
  machines = await startMachines({ files, flags: ['--keys', keyFile], env: { SVC_STORE: redis.url } });
  await storeBecomes(machines, 'up');
});

afterAll(async () => {
  await machines.stop();
  await redis.kill();
  await fake.close();
});

test('a new key works on both machines after a reload, and no call under way fails', async () => {
  const load = startLoad(`${machines.url}/call/Hi`, { name: 'Ada' }, 8, { authorization: `Bearer ${keyOf('one')}` });
  await waitUntil('some calls', () => load.counts.served > 50);
  expect((await call('two')).status).toBe(403);
  writeKeys('one', 'two');
  for (const { child } of machines.servers) child.kill('SIGHUP');
  const reloaded = () => machines.servers.every((server) => server.output().includes('all workers use the new keys'));
  await waitUntil('the new keys on both machines', reloaded);
  for (const { url } of machines.servers) expect((await call('two', url)).status).toBe(200);
  const { failed, refused, errors } = await load.stop();
  expect({ failed, refused, errors }).toEqual({ failed: 0, refused: 0, errors: [] });
});

import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { startFakeProvider, type FakeProvider } from '../../support/fake-provider.ts';
import { startMachines, storeBecomes, type Machines } from './machines.ts';
import { RedisServer } from './redis-server.ts';

/** A fake model, a store, and two machines that use both. */
export interface Cluster {
  readonly fake: FakeProvider;
  readonly redis: RedisServer;
  readonly machines: Machines;
}

interface ClusterOptions {
  /** More options of the client. */
  readonly client?: string;
  readonly flags?: readonly string[];
}

/** Starts a cluster before the tests of a file, with a function `Hi`, and ends it after them. Call the result in a test. */
export function useCluster({ client = '', flags = [] }: ClusterOptions = {}): () => Cluster {
  let fake: FakeProvider;
  let redis: RedisServer;
  let machines: Machines;
  beforeAll(async () => {
    fake = await startFakeProvider();
    redis = await RedisServer.start();
    const files = { 'a.svc': definitions(fake.url, client) };
    machines = await startMachines({ files, flags, env: { SVC_STORE: redis.url } });
    await storeBecomes(machines, 'up');
  });
  afterAll(async () => {
    await machines.stop();
    await redis.kill();
    await fake.close();
  });
  return () => ({ fake, redis, machines });
}

function definitions(url: string, client: string): string {
  return `
client<llm> Main {
  provider openai
  options {
    base_url "${url}/v1"
    api_key "sk-test"
    model "m"
    ${client}
  }
}
function Hi(name: string) -> string {
  client Main
  prompt #"Greet {{ name }}. {{ ctx.output_format }}"#
}
`;
}

/** Writes a key file with an entry for each name; the values are further lines of the entry. */
export function writeKeys(path: string, entries: Readonly<Record<string, string>>): void {
  const lines = Object.entries(entries).map(([name, more]) => {
    const sha256 = hash('sha256', keyOf(name));
    return `  - name: ${name}\n    sha256: "${sha256}"\n${more}`;
  });
  writeFileSync(path, `keys:\n${lines.join('')}`);
}

export function keyOf(name: string): string {
  return `svc_key-of-${name}-4711`;
}

/** Calls `Hi` with the key of this name. */
export function callWithKey(name: string, url: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${keyOf(name)}` };
  return fetch(`${url}/call/Hi`, { method: 'POST', headers, body: '{"name": "Ada"}' });
}

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFakeProvider, status, type FakeProvider } from '../../support/fake-provider.ts';
import { callFunction, testRuntime, valueOf } from '../../support/test-runtime.ts';

let fake: FakeProvider;

beforeAll(async () => {
  fake = await startFakeProvider();
});
afterAll(() => fake.close());

/** Runs `call` `total` times, `atOnce` at a time: each further call starts when another has ended. */
async function callAll(total: number, atOnce: number, call: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < total) {
      next += 1;
      await call(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
}

test('1,000 calls by 32 callers use 32 connections', async () => {
  fake.answer(status(200, { choices: [{ message: { content: 'fine' } }] }));
  const runtime = testRuntime(
    `client<llm> Top {
  provider openai-generic
  options {
    base_url env.URL
  }
}
function Say() -> string {
  client Top
  prompt #"hello"#
}`,
    { URL: fake.url },
  );
  await callAll(1000, 32, async () => {
    expect(valueOf(await callFunction(runtime, 'Say', {}))).toBe('fine');
  });
  expect(fake.requests).toHaveLength(1000);
  expect(fake.connections).toBe(32);
  await runtime.close();
});

interface Caller {
  readonly options: Readonly<Record<string, unknown>> | undefined;
  /** The key that the provider must receive. */
  readonly key: string;
}

/** Callers with a key in `env`, with their own client and key, with a replaced client, and without options. */
function callers(url: string): readonly Caller[] {
  const client = (name: string, key: string): object => ({
    name,
    provider: 'openai-generic',
    options: { base_url: `${url}/v1`, api_key: key },
  });
  return Array.from({ length: 16 }, (_, index) => {
    const key = `key-of-${index}`;
    const own = [
      { env: { KEY: key } },
      { client_registry: { primary: 'Mine', clients: [client('Mine', key)] } },
      { client_registry: { clients: [client('Top', key)] } },
      undefined,
    ];
    const options = own[index % own.length];
    return { options, key: options === undefined ? 'key-of-the-server' : key };
  });
}

test('of 2,000 calls with 16 different credentials, 64 at a time, none is sent with the key of another', async () => {
  const crossed: string[] = [];
  fake.clear();
  fake.answer((request, wire) => {
    const expected = /"(key-of-[a-z0-9]+|key-of-the-server)"/u.exec(request.body.replaceAll('\\', ''))?.[1];
    if (request.headers['authorization'] !== `Bearer ${expected}`) crossed.push(request.body);
    return status(200, { choices: [{ message: { content: expected } }] })(request, wire);
  });
  const runtime = testRuntime(
    `client<llm> Top {
  provider openai-generic
  options {
    base_url env.URL
    api_key env.KEY
  }
}
function Say(key: string) -> string {
  client Top
  prompt #"the key is "{{ key }}""#
}`,
    { URL: `${fake.url}/v1`, KEY: 'key-of-the-server' },
  );
  const all = callers(fake.url);
  await callAll(2_000, 64, async (index) => {
    const { key, options } = all[index % all.length] ?? { key: '', options: undefined };
    const body = options === undefined ? { key } : { key, svc_options: options };
    expect(valueOf(await callFunction(runtime, 'Say', body))).toBe(key);
  });
  expect(crossed).toEqual([]);
  expect(fake.requests).toHaveLength(2_000);
  await runtime.close();
});

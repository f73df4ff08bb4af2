import { Agent, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { reply, startFakeProvider, status, type FakeProvider } from '../support/fake-provider.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';

let fake: FakeProvider;
let server: RunningServer;

function client(name: string): string {
  return `client<llm> ${name} {\n  provider openai-generic\n  options {\n    model ${name}\n    base_url env.PROVIDER_URL\n  }\n}\n`;
}

const FILES = {
  'strategies.svc': `
client<llm> Turns {
  provider round-robin
  options {
    strategy [A, B, C]
    start 1
  }
}
client<llm> Weighted {
  provider baml-round-robin
  options {
    strategy [A, B]
    weights {
      A 95
      B 5
    }
  }
}
client<llm> List {
  provider fallback
  retry_policy Once
  options {
    strategy [A, B]
  }
}
retry_policy Once {
  max_retries 1
  strategy {
    type constant_delay
    delay_ms 1
  }
}
${['A', 'B', 'C'].map(client).join('')}
function Turn() -> string {
  client Turns
  prompt #"x"#
}
function Share() -> string {
  client Weighted
  prompt #"x"#
}
function Chain() -> string {
  client List
  prompt #"x"#
}`,
};

beforeAll(async () => {
  fake = await startFakeProvider();
  const env = { PROVIDER_URL: `${fake.url}/v1` };
  server = await startServer({ files: FILES, flags: ['--workers', '3'], env });
});
beforeEach(() => {
  fake.clear();
  fake.answer(reply('fine'));
});
afterAll(async () => {
  await server.stop();
  await fake.close();
});

/** Uses a new connection, so that any worker can receive it. */
function call(name: string, body = '{}'): Promise<{ readonly status: number; readonly text: string }> {
  const agent = new Agent({ keepAlive: false });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${server.url}/call/${name}`, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => (text += part.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

function models(): string {
  return fake.requests.map((request) => (request.json as { readonly model?: string }).model).join('');
}

test('round-robin has one order over all workers', async () => {
  for (let at = 0; at < 24; at += 1) expect((await call('Turn')).status).toBe(200);
  expect(models()).toBe('BCA'.repeat(8));
  // Each worker has connections of its own to the provider.
  expect(fake.openSockets).toBeGreaterThan(1);
});

test('concurrent calls share the turns evenly', async () => {
  await Promise.all(Array.from({ length: 60 }, () => call('Turn')));
  for (const model of ['A', 'B', 'C']) expect(models().split(model)).toHaveLength(21);
});

test('weights hold over all workers, and the metrics count each member', async () => {
  await Promise.all(Array.from({ length: 100 }, () => call('Share')));
  expect(models().split('A')).toHaveLength(96);
  expect(models().split('B')).toHaveLength(6);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toMatch(/svc_attempts_total\{client="B",outcome="ok"\} [1-9]/u);
  expect(metrics).not.toContain('client="Weighted"');
});

test('a route key selects the same member in all workers', async () => {
  for (const key of ['user-1', 'user-2', 'user-3']) {
    fake.clear();
    fake.answer(reply('fine'));
    const body = JSON.stringify({ svc_options: { route_key: key } });
    for (let at = 0; at < 12; at += 1) expect((await call('Turn', body)).status).toBe(200);
    expect(new Set(models()).size).toBe(1);
    expect(models()).toHaveLength(12);
  }
  const refused = await call('Turn', JSON.stringify({ svc_options: { route_key: '' } }));
  expect(refused).toMatchObject({ status: 400 });
  expect(JSON.parse(refused.text)).toMatchObject({
    error: 'invalid_options',
    details: [{ path: 'svc_options.route_key', message: 'has to be a string of 1 to 256 characters' }],
  });
});

const attempt = (name: string): object => ({ client: name, upstream_status: 503 });

test('the answer of an exhausted chain lists every attempt', async () => {
  fake.answer(status(503, { error: { message: 'busy' } }));
  const { status: code, text } = await call('Chain');
  expect(code).toBe(502);
  expect(JSON.parse(text)).toMatchObject({
    error: 'client_error',
    upstream_status: 503,
    attempts: [attempt('A'), attempt('B'), attempt('A'), attempt('B')],
  });
});

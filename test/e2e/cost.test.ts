import { afterAll, beforeAll, expect, test } from 'vitest';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { waitUntil } from '../support/load.ts';
import { startServer, temporaryFolder, type RunningServer } from '../support/running-server.ts';
import { readStream } from '../support/sse.ts';

function client(name: string, options = ''): string {
  return `client<llm> ${name} {
  provider openai-generic
  retry_policy Again
  options {
    model ${name.toLowerCase()}
    base_url env.PROVIDER_URL
    ${options}
  }
}
`;
}

const DEFINITIONS = `${client('Listed')}${client('Unlisted')}${client('Own', 'prices { input 1, output 2 }')}
retry_policy Again {
  on_invalid_reply 1
}
function Count() -> int {
  client Listed
  prompt #"How many?"#
}
`;

const PRICES = `- {model: "list*", provider: openai-generic, input: 0.1, output: 0.2}
- {model: own, input: 1000, output: 1000}
- {model: unlisted, provider: anthropic, input: 1, output: 1}
`;

let fake: FakeProvider;
const servers: RunningServer[] = [];

beforeAll(async () => {
  fake = await startFakeProvider();
  fake.answer(reply('3', { usage: { prompt_tokens: 1, completion_tokens: 1 } }));
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  await fake.close();
});

async function start(command: 'serve' | 'dev', ...flags: readonly string[]): Promise<RunningServer> {
  const env = { PROVIDER_URL: `${fake.url}/v1` };
  const logs = ['--log-level', 'info', '--log-format', 'json'];
  const server = await startServer({ command, files: { 'main.svc': DEFINITIONS }, flags: [...flags, ...logs], env });
  servers.push(server);
  return server;
}

function pricesFile(): string {
  return `${temporaryFolder({ 'prices.yaml': PRICES })}/prices.yaml`;
}

function call(server: RunningServer, options: object = {}, id = 'a'): Promise<Response> {
  return fetch(`${server.url}/call/Count`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': id },
    body: JSON.stringify({ svc_options: options }),
  });
}

/** The log line of a request. */
async function logged(server: RunningServer, id: string): Promise<Record<string, unknown>> {
  const find = (): string | undefined =>
    server
      .output()
      .split('\n')
      .find((line) => line.includes(`"requestId":"${id}"`) && line.endsWith('}'));
  await waitUntil(`the line of ${id}`, () => find() !== undefined);
  return JSON.parse(find() ?? '') as Record<string, unknown>;
}

test('with --prices, calls, streams, logs and metrics state their cost', async () => {
  const server = await start('serve', '--prices', pricesFile(), '--workers', '1');
  const answer = await call(server);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-svc-cost')).toBe('0.0000003');
  expect(await logged(server, 'a')).toMatchObject({ inputTokens: 1, outputTokens: 1, cost: 3e-7 });

  fake.script(reply('none', { usage: { prompt_tokens: 1e6, completion_tokens: 0 } }));
  const corrected = await call(server, {}, 'b');
  expect(corrected.headers.get('x-svc-attempts')).toBe('2');
  expect(corrected.headers.get('x-svc-cost')).toBe('0.1000003');

  fake.script(...[1, 2].map(() => reply('none', { usage: { prompt_tokens: 0, completion_tokens: 1e7 } })));
  const failed = await call(server, {}, 'c');
  expect(failed.status).toBe(500);
  expect(failed.headers.get('x-svc-cost')).toBe('4');
  expect(await logged(server, 'c')).toMatchObject({ cost: 4 });

  const answerWithMeta = await (await call(server, { include: ['usage'] })).json();
  expect(answerWithMeta).toEqual({ result: 3, meta: { usage: { input_tokens: 1, output_tokens: 1 }, cost: 3e-7 } });

  expect((await call(server, { client: 'Own' }, 'd')).headers.get('x-svc-cost')).toBe('0.000003');
  expect((await call(server, { client: 'Unlisted' }, 'e')).headers.has('x-svc-cost')).toBe(false);
  expect(await logged(server, 'e')).not.toHaveProperty('cost');

  const body = { svc_options: { include: ['usage'] } };
  const { messages } = await readStream(`${server.url}/stream/Count`, body);
  expect(messages.at(-1)?.data).toMatchObject({ final_result: 3, meta: { usage: { output_tokens: 1 }, cost: 3e-7 } });

  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const costs = metrics.matchAll(/^svc_cost_usd_total\{client="(\w+)"\} (\S+)$/gmu);
  const byClient = new Map([...costs].map(([, name, cost]) => [name, Number(cost)]));
  expect(new Set(byClient.keys())).toEqual(new Set(['Listed', 'Own']));
  expect(byClient.get('Listed')).toBeCloseTo(4.1000012, 9);
  expect(byClient.get('Own')).toBeCloseTo(3e-6, 12);
});

test('without prices, nothing states a cost', async () => {
  const server = await start('serve', '--workers', '1');
  expect((await call(server, { client: 'Unlisted' })).headers.has('x-svc-cost')).toBe(false);
  expect(await logged(server, 'a')).not.toHaveProperty('cost');
  const { messages } = await readStream(`${server.url}/stream/Count`, { svc_options: { include: ['usage'] } });
  expect(messages.at(-1)?.data).not.toHaveProperty('meta.cost');
  expect(await (await fetch(`${server.url}/metrics`)).text()).not.toMatch(/^svc_cost_usd_total\{/mu);
});

test('svc dev reads a file of prices too', async () => {
  const server = await start('dev', '--prices', pricesFile());
  expect((await call(server)).headers.get('x-svc-cost')).toBe('0.0000003');
});

import { textTokens } from '../../src/runtime/call/estimate-tokens.ts';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { keyOf, writeKeys } from '../cluster/support/cluster.ts';
import { RawConnection } from '../server/support/raw-connection.ts';
import { chatEvent, reply } from '../support/fake-provider.ts';
import type { Answer as ModelAnswer } from '../support/fake-wire.ts';
import { temporaryFolder } from '../support/running-server.ts';
import type { Answer, AttackedServer } from './support/attacked-server.ts';
import { onBothTransports } from './support/on-both-transports.ts';

const FILES = {
  'main.svc': `
client<llm> Model {
  provider openai-generic
  options {
    base_url env.PROVIDER_URL
    api_key "sk-test"
    model "m"
    prices {
      input 10
      output 10
    }
  }
}
function Hi(name: string) -> string {
  client Model
  prompt #"Say hi to {{ name }}"#
}`,
};

const KEYS = join(temporaryFolder({}), 'keys.yaml');
writeKeys(KEYS, {
  attacker: '    limits: {in_flight: 1000}\n',
  victim: '    limits: {tokens_per_minute: 100000, cost_per_day: 10}\n',
  small: '    limits: {tokens_per_minute: 1500}\n',
});

const SETUP = {
  files: FILES,
  flags: ['--keys', KEYS, '--allow-private-urls', '--log-level', 'info', '--log-format', 'json'],
};

function headersOf(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${keyOf(key)}` };
}

function call(server: AttackedServer, key: string, body: object = { name: 'Ada' }): Promise<Answer> {
  return server.call('Hi', body, headersOf(key));
}

/** Forty calls at once. Returns how many were served. */
async function served(server: AttackedServer, key: string): Promise<number> {
  const answers = await Promise.all(Array.from({ length: 40 }, () => call(server, key)));
  return answers.filter(({ status }) => status === 200).length;
}

/** The tokens of this direction that the metrics count for the client of the definitions. */
async function tokens(server: AttackedServer, direction: string): Promise<number> {
  const { body } = await server.ask('GET', '/metrics', undefined, headersOf('attacker'));
  const series = `svc_tokens_total{client="Model",direction="${direction}"} `;
  const line = body.split('\n').find((each) => each.startsWith(series));
  return Number(line?.slice(series.length) ?? 0);
}

/** A client of the request that leads to the server's own model. */
function ownClient(server: AttackedServer, options: object = {}): object {
  const base = { base_url: `${server.model.url}/v1`, api_key: 'k', model: 'm' };
  const client = { name: 'Mine', provider: 'openai-generic', options: { ...base, ...options } };
  return { name: 'Ada', svc_options: { client_registry: { primary: 'Mine', clients: [client] } } };
}

const MOST = Number.MAX_SAFE_INTEGER;

onBothTransports(
  'a client of a request that reports nine quadrillion tokens, or states prices of its own, makes no other key wait',
  SETUP,
  async (server) => {
    server.model.answer(reply('Hi', { usage: { prompt_tokens: MOST, completion_tokens: MOST } }));
    const attacks = [ownClient(server), ownClient(server, { prices: { input: MOST, output: MOST } })];
    for (const body of attacks) {
      for (let each = 0; each < 8; each += 1) expect((await call(server, 'attacker', body)).status).toBe(200);
    }
    server.model.answer(reply('Hi'));
    expect(await served(server, 'victim')).toBe(40);
    // One line for each of two workers, whatever the number of such calls.
    const warnings = server.output.split('\n').filter((line) => line.includes('than any context window holds'));
    expect([1, 2]).toContain(warnings.length);
  },
);

onBothTransports('what one key uses of a client of the definitions makes no other key wait', SETUP, async (server) => {
  server.model.answer(reply('Hi', { usage: { prompt_tokens: 900_000, completion_tokens: 100_000 } }));
  for (let each = 0; each < 8; each += 1) expect((await call(server, 'attacker')).status).toBe(200);
  server.model.answer(reply('Hi'));
  expect(await served(server, 'victim')).toBe(40);
});

/** Sends these words of a stream, and keeps it open. */
function words(count: number): ModelAnswer {
  return (request, wire) => {
    if (JSON.stringify(request.json).includes('"stream":true')) {
      wire.head(200, { 'content-type': 'text/event-stream' });
      for (let word = 0; word < count; word += 1) wire.body(chatEvent({ content: 'word ' }));
    }
    return new Promise(() => undefined);
  };
}

/** Opens a stream, or a call, that the caller leaves as soon as `until` is true. */
async function leave(
  server: AttackedServer,
  route: string,
  until: (connection: RawConnection) => boolean,
): Promise<boolean> {
  const connection = new RawConnection(server.port);
  const body = '{"name":"Ada"}';
  const head = ['host: x', 'content-type: application/json', `authorization: Bearer ${keyOf('small')}`];
  connection.write(
    `POST /${route}/Hi HTTP/1.1\r\n${head.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await connection.until(() => until(connection) || connection.text.includes(' 429 '));
  connection.end();
  return !connection.text.includes(' 429 ');
}

/** The log lines of requests that their callers left. */
async function linesOf(server: AttackedServer, count: number): Promise<readonly Record<string, unknown>[]> {
  for (;;) {
    const lines = server.output.split('\n').filter((line) => line.startsWith('{') && line.includes('"status":499'));
    if (lines.length >= count) return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    await sleep(20);
  }
}

const WORDS = 220;
const OUTPUT_TOKENS = Math.ceil(textTokens('word '.repeat(WORDS)));
const INPUT_TOKENS = Math.ceil(textTokens('Say hi to Ada'));

onBothTransports('streams that are left before their end count the text that arrived', SETUP, async (server) => {
  server.model.answer(words(WORDS));
  let streams = 0;
  while (
    streams < 30 &&
    (await leave(
      server,
      'stream',
      ({ text }) => text.split('word').length > WORDS && server.model.unanswered > streams,
    ))
  ) {
    streams += 1;
    await linesOf(server, streams);
  }
  const most = 1500 / (INPUT_TOKENS + OUTPUT_TOKENS);
  expect(streams).toBeGreaterThanOrEqual(most - 1);
  expect(streams).toBeLessThanOrEqual(most + 1);
  for (const line of await linesOf(server, streams)) {
    expect(line).toMatchObject({ client: 'Model', model: 'm', outputTokens: OUTPUT_TOKENS });
  }
  expect(await tokens(server, 'output')).toBe(streams * OUTPUT_TOKENS);
});

onBothTransports(
  'calls that are left before their answer have the client, the model and the prompt in log and metrics',
  SETUP,
  async (server) => {
    server.model.answer(words(0));
    for (let each = 1; each <= 3; each += 1) {
      await leave(server, 'call', () => server.model.unanswered === each);
      const lines = await linesOf(server, each);
      expect(lines.at(-1)).toMatchObject({ client: 'Model', model: 'm', attempts: 1, inputTokens: INPUT_TOKENS });
    }
    expect(await tokens(server, 'input')).toBe(3 * INPUT_TOKENS);
  },
);

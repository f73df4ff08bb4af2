import { EventEmitter, once } from 'node:events';
import { expect } from 'vitest';
import { chatEvent, reply, SSE_HEADERS, status } from '../support/fake-provider.ts';
import { chunk, head } from '../support/http1-connection.ts';
import type { Behaviour } from '../support/fake-wire.ts';
import { openStream, readMessages } from '../support/sse.ts';
import type { Answer, AttackedServer } from './support/attacked-server.ts';
import { onBothTransports } from './support/on-both-transports.ts';

const DEFINITIONS = `
client<llm> Model {
  provider openai-generic
  options {
    model m
    base_url env.PROVIDER_URL
  }
}
retry_policy Often {
  max_retries 9
  strategy {
    type constant_delay
    delay_ms 0
  }
}
client<llm> Wide {
  provider fallback
  retry_policy Often
  options {
    strategy [${Array.from({ length: 12 }, () => 'Model').join(', ')}]
  }
}
type Tree = int | float | string | bool | null | Tree[] | map<string, Tree>
enum Color {
  Red
  Green
}
function Ask(text: string) -> string {
  client Model
  prompt #"{{ text }}"#
}
function AskWide(text: string) -> string {
  client Wide
  prompt #"{{ text }}"#
}
function Any(a: Tree) -> string {
  client Model
  prompt #"{{ a }}"#
}
function Colors(a: Color[]) -> string {
  client Model
  prompt #"{{ a }}"#
}
function Picture(a: image) -> string {
  client Model
  prompt #"{{ a }}"#
}
function Loop(text: string) -> string {
  client Model
  prompt #"{% for a in range(1000) %}{% for b in range(1000) %}{{ text }}{% endfor %}{% endfor %}"#
}
`;

const SETUP = { files: { 'main.svc': DEFINITIONS }, flags: ['--allow-private-urls', '--caller-share', '100%'] };

const MEGABYTE = 1_000_000;

/** As large as `--max-body` allows. */
const LARGE = 9.7 * MEGABYTE;

/** `units` of JSON, separated by commas. */
function repeated(unit: (at: number) => string, bytes: number): string {
  const parts: string[] = [];
  for (let size = 0; size < bytes; size += (parts.at(-1)?.length ?? 0) + 1) parts.push(unit(parts.length));
  return parts.join();
}

/** Sends a body that no JavaScript object can express, such as a repeated key. */
async function callRaw(server: AttackedServer, name: string, body: string): Promise<Answer> {
  const answer = await fetch(`${server.url}/call/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body,
  });
  return { status: answer.status, body: await answer.text() };
}

function withOptions(options: string): string {
  return `{"text":"a","svc_options":${options}}`;
}

function withClient(options: string): string {
  const url = '"base_url":"http://127.0.0.1:9/v1"';
  return withOptions(
    `{"client_registry":{"primary":"C","clients":[{"name":"C","provider":"openai-generic","options":{${url},${options}}}]}}`,
  );
}

const pair = (at: number): string => `"key${at}":"v"`;

const OPTION_BODIES: readonly (readonly [string, string])[] = [
  ['100,000 query parameters', withClient(`"query_params":{${repeated(pair, 1.3 * MEGABYTE)}}`)],
  ['2.7 MB of query parameters', withClient(`"query_params":{${repeated(pair, 2.7 * MEGABYTE)}}`)],
  ['700,000 option keys', withOptions(`{${repeated(pair, LARGE)}}`)],
  ['700,000 headers', withClient(`"headers":{${repeated(pair, LARGE)}}`)],
  ['700,000 variables', withOptions(`{"env":{${repeated(pair, LARGE)}}}`)],
  ['49,000 variables', withOptions(`{"env":{${repeated(pair, 0.6 * MEGABYTE)}}}`)],
  ['a large list of tools', withClient(`"tools":[${repeated(() => '{"type":"function"}', LARGE)}]`)],
  ['a long header', withClient(`"headers":{"x-long":"${'x'.repeat(LARGE)}"}`)],
  ['a long query parameter', withClient(`"query_params":{"q":"${'é'.repeat(LARGE / 2)}"}`)],
  ['an integer of 300,000 digits', withClient(`"seed":${'1'.repeat(300_000)}`)],
  ['an integer that parsers round', withClient('"seed":9007199254740993')],
];

/** Opens streams. The result lets them end and returns their last messages. */
async function openStreams(server: AttackedServer, count: number): Promise<() => Promise<readonly unknown[]>> {
  const gate = new EventEmitter();
  const released = once(gate, 'open');
  const slow: Behaviour = async (_, wire) => {
    wire.write(head(200, SSE_HEADERS));
    wire.write(chunk(chatEvent({ role: 'assistant', content: 'one ' })));
    await released;
    wire.write(chunk(chatEvent({ content: 'two' }, 'stop')));
    wire.write(chunk('data: [DONE]\n\n'));
    wire.write(chunk(''));
  };
  server.model.answer(slow);
  const opened = await Promise.all(
    Array.from({ length: count }, () => openStream(`${server.url}/stream/Ask`, { text: 'a' }, { connection: 'close' })),
  );
  return async () => {
    gate.emit('open');
    const read = await Promise.all(opened.map(readMessages));
    return read.map(({ messages }) => messages.at(-1)?.data);
  };
}

onBothTransports(
  'huge maps, lists, strings and numbers in the options get 400 and cut none of 20 streams of other callers',
  SETUP,
  async (server) => {
    const ends = await openStreams(server, 20);
    for (const [what, body] of OPTION_BODIES) {
      const answers = await Promise.all(Array.from({ length: 2 }, () => callRaw(server, 'Ask', body)));
      expect(
        answers.map((answer) => answer.status),
        what,
      ).toEqual([400, 400]);
      for (const answer of answers) expect(answer.body.length, what).toBeLessThan(100_000);
    }
    expect(await ends()).toEqual(Array.from({ length: 20 }, () => ({ final_result: 'one two' })));
  },
);

const ARGUMENT_BODIES: readonly (readonly [string, string, number])[] = [
  ['Ask', `{"text":"a",${repeated(pair, LARGE)}}`, 400],
  ['Ask', `{"text":"a",${repeated(pair, 0.6 * MEGABYTE)}}`, 400],
  ['Ask', `{${repeated(() => '"text":"a"', 0.5 * MEGABYTE)}}`, 200],
  ['Ask', `{"text":"a","n":${'1'.repeat(300_000)}}`, 400],
  ['Ask', '['.repeat(LARGE), 400],
  ['Any', `{"a":${'1'.repeat(300_000)}}`, 400],
  ['Any', `{"a":[${repeated(() => '{"a":[]}', LARGE)}]}`, 400],
  ['Any', `{"a":[${repeated(() => '[1,2,[3]]', 0.08 * MEGABYTE)}]}`, 200],
  ['Colors', `{"a":[${repeated(() => '"Rde"', 0.25 * MEGABYTE)}]}`, 400],
  ['Picture', `{"a":{${repeated(pair, 0.5 * MEGABYTE)}}}`, 400],
  ['Picture', `{"a":{"media_type":"image/png","base64":"${'AAAA'.repeat(LARGE / 4)}"}}`, 200],
  ['Loop', `{"text":"${'x'.repeat(MEGABYTE)}"}`, 500],
];

onBothTransports(
  'bodies of up to 10 MB of each shape are answered and cut none of 20 streams of other callers',
  SETUP,
  async (server) => {
    const ends = await openStreams(server, 20);
    server.model.answer(reply('ok'));
    for (const [name, body, expected] of ARGUMENT_BODIES) {
      const answers = await Promise.all(Array.from({ length: 2 }, () => callRaw(server, name, body)));
      const what = `${name} ${body.slice(0, 60)}`;
      expect(
        answers.map((answer) => answer.status),
        what,
      ).toEqual([expected, expected]);
      for (const answer of answers) expect(answer.body.length, what).toBeLessThan(100_000);
    }
    expect(await ends()).toEqual(Array.from({ length: 20 }, () => ({ final_result: 'one two' })));
  },
);

function strategy(name: string, members: readonly string[], more: object = {}): object {
  return { name, provider: 'fallback', options: { strategy: members }, ...more };
}

function copies(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, () => name);
}

function top(...clients: readonly object[]): object {
  return { text: 'a', svc_options: { client_registry: { primary: 'Top', clients } } };
}

onBothTransports('a strategy of 900 members, alone or nested, asks no model', SETUP, async (server) => {
  const lists = [
    [strategy('Top', copies('Model', 900))],
    [strategy('Top', copies('Inner', 30)), strategy('Inner', copies('Model', 30))],
    [strategy('Top', copies('A', 10)), strategy('A', copies('B', 10)), strategy('B', copies('Model', 9))],
  ];
  for (const clients of lists) {
    const { status: answered, body } = await server.call('Ask', top(...clients));
    expect([answered, body]).toEqual([400, expect.stringMatching(/\b100 (?:entries|requests)/u)]);
  }
  expect(server.model.requests).toHaveLength(0);
});

onBothTransports(
  'retries of nested strategies of a request make at most 100 requests to models, and the error states so',
  SETUP,
  async (server) => {
    server.model.answer(status(500, { error: { message: 'no' } }));
    const retried = { retry_policy: 'Often' };
    const { status: answered, body } = await server.call(
      'Ask',
      top(strategy('Top', copies('Inner', 9), retried), strategy('Inner', copies('Model', 9), retried)),
    );
    expect([answered, body]).toEqual([502, expect.stringContaining('at most 100 requests to models')]);
    expect(server.model.requests).toHaveLength(100);
  },
);

onBothTransports('a strategy of the definition files asks as often as the files define', SETUP, async (server) => {
  server.model.answer(status(500, { error: { message: 'no' } }));
  expect((await server.call('AskWide', { text: 'a' })).status).toBe(502);
  expect(server.model.requests).toHaveLength(120);
});

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
class Open {
  name string
  @@dynamic
}
function Show(text: string) -> Open {
  client Model
  prompt #"{{ text }} {{ ctx.output_format }}"#
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

function withTypes(builder: unknown): string {
  return withOptions(JSON.stringify({ type_builder: builder }));
}

const field = (at: number): string => `f${at} int\n`;

/** Types that double 30 times when they are expanded. */
const DOUBLING = Array.from({ length: 30 }, (_, at) => `class C${at} {\n  a C${at + 1}\n  b C${at + 1}\n}`).join('\n');

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
  ['a megabyte of types', withTypes('x'.repeat(MEGABYTE))],
  ['nine megabytes of types', withTypes('x'.repeat(9 * MEGABYTE))],
  ['100,000 fields', withTypes(`dynamic class Open {\n${repeated(field, 1_000_000).replaceAll(',', '')}}`)],
  ['types that double 30 times', withTypes(`dynamic class Open {\n  x C0\n}\n${DOUBLING}\nclass C30 {\n  a int\n}`)],
  ['nested types', withTypes(`type A = ${'('.repeat(15_000)}int${')'.repeat(15_000)}`)],
  ['30,000 brackets', withTypes('}'.repeat(30_000))],
  ['an endless type', withTypes('type A = B\ntype B = A')],
  ['a variable of the server', withTypes('dynamic class Open {\n  x int @description(env.PROVIDER_URL)\n}')],
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

/** As many fields as a request can add, each with a check and a regular expression that a backtracking engine never finishes. */
function costlyTypes(number: number): string {
  const fields = Array.from(
    { length: 200 },
    (_, at) => `  f${at}_${number} string? @check(c, {{ this|regex_match("(a+)+b$") }})`,
  );
  return `dynamic class Open {\n${fields.join('\n')}\n}`;
}

onBothTransports(
  'a hundred requests at once with large types of their own, and replies that their checks read slowly, cut no other stream',
  SETUP,
  async (server) => {
    const ends = await openStreams(server, 20);
    const values = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}_0`, 'a'.repeat(200)]));
    server.model.answer(reply(JSON.stringify({ name: 'Ada', ...values })));
    const bodies = Array.from({ length: 100 }, (_, at) => withTypes(costlyTypes(at % 50)));
    const answers = await Promise.all(bodies.map((body) => callRaw(server, 'Show', body)));
    // A reply that takes too many steps, or a full queue, has a separate error.
    expect(answers.filter(({ status: answered }) => ![200, 500, 503].includes(answered))).toEqual([]);
    expect(await ends()).toEqual(Array.from({ length: 20 }, () => ({ final_result: 'one two' })));
    const { status: answered, body } = await server.call('Show', { text: 'a' });
    expect([answered, JSON.parse(body)]).toEqual([200, { name: 'Ada' }]);
  },
);

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reply } from '../support/fake-provider.ts';
import { startServer, temporaryFolder } from '../support/running-server.ts';
import { serveModel } from '../support/served-model.ts';
import { readStream } from '../support/sse.ts';

const FILES = {
  'main.svc': `
class Person {
  name string
  @@dynamic
}
client<llm> Model {
  provider openai-generic
  options {
    model m
    base_url env.PROVIDER_URL
  }
}
function Read(text: string) -> Person[] {
  client Model
  prompt #"{{ _.role("user") }}{{ text }} {{ ctx.output_format }}"#
}
client<llm> Structured {
  provider openai-generic
  options {
    model m
    base_url env.PROVIDER_URL
    structured_output on
  }
}
function ReadStructured(text: string) -> Person {
  client Structured
  prompt #"{{ _.role("user") }}{{ text }}"#
}
function Greet(to: Person) -> string {
  client Model
  prompt #"{{ _.role("user") }}{{ to }}"#
}
`,
};

const BUILDER = 'class City {\n  name string\n}\ndynamic class Person {\n  age int?\n  city City?\n}';
const REPLY = '[{"name": "Ada", "age": 36, "city": {"name": "London"}}]';
const DYNAMIC = { text: 'x', svc_options: { type_builder: BUILDER } };

/** Generous for a busy machine. */
const POLL = { timeout: 60_000 };

const served = await serveModel({
  files: FILES,
  flags: ['--workers', '1', '--features', 'beta', '--partial-interval', '0'],
  answer: reply(REPLY, { chunkSize: 5 }),
});
const { fake, server, start } = served;

async function post(
  url: string,
  route: string,
  body: unknown,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await served.post(route, body, { url });
  return { status: answer.status, body: await answer.json() };
}

test('calls, streams, prompts and parsed replies have the fields of the request', async () => {
  expect(await post(server.url, 'call/Read', DYNAMIC)).toEqual({ status: 200, body: JSON.parse(REPLY) as unknown });
  expect(JSON.stringify(fake.requests.at(-1)?.body)).toContain('city: {');
  expect(await post(server.url, 'call/Read', { text: 'x' })).toEqual({ status: 200, body: [{ name: 'Ada' }] });
  expect(JSON.stringify(fake.requests.at(-1)?.body)).not.toContain('city');

  const { messages } = await readStream(`${server.url}/stream/Read`, DYNAMIC);
  expect(messages.at(-1)?.data).toEqual({ final_result: JSON.parse(REPLY) as unknown });
  expect(messages[0]?.data).toMatchObject({ partial_result: [{ city: expect.anything() as unknown }] });

  const { body: rendered } = await post(server.url, 'render/Read', DYNAMIC);
  expect(JSON.stringify(rendered)).toContain('age: int or null');
  const parsing = { ...DYNAMIC, text: '[{name: Ada, age: "36"}]', explain: true };
  expect(await post(server.url, 'parse/Read', parsing)).toMatchObject({
    status: 200,
    body: {
      value: [{ name: 'Ada', age: 36, city: null }],
      explanation: { candidates: expect.any(Array) as unknown },
    },
  });
});

test('the schema that the provider receives has the fields of the request', async () => {
  fake.answer(reply('{"name": "Ada", "age": 36, "city": {"name": "London"}}'));
  expect(await post(server.url, 'call/ReadStructured', DYNAMIC)).toMatchObject({
    body: { city: { name: 'London' } },
  });
  expect(JSON.stringify(fake.requests.at(-1)?.body)).toMatch(/json_schema.*\bcity\b/u);
  expect(await post(server.url, 'call/ReadStructured', { text: 'x' })).toMatchObject({ body: { name: 'Ada' } });
  expect(JSON.stringify(fake.requests.at(-1)?.body)).not.toMatch(/\bcity\b/u);
});

test('a reply that a thread parses has the fields of the request', async () => {
  const people = Array.from({ length: 2_000 }, (_, age) => ({ name: 'Ada '.repeat(50), age, city: null }));
  const parsed = await post(server.url, 'parse/Read', { ...DYNAMIC, text: JSON.stringify(people) });
  expect(parsed).toEqual({ status: 200, body: people });
});

test('arguments are checked against the types of the request', async () => {
  const builder = { json_schema: { Person: { properties: { age: { type: 'integer' } }, required: ['age'] } } };
  const greet = (to: object): object => ({ to, svc_options: { type_builder: builder } });
  expect(await post(server.url, 'call/Greet', greet({ name: 'Ada' }))).toMatchObject({
    status: 400,
    body: { error: 'invalid_argument', details: [{ path: 'to.age' }] },
  });
  expect(await post(server.url, 'call/Greet', greet({ name: 'Ada', age: 36 }))).toMatchObject({ status: 200 });
});

test('types that do not compile get 400 with their positions, for calls and for streams', async () => {
  const body = {
    text: 'x',
    svc_options: { type_builder: `dynamic class Persn {\n  age int\n}\nclass City {\n  a Nope\n}` },
  };
  for (const route of ['call/Read', 'stream/Read', 'render/Read', 'parse/Read']) {
    expect(await post(server.url, route, body)).toMatchObject({
      status: 400,
      body: {
        error: 'invalid_options',
        details: [
          {
            path: 'svc_options.type_builder',
            message: 'The definitions have no class "Persn" to extend. Did you mean "Person"?',
            line: 1,
            column: 15,
            frame: '   |\n 1 | dynamic class Persn {\n   |               ^^^^^',
          },
        ],
      },
    });
  }
});

test('a hundred calls at once get the fields of their own types', async () => {
  fake.answer(reply('[{"name": "Ada", "f0": 0, "f1": 1, "f2": 2, "f3": 3, "f4": 4}]'));
  const answers = await Promise.all(
    Array.from({ length: 100 }, async (_, at) => {
      const builder = `dynamic class Person {\n  f${at % 5} int\n}`;
      return (await post(server.url, 'call/Read', { text: 'x', svc_options: { type_builder: builder } })).body;
    }),
  );
  expect(answers).toEqual(answers.map((_, at) => [{ name: 'Ada', [`f${at % 5}`]: at % 5 }]));
});

test('--dynamic-types off refuses the option and states the setting', async () => {
  const own = await start('--dynamic-types', 'off');
  try {
    const message = 'is disabled on this server: it needs --dynamic-types on (SVC_DYNAMIC_TYPES)';
    for (const route of ['call/Read', 'stream/Read', 'parse/Read']) {
      expect(await post(own.url, route, DYNAMIC)).toMatchObject({
        status: 400,
        body: { error: 'invalid_options', details: [{ path: 'svc_options.type_builder', message }] },
      });
    }
    expect(await post(own.url, 'call/Read', { text: 'x' })).toEqual({ status: 200, body: [{ name: 'Ada' }] });
  } finally {
    await own.stop();
  }
});

const extensible = (name: string): string =>
  `class ${name} {\n  name string\n  @@dynamic\n}\nfunction Read(text: string) -> ${name} {\n  client "offline/x"\n  prompt #"{{ text }}"#\n}\n`;

test('after a reload, types extend the new definitions, and no file of the old ones remains', async () => {
  const from = temporaryFolder({ 'main.svc': extensible('Person') });
  const temporary = temporaryFolder({});
  const own = await startServer({ from, flags: ['--workers', '1'], env: { TMPDIR: temporary } });
  const files = (): readonly string[] =>
    readdirSync(temporary, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sources'));
  const extended = async (name: string): Promise<number> => {
    const builder = `dynamic class ${name} {\n  age int\n}`;
    return (await post(own.url, 'call/Read', { text: 'x', svc_options: { type_builder: builder } })).status;
  };
  try {
    expect([await extended('Person'), await extended('Human')]).toEqual([200, 400]);
    const before = files();
    expect(before).toHaveLength(1);
    writeFileSync(join(from, 'main.svc'), extensible('Human'));
    own.child.kill('SIGHUP');
    await expect.poll(() => extended('Person'), POLL).toBe(400);
    await expect.poll(() => extended('Human'), POLL).toBe(200);
    await expect.poll(() => files().filter((name) => before.includes(name)), POLL).toEqual([]);
  } finally {
    await own.stop();
  }
});

test('the documented definitions serve the documented requests', async () => {
  const docs = readFileSync('docs/dynamic-types.md', 'utf8');
  const [, definitions = ''] = /```svc\n(.*?)```/su.exec(docs) ?? [];
  const requests = [...docs.matchAll(/```json call (\w+)\n(.*?)```/gsu)];
  expect(requests).toHaveLength(3);
  const own = await startServer({ files: { 'main.svc': definitions }, flags: ['--workers', '1'] });
  try {
    const answers: unknown[] = [];
    for (const [, name = '', body = ''] of requests) {
      const { status, body: answer } = await post(own.url, `call/${name}`, JSON.parse(body));
      expect(status, JSON.stringify(answer)).toBe(200);
      answers.push(answer);
    }
    expect(answers).toMatchObject([
      { age: expect.any(Number) as number, city: { name: expect.any(String) as string } },
      { age: expect.any(Number) as number, city: { name: expect.any(String) as string } },
      expect.stringMatching(/^(?:Billing|Other|Delivery)$/u),
    ]);
    const fault = { text: 'x', svc_options: { type_builder: 'dynamic class Contct { age int }' } };
    const [, documented = ''] = /```json\n(.*?)```/su.exec(docs) ?? [];
    expect(await post(own.url, 'call/ReadContact', fault)).toMatchObject({
      body: { details: [JSON.parse(documented)] },
    });
  } finally {
    await own.stop();
  }
});

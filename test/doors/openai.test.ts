import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HAS_UWS } from '../server/support/transports.ts';
import {
  reply,
  SSE_HEADERS,
  chatEvent,
  startFakeProvider,
  status,
  type FakeProvider,
} from '../support/fake-provider.ts';
import { chunk, head } from '../support/http1-connection.ts';
import { waitUntil } from '../support/load.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';

/*
 * The clients of OpenAI's interface that people use, with the built program. `npm ci` installs them in this folder, so the type checker does
 * not know them.
 */
const FOLDER = fileURLToPath(new URL('node_modules', import.meta.url));

// oxlint-disable-next-line typescript/no-explicit-any -- see above
type Package = any;

async function load(path: string): Promise<Package> {
  return await import(`${FOLDER}/${path}`);
}

const FILES = {
  'main.svc': `
client<llm> Model {
  provider openai-generic
  options {
    model local
    base_url env.PROVIDER_URL
  }
}

class Person {
  name string
  age int?
  skills string[]
}

class Message {
  role "system" | "user" | "assistant"
  content string
}

function Echo(text: string) -> string {
  client Model
  prompt #"{{ text }}"#
}

function Chat(messages: Message[]) -> string {
  client Model
  prompt #"
    {% for message in messages %}
    {{ _.role(message.role) }}
    {{ message.content }}
    {% endfor %}
  "#
}

function Extract(text: string) -> Person {
  client Model
  prompt #"{{ text }} {{ ctx.output_format }}"#
}

function Look(question: string, picture: image) -> string {
  client Model
  prompt #"{{ _.role("user") }}{{ question }} {{ picture }}"#
}
`,
};

const ADA = { name: 'Ada "L"', age: 36, skills: ['algebra', '😀'] };
const KEY = 'correct-horse-battery';
const USER = [{ role: 'user', content: 'Hello' }];

let fake: FakeProvider;

beforeAll(async () => {
  fake = await startFakeProvider();
});

beforeEach(() => fake.clear());

afterAll(() => fake.close());

async function failure(promise: Promise<unknown>): Promise<Package> {
  return promise.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => error,
  );
}

describe.each(HAS_UWS ? ['uws', 'node'] : ['node'])('over %s', (transport) => {
  let server: RunningServer;
  let openai: Package;
  let zod: Package;
  let client: Package;

  beforeAll(async () => {
    server = await startServer({
      files: FILES,
      flags: ['--openai-api', '--transport', transport, '--workers', '1', '--partial-interval', '0'],
      env: { PROVIDER_URL: fake.url, SVC_PASSWORD: KEY },
    });
    openai = await load('openai/index.mjs');
    zod = await load('zod/index.js');
    client = new openai.OpenAI({ baseURL: `${server.url}/v1`, apiKey: KEY });
  });

  afterAll(() => server.stop());

  test('openai lists models, and calls them', async () => {
    const models = await client.models.list();
    expect(models.data.map(({ id }: { id: string }) => id)).toEqual(['Echo', 'Chat', 'Extract', 'Look']);
    fake.script(reply('Hi!', { usage: { prompt_tokens: 3, completion_tokens: 2 } }));
    const { data, response } = await client.chat.completions
      .create({ model: 'Echo', messages: USER, temperature: 0 })
      .withResponse();
    expect([data.choices[0].message.content, data.usage.total_tokens, data.svc.client]).toEqual(['Hi!', 5, 'Model']);
    expect(response.headers.get('x-svc-ignored')).toBe('temperature');
    fake.script(reply('Hi!'));
    expect(
      (await client.responses.create({ model: 'Chat', instructions: 'Be brief.', input: 'Hello' })).output_text,
    ).toBe('Hi!');
  });

  test('openai parses the value with a zod schema', async () => {
    const { zodResponseFormat, zodTextFormat } = await load('openai/helpers/zod.mjs');
    const { z } = zod;
    const Person = z.object({ name: z.string(), age: z.number().nullable(), skills: z.array(z.string()) });
    fake.script(reply(JSON.stringify(ADA)), reply(JSON.stringify(ADA)));
    const chat = await client.chat.completions.parse({
      model: 'Extract',
      messages: USER,
      response_format: zodResponseFormat(Person, 'person'),
    });
    expect(chat.choices[0].message.parsed).toEqual(ADA);
    const response = await client.responses.parse({
      model: 'Extract',
      input: 'Ada',
      text: { format: zodTextFormat(Person, 'person') },
    });
    expect(response.output_parsed).toEqual(ADA);
  });

  test('openai streams chat completions and responses', async () => {
    const json = JSON.stringify(ADA);
    fake.script(reply(json, { delayMs: 1 }), reply(json, { delayMs: 1 }), reply('Hello', { delayMs: 1 }));
    let text = '';
    const deltas: string[] = [];
    for await (const part of await client.chat.completions.create({ model: 'Extract', messages: USER, stream: true })) {
      deltas.push(part.choices[0]?.delta.content ?? '');
      text += deltas.at(-1);
    }
    expect(JSON.parse(text)).toEqual(ADA);
    const completion = await client.chat.completions.stream({ model: 'Extract', messages: USER }).finalChatCompletion();
    expect(JSON.parse(completion.choices[0].message.content)).toEqual(ADA);
    const stream = client.responses.stream({ model: 'Echo', input: 'Hello' });
    const response = await stream.finalResponse();
    expect([response.status, response.output_text]).toEqual(['completed', 'Hello']);
  });

  test('openai sends an image', async () => {
    fake.script(reply('A dot.'));
    const content = [
      { type: 'text', text: 'What?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
    ];
    const answer = await client.chat.completions.create({ model: 'Look', messages: [{ role: 'user', content }] });
    expect(answer.choices[0].message.content).toBe('A dot.');
    expect(fake.requests.at(-1)?.body).toContain('data:image/png;base64,aGk=');
  });

  test('openai throws its typed exceptions, and repeats no call that svc has repeated', async () => {
    const wrong = new openai.OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'wrong' });
    expect(await failure(wrong.models.list())).toBeInstanceOf(openai.AuthenticationError);
    const unknown = await failure(client.chat.completions.create({ model: 'Eco', messages: USER }));
    expect(unknown).toBeInstanceOf(openai.NotFoundError);
    expect([unknown.code, unknown.message]).toEqual([
      'model_not_found',
      expect.stringContaining('Did you mean "Echo"'),
    ]);
    const refused = await failure(client.chat.completions.create({ model: 'Echo', messages: USER, n: 2 }));
    expect(refused).toBeInstanceOf(openai.BadRequestError);
    expect([refused.param, typeof refused.requestID]).toEqual(['n', 'string']);
    fake.script(status(500, { error: { message: 'down' } }));
    const down = await failure(client.chat.completions.create({ model: 'Echo', messages: USER }));
    expect(down).toBeInstanceOf(openai.InternalServerError);
    expect([down.status, down.code, fake.requests.length]).toEqual([502, 'client_error', 1]);
  });

  test('openai throws when a stream fails after its first text', async () => {
    for (const stream of [
      () => client.chat.completions.create({ model: 'Echo', messages: USER, stream: true }),
      () => client.responses.create({ model: 'Echo', input: 'Hello', stream: true }),
    ]) {
      fake.script(async (_request, wire) => {
        wire.write(head(200, SSE_HEADERS));
        wire.write(chunk(chatEvent({ content: 'Hel' })));
        wire.write(chunk('data: {"error":{"message":"down"}}\n\n'));
        wire.end();
      });
      let text = '';
      const error = await failure(
        (async () => {
          for await (const part of await stream())
            text += part.choices?.[0]?.delta.content ?? (part.type === 'response.output_text.delta' ? part.delta : '');
        })(),
      );
      expect(error).toBeInstanceOf(openai.APIError);
      expect([text, error.code]).toEqual(['Hel', 'client_error']);
    }
  });

  test('an abort of openai cancels the request to the model', async () => {
    let gone = false;
    fake.script(async (_request, wire) => {
      wire.write(head(200, SSE_HEADERS));
      wire.write(chunk(chatEvent({ content: 'Hel' })));
      await waitUntil('svc left the model', () => wire.gone);
      gone = true;
    });
    const controller = new AbortController();
    const stream = await client.chat.completions.create(
      { model: 'Echo', messages: USER, stream: true },
      { signal: controller.signal },
    );
    for await (const part of stream) if (part.choices[0].delta.content !== '') controller.abort();
    await waitUntil('svc cancelled the request', () => gone);
    expect(fake.abandoned).toHaveLength(1);
  });

  test('the AI SDK generates and streams text and objects', async () => {
    const ai = await load('ai/dist/index.mjs');
    const { createOpenAI } = await load('@ai-sdk/openai/dist/index.mjs');
    const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible/dist/index.mjs');
    const { z } = zod;
    const schema = z.object({ name: z.string(), age: z.number().nullable(), skills: z.array(z.string()) });
    const options = { baseURL: `${server.url}/v1`, apiKey: KEY };
    const provider = createOpenAI(options);
    const compatible = createOpenAICompatible({ ...options, name: 'svc', supportsStructuredOutputs: true });
    for (const model of [
      (id: string) => provider(id),
      (id: string) => provider.chat(id),
      (id: string) => compatible(id),
    ]) {
      const json = JSON.stringify(ADA);
      fake.script(reply('Hi!'), reply(json), reply('Hello', { delayMs: 1 }), reply(json, { delayMs: 1 }));
      expect((await ai.generateText({ model: model('Echo'), prompt: 'Hello' })).text).toBe('Hi!');
      expect((await ai.generateObject({ model: model('Extract'), schema, prompt: 'Ada' })).object).toEqual(ADA);
      let text = '';
      for await (const delta of ai.streamText({ model: model('Echo'), prompt: 'Hello' }).textStream) text += delta;
      expect(text).toBe('Hello');
      const streamed = ai.streamObject({ model: model('Extract'), schema, prompt: 'Ada' });
      const partials: unknown[] = [];
      for await (const partial of streamed.partialObjectStream) partials.push(partial);
      expect(await streamed.object).toEqual(ADA);
      expect(partials.length).toBeGreaterThan(1);
    }
    const error = await failure(ai.generateText({ model: provider('Eco'), prompt: 'Hello' }));
    expect([error.statusCode, error.isRetryable]).toEqual([404, false]);
  });

  test('LangChain invokes, streams, and reads a structured output', async () => {
    const { ChatOpenAI } = await load('@langchain/openai/dist/index.js');
    const model = (name: string) =>
      new ChatOpenAI({ model: name, apiKey: KEY, configuration: { baseURL: `${server.url}/v1` } });
    const { z } = zod;
    const schema = z.object({ name: z.string(), age: z.number().nullable(), skills: z.array(z.string()) });
    const json = JSON.stringify(ADA);
    fake.script(reply('Hi!'), reply('Hello', { delayMs: 1 }), reply(json));
    expect((await model('Chat').invoke('Hello')).content).toBe('Hi!');
    let text = '';
    for await (const part of await model('Echo').stream('Hello')) text += part.content;
    expect(text).toBe('Hello');
    const structured = model('Extract').withStructuredOutput(schema, { method: 'jsonSchema' });
    expect(await structured.invoke('Ada')).toEqual(ADA);
  });
});

test('openai waits and repeats a call above a limit, as maxRetries states', async () => {
  const server = await startServer({
    files: FILES,
    flags: ['--openai-api', '--workers', '1', '--max-in-flight', '1', '--max-queue', '0'],
    env: { PROVIDER_URL: fake.url },
  });
  const { OpenAI } = await load('openai/index.mjs');
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  fake.script(async (request, wire) => {
    await held;
    await reply('first')(request, wire);
  }, reply('second'));
  const statuses: number[] = [];
  const call = (maxRetries: number, text: string) => {
    const client = new OpenAI({
      baseURL: `${server.url}/v1`,
      apiKey: 'none',
      maxRetries,
      fetch: async (url: string, init: RequestInit) => {
        const response = await fetch(url, init);
        statuses.push(response.status);
        if (response.status === 503) release?.();
        return response;
      },
    });
    return client.chat.completions.create({ model: 'Echo', messages: [{ role: 'user', content: text }] });
  };
  const first = call(0, 'a');
  await waitUntil('the first call is at the model', () => fake.requests.length === 1);
  const second = await call(5, 'b');
  expect([(await first).choices[0].message.content, second.choices[0].message.content]).toEqual(['first', 'second']);
  expect(statuses).toContain(503);
  await server.stop();
});

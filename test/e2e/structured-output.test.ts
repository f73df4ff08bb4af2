import { expect, test } from 'vitest';
import { chatCompletion, sse, status } from '../support/fake-provider.ts';
import type { RecordedRequest } from '../support/fake-wire.ts';
import { honouringSchemas, requestedSchema, valueOfSchema } from '../support/schema-reply.ts';
import { serveModel } from '../support/served-model.ts';
import { readStream } from '../support/sse.ts';

/** No prompt describes the reply: the provider receives the schema. */
const FILES = {
  'main.svc': `
class Person {
  name string @alias("full name")
  age int?
  friends Person[]
  @@dynamic
}
client<llm> OpenAI {
  provider openai
  options {
    model "gpt-5"
    base_url env.PROVIDER_URL
    api_key "svc-test-key"
    structured_output auto
  }
}
client<llm> Claude {
  provider anthropic
  options {
    model "claude-sonnet-4-5"
    base_url env.PROVIDER_URL
    api_key "svc-test-key"
    structured_output auto
  }
}
function People() -> Person[] {
  client OpenAI
  prompt #"{{ _.role("user") }}Who?"#
}
function Numbers() -> int[] {
  client Claude
  prompt #"{{ _.role("user") }}Which?"#
}
`,
};

const { fake, server, post } = await serveModel({ files: FILES, flags: ['--workers', '1'], answer: honouringSchemas });

interface Person {
  readonly name: string;
  readonly age: number | null;
  readonly friends: readonly Person[];
}

test('a call has the value of a provider that honours the schema, under the real names', async () => {
  const response = await post('call/People', {});
  expect(response.status).toBe(200);
  const people = (await response.json()) as readonly Person[];
  expect(people).toHaveLength(2);
  expect(people[0]).toMatchObject({ name: 'text', age: 7, friends: [{ name: 'text' }, { name: 'text' }] });
  expect(fake.requests.map(requestedSchema)).toEqual([expect.objectContaining({ required: ['result'] })]);
});

test('a stream shows no part of the object around the value', async () => {
  const { messages, status: code } = await readStream(`${server.url}/stream/People`, {});
  expect(code).toBe(200);
  const values = messages.map(({ data }) => Object.values(data as object)[0] as unknown);
  expect(values.every(Array.isArray)).toBe(true);
  expect(values.at(-1)).toEqual(await (await post('call/People', {})).json());
});

test('the schema and the value follow the types of a request', async () => {
  const options = { type_builder: 'dynamic class Person {\n  city string @alias("home town")\n}' };
  const response = await post('call/People', { svc_options: options });
  const [person] = (await response.json()) as readonly object[];
  expect(person).toMatchObject({ name: 'text', city: 'text' });
  expect(fake.requests[0]?.body).toContain('"home town":{"type":"string"}');
});

test('the server logs no warning, because the prompts need no output format', () => {
  expect(server.output()).not.toContain('output_format');
});

/** The schema of the tool in a request to Anthropic. */
function toolSchema(request: RecordedRequest): Readonly<Record<string, unknown>> {
  const { tools } = request.json as {
    readonly tools: readonly [{ readonly input_schema: Readonly<Record<string, unknown>> }];
  };
  return tools[0].input_schema;
}

function toolStream(request: RecordedRequest): readonly string[] {
  const text = JSON.stringify(valueOfSchema(toolSchema(request), 5));
  const deltas = text.match(/.{1,6}/gu) ?? [];
  const events = [
    { type: 'message_start', message: { usage: { input_tokens: 3 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'Numbers', input: {} } },
    ...deltas.map((partial) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: partial },
    })),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

test('the input of a tool is the text of a stream', async () => {
  fake.answer((request, wire) => sse(toolStream(request))(request, wire));
  const { messages } = await readStream(`${server.url}/stream/Numbers`, {});
  expect(messages.at(-1)?.data).toEqual({ final_result: [7, 7, 7, 7, 7] });
});

test('a long reply that a thread parses is unwrapped too', async () => {
  const numbers = Array.from({ length: 60_000 }, (_, at) => at);
  fake.answer((request, wire) => {
    const content = [{ type: 'tool_use', id: 't', name: 'Numbers', input: { result: numbers } }];
    return status(200, { type: 'message', content, stop_reason: 'tool_use' })(request, wire);
  });
  expect(await (await post('call/Numbers', {})).text()).toBe(JSON.stringify(numbers));
});

test('a refusal is a separate error', async () => {
  const completion = chatCompletion(null) as { readonly choices: readonly [{ readonly message: object }] };
  const [choice] = completion.choices;
  const message = { ...choice.message, refusal: 'I cannot help with that.' };
  fake.answer(status(200, { ...completion, choices: [{ ...choice, message }] }));
  const response = await post('call/People', {});
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({
    error: 'refusal',
    client: 'OpenAI',
    raw_output: 'I cannot help with that.',
  });
});

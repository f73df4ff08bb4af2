import { expect, test } from 'vitest';
import { FunctionReplies } from '../../../src/runtime/call/function-replies.ts';
import type { FunctionRuntime, RuntimeOptions, WholeReply } from '../../../src/runtime/call/runtime.ts';
import { JsonReply, NO_LOSSES } from '../../../src/runtime/reply/reply-parser.ts';
import { indexDefinitions } from '../../../src/schema/program.ts';
import { RESPONSE_FORMAT, TEXT_FORMAT } from '../../../src/schema/providers/structured-output.ts';
import { chatCompletion, chatEvent, reply, sse, status } from '../../support/fake-provider.ts';
import { startProviderSuite } from '../../support/provider-suite.ts';
import { honouringSchemas, requestedSchema } from '../../support/schema-reply.ts';
import {
  callFunction,
  compileText,
  parseText,
  streamFunction,
  testRuntime,
  valueOf,
} from '../../support/test-runtime.ts';

const { fake, open } = await startProviderSuite(honouringSchemas);

const DEFINITIONS = `class Person {
  name string @alias("full name") @description("as on the card")
  age int?
  secret string? @skip
}
class Chain {
  next Chain?
}
client<llm> Strict {
  provider openai
  options {
    model "gpt-5"
    base_url env.URL
    structured_output env.MODE
  }
}
client<llm> Claude {
  provider anthropic
  options {
    model "claude-sonnet-4-5"
    base_url env.URL
    api_key "k"
    structured_output env.MODE
  }
}
client<llm> Loose {
  provider openai-generic
  options {
    model "m"
    base_url env.URL
  }
}
client<llm> List {
  provider fallback
  options {
    strategy [Loose, Strict]
  }
}
client<llm> Turns {
  provider round-robin
  options {
    strategy [Strict, Loose]
  }
}
retry_policy Again {
  on_invalid_reply 1
}
client<llm> Correcting {
  provider openai
  retry_policy Again
  options {
    model "gpt-5"
    base_url env.URL
    structured_output auto
  }
}
${[
  ['People', 'Person[]', 'Strict'],
  ['OnePerson', 'Person', 'Strict'],
  ['Text', 'string', 'Strict'],
  ['ByList', 'Person[]', 'List'],
  ['ByTurns', 'Person[]', 'Turns'],
  ['Corrected', 'Person[]', 'Correcting'],
  ['ByTool', 'int[]', 'Claude'],
  ['ByPrompt', 'Person[]', 'Loose'],
]
  .map(
    ([name, type, client]) =>
      `function ${name}() -> ${type} {\n  client ${client}\n  prompt #"{{ _.role("user") }}Go"#\n}\n`,
  )
  .join('')}`;

const PEOPLE = [
  { name: 'text', age: 7 },
  { name: 'text', age: 7 },
];

function program(mode = 'auto', options: Partial<RuntimeOptions> = {}): FunctionRuntime {
  const runtime = testRuntime(DEFINITIONS, { URL: fake.url, MODE: mode, OPENAI_API_KEY: 'k' }, options);
  open.push(runtime);
  return runtime;
}

function schemas(): readonly unknown[] {
  return fake.requests.map(requestedSchema);
}

interface Conversation {
  readonly messages: ReadonlyArray<{ readonly content: readonly [{ readonly text: string }] }>;
}

const WRAPPED = JSON.stringify({ result: [{ 'full name': 'Ada', age: 36 }] });
const ADA = [{ name: 'Ada', age: 36 }];

test('a call of a provider that honours the schema has the value of the type', async () => {
  const runtime = program();
  expect(valueOf(await callFunction(runtime, 'People', {}))).toEqual(PEOPLE);
  expect(valueOf(await callFunction(runtime, 'OnePerson', {}))).toEqual(PEOPLE[0]);
});

test('a stream has partials of the value, and the final value of the call', async () => {
  const { events, outcome } = await streamFunction(program(), 'People', {});
  expect(valueOf(outcome)).toEqual(PEOPLE);
  expect(events).not.toEqual([]);
  for (const event of events) expect(Array.isArray(JSON.parse(event))).toBe(true);
});

test('a client with the option off, and a function that returns a string, send no schema', async () => {
  const off = program('off');
  fake.answer(reply(JSON.stringify([{ 'full name': 'Ada', age: 36 }])));
  expect(valueOf(await callFunction(off, 'People', {}))).toEqual(ADA);
  fake.answer(reply('{"result": "a"}'));
  expect(valueOf(await callFunction(program(), 'Text', {}))).toBe('{"result": "a"}');
  expect(schemas()).toEqual([undefined, undefined]);
  expect(fake.requests.map(({ body }) => body.includes('response_format'))).toEqual([false, false]);
});

test('each member of a fallback and of a round-robin has its own option', async () => {
  const runtime = program();
  expect(valueOf(await callFunction(runtime, 'ByList', {}))).toEqual(PEOPLE);
  expect(schemas().map((schema) => schema !== undefined)).toEqual([false, true]);
  fake.clear();
  fake.answer(reply(WRAPPED));
  await callFunction(runtime, 'ByTurns', {});
  await callFunction(runtime, 'ByTurns', {});
  expect(schemas().map((schema) => schema !== undefined)).toEqual([true, false]);
});

test('a client of the request can send the schema, and replace one that does', async () => {
  const runtime = program();
  const own = (name: string, mode: string) => ({
    name,
    provider: 'openai-generic',
    options: { model: 'm', base_url: fake.url, structured_output: mode },
  });
  const registry = (mode: string, name: string, primary?: string) => ({
    svc_options: { client_registry: { clients: [own(name, mode)], ...(primary === undefined ? {} : { primary }) } },
  });
  expect(valueOf(await callFunction(runtime, 'ByPrompt', registry('on', 'Mine', 'Mine')))).toEqual(PEOPLE);
  fake.answer(reply(JSON.stringify([{ 'full name': 'Ada', age: 36 }])));
  expect(valueOf(await callFunction(runtime, 'People', registry('off', 'Strict')))).toEqual(ADA);
  expect(schemas().map((schema) => schema !== undefined)).toEqual([true, false]);
});

test('the option of a request has to be one of three words', () => {
  const client = { name: 'Mine', provider: 'openai', options: { model: 'm', structured_output: 'yes' } };
  const prepared = program().prepare('People', {
    svc_options: { client_registry: { clients: [client], primary: 'Mine' } },
  });
  expect(prepared.ok || prepared.failure).toMatchObject({
    details: [{ message: 'has to be one of "off", "auto", "on"' }],
  });
});

test('a refusal is a separate failure in a call and in a stream, and leads to the next client', async () => {
  const runtime = program();
  const completion = chatCompletion(null) as { readonly choices: readonly [{ readonly message: object }] };
  const [choice] = completion.choices;
  const message = { ...choice.message, refusal: 'I cannot help with that.' };
  fake.answer(status(200, { ...completion, choices: [{ ...choice, message }] }));
  const { result } = await callFunction(runtime, 'People', {});
  expect(result).toEqual({
    ok: false,
    failure: {
      code: 'refusal',
      message: 'The model of the client "Strict" refused to answer: I cannot help with that.',
      client: 'Strict',
      rawOutput: 'I cannot help with that.',
      finishReason: 'stop',
    },
  });
  fake.answer(sse([chatEvent({ refusal: 'I cannot ' }), chatEvent({ refusal: 'help.' }), chatEvent({}, 'stop')]));
  const streamed = await streamFunction(runtime, 'People', {});
  expect(valueOf(streamed.outcome)).toBe('refusal');
  expect(streamed.events).toEqual([]);
});

test('a refusal in the middle of a tool call is not a value, in a call and in a stream', async () => {
  const runtime = program();
  const refusal = {
    code: 'refusal',
    message: 'The model of the client "Claude" refused to answer',
    client: 'Claude',
    finishReason: 'refusal',
  };
  const input = { result: [1, 2] };
  fake.answer(status(200, { content: [{ type: 'tool_use', input }], stop_reason: 'refusal' }));
  expect((await callFunction(runtime, 'ByTool', {})).result).toMatchObject({ ok: false, failure: refusal });
  const partial = JSON.stringify(input).slice(0, -2);
  const events = [
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: partial } },
    { type: 'message_delta', delta: { stop_reason: 'refusal' } },
    { type: 'message_stop' },
  ];
  fake.answer(sse(events.map((event) => `data: ${JSON.stringify(event)}\n\n`)));
  const { outcome } = await streamFunction(runtime, 'ByTool', {});
  expect(outcome.result).toMatchObject({ ok: false, failure: refusal });
});

test('a refusal without a schema is a failure too', async () => {
  const completion = chatCompletion(null) as { readonly choices: readonly [{ readonly message: object }] };
  const [choice] = completion.choices;
  const message = { ...choice.message, refusal: 'I cannot help with that.' };
  fake.answer(status(200, { ...completion, choices: [{ ...choice, message }] }));
  expect(valueOf(await callFunction(program('off'), 'People', {}))).toBe('refusal');
  expect(valueOf(await callFunction(program(), 'Text', {}))).toBe('refusal');
});

test('a re-ask shows the model its own reply, and the paths of the value', async () => {
  const runtime = program();
  fake.script(reply('{"result": "some people"}'), reply(WRAPPED));
  expect(valueOf(await callFunction(runtime, 'Corrected', {}))).toEqual(ADA);
  const { messages } = (fake.requests[1]?.json ?? { messages: [] }) as Conversation;
  const texts = messages.map(({ content }) => content[0].text);
  expect(texts[1]).toBe('{"result": "some people"}');
  expect(texts[2]).toContain('\n- expected a list, got the string "some people"\n');
  expect(schemas().every((schema) => schema !== undefined)).toBe(true);
});

test('/parse reads the reply of a function whose client replies in a wrapper, and any other', async () => {
  const runtime = program();
  for (const text of [WRAPPED, JSON.stringify([{ 'full name': 'Ada', age: 36 }])]) {
    const outcome = await parseText(runtime, 'People', text);
    expect(outcome.ok && JSON.parse(outcome.value.json)).toEqual(ADA);
  }
});

test('a reply that another thread parses is marked as one that can be in a wrapper', async () => {
  const elsewhere: WholeReply[] = [];
  const runtime = program('auto', {
    parseElsewhereAbove: -1,
    parseElsewhere: (whole) => {
      elsewhere.push(whole);
      return Promise.resolve({ ok: true, value: new JsonReply('[]', [], NO_LOSSES) });
    },
  });
  fake.answer(reply(WRAPPED));
  await callFunction(runtime, 'People', {});
  await streamFunction(runtime, 'People', {});
  await callFunction(runtime, 'OnePerson', {});
  await callFunction(runtime, 'ByPrompt', {});
  expect(elsewhere.map(({ wrapped }) => wrapped)).toEqual([true, true, false, false]);
});

test('a schema is made once for each function and form, and never for a client without one', () => {
  const index = indexDefinitions(compileText(DEFINITIONS));
  const fn = index.functions.get('People');
  if (fn === undefined) throw new Error('no function');
  const replies = new FunctionReplies(fn, index);
  expect(replies.outputFor({ structured: undefined })).toBeUndefined();
  const output = replies.outputFor({ structured: RESPONSE_FORMAT });
  expect(output?.wrapper).toBe('result');
  expect(replies.outputFor({ structured: TEXT_FORMAT })).toBe(output);
});

test('the schema has the aliases and descriptions, and no skipped fields', async () => {
  await callFunction(program(), 'OnePerson', {});
  expect(schemas()).toEqual([
    {
      type: 'object',
      properties: {
        'full name': { description: 'as on the card', type: 'string' },
        age: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      },
      required: ['full name', 'age'],
      additionalProperties: false,
    },
  ]);
});

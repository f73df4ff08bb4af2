import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import type { Message, MessagePart } from '../../../src/runtime/prompt/message.ts';
import type { Provider } from '../../../src/schema/client.ts';
import { ask, clientDefinition, makeClient, testServices } from '../../support/ask-client.ts';
import type { Asked } from '../../support/ask-client.ts';
import { chatCompletion, sse, startFakeProvider, status } from '../../support/fake-provider.ts';
import type { FakeProvider } from '../../support/fake-provider.ts';

let fake: FakeProvider;
const services = testServices();

beforeAll(async () => {
  fake = await startFakeProvider();
});
beforeEach(() => fake.clear());
afterAll(async () => {
  await services.pools.close();
  await fake.close();
});

function text(role: string, ...texts: readonly string[]): Message {
  return { role, parts: texts.map((each) => ({ kind: 'text', text: each })) };
}

const ROLES = [text('system', 'Sys'), text('user', 'Hello w'), text('assistant', 'Asst'), text('user', 'More')];

function asked(
  provider: Provider,
  options: Readonly<Record<string, JsonValue>>,
  request: { readonly streamed?: boolean; readonly messages?: readonly Message[] } = {},
): Promise<Asked> {
  const definition = clientDefinition(provider, { base_url: `${fake.url}/base`, ...options });
  return ask(makeClient(definition, services), request);
}

function sent(): { readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly body: unknown } {
  const [request] = fake.requests;
  if (request === undefined) throw new Error('nothing was sent');
  const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
  return { path: request.path, headers, body: request.json };
}

const PLAIN = { 'content-type': 'application/json', accept: '*/*', 'accept-encoding': 'identity' };

function data(...events: readonly object[]): readonly string[] {
  return events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`);
}

const ANTHROPIC_REPLY = {
  type: 'message',
  content: [
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text: 'Hello ' },
    { type: 'text', text: 'there' },
  ],
  stop_reason: 'end_turn',
  usage: { input_tokens: 11, output_tokens: 5 },
};

test('anthropic: a call', async () => {
  fake.answer(status(200, ANTHROPIC_REPLY));
  const { result } = await asked('anthropic', { api_key: 'ank', model: 'c', temperature: 0.2 }, { messages: ROLES });
  expect(result).toEqual({
    ok: true,
    value: { text: 'Hello there', finishReason: 'end_turn', inputTokens: 11, outputTokens: 5 },
  });
  expect(sent()).toEqual({
    path: '/base/v1/messages',
    headers: { ...PLAIN, 'anthropic-version': '2023-06-01', 'x-api-key': 'ank' },
    body: {
      model: 'c',
      temperature: 0.2,
      max_tokens: 4096,
      system: [{ type: 'text', text: 'Sys' }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hello w' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Asst' }] },
        { role: 'user', content: [{ type: 'text', text: 'More' }] },
      ],
    },
  });
});

test("anthropic: nothing but a system message is sent as the user's; a limit of its own stays", async () => {
  fake.answer(status(200, ANTHROPIC_REPLY));
  await asked('anthropic', { api_key: 'k', max_tokens: 99 });
  expect(sent().body).toEqual({
    max_tokens: 99,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello w' }] }],
  });
});

const delta = (piece: string): object => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: piece },
});
const ANTHROPIC_EVENTS = data(
  { type: 'message_start', message: { usage: { input_tokens: 11, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
  delta('Hel'),
  delta('lo "x"\n'),
  delta('é\\'),
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
  delta('!'),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
);

test('anthropic: a stream', async () => {
  fake.answer(sse([ANTHROPIC_EVENTS.join('')]));
  const { result, pieces } = await asked('anthropic', { api_key: 'k', model: 'c' }, { streamed: true });
  expect(result).toEqual({
    ok: true,
    value: { text: 'Hello "x"\né\\!', finishReason: 'max_tokens', inputTokens: 11, outputTokens: 5 },
  });
  expect(pieces.join('')).toBe('Hello "x"\né\\!');
  expect(sent().body).toMatchObject({ stream: true });
});

test('anthropic: an error inside of a stream', async () => {
  const events = data(delta('a'), { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
  fake.answer(sse(events));
  const { result } = await asked('anthropic', { api_key: 'k', model: 'c' }, { streamed: true });
  expect(result).toMatchObject({
    ok: false,
    failure: { retry: 'always', failure: { message: expect.stringContaining('overloaded_error: Overloaded') } },
  });
});

test('anthropic: a stream without its last event was cut off', async () => {
  fake.answer(sse(ANTHROPIC_EVENTS.slice(0, 5)));
  const { result } = await asked('anthropic', { api_key: 'k', model: 'c' }, { streamed: true });
  expect(result).toMatchObject({ ok: false, failure: { retry: 'always' } });
});

const GOOGLE_REPLY = {
  candidates: [
    {
      content: { role: 'model', parts: [{ text: 'hm', thought: true }, { text: 'Hello' }, { text: '!' }] },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2 },
};

test('google-ai: a call', async () => {
  fake.answer(status(200, GOOGLE_REPLY));
  const options = { api_key: 'gk', model: 'gemini-1.5-pro', generationConfig: { temperature: 0.3 } };
  const { result } = await asked('google-ai', options, { messages: ROLES });
  expect(result).toEqual({
    ok: true,
    value: { text: 'Hello!', finishReason: 'STOP', inputTokens: 4, outputTokens: 2 },
  });
  expect(sent()).toEqual({
    path: '/base/models/gemini-1.5-pro:generateContent',
    headers: { ...PLAIN, 'x-goog-api-key': 'gk' },
    body: {
      generationConfig: { temperature: 0.3 },
      system_instruction: { parts: [{ text: 'Sys' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hello w' }] },
        { role: 'model', parts: [{ text: 'Asst' }] },
        { role: 'user', parts: [{ text: 'More' }] },
      ],
    },
  });
});

const googlePiece = (piece: string, more: object = {}): object => ({
  candidates: [{ content: { parts: [{ text: piece }], role: 'model' }, ...more }],
  usageMetadata: { promptTokenCount: 4, candidatesTokenCount: piece.length },
});

test('google-ai: a stream', async () => {
  fake.answer(sse(data(googlePiece('Hel'), googlePiece('lo'), googlePiece('', { finishReason: 'MAX_TOKENS' }))));
  const { result } = await asked('google-ai', { api_key: 'k', model: '../x' }, { streamed: true });
  expect(result).toEqual({
    ok: true,
    value: { text: 'Hello', finishReason: 'MAX_TOKENS', inputTokens: 4, outputTokens: 0 },
  });
  expect(sent().path).toBe('/base/models/_/x:streamGenerateContent?alt=sse');
});

test('google-ai: a prompt that was blocked is a failure of the client', async () => {
  fake.answer(status(200, { promptFeedback: { blockReason: 'SAFETY' } }));
  const { result } = await asked('google-ai', { api_key: 'k', model: 'm' });
  expect(result).toMatchObject({ ok: false, failure: { failure: { message: expect.stringContaining('SAFETY') } } });
});

test('google-ai: the model is required', () => {
  const definition = clientDefinition('google-ai', { api_key: 'k' });
  expect(() => makeClient(definition, services)).toThrow('options.model');
});

const RESPONSE = {
  object: 'response',
  status: 'completed',
  output: [
    { type: 'reasoning', summary: [] },
    { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] },
  ],
  usage: { input_tokens: 3, output_tokens: 2 },
};

test('openai-responses: a call', async () => {
  fake.answer(status(200, RESPONSE));
  const options = { api_key: 'k1', model: 'gpt-5', reasoning: { effort: 'low' } };
  const { result } = await asked('openai-responses', options, { messages: ROLES.slice(0, 3) });
  expect(result).toEqual({
    ok: true,
    value: { text: 'Hello', finishReason: 'completed', inputTokens: 3, outputTokens: 2 },
  });
  expect(sent()).toEqual({
    path: '/base/responses',
    headers: { ...PLAIN, authorization: 'Bearer k1' },
    body: {
      model: 'gpt-5',
      reasoning: { effort: 'low' },
      input: [
        { role: 'system', content: [{ type: 'input_text', text: 'Sys' }] },
        { role: 'user', content: [{ type: 'input_text', text: 'Hello w' }] },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Asst' }] },
      ],
    },
  });
});

const responsePiece = (piece: string, sequence_number: number): object => ({
  type: 'response.output_text.delta',
  sequence_number,
  delta: piece,
});

test('openai-responses: a stream', async () => {
  const events = data({ type: 'response.created' }, responsePiece('Hel', 1), responsePiece('lo', 2), {
    type: 'response.incomplete',
    response: { ...RESPONSE, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  });
  fake.answer(sse(events));
  const { result } = await asked('openai-responses', { api_key: 'k', model: 'm' }, { streamed: true });
  expect(result).toEqual({
    ok: true,
    value: { text: 'Hello', finishReason: 'max_output_tokens', inputTokens: 3, outputTokens: 2 },
  });
  expect(sent().body).toMatchObject({ stream: true });
});

test.each<[string, object]>([
  ['openai', chatCompletion('Hello')],
  ['openai-responses', RESPONSE],
  ['openai-transcription', { text: 'Hello' }],
  ['anthropic', { ...ANTHROPIC_REPLY, content: [{ type: 'text', text: 'Hello' }] }],
  ['google', { candidates: [{ content: { parts: [{ text: 'Hello' }] } }] }],
  ['vertex', { candidates: [{ content: { parts: [{ text: 'Hello' }] } }] }],
])('client_response_type %s reads replies so, and asks as before', async (type, reply) => {
  fake.answer(status(200, reply));
  const { result } = await asked('openai-generic', { model: 'm', client_response_type: type });
  expect(result.ok && result.value.text).toBe('Hello');
  expect(sent().path).toBe('/base/chat/completions');
});

function media(part: Partial<MessagePart>): readonly Message[] {
  return [{ role: 'user', parts: [part as MessagePart] }];
}

test('media that a provider takes only inline is downloaded', async () => {
  const url = fake.at('image', (_request, wire) => {
    wire.write('HTTP/1.1 200 OK\r\ncontent-type: image/gif; x=y\r\ncontent-length: 2\r\n\r\nhi');
  });
  fake.answer(status(200, GOOGLE_REPLY));
  const { result } = await asked(
    'google-ai',
    { api_key: 'secret', model: 'm' },
    {
      messages: media({ kind: 'media', media: 'image', source: { kind: 'url', url } }),
    },
  );
  expect(result.ok).toBe(true);
  expect(fake.requests[0]).toMatchObject({ method: 'GET', body: '' });
  expect(JSON.stringify(fake.requests[0]?.headers)).not.toContain('secret');
  expect(JSON.stringify(fake.requests[1]?.json)).toContain('{"inline_data":{"mime_type":"image/gif","data":"aGk="}}');
});

test.each(['http://169.254.169.254/latest', 'file:///etc/passwd', 'gopher://x'])(
  '%s is never downloaded',
  async (url) => {
    const { result } = await asked(
      'google-ai',
      { api_key: 'k', model: 'm' },
      {
        messages: media({ kind: 'media', media: 'image', source: { kind: 'url', url } }),
      },
    );
    expect(result.ok).toBe(false);
    expect(fake.requests).toHaveLength(0);
  },
);

test('media that cannot be had says why', async () => {
  const url = fake.at('gone', status(404, {}));
  const { result } = await asked(
    'google-ai',
    { api_key: 'k', model: 'm' },
    {
      messages: media({ kind: 'media', media: 'image', source: { kind: 'url', url } }),
    },
  );
  expect(result).toMatchObject({
    ok: false,
    failure: { failure: { message: expect.stringContaining('answered 404') } },
  });
});

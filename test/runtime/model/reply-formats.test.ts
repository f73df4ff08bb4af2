import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import type { Message, MessagePart } from '../../../src/schema/message.ts';
import type { Provider } from '../../../src/schema/providers/providers.ts';
import { ask, clientDefinition, makeClient, type Asked } from '../../support/ask-client.ts';
import { chatCompletion, chatEvent, sse, status } from '../../support/fake-provider.ts';
import { fakeModels } from '../../support/fake-models.ts';

const { fake, services } = await fakeModels();

function asked(
  provider: Provider,
  options: Readonly<Record<string, JsonValue>>,
  request: { readonly streamed?: boolean; readonly messages?: readonly Message[] } = {},
): Promise<Asked> {
  const definition = clientDefinition(provider, { base_url: `${fake.url}/base`, ...options });
  return ask(makeClient(definition, services), request);
}

function data(...events: readonly object[]): readonly string[] {
  return events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`);
}

const delta = (text: string): object => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
});
const CUT_OFF = data(
  { type: 'message_start', message: { usage: { input_tokens: 11, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  delta('Hel'),
);

test('anthropic: a stream without its last event is cut', async () => {
  fake.answer(sse(CUT_OFF));
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

const googleDelta = (text: string, more: object = {}): object => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' }, ...more }],
  usageMetadata: { promptTokenCount: 4, candidatesTokenCount: text.length },
});

/** JSON that is expensive to parse, with as many values as a number of its repetitions. */
const MANY: readonly [name: string, json: (count: number) => string][] = [
  ['empty objects', (count) => `[${'{},'.repeat(count / 2)}0]`],
  ['numbers', (count) => `[${'1,'.repeat(count)}1]`],
  ['members of one object', (count) => `{${'"k":1,'.repeat(count)}"z":1}`],
];

test.each(MANY)('a body or event with more than 500,000 values is refused before it is parsed: %s', async (_, json) => {
  const options = { model: 'm', api_key: 'k' };
  const outcomeOf = async (count: number, streamed: boolean): Promise<unknown> => {
    const member = `{"x":${json(count)},`;
    const body = JSON.stringify(chatCompletion('Hi')).replace('{', member);
    const event = chatEvent({ content: 'Hi' }, 'stop').replace('{', member);
    fake.answer(streamed ? sse([event]) : status(200, body, { 'content-type': 'application/json' }));
    const { result } = await asked('openai-generic', options, { streamed });
    return result.ok ? result.value.text : result.failure.failure.message;
  };
  const excess = 'that has more than 500000 values in its objects and lists';
  expect(await outcomeOf(499_000, false)).toBe('Hi');
  expect(await outcomeOf(501_000, false)).toBe(`The client "Tested" sent a reply ${excess}`);
  expect(await outcomeOf(499_000, true)).toBe('Hi');
  expect(await outcomeOf(501_000, true)).toBe(`The client "Tested" sent an event ${excess}`);
});

test('google-ai: the name of a model cannot change the folder in the path', async () => {
  fake.answer(sse(data(googleDelta('Hel'), googleDelta('lo'), googleDelta('', { finishReason: 'MAX_TOKENS' }))));
  const { result } = await asked('google-ai', { api_key: 'k', model: '../x' }, { streamed: true });
  expect(result).toEqual({
    ok: true,
    value: { text: 'Hello', finishReason: 'MAX_TOKENS', ending: 'cut', inputTokens: 4, outputTokens: 0 },
  });
  expect(fake.requests[0]?.path).toBe('/base/models/_/x:streamGenerateContent?alt=sse');
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

test.each<[string, object]>([
  ['openai', chatCompletion('Hello')],
  ['openai-responses', RESPONSE],
  ['openai-transcription', { text: 'Hello' }],
  ['anthropic', { type: 'message', content: [{ type: 'text', text: 'Hello' }] }],
  ['google', { candidates: [{ content: { parts: [{ text: 'Hello' }] } }] }],
  ['vertex', { candidates: [{ content: { parts: [{ text: 'Hello' }] } }] }],
])('client_response_type %s changes the format of replies, not of requests', async (type, reply) => {
  fake.answer(status(200, reply));
  const { result } = await asked('openai-generic', { model: 'm', client_response_type: type });
  expect(result.ok && result.value.text).toBe('Hello');
  expect(fake.requests[0]?.path).toBe('/base/chat/completions');
});

const ofChoice = (index: number, content: string): object => ({ choices: [{ index, delta: { content } }] });
const ofCandidate = (index: number, text: string): object => {
  const content = { parts: [{ text }] };
  return { candidates: [index === 0 ? { content } : { content, index }] };
};
const BOTH_CHOICES = { choices: [0, 1].map((index) => ({ index, delta: { content: 'x' } })) };
const BOTH_CANDIDATES = { candidates: [0, 1].map((index) => ({ index, content: { parts: [{ text: 'x' }] } })) };

/** The usage of each format, with every count that it can report. */
const CHAT_USAGE = {
  prompt_tokens: 100,
  completion_tokens: 20,
  prompt_tokens_details: { cached_tokens: 60, audio_tokens: 5 },
  completion_tokens_details: { reasoning_tokens: 8, audio_tokens: 3 },
};
const OPENROUTER_USAGE = {
  prompt_tokens: 100,
  completion_tokens: 20,
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 60, audio_tokens: null },
};
const DEEPSEEK_USAGE = { prompt_tokens: 100, completion_tokens: 20, prompt_cache_hit_tokens: 64 };
const RESPONSES_USAGE = {
  input_tokens: 100,
  output_tokens: 20,
  input_tokens_details: { cached_tokens: 60 },
  output_tokens_details: { reasoning_tokens: 8 },
};
const GOOGLE_USAGE = {
  promptTokenCount: 100,
  candidatesTokenCount: 20,
  cachedContentTokenCount: 60,
  thoughtsTokenCount: 8,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 95 },
    { modality: 'AUDIO', tokenCount: 5 },
  ],
  candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 3 }],
};
const ANTHROPIC_USAGE = {
  input_tokens: 10,
  cache_read_input_tokens: 60,
  cache_creation_input_tokens: 30,
  output_tokens: 20,
};

const chatReply = (usage: object): object => ({ ...chatCompletion('Hello'), usage });
const chatChunks = (usage: object): readonly object[] => [
  ofChoice(0, 'Hel'),
  ofChoice(0, 'lo'),
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage },
];
const ALL_TOKENS = {
  cachedInputTokens: 60,
  reasoningTokens: 8,
  audioInputTokens: 5,
  audioOutputTokens: 3,
};

const TOKENS: ReadonlyArray<
  readonly [Provider, whole: object, events: readonly object[], totals: readonly [number, number], details: object]
> = [
  ['openai', chatReply(CHAT_USAGE), chatChunks(CHAT_USAGE), [100, 20], ALL_TOKENS],
  [
    'openrouter',
    chatReply(OPENROUTER_USAGE),
    chatChunks(OPENROUTER_USAGE),
    [100, 20],
    { cachedInputTokens: 0, cacheWrittenInputTokens: 60 },
  ],
  ['openai-generic', chatReply(DEEPSEEK_USAGE), chatChunks(DEEPSEEK_USAGE), [100, 20], { cachedInputTokens: 64 }],
  [
    'openai-responses',
    { ...RESPONSE, usage: RESPONSES_USAGE },
    [
      { type: 'response.output_text.delta', delta: 'Hello' },
      { type: 'response.completed', response: { ...RESPONSE, usage: RESPONSES_USAGE } },
    ],
    [100, 20],
    { cachedInputTokens: 60, reasoningTokens: 8 },
  ],
  [
    'google-ai',
    { ...GOOGLE_REPLY, usageMetadata: GOOGLE_USAGE },
    [
      { ...googleDelta('Hel'), usageMetadata: { promptTokenCount: 100, thoughtsTokenCount: 4 } },
      { ...googleDelta('lo!', { finishReason: 'STOP' }), usageMetadata: GOOGLE_USAGE },
    ],
    [100, 28],
    ALL_TOKENS,
  ],
  [
    'anthropic',
    { type: 'message', content: [{ type: 'text', text: 'Hello' }], usage: ANTHROPIC_USAGE },
    [
      { type: 'message_start', message: { usage: { ...ANTHROPIC_USAGE, output_tokens: 1 } } },
      delta('Hello'),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } },
      { type: 'message_stop' },
    ],
    [100, 20],
    { cachedInputTokens: 60, cacheWrittenInputTokens: 30 },
  ],
];

test.each(TOKENS)('%s: replies and streams have the tokens that the provider counts apart', async (...row) => {
  const [provider, whole, events, [inputTokens, outputTokens], tokenDetails] = row;
  fake.answer(status(200, whole));
  const called = await asked(provider, { api_key: 'k', model: 'm' });
  fake.answer(sse(data(...events)));
  const streamed = await asked(provider, { api_key: 'k', model: 'm' }, { streamed: true });
  for (const { result } of [called, streamed]) {
    expect(result).toMatchObject({ ok: true, value: { inputTokens, outputTokens } });
    expect(result.ok && result.value.tokenDetails).toEqual(tokenDetails);
  }
});

test('anthropic: the last event of a stream replaces counts of the first and keeps the others', async () => {
  const start = { type: 'message_start', message: { usage: ANTHROPIC_USAGE } };
  const usage = { output_tokens: 20, cache_read_input_tokens: 61, cache_creation_input_tokens: null };
  fake.answer(sse(data(start, delta('Hi'), { type: 'message_delta', delta: {}, usage }, { type: 'message_stop' })));
  const { result } = await asked('anthropic', { api_key: 'k', model: 'm' }, { streamed: true });
  expect(result.ok && result.value.tokenDetails).toEqual({ cachedInputTokens: 61, cacheWrittenInputTokens: 30 });
});

test('a reply whose provider counts no tokens apart has no details of them', async () => {
  fake.answer(status(200, chatReply({ prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: null })));
  const { result } = await asked('openai-generic', { model: 'm' });
  expect(result).toMatchObject({ ok: true, value: { inputTokens: 7, outputTokens: 3 } });
  expect(result.ok && result.value).not.toHaveProperty('tokenDetails');
});

test.each<[Provider, string, readonly object[]]>([
  ['openai-generic', 'choices', [ofChoice(0, 'a'), ofChoice(1, 'b'), ofChoice(0, 'c'), ofChoice(1, 'd')]],
  ['openai-generic', 'choices', [ofChoice(1, 'b'), ofChoice(1, 'd')]],
  ['openai-generic', 'choices', [ofChoice(0, 'a'), ofChoice(0, 'c'), BOTH_CHOICES]],
  ['google-ai', 'candidates', [ofCandidate(0, 'a'), ofCandidate(1, 'b'), ofCandidate(0, 'c')]],
  ['google-ai', 'candidates', [ofCandidate(0, 'a'), BOTH_CANDIDATES]],
])('%s: a stream of several %s is refused, and they are not mixed (%#)', async (provider, several, events) => {
  fake.answer(sse([...data(...events), chatEvent({}, 'stop')]));
  const { result, deltas } = await asked(provider, { api_key: 'k', model: 'm' }, { streamed: true });
  expect(result).toMatchObject({ ok: false, failure: { retry: 'never' } });
  expect(!result.ok && result.failure.failure.message).toContain(`answered several ${several} instead of one`);
  expect(deltas.join('')).not.toMatch(/[bdx]/u);
});

function media(part: Partial<MessagePart>): readonly Message[] {
  return [{ role: 'user', parts: [part as MessagePart] }];
}

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

test('the failure of media that cannot be downloaded states the reason', async () => {
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

import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import type { Message } from '../../../src/schema/message.ts';
import type { Provider } from '../../../src/schema/providers/providers.ts';
import { ask, clientDefinition, makeClient, testServices, type Asked } from '../../support/ask-client.ts';

// A mock that other developers wrote from the providers' documentation reveals mistakes that svc and its own fakes share.
const mock = new LLMock({ port: 0 });
const services = testServices();
const TEXT = 'Hi there! "quoted", é and 😀,\nover two lines.';

interface Foreign {
  readonly provider: Provider;
  readonly path: string;
  readonly options: Readonly<Record<string, JsonValue>>;
  /** The provider's names for token usage. */
  readonly usage: readonly [input: string, output: string];
}

const CHAT = ['prompt_tokens', 'completion_tokens'] as const;
const INPUT = ['input_tokens', 'output_tokens'] as const;
const GOOGLE = ['promptTokenCount', 'candidatesTokenCount'] as const;
const GEMINI = 'gemini-2.0-flash';
const CLAUDE = 'anthropic.claude-3-haiku-20240307-v1:0';
const AWS = { region: 'us-east-1', access_key_id: 'AK', secret_access_key: 'SK' };

const CLIENTS: readonly Foreign[] = [
  { provider: 'openai', path: '/v1', options: { model: 'gpt-4o' }, usage: CHAT },
  { provider: 'openai-generic', path: '/v1', options: { model: 'm' }, usage: CHAT },
  { provider: 'openai-responses', path: '/v1', options: { model: 'gpt-4o' }, usage: INPUT },
  { provider: 'azure-openai', path: '/openai/deployments/d', options: { api_version: '2024-10-21' }, usage: CHAT },
  { provider: 'ollama', path: '/v1', options: { model: 'llama3' }, usage: CHAT },
  { provider: 'openrouter', path: '/api/v1', options: { model: 'openai/gpt-4o' }, usage: CHAT },
  { provider: 'anthropic', path: '', options: { model: 'claude-3-5' }, usage: INPUT },
  { provider: 'google-ai', path: '/v1beta', options: { model: GEMINI }, usage: GOOGLE },
  {
    provider: 'vertex-ai',
    path: '/v1/projects/p/locations/l/publishers/google/models',
    options: { model: GEMINI },
    usage: GOOGLE,
  },
  { provider: 'aws-bedrock', path: '', options: { model: CLAUDE, ...AWS, api_key: null }, usage: INPUT },
];

/** Providers from which svc does not request usage in streams. */
const WITHOUT_USAGE = new Set<Provider>(['openai-generic', 'azure-openai', 'ollama', 'openrouter']);

const CASES = CLIENTS.flatMap((client) =>
  [false, true].map((streamed) => [client.provider, streamed, client] as const),
);

beforeAll(async () => {
  for (const { provider, usage } of CLIENTS) {
    const [input, output] = usage;
    mock.onMessage(`hello ${provider}!`, { content: TEXT, usage: { [input]: 12, [output]: 34 } });
  }
  await mock.start();
});
afterAll(async () => {
  await services.pools.close();
  await mock.stop();
});

function asked({ provider, path, options }: Foreign, streamed: boolean): Promise<Asked> {
  const definition = clientDefinition(provider, { base_url: `${mock.url}${path}`, api_key: 'mock', ...options });
  const messages: readonly Message[] = [
    { role: 'system', parts: [{ kind: 'text', text: 'Be brief.' }] },
    { role: 'user', parts: [{ kind: 'text', text: `hello ${provider}!` }] },
  ];
  return ask(makeClient(definition, services), { streamed, messages });
}

test.each(CASES)('%s, streamed: %s: text, finish reason and tokens', async (provider, streamed, client) => {
  const { result, deltas } = await asked(client, streamed);
  expect(result.ok ? result.value.text : result.failure).toBe(TEXT);
  expect(result.ok && result.value.finishReason).toMatch(/^(stop|end_turn|STOP|completed)$/u);
  expect(deltas.join('')).toBe(streamed ? TEXT : '');
  if (streamed && WITHOUT_USAGE.has(provider)) return;
  expect(result).toMatchObject({ value: { inputTokens: 12, outputTokens: 34 } });
});

test.each(CASES)('%s, streamed: %s: an error has its status and message', async (_name, streamed, client) => {
  mock.nextRequestError(429, { message: 'Too many requests for this model', type: 'rate_limit_error' });
  const { result } = await asked(client, streamed);
  expect(result).toMatchObject({ ok: false, failure: { retry: 'status', upstreamStatus: 429 } });
  expect(!result.ok && result.failure.failure.message).toContain('answered 429: Too many requests for this model');
});

import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import type { Message } from '../../../src/runtime/prompt/message.ts';
import type { Provider } from '../../../src/schema/client.ts';
import { ask, clientDefinition, makeClient, testServices } from '../../support/ask-client.ts';

// Providers as somebody else understood their documentation: what both sides got wrong alike would show here.
const mock = new LLMock({ port: 0 });
const services = testServices();
const TEXT = 'Hi there! "quoted", é and 😀,\nover two lines.';

beforeAll(async () => {
  mock.onMessage('hello', { content: TEXT });
  await mock.start();
});
afterAll(async () => {
  await services.pools.close();
  await mock.stop();
});

const MESSAGES: readonly Message[] = [
  { role: 'system', parts: [{ kind: 'text', text: 'Be brief.' }] },
  { role: 'user', parts: [{ kind: 'text', text: 'hello' }] },
];

const CLIENTS: ReadonlyArray<[Provider, string, Readonly<Record<string, JsonValue>>]> = [
  ['openai', '/v1', { model: 'gpt-4o' }],
  ['openai-generic', '/v1', { model: 'gpt-4o' }],
  ['openai-responses', '/v1', { model: 'gpt-4o' }],
  ['anthropic', '', { model: 'claude-3-5-sonnet-20241022' }],
  ['google-ai', '/v1beta', { model: 'gemini-2.0-flash' }],
];

test.each(CLIENTS.flatMap((client) => [[...client, false] as const, [...client, true] as const]))(
  '%s at %s with %j, streamed: %s',
  async (provider, path, options, streamed) => {
    const definition = clientDefinition(provider, { base_url: `${mock.url}${path}`, api_key: 'mock', ...options });
    const { result, pieces } = await ask(makeClient(definition, services), { streamed, messages: MESSAGES });
    expect(result.ok ? result.value.text : result.failure).toBe(TEXT);
    expect(result.ok && result.value.finishReason).toMatch(/^(stop|end_turn|STOP|completed)$/u);
    expect(pieces.join('')).toBe(streamed ? TEXT : '');
  },
);

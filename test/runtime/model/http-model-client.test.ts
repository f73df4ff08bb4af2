import { afterAll, expect, test } from 'vitest';
import { openAiChatFormat } from '../../../src/runtime/model/wire/openai-chat-format.ts';
import { DEFAULT_LIMITS } from '../../../src/runtime/model/http/exchange-clock.ts';
import { HttpModelClient } from '../../../src/runtime/model/http-model-client.ts';
import type { WireProtocol } from '../../../src/runtime/model/http-model-client.ts';
import type { Message } from '../../../src/schema/message.ts';
import { ask, testServices } from '../../support/ask-client.ts';

const services = testServices();
afterAll(() => services.pools.close());

function clientWith(call: WireProtocol['call']): HttpModelClient {
  return new HttpModelClient({
    name: 'Tested',
    provider: 'openai-generic',
    prompt: {
      name: 'Tested',
      provider: 'openai-generic',
      defaultRole: 'user',
      allowedRoles: ['user'],
      remapRoles: {},
      options: {},
    },
    finishReasons: { kind: 'any' },
    supportsStreaming: true,
    endpoint: { origin: 'http://127.0.0.1:1', guard: 'none' },
    limits: DEFAULT_LIMITS,
    mediaHandling: () => 'send_base64',
    secrets: ['canary-key'],
    protocol: { call, format: openAiChatFormat },
    pools: services.pools,
  });
}

/** As JSON.stringify does for a text that V8 cannot hold. */
function tooLong(): never {
  throw new RangeError('Invalid string length, canary-key');
}

const WITH_MEDIA: readonly Message[] = [
  {
    role: 'user',
    parts: [{ kind: 'media', media: 'image', source: { kind: 'url', url: 'data:image/png;base64,aGk=' } }],
  },
];
const TOLD = 'The client "Tested" could not be asked: Invalid string length, [redacted]';

test('a request that cannot be made of its media ends the call', async () => {
  const { result } = await ask(clientWith(tooLong), { messages: WITH_MEDIA });
  expect(!result.ok && result.failure.failure.message).toBe(TOLD);
});

test('a request that fails while it is prepared ends the call', async () => {
  const client = clientWith(async () => {
    await Promise.resolve();
    return tooLong();
  });
  const { result } = await ask(client);
  expect(!result.ok && result.failure.failure.message).toBe(TOLD);
});

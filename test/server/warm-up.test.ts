import { expect, test } from 'vitest';
import type { ClientType } from '../../src/schema/client.ts';
import { wiresOf } from '../../src/server/warm-up.ts';

function client(provider: ClientType['provider'], baseUrl?: string | { readonly variable: string }): ClientType {
  const value =
    typeof baseUrl === 'object'
      ? ({ kind: 'env', variable: baseUrl.variable } as const)
      : ({ kind: 'scalar', value: baseUrl ?? null } as const);
  return {
    name: `${provider} ${JSON.stringify(baseUrl)}`,
    provider,
    options: baseUrl === undefined ? [] : [{ key: 'base_url', value }],
  };
}

const CHAT = 'openai-generic';
const LOCAL = 'http://127.0.0.1:8000/v1';

test.each([
  ['without a client', [], [{ format: CHAT, version: '2' }]],
  ['that answers by itself', [client('offline')], [{ format: CHAT, version: '2' }]],
  ['of OpenAI', [client('openai')], [{ format: CHAT, version: '2' }]],
  ['of a plain server', [client('openai-generic', LOCAL)], [{ format: CHAT, version: '1.1' }]],
  ['of a plain server by a variable', [client('openai', { variable: 'URL' })], [{ format: CHAT, version: '1.1' }]],
  ['of a variable that is not set', [client('openai', { variable: 'NONE' })], [{ format: CHAT, version: '2' }]],
  ['of Ollama', [client('ollama')], [{ format: CHAT, version: '1.1' }]],
  ['of Ollama elsewhere', [client('ollama', 'https://ollama.test/v1')], [{ format: CHAT, version: '2' }]],
  ['of Vertex AI', [client('vertex-ai')], [{ format: 'google-ai', version: '2' }]],
  [
    'of several, of which the two most common count',
    [client('google-ai'), client('openai'), client('anthropic'), client('openai-generic'), client('anthropic', LOCAL)],
    [
      { format: CHAT, version: '2' },
      { format: 'google-ai', version: '2' },
    ],
  ],
])('a worker warms up with what the clients of its program use: %s', (_, clients, wires) => {
  expect(wiresOf({ clients, functions: [] }, { URL: LOCAL })).toEqual(wires);
});

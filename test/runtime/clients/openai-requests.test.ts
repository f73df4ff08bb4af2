import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import type { Message } from '../../../src/runtime/prompt/message.ts';
import type { Provider } from '../../../src/schema/client.ts';
import { ask, clientDefinition, makeClient, testServices } from '../../support/ask-client.ts';
import { startFakeProvider } from '../../support/fake-provider.ts';
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

const ROLES: readonly Message[] = [
  { role: 'system', parts: [{ kind: 'text', text: 'Sys' }] },
  {
    role: 'user',
    parts: [{ kind: 'text', text: 'Hello w', metadata: { zz: 1, cache_control: { type: 'ephemeral' } } }],
  },
  { role: 'assistant', parts: [{ kind: 'text', text: 'Asst' }] },
];

async function sent(
  provider: Provider,
  options: Readonly<Record<string, JsonValue>>,
  asked: { readonly streamed?: boolean; readonly messages?: readonly Message[]; readonly base?: string } = {},
): Promise<{ readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly body: string }> {
  const definition = clientDefinition(provider, { base_url: `${fake.url}${asked.base ?? '/v1'}`, ...options });
  const { result } = await ask(makeClient(definition, services), asked);
  expect(result.ok && result.value.text).toBe('ok');
  const [request] = fake.requests;
  if (request === undefined) throw new Error('nothing was sent');
  expect(request.method).toBe('POST');
  const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
  return { path: request.path, headers, body: request.body };
}

const PLAIN = { 'content-type': 'application/json', accept: '*/*', 'accept-encoding': 'identity' };
const SYSTEM_PARTS = '"messages":[{"role":"system","content":[{"type":"text","text":"Hello w"}]}]';

test('openai: options in their order, then messages, always with parts', async () => {
  const options = {
    api_key: 'k1',
    model: 'gpt-4o',
    temperature: 0.5,
    nested: { a: { b: [1, 'two', true, null] } },
    headers: { 'X-Foo': 'bar' },
    query_params: { q: '1' },
  };
  expect(await sent('openai', options)).toEqual({
    path: '/v1/chat/completions?q=1',
    headers: { ...PLAIN, authorization: 'Bearer k1', 'x-foo': 'bar' },
    body: `{"model":"gpt-4o","temperature":0.5,"nested":{"a":{"b":[1,"two",true,null]}},${SYSTEM_PARTS}}`,
  });
});

test('openai: a stream asks for usage', async () => {
  const { body } = await sent('openai', { api_key: 'k', model: 'g' }, { streamed: true });
  expect(body).toBe(`{"model":"g",${SYSTEM_PARTS},"stream":true,"stream_options":{"include_usage":true}}`);
});

test('openai: o1 models do not stream', async () => {
  const definition = clientDefinition('openai', { base_url: fake.url, api_key: 'k', model: 'o1-mini' });
  const client = makeClient(definition, services);
  expect(client.prompt).toMatchObject({ allowedRoles: ['user', 'assistant'], defaultRole: 'user' });
  const { result, pieces } = await ask(client, { streamed: true });
  expect(result.ok).toBe(true);
  expect(pieces).toEqual(['ok']);
  expect(fake.requests[0]?.body).not.toContain('stream');
});

test('openai: a header of the client replaces the one svc would send', async () => {
  const { headers } = await sent('openai', { headers: { Authorization: 'Basic zzz' }, model: 'g' });
  expect(headers['authorization']).toBe('Basic zzz');
});

test('openai: supports_streaming false makes one whole request of a stream', async () => {
  const { body } = await sent('openai', { api_key: 'k', model: 'g', supports_streaming: false }, { streamed: true });
  expect(body).toBe(`{"model":"g",${SYSTEM_PARTS}}`);
});

test.each<[JsonValue, string]>([
  ['all', '{"type":"text","text":"Hello w","zz":1,"cache_control":{"type":"ephemeral"}}'],
  ['none', '{"type":"text","text":"Hello w"}'],
  [['cache_control'], '{"type":"text","text":"Hello w","cache_control":{"type":"ephemeral"}}'],
])('openai: metadata %j', async (allowed, part) => {
  const { body } = await sent('openai', { api_key: 'k', allowed_role_metadata: allowed }, { messages: ROLES });
  expect(body).toContain(`{"role":"user","content":[${part}]}`);
});

test('openai-generic: a message of one text is a plain text, and no key is sent', async () => {
  expect(await sent('openai-generic', { model: 'g' })).toEqual({
    path: '/v1/chat/completions',
    headers: PLAIN,
    body: '{"model":"g","messages":[{"role":"system","content":"Hello w"}]}',
  });
});

test('openai-generic: several parts or metadata make a list of parts', async () => {
  const options = { model: 'g', allowed_role_metadata: 'all', remap_roles: { system: 'developer', user: 'human' } };
  const { body } = await sent('openai-generic', options, { messages: ROLES, streamed: true });
  expect(JSON.parse(body)).toEqual({
    model: 'g',
    messages: [
      { role: 'developer', content: 'Sys' },
      {
        role: 'human',
        content: [{ type: 'text', text: 'Hello w', zz: 1, cache_control: { type: 'ephemeral' } }],
      },
      { role: 'assistant', content: 'Asst' },
    ],
    stream: true,
  });
});

test('openai-generic: a key is sent when there is one, and one slash at the end of the URL is nothing', async () => {
  const { path, headers } = await sent('openai-generic', { api_key: 'gk' }, { base: '/v1/' });
  expect(path).toBe('/v1/chat/completions');
  expect(headers['authorization']).toBe('Bearer gk');
});

test.each<[Readonly<Record<string, JsonValue>>, string]>([
  [{}, '"max_tokens":4096,'],
  [{ max_tokens: null }, ''],
  [{ max_completion_tokens: 7 }, '"max_completion_tokens":7,'],
])('azure-openai: %j', async (options, members) => {
  const azure = { api_key: 'ak', api_version: '2024-02-01', ...options };
  expect(await sent('azure-openai', azure, { base: '/openai/deployments/dep' })).toEqual({
    path: '/openai/deployments/dep/chat/completions?api-version=2024-02-01',
    headers: { ...PLAIN, 'api-key': 'ak' },
    body: `{${members}${SYSTEM_PARTS}}`,
  });
});

test('ollama: parts, no key, the user is the default role', async () => {
  const { headers, body } = await sent('ollama', { model: 'llama3' }, { streamed: true });
  expect(headers).toEqual(PLAIN);
  expect(body).toBe(`{"model":"llama3",${SYSTEM_PARTS},"stream":true}`);
  expect(makeClient(clientDefinition('ollama', { model: 'x' }), services).prompt.defaultRole).toBe('user');
});

test('openrouter: options that are no headers are members of the body', async () => {
  const options = { api_key: 'ork', model: 'openai/gpt-4o', http_referer: 'https://me' };
  const { headers, body } = await sent('openrouter', options, { base: '/api/v1' });
  expect(headers['authorization']).toBe('Bearer ork');
  expect(body).toBe(`{"model":"openai/gpt-4o","http_referer":"https://me",${SYSTEM_PARTS}}`);
});

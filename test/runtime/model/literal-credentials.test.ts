import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { literalCredential } from '../../../src/runtime/model/create-model-client.ts';
import type { Provider } from '../../../src/schema/providers/providers.ts';
import { clientDefinition } from '../../support/ask-client.ts';

test.each<[Provider, Readonly<Record<string, JsonValue>>, string]>([
  ['openai', { api_key: 'a' }, 'api_key'],
  ['openai', { headers: { 'x-title': 'a' } }, 'headers.x-title'],
  ['openai', { query_params: { page: 'a' } }, 'query_params.page'],
  ['aws-bedrock', { access_key_id: 'a' }, 'access_key_id'],
  ['aws-bedrock', { secret_access_key: 'a' }, 'secret_access_key'],
  ['aws-bedrock', { session_token: 'a' }, 'session_token'],
  ['aws-bedrock', { profile: 'a' }, 'profile'],
  [
    'aws-bedrock',
    { additional_model_request_fields: { guard: { apiKey: 'a' } } },
    'additional_model_request_fields.guard.apiKey',
  ],
  ['vertex-ai', { credentials: { type: 'a' } }, 'credentials.type'],
  ['vertex-ai', { credentials_content: '{}' }, 'credentials_content'],
  ['openai', { mcp_servers: [{ url: 'u', authorization_token: 'a' }] }, 'mcp_servers[0].authorization_token'],
  ['openai', { gateway: { 'x-api-key': ['a'] } }, 'gateway.x-api-key[0]'],
  ['openai', { accessToken: 'a' }, 'accessToken'],
  ['openai', { apikey: 'a' }, 'apikey'],
  ['openai', { db_password: 'a' }, 'db_password'],
])('%s: %j contains the credential %s', (provider, options, path) => {
  expect(literalCredential(clientDefinition(provider, options))).toBe(path);
});

test.each<[Provider, Readonly<Record<string, JsonValue>>]>([
  ['openai', { model: 'm', temperature: 0, max_tokens: 5, stop: ['key'], user: 'u' }],
  ['openai', { api_key: null, headers: {}, query_params: { a: '' } }],
  ['openai', { metadata: { monkey: 'm', author: 'a', keys: 'k', compass: 'c' }, logit_bias: { 5: 1 } }],
  ['openai', { tools: [{ function: { parameters: { properties: { api_key: { type: 'string' } } } } }] }],
  ['anthropic', { base_url: 'https://a.example', default_role: 'user', remap_roles: { a: 'b' } }],
  ['aws-bedrock', { region: 'us-east-1', inference_configuration: { max_tokens: 5 } }],
  ['vertex-ai', { location: 'us', project_id: 'p', anthropic_version: 'v' }],
])('%s: %j contains none', (provider, options) => {
  expect(literalCredential(clientDefinition(provider, options))).toBeUndefined();
});

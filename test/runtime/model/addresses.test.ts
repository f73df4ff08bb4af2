import { afterAll, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { ConnectionPools } from '../../../src/runtime/model/http/connection-pools.ts';
import { toClientOptions } from '../../../src/runtime/model/client-options.ts';
import type { ClientSetup, HttpProvider, ProviderAccess } from '../../../src/runtime/model/providers/provider.ts';
import { HTTP_PROVIDERS } from '../../../src/runtime/model/providers/providers.ts';
import type { COMMON_OPTIONS } from '../../../src/schema/providers/common-options.ts';
import type { OptionValues } from '../../../src/schema/providers/option-shapes.ts';
import { readOptions } from '../../../src/schema/providers/provider-description.ts';
import { PROVIDER_DESCRIPTIONS, type Provider } from '../../../src/schema/providers/providers.ts';

const pools = new ConnectionPools();

afterAll(() => pools.close());

const ACCESS: ProviderAccess = {
  secrets: () => ({ ofRequest: false, get: () => undefined }),
  hide: () => {},
  ofServer: () => undefined,
  setting: () => undefined,
  pools,
  machine: undefined,
  trusted: true,
};

interface Tested {
  readonly provider: HttpProvider;
  readonly setup: ClientSetup;
}

function connect(provider: Provider, given: Readonly<Record<string, JsonValue>>): Tested {
  const description = PROVIDER_DESCRIPTIONS[provider];
  const { values, body, violations } = readOptions(description, new Map(Object.entries(given)), () => undefined);
  expect(violations).toEqual([]);
  const url = description.http?.url(values) ?? '';
  const options = toClientOptions(values as OptionValues<typeof COMMON_OPTIONS>, body);
  const found = HTTP_PROVIDERS[provider];
  if (found === undefined) throw new Error('no provider');
  return { provider: found, setup: { options, values, url, format: undefined } };
}

/** The addresses of a call and of a stream, which no test can serve. */
async function addresses(provider: Provider, options: Readonly<Record<string, JsonValue>>): Promise<readonly string[]> {
  const { provider: tested, setup } = connect(provider, options);
  const protocol = tested.protocol(setup, 'key', ACCESS);
  if ('missing' in protocol) throw new Error('no protocol');
  const found: string[] = [];
  for (const streamed of [false, true]) {
    const call = await protocol.call([{ role: 'user', parts: [{ kind: 'text', text: 'hi' }] }], streamed);
    found.push(call.ok ? new URL(setup.url).origin + call.value.path : call.failure);
  }
  return [...new Set(found)];
}

const GEMINI = 'publishers/google/models/gemini-2.5-flash';
const CLAUDE = 'publishers/anthropic/models/claude-sonnet-4-5%4020250929';
const ARN = 'arn:aws:bedrock:us-east-1:1:inference-profile/x';

test.each(['us-central1', 'us', 'eu', 'global'])("the service in %s is Google's own", (location) => {
  const { url } = connect('vertex-ai', { model: 'm', location }).setup;
  const ownOrigins = PROVIDER_DESCRIPTIONS['vertex-ai'].http?.ownOrigins;
  expect(ownOrigins?.test(url)).toBe(true);
  expect(ownOrigins?.test(`${url}.evil.example`)).toBe(false);
});

test.each<[Provider, Readonly<Record<string, JsonValue>>, readonly string[]]>([
  ['openai', { model: 'm' }, ['https://api.openai.com/v1/chat/completions']],
  ['openai-responses', { model: 'm' }, ['https://api.openai.com/v1/responses']],
  [
    'azure-openai',
    { resource_name: 'res', deployment_id: 'my dep', api_version: '2024-10-21' },
    ['https://res.openai.azure.com/openai/deployments/my%20dep/chat/completions?api-version=2024-10-21'],
  ],
  [
    'azure-openai',
    { resource_name: 'res', deployment_id: '..' },
    ['https://res.openai.azure.com/openai/deployments/_/chat/completions'],
  ],
  [
    'azure-openai',
    { resource_name: 'res', deployment_id: '../x?y#z' },
    ['https://res.openai.azure.com/openai/deployments/..%2Fx%3Fy%23z/chat/completions'],
  ],
  ['ollama', { model: 'm' }, ['http://localhost:11434/v1/chat/completions']],
  ['openrouter', { model: 'm' }, ['https://openrouter.ai/api/v1/chat/completions']],
  ['anthropic', { model: 'm' }, ['https://api.anthropic.com/v1/messages']],
  [
    'google-ai',
    { model: 'tunedModels/x' },
    [
      'https://generativelanguage.googleapis.com/v1beta/models/tunedModels/x:generateContent',
      'https://generativelanguage.googleapis.com/v1beta/models/tunedModels/x:streamGenerateContent?alt=sse',
    ],
  ],
  [
    'vertex-ai',
    { model: 'gemini-2.5-flash', location: 'europe-west1', project_id: 'p' },
    [
      `https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1/${GEMINI}:generateContent`,
      `https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1/${GEMINI}:streamGenerateContent?alt=sse`,
    ],
  ],
  [
    'vertex-ai',
    {
      model: 'claude-sonnet-4-5@20250929',
      location: 'global',
      project_id: 'p',
      anthropic_version: 'vertex-2023-10-16',
      query_params: { a: 'b' },
    },
    [
      `https://aiplatform.googleapis.com/v1/projects/p/locations/global/${CLAUDE}:rawPredict?a=b`,
      `https://aiplatform.googleapis.com/v1/projects/p/locations/global/${CLAUDE}:streamRawPredict?a=b`,
    ],
  ],
  [
    'vertex-ai',
    { model: 'm', location: 'eu', project_id: 'p' },
    [
      'https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/google/models/m:generateContent',
      'https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/google/models/m:streamGenerateContent?alt=sse',
    ],
  ],
  [
    'vertex-ai',
    { model: 'm', location: 'global', query_params: { key: 'k' } },
    [
      'https://aiplatform.googleapis.com/v1/publishers/google/models/m:generateContent?key=k',
      'https://aiplatform.googleapis.com/v1/publishers/google/models/m:streamGenerateContent?alt=sse&key=k',
    ],
  ],
  [
    'vertex-ai',
    { model: 'm', location: 'global' },
    ['needs "project_id", credentials that name one, or GOOGLE_CLOUD_PROJECT'],
  ],
  [
    'aws-bedrock',
    { model: ARN, region: 'eu-central-1' },
    [
      'https://bedrock-runtime.eu-central-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/converse',
      'https://bedrock-runtime.eu-central-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/converse-stream',
    ],
  ],
])('%s with %j calls %j', async (provider, options, expected) => {
  expect(await addresses(provider, options)).toEqual(expected);
});

import { expect, test } from 'vitest';
import { indexDefinitions } from '../../../src/schema/program.ts';
import type { Provider } from '../../../src/schema/providers/providers.ts';
import { structuredClients } from '../../../src/schema/structured-output.ts';
import { status } from '../../support/fake-provider.ts';
import { startProviderSuite } from '../../support/provider-suite.ts';
import { callFunction, compileText, testRuntime } from '../../support/test-runtime.ts';
import { definitionsWith, readableJson, TYPES } from './structured/types.ts';

/*
 * What each provider receives about each return type: the members of the request that a client without structured output
 * does not send, or the reason why there are none.
 */

const FEWEST_TYPES = 25;
const FEWEST_PROVIDERS = 10;

const { fake, open } = await startProviderSuite(status(500, 'no answer'));

/** The options of a client of each provider, except for its address and key. */
const OPTIONS: Readonly<Partial<Record<Provider, string>>> = {
  openai: 'model "gpt-5"',
  'openai-responses': 'model "gpt-5"',
  'azure-openai': 'api_version "2024-10-21"',
  'openai-generic': 'model "m"',
  openrouter: 'model "m"',
  ollama: 'model "llama3.2"',
  anthropic: 'model "claude-sonnet-4-5"',
  'google-ai': 'model "gemini-2.5-flash"',
  'vertex-ai': 'model "gemini-2.5-flash"',
  'aws-bedrock': 'model "anthropic.claude-sonnet-4-5-20250929-v1:0"\n    region "us-east-1"',
};

function clientOf(provider: Provider, mode: string): string {
  return `client<llm> Tested {
  provider ${provider}
  options {
    ${OPTIONS[provider]}
    base_url env.URL
    api_key "svc-test-key"
    structured_output ${mode}
  }
}
`;
}

/** The bodies of the requests of all functions. */
async function bodies(provider: Provider, mode: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const runtime = testRuntime(definitionsWith(clientOf(provider, mode)), { URL: fake.url });
  open.push(runtime);
  fake.clear();
  for (const at of TYPES.keys()) await callFunction(runtime, `F${at}`, {});
  expect(fake.requests).toHaveLength(TYPES.length);
  return fake.requests.map(({ json }) => json as Readonly<Record<string, unknown>>);
}

/** The members that structured output adds for each type. */
async function added(provider: Provider): Promise<readonly object[]> {
  const without = await bodies(provider, 'off');
  const withSchema = await bodies(provider, 'on');
  return withSchema.map((body, at) => {
    const plain = without[at] ?? {};
    for (const [key, value] of Object.entries(plain)) expect(body[key]).toEqual(value);
    return Object.fromEntries(Object.entries(body).filter(([key]) => !Object.hasOwn(plain, key)));
  });
}

function reasons(provider: Provider): readonly (string | undefined)[] {
  const index = indexDefinitions(compileText(definitionsWith(clientOf(provider, 'on'))));
  return [...index.functions.values()].map((fn) => structuredClients(fn, index)[0]?.problem);
}

async function sample(provider: Provider): Promise<string> {
  const why = reasons(provider);
  const requests = await added(provider);
  const texts = requests.map((members, at) => {
    const isPlain = Object.keys(members).length === 0;
    const text = isPlain ? `nothing: ${why[at] ?? 'a string needs no schema'}` : readableJson(members);
    return `=== ${TYPES[at]}\n${text}\n`;
  });
  return texts.join('\n');
}

test.each<Provider>(['openai', 'openai-responses', 'anthropic', 'google-ai', 'aws-bedrock'])(
  '%s receives the schema of each type in its own form',
  async (provider) => {
    await expect(await sample(provider)).toMatchFileSnapshot(`structured/${provider}.txt`);
  },
);

test.each<[Provider, Provider]>([
  ['azure-openai', 'openai'],
  ['openai-generic', 'openai'],
  ['openrouter', 'openai'],
  ['ollama', 'openai'],
  ['vertex-ai', 'google-ai'],
])('%s receives the same as %s', async (provider, same) => {
  expect(await added(provider)).toEqual(await added(same));
});

test('there are enough types and providers', () => {
  expect(TYPES.length).toBeGreaterThanOrEqual(FEWEST_TYPES);
  expect(Object.keys(OPTIONS).length).toBeGreaterThanOrEqual(FEWEST_PROVIDERS);
});

import { expect, test } from 'vitest';
import { testRuntime } from '../../support/test-runtime.ts';

/** Clients that cannot call their provider without a variable, and the variables that they need. */
const CLIENTS: ReadonlyArray<readonly [string, string, Readonly<Record<string, string>>]> = [
  ['openai', 'model gpt-4o\n    api_key env.KEY', { KEY: 'k' }],
  ['anthropic', 'model claude\n    headers { x-tenant env.TENANT }', { ANTHROPIC_API_KEY: 'k', TENANT: 't' }],
  ['google-ai', 'model gemini', { GOOGLE_API_KEY: 'k' }],
  ['openai-generic', 'model local\n    base_url env.URL', { URL: 'http://127.0.0.1:9/v1' }],
  [
    'azure-openai',
    'resource_name env.RESOURCE\n    deployment_id d\n    api_version "1"\n    api_key env.KEY',
    { RESOURCE: 'r', KEY: 'k' },
  ],
  ['aws-bedrock', 'model_id m\n    region eu-central-1', { AWS_ACCESS_KEY_ID: 'i', AWS_SECRET_ACCESS_KEY: 's' }],
];

const LOCAL = { local: true };

function messagesOf(provider: string, options: string, env: Readonly<Record<string, string>>): unknown {
  const runtime = testRuntime(
    `client<llm> C {
  provider ${provider}
  options {
    ${options}
  }
}
function F(text: string) -> string {
  client C
  prompt #"
    {{ _.role("system") }}
    {{ ctx.client.name }} {{ ctx.client.default_role }} {{ ctx.client.options }}
    {{ _.role("user") }}
    {{ text }}
  "#
}`,
    env,
  );
  const prepared = runtime.prepare('F', { text: 'hello' }, LOCAL);
  if (!prepared.ok) throw new Error(prepared.failure.message);
  return runtime.render(prepared.value);
}

test.each(CLIENTS)('the prompt for %s (%s) is the same with and without credentials', (provider, options, env) => {
  const messages = messagesOf(provider, options, env);
  expect(messages).toMatchObject({ ok: true });
  expect(messagesOf(provider, options, {})).toEqual(messages);
});

test('wrong options prevent a prompt even without credentials', () => {
  const options = 'base_url env.URL\n    model m\n    api_key env.KEY';
  expect(messagesOf('openai-generic', options, { URL: 'nonsense' })).toMatchObject({
    ok: false,
    failure: { code: 'client_error' },
  });
});

const OPTIONS = `base_url "http://127.0.0.1:9/v1"
    model env.MODEL
    api_key env.KEY
    headers { x-team env.TEAM }
    metadata { team env.TEAM, session_token env.TOKEN, spare [env.TOKEN] }
    log_url env.LOG_URL
    team_secret "literal-secret"
    seed 5`;

const VALUES = {
  MODEL: 'm1',
  KEY: 'key-1',
  TEAM: 'red',
  TOKEN: 'token-1',
  LOG_URL: 'https://u:pass-word@logs.example/',
};

test('a prompt shows options from variables as their values', () => {
  const options = 'base_url "http://127.0.0.1:9/v1"\n    model env.MODEL\n    metadata { team env.TEAM }';
  expect(textOf(messagesOf('openai-generic', options, VALUES))).toContain(
    '{"model": "m1", "metadata": {"team": "red"}}',
  );
});

test('a prompt shows no option that is a credential', () => {
  expect(textOf(messagesOf('openai-generic', OPTIONS, VALUES))).toContain('{"model": "m1", "seed": 5}');
});

test('a prompt omits options whose variable is not set', () => {
  expect(textOf(messagesOf('openai-generic', OPTIONS, { KEY: 'key-1' }))).toContain('{"seed": 5}');
});

function textOf(messages: unknown): string {
  return JSON.stringify(messages).replaceAll('\\"', '"');
}

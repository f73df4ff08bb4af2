import { expect, test } from 'vitest';
import { missingCredentials } from '../../../src/runtime/model/create-model-client.ts';
import type { Provider } from '../../../src/schema/providers/providers.ts';
import { callFunction, compileText, testRuntime } from '../../support/test-runtime.ts';

const PROGRAM = compileText(`
client<llm> A {
  provider openai
  options {
    model "a"
    api_key env.A_KEY
  }
}
client<llm> B {
  provider anthropic
  options {
    model "b"
  }
}
client<llm> Unused {
  provider openai
  options {
    api_key env.UNUSED_KEY
  }
}
client<llm> List {
  provider fallback
  options {
    strategy [A, B]
  }
}
function F() -> string {
  client List
  prompt #"x"#
}
function G() -> string {
  client "openai/gpt-4o"
  prompt #"x"#
}
`);

test('the list has the clients that functions use, with the variables that they lack', () => {
  const found = missingCredentials(PROGRAM, {});
  expect(found.map(({ client, variable }) => [client, variable])).toEqual([
    ['A', 'A_KEY'],
    ['B', 'ANTHROPIC_API_KEY'],
    ['openai/gpt-4o', 'OPENAI_API_KEY'],
  ]);
  for (const { client, variable, message } of found) {
    expect(message).toContain(`The client "${client}" needs an API key or setting`);
    expect(message).toContain(variable);
  }
  expect(missingCredentials(PROGRAM, { A_KEY: 'x', ANTHROPIC_API_KEY: 'y', OPENAI_API_KEY: 'z' })).toEqual([]);
});

function fileOf(provider: Provider, options: string): string {
  return `
client<llm> Asked {
  provider ${provider}
  options {
    ${options}
  }
}
function F() -> string {
  client Asked
  prompt #"x"#
}
`;
}

/** Hides the account that the machine of the test can have. */
const NO_MACHINE = { AWS_EC2_METADATA_DISABLED: 'true', METADATA_SERVER_DETECTION: 'none' };

const AWS = 'model "m"\n    region "us-east-1"';
const VERTEX = 'model "m"\n    location "eu"\n    project_id "p"';

test.each<[Provider, string, string]>([
  ['openai', 'model "m"', 'OPENAI_API_KEY'],
  ['openai-responses', 'model "m"', 'OPENAI_API_KEY'],
  ['openai-generic', 'base_url env.BASE', 'BASE'],
  ['azure-openai', 'resource_name "r"\n    deployment_id "d"', 'AZURE_OPENAI_API_KEY'],
  ['openrouter', 'model "m"', 'OPENROUTER_API_KEY'],
  ['anthropic', 'model "m"', 'ANTHROPIC_API_KEY'],
  ['google-ai', 'model "m"', 'GOOGLE_API_KEY'],
  ['vertex-ai', VERTEX, 'GOOGLE_APPLICATION_CREDENTIALS'],
  ['aws-bedrock', AWS, 'AWS_ACCESS_KEY_ID'],
  ['aws-bedrock', `${AWS}\n    profile "p"`, 'AWS_SHARED_CREDENTIALS_FILE'],
  ['openai', 'model "m"\n    headers {\n      x-tenant env.TENANT\n    }\n    api_key "k"', 'TENANT'],
])('%s with %j lacks %s: known at startup, and the failure of each call', async (provider, options, variable) => {
  const file = fileOf(provider, options);
  expect(missingCredentials(compileText(file), NO_MACHINE)).toMatchObject([{ client: 'Asked', variable }]);
  // An empty variable counts as missing.
  expect(missingCredentials(compileText(file), { ...NO_MACHINE, [variable]: '' })).toMatchObject([
    { client: 'Asked', variable },
  ]);
  const runtime = testRuntime(file, NO_MACHINE);
  const { result } = await callFunction(runtime, 'F', {});
  await runtime.close();
  expect(result).toMatchObject({ ok: false, failure: { code: 'missing_credential', client: 'Asked', variable } });
  expect(!result.ok && result.failure.message).toContain(variable);
});

test.each<[Provider, string]>([
  ['ollama', 'model "m"'],
  ['openai-generic', 'base_url "http://127.0.0.1:1"'],
  ['openai', 'headers {\n      authorization "Bearer x"\n    }'],
  ['anthropic', 'headers {\n      x-api-key "x"\n    }'],
  ['vertex-ai', `${VERTEX}\n    headers {\n      authorization "Bearer x"\n    }`],
  ['aws-bedrock', `${AWS}\n    headers {\n      authorization "Bearer x"\n    }`],
  ['offline', 'reply "x"'],
])('%s with %j lacks nothing', (provider, options) => {
  expect(missingCredentials(compileText(fileOf(provider, options)), {})).toEqual([]);
});

test.each<[Provider, string, string]>([
  ['openai', 'model "m"', 'OPENAI_API_KEY'],
  ['anthropic', 'model "m"\n api_key env.MINE', 'MINE'],
  ['aws-bedrock', 'model "m"\n region "eu-west-1"', 'AWS_BEARER_TOKEN_BEDROCK'],
])('%s: the failure of a key that ends with a line break states so (%s)', (provider, options, variable) => {
  const found = missingCredentials(compileText(fileOf(provider, options)), { [variable]: 'key\n' });
  const message = `The client "Asked" has no credentials: ${variable} has a value with characters that no header can contain`;
  expect(found).toEqual([{ client: 'Asked', variable, message }]);
});

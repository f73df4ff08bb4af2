import { expect, test } from 'vitest';
import { reply } from '../support/fake-provider.ts';
import { temporaryFolder } from '../support/running-server.ts';
import { serveModel } from '../support/served-model.ts';

const PROJECT = {
  'baml_src/main.baml': `
client<llm> Main {
  provider openai-generic
  options {
    model main
    base_url env.PROVIDER_URL
    api_key env.PROVIDER_KEY
  }
}
function Tag(text: string) -> string {
  client Main
  prompt #"{{ text }} for {{ ctx.tags.team }}"#
}
`,
};

const PASSWORD = 'sk-baml-0123456789';

const { fake, server, post } = await serveModel({
  cwd: temporaryFolder(PROJECT),
  flags: ['--workers', '1', '--transport', 'node'],
  env: { BAML_PASSWORD: PASSWORD, PROVIDER_KEY: 'key-of-server' },
  answer: reply('done'),
});

/** The status of a call, and the prompt and key that reached the provider. */
async function call(body: object, key: string): Promise<readonly unknown[]> {
  const response = await post('call/Tag', body, { headers: { 'x-baml-api-key': key } });
  await response.text();
  const request = fake.requests.at(-1);
  const sent = request?.json as { readonly messages?: ReadonlyArray<{ readonly content: unknown }> } | undefined;
  return [response.status, sent?.messages?.[0]?.content, request?.headers['authorization']];
}

test('a project and a caller of BAML work with svc as they are', async () => {
  const options = { tags: { team: 'blue' }, env: { PROVIDER_KEY: 'key-of-caller' } };
  const body = { text: 'hi', __baml_options__: options };
  expect(await call(body, PASSWORD)).toEqual([200, 'hi for blue', 'Bearer key-of-caller']);
  expect(await call({ text: 'hi' }, PASSWORD)).toEqual([200, 'hi for ', 'Bearer key-of-server']);
  await expect.poll(() => server.output()).toContain('"tags":{"team":"blue"}');
  expect(server.output()).not.toContain(PASSWORD);
});

test('BAML_PASSWORD protects the server', async () => {
  expect(await call({ text: 'hi' }, `${PASSWORD}0`)).toEqual([403, undefined, undefined]);
  const status = await fetch(`${server.url}/_debug/status`, { headers: { 'x-baml-api-key': PASSWORD } });
  expect(await status.json()).toMatchObject({ authz: { enforcement: 'active', outcome: 'pass' } });
});

test('options under two names get 400, and svc calls no provider', async () => {
  const body = { text: 'hi', svc_options: {}, __baml_options__: {} };
  expect(await call(body, PASSWORD)).toEqual([400, undefined, undefined]);
});

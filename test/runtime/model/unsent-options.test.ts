import { expect, test } from 'vitest';
import { checkText } from '../../compiler/check/sample-files.ts';
import { fakeModels } from '../../support/fake-models.ts';
import { reply } from '../../support/fake-provider.ts';
import { callFunction, testRuntime } from '../../support/test-runtime.ts';

const { fake } = await fakeModels();

const SECRET = 'sk-proj-0a1B2c3D4e5F6g7H8i9J';

const ENV = { MY_KEY: SECRET, PLAIN: SECRET, VENDOR_SECRET: 'a plain word', EFFORT: 'low' };

function definitions(options: string): string {
  return `function Ask(text: string) -> string {
  client Model
  prompt #"{{ ctx.client.options }}{{ text }}"#
}
client<llm> Model {
  provider openai-generic
  options {
    model "m"
    base_url "${fake.url}"
    ${options}
  }
}
`;
}

test.each([
  ['apiKey env.MY_KEY', 'apiKey'],
  ['apikey "a plain word"', 'apikey'],
  ['api_kye env.PLAIN', 'api_kye'],
  ['authToken env.PLAIN', 'authToken'],
  ['other env.VENDOR_SECRET', 'other'],
  [`other "${SECRET}"`, 'other'],
  [`user "${SECRET}"`, 'user'],
])('%s: the checker states that it is not sent, and the request does not contain it', async (line, name) => {
  const text = definitions(line);
  const found = checkText(text).diagnostics.filter(({ code }) => code === 'check/unsent-option');
  expect(found.map(({ span }) => text.slice(span.start, span.end))).toEqual([name]);
  const sent = await requestOf(text);
  expect(sent).not.toContain(name);
  for (const secret of [SECRET, 'a plain word']) expect(sent).not.toContain(secret);
});

/** The line and headers of the only request of a call, and its body. */
async function requestOf(text: string): Promise<string> {
  const before = fake.requests.length;
  fake.answer(reply('Hello'));
  expect(await callFunction(testRuntime(text, ENV), 'Ask', { text: 'Hi' })).toMatchObject({ result: { ok: true } });
  expect(fake.requests).toHaveLength(before + 1);
  const { path, headers, body } = fake.requests.at(-1) ?? { path: '', headers: {}, body: '' };
  return `${path}\n${JSON.stringify(headers)}\n${body}`;
}

test.each([
  ['reasoning_effort env.EFFORT', '"reasoning_effort":"low"'],
  ['tools [{ type "mcp", authorization env.MY_KEY }]', `"authorization":"${SECRET}"`],
  ['use_auth true', '"use_auth":true'],
  ['cache_key "a plain word"', '"cache_key":"a plain word"'],
  ['maxTokens 5', '"maxTokens":5'],
])('%s: the request contains it', async (line, sent) => {
  const text = definitions(line);
  expect(checkText(text).diagnostics.map(({ code }) => code)).not.toContain('check/unsent-option');
  expect(await requestOf(text)).toContain(sent);
});

test('a variable that holds a key reaches the request under no name, although the checker cannot know its value', async () => {
  const text = definitions('other env.PLAIN');
  expect(checkText(text).diagnostics).toEqual([]);
  expect(await requestOf(text)).not.toContain(SECRET);
});

test('an unset variable of an option that is not sent fails no call', async () => {
  expect(await requestOf(definitions('apiKey env.UNSET'))).not.toContain('apiKey');
});

test.each([
  ['apiKey', 'a plain word', 'did you mean "api_key"?'],
  ['other', SECRET, 'use "api_key" or "headers"'],
])('a client of a request with the option %s is refused, and nothing is sent', async (key, value, hint) => {
  const before = fake.requests.length;
  const options = { model: 'm', base_url: fake.url, [key]: value };
  const clients = [{ name: 'Own', provider: 'openai-generic', options }];
  const body = { text: 'Hi', svc_options: { client_registry: { clients, primary: 'Own' } } };
  const { result } = await callFunction(testRuntime(definitions('')), 'Ask', body);
  const message = `is not sent, because its value is a credential: ${hint}`;
  expect(result).toMatchObject({
    ok: false,
    failure: {
      code: 'invalid_options',
      details: [{ path: `svc_options.client_registry.clients[0].options.${key}`, message }],
    },
  });
  expect(JSON.stringify(result)).not.toContain(value);
  expect(fake.requests).toHaveLength(before);
});

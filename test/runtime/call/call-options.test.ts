import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { FunctionRuntime } from '../../../src/runtime/call/runtime.ts';
import { OPTIONS_KEYS } from '../../../src/base/json.ts';
import { reply, startFakeProvider, status, type FakeProvider } from '../../support/fake-provider.ts';
import { callContext, callFunction, testRuntime, valueOf } from '../../support/test-runtime.ts';

let fake: FakeProvider;
let runtime: FunctionRuntime;

const FILES = `
client<llm> Main {
  provider openai
  options {
    model "main"
    base_url env.URL
    api_key env.KEY
  }
}
client<llm> Other {
  provider openai-generic
  options {
    model "other"
    base_url env.URL
  }
}
client<llm> List {
  provider fallback
  options {
    strategy [Main, Other]
  }
}
retry_policy Again {
  max_retries 1
}
function F(x: string?) -> string {
  client Main
  prompt #"hi"#
}
function G() -> string {
  client List
  prompt #"hi"#
}
`;

beforeAll(async () => {
  fake = await startFakeProvider();
  runtime = testRuntime(FILES, { URL: fake.url, KEY: 'server-key', OPENAI_API_KEY: 'server-openai' });
});
beforeEach(() => {
  fake.clear();
  fake.answer(reply('ok'));
});
afterAll(async () => {
  await runtime.close();
  await fake.close();
});

const REMOTE = { local: false };

function faults(options: unknown, key = 'svc_options', subject = runtime): readonly string[] {
  const prepared = subject.prepare('F', { [key]: options }, REMOTE);
  if (prepared.ok) return [];
  if (prepared.failure.code !== 'invalid_options') return [prepared.failure.code];
  return prepared.failure.details.map((fault) => `${fault.path}: ${fault.message}`);
}

function used(): readonly string[] {
  return fake.requests.map((request) => {
    const { model } = request.json as { readonly model?: string };
    return `${model ?? '-'} ${request.headers['authorization'] ?? '-'}`;
  });
}

function registry(...clients: readonly object[]): object {
  return { client_registry: { clients, primary: 'New' } };
}

test.each<[string, unknown, string]>([
  [
    'a long route key',
    { route_key: 'x'.repeat(257) },
    'svc_options.route_key: has to be a string of 1 to 256 characters',
  ],
  [
    'a primary that is not defined',
    { client_registry: { primary: 'Mian' } },
    'svc_options.client_registry.primary: There is no client "Mian". Did you mean "Main"?',
  ],
  ['two primary clients', { client: 'Main', client_registry: { primary: 'Other' } }, 'names a different client'],
  [
    'a key that no header can contain',
    registry({ name: 'New', provider: 'openai', options: { api_key: 'key\n' } }),
    'options.api_key: has a value with characters that no header can contain',
  ],
])('400: %s', (_name, options, message) => {
  expect(faults(options).join('\n')).toContain(message);
});

test.each([
  ['svc_options', '__svc_options__'],
  ['svc_options', '__baml_options__'],
  ['__svc_options__', '__baml_options__'],
])('a request cannot use both %s and %s', (one, other) => {
  const prepared = runtime.prepare('F', { [other]: {}, [one]: {} });
  const message = `"${one}" and "${other}" are two names for the same object: send only one of them`;
  expect(prepared).toMatchObject({ ok: false, failure: { code: 'invalid_options', details: [{ path: '', message }] } });
});

test.each(OPTIONS_KEYS)('svc reads the options under %s', async (key) => {
  await callFunction(runtime, 'F', { [key]: { client: 'Other' } });
  expect(used()).toEqual(['other -']);
});

test('a wrong argument next to valid options is an argument fault', () => {
  const prepared = runtime.prepare('F', { y: 1, svc_options: {} });
  expect(prepared).toMatchObject({ ok: false, failure: { code: 'invalid_argument' } });
});

test("primary replaces the function's client, and fallback follows it", async () => {
  fake.script(status(401, {}));
  await callFunction(runtime, 'F', { svc_options: { client_registry: { primary: 'Other', fallback: ['Main'] } } });
  expect(used()).toEqual(['other -', 'main Bearer server-key']);
});

test("fallback without a primary follows the function's own client", async () => {
  fake.script(status(500, {}));
  await callFunction(runtime, 'F', { svc_options: { client_registry: { fallback: ['Other'] } } });
  expect(used()).toEqual(['main Bearer server-key', 'other -']);
});

test('a client that a request defines serves only that request', async () => {
  const options = { model: 'new', base_url: fake.url, api_key: 'own' };
  const body = { svc_options: registry({ name: 'New', provider: 'openai', options }) };
  await callFunction(runtime, 'F', body);
  await callFunction(runtime, 'F', {});
  expect(used()).toEqual(['new Bearer own', 'main Bearer server-key']);
  expect(faults({ client: 'New' })).toHaveLength(1);
});

test('a client with the name of a defined one replaces it, even in strategies', async () => {
  const options = { model: 'replaced', base_url: fake.url };
  const clients = [{ name: 'Main', provider: 'openai-generic', options }];
  await callFunction(runtime, 'G', { svc_options: { client_registry: { clients } } });
  await callFunction(runtime, 'F', { svc_options: { client_registry: { clients } } });
  expect(used()).toEqual(['replaced -', 'replaced -']);
});

test('env.X in a client of a request is an ordinary string', async () => {
  const options = { model: 'env.KEY', base_url: fake.url, api_key: 'env.KEY' };
  await callFunction(runtime, 'F', { svc_options: registry({ name: 'New', provider: 'openai', options }) });
  expect(used()).toEqual(['env.KEY Bearer env.KEY']);
});

test('a variable of a request applies only to that request; null removes a variable', async () => {
  await callFunction(runtime, 'F', { svc_options: { env: { KEY: 'mine' } } });
  await callFunction(runtime, 'F', {});
  const gone = await callFunction(runtime, 'F', { svc_options: { env: { KEY: null } } });
  expect(used()).toEqual(['main Bearer mine', 'main Bearer server-key']);
  expect(gone.result).toMatchObject({ ok: false, failure: { code: 'missing_credential', variable: 'KEY' } });
});

test('a key of one request is unknown to the next', async () => {
  const bare = testRuntime(FILES, { URL: fake.url });
  const body = { svc_options: { env: { KEY: 'mine' } } };
  expect(valueOf(await callFunction(bare, 'F', body))).toBe('ok');
  expect(valueOf(await callFunction(bare, 'F', {}))).toBe('missing_credential');
  await bare.close();
});

test('svc sends no key of the server to a host that the request chooses', async () => {
  const elsewhere = await startFakeProvider();
  const options = { model: 'new', base_url: elsewhere.url };
  const own = await callFunction(runtime, 'F', { svc_options: registry({ name: 'New', provider: 'openai', options }) });
  expect(own.result).toMatchObject({ ok: false, failure: { code: 'missing_credential', variable: 'OPENAI_API_KEY' } });
  const led = await callFunction(runtime, 'F', { svc_options: { env: { URL: elsewhere.url } } });
  expect(led.result).toMatchObject({ ok: false, failure: { code: 'missing_credential', variable: 'KEY' } });
  expect(elsewhere.requests).toHaveLength(0);
  const both = await callFunction(runtime, 'F', { svc_options: { env: { URL: elsewhere.url, KEY: 'mine' } } });
  expect(both.result.ok).toBe(true);
  expect(elsewhere.requests[0]?.headers['authorization']).toBe('Bearer mine');
  await elsewhere.close();
});

const guarded = (): FunctionRuntime =>
  testRuntime(FILES, { URL: 'https://model.example/v1', KEY: 'k' }, { allowPrivateUrls: false });

test.each([
  'http://169.254.169.254/v1',
  'http://[fe80::1]/v1',
  'http://[::ffff:169.254.169.254]/v1',
  'http://metadata.google.internal/v1',
  'http://2852039166/v1',
])('no caller can use %s', (url) => {
  const subject = guarded();
  const body = { svc_options: registry({ name: 'New', provider: 'openai-generic', options: { base_url: url } }) };
  for (const local of [true, false]) {
    expect(subject.prepare('F', body, { local })).toMatchObject({ ok: false, failure: { code: 'invalid_options' } });
  }
});

test.each([
  'http://127.0.0.1:1/v1',
  'http://localhost:1/v1',
  'http://10.1.2.3/v1',
  'http://[::1]/v1',
  'http://[fd12::1]/v1',
  'http://0x7f.1/v1',
  'http://[64:ff9b::7f00:1]/v1',
])('only callers on this machine can use %s', (url) => {
  const subject = guarded();
  const body = { svc_options: registry({ name: 'New', provider: 'openai-generic', options: { base_url: url } }) };
  expect(subject.prepare('F', body, { local: true }).ok).toBe(true);
  expect(subject.prepare('F', body, { local: false })).toMatchObject({
    ok: false,
    failure: { details: [{ path: 'svc_options.client_registry.clients[0].options.base_url' }] },
  });
});

test('requests can use a private host only at the URL that the files name', async () => {
  const subject = testRuntime(FILES, { URL: `${fake.url}/v1`, KEY: 'k' }, { allowPrivateUrls: false });
  const prepare = (path: string) => {
    const options = { base_url: `${fake.url}${path}`, model: 'new' };
    const body = { svc_options: registry({ name: 'New', provider: 'openai-generic', options }) };
    return subject.prepare('F', body, REMOTE);
  };
  for (const path of ['', '/other', '/v1/other', '/v1?', '/v1#']) expect(prepare(path).ok, path).toBe(false);
  const prepared = prepare('/v1/');
  expect(prepared.ok && (await subject.call(prepared.value, callContext())).result.ok).toBe(true);
  await subject.close();
});

test('a name that resolves to a private address is refused when it connects', async () => {
  const subject = guarded();
  const options = { base_url: 'http://localhost.localdomain.invalid:1', model: 'm' };
  const body = { svc_options: registry({ name: 'New', provider: 'openai-generic', options }) };
  const prepared = subject.prepare('F', body, REMOTE);
  expect(prepared.ok && valueOf(await subject.call(prepared.value, callContext()))).toBe('client_error');
  await subject.close();
});

test('svc fetches a private media URL only for callers on this machine, with or without options', async () => {
  const subject = testRuntime(
    `client<llm> Sees {
  provider openai-generic
  options {
    base_url env.URL
    media_url_handler {
      image send_base64
    }
  }
}
function See(picture: image) -> string {
  client Sees
  prompt #"{{ picture }}"#
}`,
    { URL: `${fake.url}/v1` },
    { allowPrivateUrls: false },
  );
  for (const options of [{}, { svc_options: { env: {} } }]) {
    const body = { picture: { url: `${fake.url}/picture.png` }, ...options };
    for (const [local, value] of [
      [true, 'ok'],
      [false, 'invalid_argument'],
    ] as const) {
      const prepared = subject.prepare('See', body, { local });
      expect(prepared.ok && valueOf(await subject.call(prepared.value, callContext()))).toBe(value);
    }
  }
  await subject.close();
});

test('with "known", a request can name clients of the files but define none', () => {
  const known = testRuntime(FILES, { URL: fake.url, KEY: 'k' }, { clientRegistry: 'known' });
  expect(faults({ client: 'Other' }, 'svc_options', known)).toEqual([]);
  expect(faults({ client: 'openai/gpt-4o' }, 'svc_options', known)).toHaveLength(1);
  expect(faults(registry({ name: 'New', provider: 'offline' }), 'svc_options', known)).toHaveLength(1);
});

test('tags are ctx.tags in the prompt, for that request alone and whatever the policy for clients', async () => {
  const prompt = '{{ ctx.tags.team }}/{{ ctx.tags["a b"] }}/{{ ctx.tags }}/{{ Of() }}';
  const subject = testRuntime(
    `${FILES}
template_string Of() #"{{ ctx.tags.team }}"#
function Tagged() -> string {
  client Main
  prompt #"${prompt}"#
}`,
    { URL: fake.url, KEY: 'k' },
    { clientRegistry: 'off' },
  );
  await callFunction(subject, 'Tagged', { svc_options: { tags: { team: 'blue', 'a b': '{{ 1 }}' } } });
  await callFunction(subject, 'Tagged', {});
  const prompts = fake.requests.map(({ json }) => {
    return (json as { readonly messages: ReadonlyArray<{ readonly content: unknown }> }).messages[0]?.content;
  });
  expect(JSON.stringify(prompts[0])).toContain(
    JSON.stringify('blue/{{ 1 }}/{"team": "blue", "a b": "{{ 1 }}"}/blue').slice(1, -1),
  );
  const prepared = subject.prepare('Tagged', { svc_options: { tags: { team: 'red' } } });
  expect(JSON.stringify(prepared.ok && subject.render(prepared.value))).toContain('red//');
  expect(JSON.stringify(prompts[1])).toContain('"//{}/"');
  await subject.close();
});

test('with "off", a request cannot use the registry', () => {
  const off = testRuntime(FILES, { URL: fake.url, KEY: 'k' }, { clientRegistry: 'off' });
  expect(faults({ client_registry: { primary: 'Other' } }, 'svc_options', off)[0]).toContain('is disabled');
  expect(faults({ client: 'Other' }, 'svc_options', off)[0]).toBe('svc_options.client: is disabled on this server');
});

test('names of object members are data', async () => {
  const body = JSON.parse('{"svc_options":{"env":{"__proto__":"x","constructor":"y"},"client":"Other"}}') as unknown;
  expect(valueOf(await callFunction(runtime, 'F', body))).toBe('ok');
  expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
  expect(faults(JSON.parse('{"__proto__":{}}'))[0]).toContain('svc_options.__proto__: is unknown');
});

test('a request can include the trace only where the server allows it', () => {
  expect(faults({ include: ['trace'] })[0]).toContain('svc_options.include[0]: has to be "warnings", "usage", ');
  const traced = testRuntime(FILES, { URL: fake.url, KEY: 'k' }, { traces: true });
  expect(traced.prepare('F', { svc_options: { include: ['trace', 'warnings'] } })).toMatchObject({
    ok: true,
    value: { include: new Set(['trace', 'warnings']) },
  });
  expect(traced.prepare('F', {})).toMatchObject({ ok: true, value: { include: new Set() } });
});

test('a request can include the prompt and the reply only where the server shows prompts', () => {
  const include = ['usage', 'client', 'attempts', 'timing', 'raw', 'prompt'];
  expect(faults({ include })).toEqual([
    'svc_options.include[4]: is disabled on this server: it needs --expose-prompts (SVC_EXPOSE_PROMPTS)',
    'svc_options.include[5]: is disabled on this server: it needs --expose-prompts (SVC_EXPOSE_PROMPTS)',
  ]);
  for (const settings of [{ exposePrompts: true }, { traces: true }]) {
    const shown = testRuntime(FILES, { URL: fake.url, KEY: 'k' }, settings);
    for (const key of ['svc_options', '__svc_options__', '__baml_options__']) {
      expect(shown.prepare('F', { [key]: { include } })).toMatchObject({
        ok: true,
        value: { include: new Set(include) },
      });
    }
  }
});

test('a request to parse a reply can include nothing about a call', () => {
  for (const part of ['usage', 'client', 'attempts', 'raw', 'prompt', 'timing']) {
    expect(runtime.prepareReply('F', { text: '', svc_options: { include: [part] } })).toMatchObject({
      failure: { details: [{ path: 'svc_options.include[0]', message: 'has to be "warnings"' }] },
    });
  }
});

test('a prompt can be rendered without the credentials of its client, but a call still needs them', async () => {
  const files = `${FILES}
client<llm> Keys {
  provider openai
  options {
    model env.MODEL
    api_key env.FIRST
    headers {
      x env.SECOND
    }
  }
}
function Named() -> string {
  client Keys
  prompt #"{{ ctx.client.name }} of {{ ctx.client.provider }}"#
}`;
  const subject = testRuntime(files, { URL: fake.url });
  for (const name of ['F', 'Named']) {
    const prepared = subject.prepare(name, {});
    expect(prepared.ok && subject.render(prepared.value)).toMatchObject({ ok: true });
    expect(valueOf(await callFunction(subject, name, {}))).toBe('missing_credential');
  }
  const named = subject.prepare('Named', {});
  expect(JSON.stringify(named.ok && subject.render(named.value))).toContain('Keys of openai');
  await subject.close();
});

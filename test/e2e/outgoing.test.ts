import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';

let declared: FakeProvider;
/** A provider at an address that no definition file contains. */
let elsewhere: FakeProvider;
let server: RunningServer | undefined;

const FILES = {
  'outgoing.svc': `
client<llm> Own {
  provider openai-generic
  options {
    base_url env.PROVIDER_URL
  }
}
client<llm> Other {
  provider openai-generic
  options {
    base_url env.PROVIDER_URL
  }
}
function Say() -> string {
  client Own
  prompt #"x"#
}`,
};

beforeAll(async () => {
  [declared, elsewhere] = await Promise.all([startFakeProvider(), startFakeProvider()]);
});
beforeEach(() => {
  declared.clear();
  elsewhere.clear();
  declared.answer(reply('declared'));
  elsewhere.answer(reply('elsewhere'));
});
afterEach(() => server?.stop());
afterAll(async () => {
  await Promise.all([declared.close(), elsewhere.close()]);
});

async function start(...flags: readonly string[]): Promise<void> {
  const env = { PROVIDER_URL: `${declared.url}/v1`, HTTP_PROXY: 'http://127.0.0.1:1' };
  server = await startServer({ files: FILES, flags: ['--workers', '1', ...flags], env });
}

/** The value or the error code for these options, called from this machine or through a proxy. */
async function say(options: object, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const response = await fetch(`${server?.url}/call/Say`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ svc_options: options }),
  });
  const answer: unknown = await response.json();
  return response.ok ? answer : (answer as { readonly error?: unknown }).error;
}

function leadingTo(url: string): object {
  const clients = [{ name: 'Mine', provider: 'openai-generic', options: { base_url: `${url}/v1` } }];
  return { client_registry: { primary: 'Mine', clients } };
}

/** Headers that proxies and gateways add, and the one with which a browser names the page of another site. */
const FORWARDING = [
  { 'x-forwarded-for': '8.8.8.8' },
  { forwarded: 'for=8.8.8.8' },
  { 'x-real-ip': '8.8.8.8' },
  { via: '1.1 gateway' },
  { 'cf-connecting-ip': '8.8.8.8' },
  { 'x-azure-clientip': '8.8.8.8' },
  { origin: 'http://attacker.example' },
];

test('by default, no caller can name private addresses', async () => {
  await start();
  for (const headers of [{}, ...FORWARDING]) {
    expect(await say(leadingTo(elsewhere.url), headers)).toBe('invalid_options');
  }
  expect(await say(leadingTo(declared.url))).toBe('declared');
  expect(elsewhere.requests).toHaveLength(0);
});

// test/server/local-callers.test.ts recognizes these callers on both transports.
test('with --trust-loopback, callers on this machine can name private addresses', async () => {
  await start('--trust-loopback');
  expect(await say(leadingTo(elsewhere.url))).toBe('elsewhere');
  expect(await say(leadingTo(elsewhere.url.replace('127.0.0.1', 'localhost')))).toBe('elsewhere');
  for (const headers of FORWARDING) {
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]']) {
      const url = elsewhere.url.replace('127.0.0.1', host);
      expect(await say(leadingTo(url), headers), `${host} ${JSON.stringify(headers)}`).toBe('invalid_options');
    }
    expect(await say(leadingTo(declared.url), headers)).toBe('declared');
    expect(await say({ env: { PROVIDER_URL: `${elsewhere.url}/v1` } }, headers)).toBe('client_error');
  }
  expect(elsewhere.requests).toHaveLength(2);
  for (const host of ['169.254.169.254', '[::ffff:a9fe:a9fe]', 'metadata.google.internal']) {
    expect(await say(leadingTo(`http://${host}`))).toBe('invalid_options');
  }
});

test('--allow-private-urls allows them to every caller, but never the metadata service', async () => {
  await start('--allow-private-urls');
  for (const headers of FORWARDING) expect(await say(leadingTo(elsewhere.url), headers)).toBe('elsewhere');
  expect(await say(leadingTo('http://169.254.169.254'))).toBe('invalid_options');
});

test('with --client-registry known, requests can use only clients of the files', async () => {
  await start('--client-registry', 'known');
  expect(await say({ client: 'Other' })).toBe('declared');
  expect(await say({ client_registry: { primary: 'Other', fallback: ['Own'] } })).toBe('declared');
  expect(await say(leadingTo(declared.url))).toBe('invalid_options');
  expect(await say({ client: 'openai/gpt-4o' })).toBe('invalid_options');
});

test('with --client-registry off, requests cannot choose a client', async () => {
  await start('--client-registry', 'off');
  expect(await say({ env: { UNUSED: 'x' } })).toBe('declared');
  expect(await say({ client: 'Other' })).toBe('invalid_options');
  expect(await say({ client_registry: { primary: 'Other' } })).toBe('invalid_options');
  expect(await say(leadingTo(declared.url))).toBe('invalid_options');
});

import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { createModelClient } from '../../../src/runtime/model/create-model-client.ts';
import type { Provider } from '../../../src/schema/providers/providers.ts';
import { ask, clientDefinition } from '../../support/ask-client.ts';
import { status } from '../../support/fake-provider.ts';
import { fakeModels } from '../../support/fake-models.ts';

const { fake, services } = await fakeModels();
const folder = mkdtempSync(join(tmpdir(), 'svc-brought-'));

beforeEach(() => fake.answer(status(200, CONVERSE)));
afterAll(() => rmSync(folder, { recursive: true }));

const CONVERSE = { output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } }, stopReason: 'end_turn' };

const USER = { type: 'authorized_user', client_id: 'ci', client_secret: 'cs', refresh_token: 'rt' };

const PROFILES = `[default]
aws_access_key_id = DK
aws_secret_access_key = DS
[other]
aws_access_key_id = OK
aws_secret_access_key = OS
aws_session_token = OT
`;

type Env = Readonly<Record<string, string>>;

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

interface Brought {
  readonly options?: Readonly<Record<string, JsonValue>>;
  /** `env.X` in the definition file. */
  readonly fromEnv?: Readonly<Record<string, string>>;
  readonly server?: Env;
  readonly request: Readonly<Record<string, string | null>>;
}

/** A client of the definition files, for a request that sets variables. */
function madeFor(provider: Provider, { options = {}, fromEnv = {}, server = {}, request }: Brought): Made {
  const place = provider === 'aws-bedrock' ? { region: 'us-east-1', endpoint_url: fake.url } : { base_url: fake.url };
  const definition = clientDefinition(provider, { model: 'gemini', ...place, ...options });
  const fromVariables = Object.entries(fromEnv).map(([key, variable]) => ({
    key,
    value: { kind: 'env', variable } as const,
  }));
  return createModelClient(
    { definition: { ...definition, options: [...definition.options, ...fromVariables] }, from: 'files' },
    { environment: { server, request: new Map(Object.entries(request)) }, privateUrls: true },
    services,
  );
}

type Made = ReturnType<typeof createModelClient>;

/** The keys in the requests to the model. */
async function keysSent(made: Made): Promise<string> {
  if (!made.ok) throw new Error(JSON.stringify(made.failure));
  expect((await ask(made.value.client)).result).toMatchObject({ ok: true });
  const headers = fake.requests.at(-1)?.headers;
  const key = /Credential=([^/]+)|Bearer (.+)/u.exec(String(headers?.['authorization']));
  return [key?.[1] ?? key?.[2], headers?.['x-amz-security-token']].filter((part) => part !== undefined).join(' ');
}

function lacking(variable: string, because = ''): object {
  const message = expect.stringContaining(because) as string;
  return { ok: false, failure: { code: 'missing_credential', variable, message } };
}

test("svc does not open a file of the server if a request's variable names it", () => {
  const path = file('adc.json', JSON.stringify(USER));
  const made = madeFor('vertex-ai', { fromEnv: { credentials: 'CREDS' }, request: { CREDS: path } });
  expect(made).toMatchObject(lacking('credentials', 'a request cannot name files of the server'));
  expect(madeFor('vertex-ai', { fromEnv: { credentials: 'CREDS' }, server: { CREDS: path }, request: {} }).ok).toBe(
    true,
  );
});

test("a request's variable cannot choose the token service", () => {
  const user = JSON.stringify({ ...USER, token_uri: `${fake.url}/refresh` });
  for (const option of ['credentials', 'credentials_content']) {
    const made = madeFor('vertex-ai', { fromEnv: { [option]: 'CREDS' }, request: { CREDS: user } });
    expect(made).toMatchObject(lacking('credentials', 'a "token_uri" that is not Google'));
  }
});

test("a request's variable cannot choose a profile of the server", () => {
  const server = { AWS_SHARED_CREDENTIALS_FILE: file('credentials', PROFILES) };
  const made = madeFor('aws-bedrock', { fromEnv: { profile: 'MINE' }, server, request: { MINE: 'other' } });
  expect(made).toMatchObject(lacking('AWS_SHARED_CREDENTIALS_FILE', 'a request cannot choose'));
});

test('the failure of a missing profile names it', () => {
  const server = { AWS_SHARED_CREDENTIALS_FILE: file('credentials', PROFILES) };
  const made = madeFor('aws-bedrock', { options: { profile: 'nobody' }, server, request: {} });
  expect(made).toMatchObject(
    lacking('AWS_SHARED_CREDENTIALS_FILE', 'names no file with keys for the profile "nobody"'),
  );
});

const SERVER_KEYS = { AWS_ACCESS_KEY_ID: 'EK', AWS_SECRET_ACCESS_KEY: 'ES', AWS_SESSION_TOKEN: 'ET' };
const OWN_KEYS = { AWS_ACCESS_KEY_ID: 'CK', AWS_SECRET_ACCESS_KEY: 'CS' };

test.each<[string, Env, Brought['request'], string]>([
  ['no session token of the server', SERVER_KEYS, OWN_KEYS, 'CK'],
  ['its own session token', SERVER_KEYS, { ...OWN_KEYS, AWS_SESSION_TOKEN: 'CT' }, 'CK CT'],
  ['none of the keys that the server sends unchanged', { AWS_BEARER_TOKEN_BEDROCK: 'EB' }, OWN_KEYS, 'CK'],
  ['a key of its own that is sent unchanged', SERVER_KEYS, { AWS_BEARER_TOKEN_BEDROCK: 'CB' }, 'CB'],
])('aws-bedrock: keys of a request are used with %s', async (_what, server, request, sent) => {
  expect(await keysSent(madeFor('aws-bedrock', { server, request }))).toBe(sent);
});

test.each<[string, Brought['request'], string]>([
  ['AWS_ACCESS_KEY_ID', { AWS_SECRET_ACCESS_KEY: 'CS' }, 'AWS_ACCESS_KEY_ID'],
  ['AWS_SECRET_ACCESS_KEY', { AWS_ACCESS_KEY_ID: 'CK' }, 'AWS_SECRET_ACCESS_KEY'],
  ['any key, where it takes one away', { AWS_ACCESS_KEY_ID: null }, 'AWS_ACCESS_KEY_ID'],
])("aws-bedrock: a request without %s is not completed by the server's", (_what, request, variable) => {
  const server = { ...SERVER_KEYS, AWS_SHARED_CREDENTIALS_FILE: file('credentials', PROFILES) };
  expect(madeFor('aws-bedrock', { server, request })).toMatchObject(lacking(variable));
});

test.each(['AWS_PROFILE', 'AWS_SHARED_CREDENTIALS_FILE', 'HOME'])(
  "a request's value of %s does not change which of the server's keys svc uses",
  async (variable) => {
    const server = { AWS_SHARED_CREDENTIALS_FILE: file('credentials', PROFILES), AWS_PROFILE: 'other' };
    for (const value of [null, 'default'])
      expect(await keysSent(madeFor('aws-bedrock', { server, request: { [variable]: value } }))).toBe('OK OT');
  },
);

test("vertex-ai: a request's account has precedence over every account of the server", async () => {
  const own = JSON.stringify({ ...USER, client_id: 'own', token_uri: 'https://oauth2.googleapis.com/token' });
  const server = { GOOGLE_APPLICATION_CREDENTIALS_CONTENT: JSON.stringify(USER) };
  const brought = { server, request: { GOOGLE_APPLICATION_CREDENTIALS: 'no JSON' } };
  expect(madeFor('vertex-ai', brought)).toMatchObject(
    lacking('GOOGLE_APPLICATION_CREDENTIALS', 'a request cannot name files of the server'),
  );
  expect(madeFor('vertex-ai', { server, request: { GOOGLE_APPLICATION_CREDENTIALS: own } }).ok).toBe(true);
  const machine = { ...server, GCE_METADATA_HOST: new URL(fake.url).host };
  const taken = { GOOGLE_APPLICATION_CREDENTIALS_CONTENT: null };
  expect(madeFor('vertex-ai', { server: machine, request: taken })).toMatchObject(
    lacking('GOOGLE_APPLICATION_CREDENTIALS'),
  );
});

const ACCOUNT = { client_email: 'caller@example.com', token_uri: 'https://oauth2.googleapis.com/token' };

function accountWith(privateKey: string): Made {
  const content = JSON.stringify({ ...ACCOUNT, private_key: privateKey });
  return madeFor('vertex-ai', { request: { GOOGLE_APPLICATION_CREDENTIALS_CONTENT: content } });
}

/** A key of 2,048 bits with inner numbers that take as long as those of a key of this many bytes. */
function heavyKey(bytes: number): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { n = '', e = '', d = '', q = '', dq = '', qi = '' } = privateKey.export({ format: 'jwk' });
  const heavy = Buffer.alloc(bytes, 0xff).toString('base64url');
  // OpenSSL of Node 24 and later makes no such key.
  const members = ['AA', n, e, d, heavy, q, heavy, dq, qi].map((each) => derInteger(Buffer.from(each, 'base64url')));
  const key = derValue(0x30, Buffer.concat(members)).toString('base64');
  return `-----BEGIN RSA PRIVATE KEY-----\n${key.replaceAll(/.{64}/gu, '$&\n')}\n-----END RSA PRIVATE KEY-----\n`;
}

/** A positive number (X.690, 8.3). */
function derInteger(bytes: Buffer): Buffer {
  return derValue(0x02, (bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes);
}

function derValue(tag: number, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([Buffer.from([tag, 0x84]), length, content]);
}

const EC_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

test.each<[string, string]>([
  ['no key', 'secret'],
  ['no RSA key', EC_KEY.export({ type: 'pkcs8', format: 'pem' }).toString()],
  ['one with which signing would take long', heavyKey(1200)],
  ['longer than any key', `${'x'.repeat(100_000)}`],
])('vertex-ai: a private key that is %s is refused', (_what, privateKey) => {
  expect(accountWith(privateKey)).toMatchObject(
    lacking(
      'GOOGLE_APPLICATION_CREDENTIALS_CONTENT',
      'has a "private_key" that is not an RSA key of at most 4096 bits',
    ),
  );
});

test('vertex-ai: a private key of 4096 bits is accepted', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 4096 });
  expect(accountWith(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()).ok).toBe(true);
});

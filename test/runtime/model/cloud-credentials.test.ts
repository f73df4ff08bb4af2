import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { err, ok } from '../../../src/base/result.ts';
import { createModelClient } from '../../../src/runtime/model/create-model-client.ts';
import {
  fetchProfileCredentials,
  readAwsProfile,
  findAwsRole,
} from '../../../src/runtime/model/providers/aws-credentials.ts';
import { cloudMachine, RenewedCredential } from '../../../src/runtime/model/providers/cloud-credential.ts';
import type { Provider } from '../../../src/schema/providers/providers.ts';
import { ask, clientDefinition, makeClient } from '../../support/ask-client.ts';
import { status } from '../../support/fake-provider.ts';
import type { Behaviour } from '../../support/fake-wire.ts';
import { fakeModels } from '../../support/fake-models.ts';

const { fake, services } = await fakeModels();
const folder = mkdtempSync(join(tmpdir(), 'svc-credentials-'));

beforeEach(() => fake.answer(cloud));
afterAll(() => rmSync(folder, { recursive: true }));

const CONVERSE = { output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } }, stopReason: 'end_turn' };
const GEMINI = { candidates: [{ content: { parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }] };
const ROLE = {
  AccessKeyId: 'RK',
  SecretAccessKey: 'RS',
  Token: 'RT',
  Expiration: new Date(Date.now() + 3_600_000).toISOString(),
};

/** An answer of the security token service, which is XML. */
const STS_ANSWER = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult>
    <SubjectFromWebIdentityToken>system:serviceaccount:default:svc</SubjectFromWebIdentityToken>
    <Credentials>
      <AccessKeyId>WK</AccessKeyId>
      <SecretAccessKey>W/S+=</SecretAccessKey>
      <SessionToken>WT</SessionToken>
      <Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>`;

/** The services of both clouds and a model of each, on one host. */
const cloud: Behaviour = (request, wire) => {
  const { method, path, headers, body } = request;
  if (path.endsWith('/converse')) return status(200, CONVERSE)(request, wire);
  if (path.includes('generateContent')) return status(200, GEMINI)(request, wire);
  if (path === '/container' && headers['authorization'] === 'container-token') return status(200, ROLE)(request, wire);
  if (path === '/latest/api/token' && method === 'PUT') return status(200, 'session')(request, wire);
  const session = headers['x-aws-ec2-metadata-token'] === 'session';
  if (path === '/latest/meta-data/iam/security-credentials/' && session) return status(200, 'my-role\n')(request, wire);
  if (path === '/latest/meta-data/iam/security-credentials/my-role' && session) return status(200, ROLE)(request, wire);
  if (path === '/sts') return status(200, STS_ANSWER)(request, wire);
  const machine = path === '/computeMetadata/v1/instance/service-accounts/default/token';
  if (machine && method === 'GET' && headers['metadata-flavor'] === 'Google')
    return status(200, { access_token: 'machine', expires_in: 3600 })(request, wire);
  if (path === '/refresh' && body === 'grant_type=refresh_token&client_id=ci&client_secret=cs&refresh_token=rt')
    return status(200, { access_token: 'refreshed', expires_in: 3600 })(request, wire);
  return status(404, {})(request, wire);
};

type Options = Readonly<Record<string, JsonValue>>;
type Env = Readonly<Record<string, string>>;

/** The `authorization` that the model received after two calls, and the number of other requests. */
async function authorization(
  provider: Provider,
  options: Options,
  env: Env,
): Promise<{ readonly sent: string; readonly asked: number }> {
  const client = makeClient(clientDefinition(provider, options), services, env);
  for (const { result } of [await ask(client), await ask(client)]) expect(result).toMatchObject({ ok: true });
  const [call, ...others] = fake.requests.filter((each) => /converse$|generateContent/u.test(each.path));
  const sent = `${call?.headers['authorization']} ${call?.headers['x-amz-security-token'] ?? ''}`.trim();
  return { sent, asked: fake.requests.length - others.length - 1 };
}

function bedrock(env: Env, more: Options = {}): ReturnType<typeof authorization> {
  return authorization('aws-bedrock', { model: 'm', region: 'us-east-1', endpoint_url: fake.url, ...more }, env);
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const PROFILES = `# keys
[default]
aws_access_key_id = DK
aws_secret_access_key = DS
[ other ]
aws_access_key_id=OK
aws_secret_access_key=OS
aws_session_token=OT
`;

test('aws-bedrock: the credentials file, its default profile and others', async () => {
  const path = file('credentials', PROFILES);
  expect((await bedrock({ AWS_SHARED_CREDENTIALS_FILE: path })).sent).toContain('Credential=DK/');
  fake.clear();
  const named = await bedrock({ AWS_SHARED_CREDENTIALS_FILE: path, AWS_PROFILE: 'other' });
  expect(named.sent).toMatch(/Credential=OK\/.* OT$/u);
  fake.clear();
  const byOption = await bedrock({ AWS_SHARED_CREDENTIALS_FILE: path, AWS_ACCESS_KEY_ID: 'EK' }, { profile: 'other' });
  expect(byOption.sent).toContain('Credential=OK/');
});

test('aws-bedrock: keys of the environment have precedence over the file', async () => {
  const env = { AWS_ACCESS_KEY_ID: 'EK', AWS_SECRET_ACCESS_KEY: 'ES' };
  const { sent } = await bedrock({ AWS_SHARED_CREDENTIALS_FILE: file('credentials', PROFILES), ...env });
  expect(sent).toContain('Credential=EK/');
});

test('aws-bedrock: svc requests the role of a container once', async () => {
  const { sent, asked } = await bedrock({
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${fake.url}/container`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file('token', 'container-token\n'),
  });
  expect(sent).toMatch(/Credential=RK\/.* RT$/u);
  expect(asked).toBe(1);
});

test('aws-bedrock: svc requests the role of a machine once', async () => {
  const { sent, asked } = await bedrock({ AWS_EC2_METADATA_SERVICE_ENDPOINT: `${fake.url}/` });
  expect(sent).toMatch(/Credential=RK\/.* RT$/u);
  expect(asked).toBe(3);
});

test('aws-bedrock: a pod assumes its role by its token, once', async () => {
  const { sent, asked } = await bedrock({
    AWS_WEB_IDENTITY_TOKEN_FILE: file('web-identity', 'pod+token\n'),
    AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/models',
    AWS_ENDPOINT_URL_STS: `${fake.url}/sts`,
  });
  expect(sent).toMatch(/Credential=WK\/.* WT$/u);
  expect(asked).toBe(1);
  const [question] = fake.requests;
  expect(question?.headers['authorization']).toBeUndefined();
  expect(Object.fromEntries(new URLSearchParams(question?.body))).toEqual({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: 'arn:aws:iam::123456789012:role/models',
    RoleSessionName: 'svc',
    WebIdentityToken: 'pod+token',
  });
});

test('aws-bedrock: a role that svc cannot assume is a failure of the client', async () => {
  const env = {
    AWS_WEB_IDENTITY_TOKEN_FILE: file('web-identity', 'pod-token'),
    AWS_ROLE_ARN: 'arn:aws:iam::1:role/r',
    AWS_ENDPOINT_URL_STS: `${fake.url}/denied`,
  };
  const definition = clientDefinition('aws-bedrock', { model: 'm', region: 'r', endpoint_url: fake.url });
  const { result } = await ask(makeClient(definition, services, env));
  expect(result).toMatchObject({
    ok: false,
    failure: { failure: { message: expect.stringContaining('role/r": the service answered 404') } },
  });
  expect(JSON.stringify(result)).not.toContain('pod-token');
});

test('aws-bedrock: a machine of Amazon provides its role without any setting', () => {
  const machine = { kind: 'machine', endpoint: 'http://169.254.169.254' };
  expect(findAwsRole(read({}), 'amazon')).toEqual(machine);
  expect(findAwsRole(read({}), 'google')).toBeUndefined();
  expect(findAwsRole(read({}), undefined)).toBeUndefined();
  expect(findAwsRole(read({ AWS_EC2_METADATA_DISABLED: 'true' }), 'amazon')).toBeUndefined();
});

function read(env: Env): (variable: string) => string | undefined {
  return (variable) => env[variable];
}

test('a machine identifies its cloud', () => {
  expect(cloudMachine(file('vendor', 'Amazon EC2\n'))).toBe('amazon');
  expect(cloudMachine(file('vendor', 'Google\n'))).toBe('google');
  expect(cloudMachine(file('vendor', 'QEMU\n'))).toBeUndefined();
  expect(cloudMachine(join(folder, 'nothing'))).toBeUndefined();
});

test('aws-bedrock: keys in the config file, where sections are called profiles', async () => {
  const config = file('config', '[profile work]\nregion = x\naws_access_key_id = CK\naws_secret_access_key = CS\n');
  const { sent } = await bedrock({ AWS_CONFIG_FILE: config, AWS_PROFILE: 'work' });
  expect(sent).toContain('Credential=CK/');
});

const PROGRAM = `[profile program]
credential_process = ${process.execPath} -e "console.log(JSON.stringify({Version:1,AccessKeyId:'PK',SecretAccessKey:'PS'}))"
`;

test("aws-bedrock: other profiles are read by Amazon's own package", async () => {
  const { sent } = await bedrock({ AWS_CONFIG_FILE: file('config', PROGRAM), AWS_PROFILE: 'program' });
  expect(sent).toContain('Credential=PK/');
});

test.each(['role_arn = arn:aws:iam::1:role/r', 'sso_session = s', 'sso_start_url = https://s', 'login_session = l'])(
  'aws-bedrock: a profile with %s is one of these, and its failure states so',
  async (setting) => {
    const files = { credentials: '', config: file('config', `[profile p]\n${setting}\n`) };
    const profile = readAwsProfile(files, 'p');
    if (profile?.kind !== 'elsewhere') throw new Error('should have its keys elsewhere');
    const failure = { ok: false, failure: expect.stringContaining('AWS profile "p"') };
    expect(await fetchProfileCredentials(profile)).toMatchObject(failure);
    expect(await fetchProfileCredentials(profile, () => Promise.resolve(undefined))).toEqual({
      ok: false,
      failure: expect.stringContaining('needs the package @aws-sdk/credential-provider-ini'),
    });
  },
);

test('aws-bedrock: the failure of a profile does not show how it gets its keys', async () => {
  const program = `${process.execPath} -e "throw new Error('said secret')" --password secret`;
  const config = file('config', `[profile p]\ncredential_process = ${program}\n`);
  const fetched = await fetchProfileCredentials({ kind: 'elsewhere', name: 'p', files: { credentials: '', config } });
  expect(fetched).toMatchObject({ ok: false, failure: expect.stringContaining('could not get the keys') });
  expect(JSON.stringify(fetched)).not.toContain('secret');
});

test('aws-bedrock: svc does not request keys of a container over plain HTTP from any host', () => {
  const definition = clientDefinition('aws-bedrock', { model: 'm', region: 'us-east-1' });
  const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://keys.example/role' };
  expect(() => makeClient(definition, services, env)).toThrow('AWS_ACCESS_KEY_ID');
});

const USER = { type: 'authorized_user', client_id: 'ci', client_secret: 'cs', refresh_token: 'rt' };

test('vertex-ai: a user whose token is refreshed, from a file', async () => {
  const path = file('adc.json', JSON.stringify({ ...USER, token_uri: `${fake.url}/refresh` }));
  const options = { model: 'gemini', base_url: fake.url };
  const { sent, asked } = await authorization('vertex-ai', options, { GOOGLE_APPLICATION_CREDENTIALS: path });
  expect(sent).toBe('Bearer refreshed');
  expect(asked).toBe(1);
});

test('vertex-ai: the file of gcloud in the home directory, with its quota project', async () => {
  mkdirSync(join(folder, '.config/gcloud'), { recursive: true });
  const user = { ...USER, token_uri: `${fake.url}/refresh`, quota_project_id: 'payer' };
  file('.config/gcloud/application_default_credentials.json', JSON.stringify(user));
  const { sent } = await authorization('vertex-ai', { model: 'gemini', base_url: fake.url }, { HOME: folder });
  expect(sent).toBe('Bearer refreshed');
  expect(fake.requests.at(-1)?.headers['x-goog-user-project']).toBe('payer');
});

test.each<[string, string, string]>([
  ['no JSON', '{', 'is not valid JSON'],
  ['no such file', '/nowhere/key.json', 'names a file that cannot be read'],
  ['an account of another kind', '{"type":"external_account"}', 'of the type'],
  ['half a service account', '{"type":"service_account","client_email":"a"}', 'a service account and an authorized'],
])('vertex-ai: the failure of credentials that are %s states so', (_what, value, message) => {
  const definition = clientDefinition('vertex-ai', { model: 'm', location: 'eu' });
  const env = { GOOGLE_APPLICATION_CREDENTIALS: value };
  expect(() => makeClient(definition, services, env)).toThrow(message);
  expect(() => makeClient(definition, services, env)).toThrow('missing_credential');
});

test('svc renews a credential shortly before it expires, and uses the old one until then if that fails', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  let fetched = 0;
  let fails = false;
  const credential = new RenewedCredential(() => {
    fetched += 1;
    return Promise.resolve(fails ? err('down') : ok({ value: fetched, livesMs: 3_600_000 }));
  });
  const values: unknown[] = [];
  for (const minutes of [0, 54, 2, 53]) {
    vi.advanceTimersByTime(minutes * 60_000);
    values.push(await credential.get());
  }
  fails = true;
  for (const minutes of [4, 4]) {
    vi.advanceTimersByTime(minutes * 60_000);
    values.push(await credential.get());
  }
  vi.useRealTimers();
  expect(values).toEqual([ok(1), ok(1), ok(2), ok(2), ok(2), err('down')]);
});

test('vertex-ai: the account of the machine', async () => {
  const env = { GCE_METADATA_HOST: new URL(fake.url).host };
  const { sent, asked } = await authorization('vertex-ai', { model: 'gemini', base_url: fake.url }, env);
  expect(sent).toBe('Bearer machine');
  expect(asked).toBe(1);
});

test.each<[string, Provider, Options, Readonly<Record<string, string>>]>([
  ['a credentials file', 'aws-bedrock', { region: 'r' }, { AWS_SHARED_CREDENTIALS_FILE: 'credentials' }],
  ['a metadata service', 'aws-bedrock', { region: 'r' }, { AWS_EC2_METADATA_SERVICE_ENDPOINT: 'http://127.0.0.1:9' }],
  ['a container service', 'aws-bedrock', { region: 'r' }, { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1:9' }],
  ['a key file', 'vertex-ai', { location: 'eu' }, { GOOGLE_APPLICATION_CREDENTIALS: 'adc.json' }],
  ['a metadata host', 'vertex-ai', { location: 'eu' }, { GCE_METADATA_HOST: '127.0.0.1:9' }],
])('a request cannot name %s', (_what, provider, options, variables) => {
  file('credentials', PROFILES);
  file('adc.json', JSON.stringify(USER));
  const request = new Map(
    Object.entries(variables).map(([name, value]) => [name, value.includes(':') ? value : join(folder, value)]),
  );
  const made = createModelClient(
    { definition: clientDefinition(provider, { model: 'm', ...options }), from: 'files' },
    { environment: { server: {}, request }, privateUrls: true },
    services,
  );
  expect(made).toMatchObject({ ok: false, failure: { code: 'missing_credential' } });
});

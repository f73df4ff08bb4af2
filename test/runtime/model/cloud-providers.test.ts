import { createVerify, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { AwsEventReader } from '../../../src/runtime/model/providers/aws-bedrock.ts';
import { AwsSigner } from '../../../src/runtime/model/providers/aws-credentials.ts';
import type { Message } from '../../../src/schema/message.ts';
import type { Provider } from '../../../src/schema/providers/providers.ts';
import { awsEvent } from '../../support/aws-event-frame.ts';
import { ask, clientDefinition, makeClient, type Asked } from '../../support/ask-client.ts';
import { status } from '../../support/fake-provider.ts';
import { head } from '../../support/http1-connection.ts';
import type { Behaviour } from '../../support/fake-wire.ts';
import { fakeModels } from '../../support/fake-models.ts';

const { fake, services } = await fakeModels();

interface Asking {
  readonly streamed?: boolean;
  readonly messages?: readonly Message[];
  readonly env?: Readonly<Record<string, string>>;
}

function asked(provider: Provider, options: Readonly<Record<string, JsonValue>>, asking: Asking = {}): Promise<Asked> {
  return ask(makeClient(clientDefinition(provider, options), services, asking.env), asking);
}

test('a request is signed as in the test suite that AWS publishes (post-vanilla)', () => {
  const request = {
    host: 'example.amazonaws.com',
    path: '/',
    body: '',
    region: 'us-east-1',
    service: 'service',
    headers: {},
  };
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
  expect(new AwsSigner().sign(request, credentials, new Date('2015-08-30T12:36:00Z'))).toEqual({
    'x-amz-date': '20150830T123600Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  });
});

test("a model's ARN in the path is signed as Amazon's own library signs it", () => {
  const path = '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/converse-stream';
  const headers = { 'content-type': 'application/json' };
  const request = { host: 'h', path, body: '{"é":1}', region: 'us-east-1', service: 'bedrock', headers };
  const credentials = { accessKeyId: 'AK', secretAccessKey: 'SK/+', sessionToken: 'TOK' };
  const signer = new AwsSigner();
  // The key of another day must not be used again.
  signer.sign(request, credentials, new Date('2026-11-20T03:00:00Z'));
  expect(signer.sign(request, credentials, new Date('2026-11-21T03:00:00Z'))['authorization']).toBe(
    'AWS4-HMAC-SHA256 Credential=AK/20261121/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=fcbd322d2ec01597fd4623b4d7774da56ec7b53fb00bef05493b8cfff18e6b1d',
  );
});

const BEDROCK = {
  model: 'anthropic.claude-3-haiku:0',
  region: 'us-east-1',
  access_key_id: 'AK',
  secret_access_key: 'SK',
  inference_configuration: { max_tokens: 100, temperature: 0.5 },
  additional_model_request_fields: { foo: 1 },
};

const CONVERSE = {
  output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 4, outputTokens: 2 },
};

function frames(bytes: Buffer): Behaviour {
  const headers = { 'content-type': 'application/vnd.amazon.eventstream', 'content-length': String(bytes.length) };
  return (_request, wire) => {
    wire.write(head(200, headers));
    for (let at = 0; at < bytes.length; at += 50) wire.write(bytes.subarray(at, at + 50));
  };
}

const STREAM = [
  awsEvent('messageStart', { role: 'assistant' }),
  awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hel' } }),
  awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'lo "é"' } }),
  awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
  awsEvent('messageStop', { stopReason: 'max_tokens' }),
  awsEvent('metadata', { usage: { inputTokens: 4, outputTokens: 2 } }),
];

test('aws-bedrock: replies and streams have the tokens of the cache', async () => {
  const usage = { inputTokens: 10, outputTokens: 2, cacheReadInputTokens: 60, cacheWriteInputTokens: 30 };
  const options = { ...BEDROCK, endpoint_url: fake.url };
  fake.answer(status(200, { ...CONVERSE, usage }));
  const called = await asked('aws-bedrock', options);
  fake.answer(frames(Buffer.concat([...STREAM.slice(0, -1), awsEvent('metadata', { usage })])));
  const streamed = await asked('aws-bedrock', options, { streamed: true });
  const tokenDetails = { cachedInputTokens: 60, cacheWrittenInputTokens: 30 };
  for (const { result } of [called, streamed]) {
    expect(result).toMatchObject({ ok: true, value: { inputTokens: 100, outputTokens: 2, tokenDetails } });
  }
});

function read(chunks: readonly Buffer[]): readonly string[] {
  const events: string[] = [];
  const reader = new AwsEventReader((text, start, end) => events.push(text.slice(start, end)));
  for (const chunk of chunks) expect(reader.push(chunk)).toBe(true);
  return events;
}

test('every cut of an event stream gives the same events', () => {
  const bytes = Buffer.concat(STREAM);
  const whole = read([bytes]);
  expect(whole).toHaveLength(STREAM.length);
  for (let at = 0; at < bytes.length; at += 1) expect(read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
  expect(read([...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole);
});

test('the reader detects a changed byte, wherever it is', async () => {
  const [first = Buffer.alloc(0)] = STREAM;
  for (let at = 0; at < first.length; at += 1) {
    const changed = Buffer.from(first);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const events: string[] = [];
    const reader = new AwsEventReader((text) => events.push(text));
    reader.push(changed);
    reader.push(Buffer.alloc(64));
    expect(events).toEqual([]);
  }
  const bytes = Buffer.concat(STREAM);
  bytes[bytes.length - 20] = 0;
  fake.answer(frames(bytes));
  const { result } = await asked('aws-bedrock', { ...BEDROCK, endpoint_url: fake.url }, { streamed: true });
  expect(result).toMatchObject({
    ok: false,
    failure: { retry: 'always', failure: { message: expect.stringContaining('checksum') } },
  });
});

test('impossible lengths end an event stream', () => {
  for (const length of [0, 15, 0xffffffff]) {
    const bytes = Buffer.alloc(20);
    bytes.writeUInt32BE(length, 0);
    expect(new AwsEventReader(() => {}).push(bytes)).toBe(false);
  }
});

const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });

function account(): Readonly<Record<string, string>> {
  return {
    client_email: 'svc@example.com',
    private_key: KEYS.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    token_uri: `${fake.url}/token`,
    project_id: 'proj',
  };
}

const GOOGLE_REPLY = { candidates: [{ content: { parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }] };

/** A token service and a model on one host. */
const google: Behaviour = (request, wire) => {
  const answer =
    request.path === '/token' ? { access_token: `t${fake.requests.length}`, expires_in: 3600 } : GOOGLE_REPLY;
  return status(200, answer)(request, wire);
};

test('vertex-ai: a service account signs a request for a token, which svc keeps', async () => {
  fake.answer(google);
  const definition = clientDefinition('vertex-ai', {
    model: 'gemini',
    base_url: `${fake.url}/v1`,
    credentials: account(),
  });
  const client = makeClient(definition, services);
  const first = await Promise.all([ask(client), ask(client)]);
  const [token, ...calls] = fake.requests;
  expect(first.every(({ result }) => result.ok && result.value.text === 'Hello')).toBe(true);
  expect(calls.map((call) => `${call.path} ${call.headers['authorization']}`)).toEqual([
    '/v1/gemini:generateContent Bearer t1',
    '/v1/gemini:generateContent Bearer t1',
  ]);
  await ask(client);
  expect(fake.requests.filter((request) => request.path === '/token')).toHaveLength(1);
  const assertion = new URLSearchParams(token?.body).get('assertion') ?? '';
  const [header = '', claims = '', signature = ''] = assertion.split('.');
  expect(createVerify('RSA-SHA256').update(`${header}.${claims}`).verify(KEYS.publicKey, signature, 'base64url')).toBe(
    true,
  );
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
    iss: 'svc@example.com',
    aud: `${fake.url}/token`,
  });
});

test('vertex-ai: a refused token is a failure of the client, which does not contain the assertion', async () => {
  fake.answer(status(400, { error: 'invalid_grant' }));
  const { result } = await asked('vertex-ai', { model: 'm', base_url: fake.url, credentials: account() });
  expect(result).toMatchObject({
    ok: false,
    failure: { failure: { message: 'The client "Tested" could not get an access token: the service answered 400' } },
  });
});

test.each<[Readonly<Record<string, JsonValue>>, string]>([
  [{ model: 'm' }, 'options.location'],
  [{ model: 'm', location: 'a.evil.example/' }, 'options.location'],
  [{ location: 'us-central1' }, 'options.model'],
  [{ model: 'm', location: 'us-central1' }, 'GOOGLE_APPLICATION_CREDENTIALS'],
])('vertex-ai: %j is refused', (options, message) => {
  expect(() => makeClient(clientDefinition('vertex-ai', options), services)).toThrow(message);
});

test.each(['a/../../evil', '..', 'p?x=1', 'P'])('vertex-ai: the project "%s" is not sent', async (project) => {
  const location = { model: 'm', location: 'eu', api_key: 'k' };
  const { result } = await asked('vertex-ai', location, { env: { GOOGLE_CLOUD_PROJECT: project } });
  const message = expect.stringContaining('is not the ID of a project') as string;
  expect(result).toMatchObject({ ok: false, failure: { retry: 'never', failure: { message } } });
});

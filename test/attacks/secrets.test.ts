import { expect } from 'vitest';
import { reply, status } from '../support/fake-provider.ts';
import type { Behaviour } from '../support/fake-wire.ts';
import { readStream } from '../support/sse.ts';
import { onBothTransports } from './support/on-both-transports.ts';
import type { AttackedServer } from './support/attacked-server.ts';

/** Each secret has characters that one of the encodings changes, and its own marker for the search. */
const ENV_KEY = 'cnry0env/Kq7+Zr8=Xw"9Vy2';
const LITERAL_KEY = 'cnry1lit-Hn3.Jm4_Bt5&Cu6';
const LITERAL_HEADER = 'cnry2hdr-Pp1Oo2Ii3Uu4Yy5';
const SESSION_TOKEN = 'cnry3ses/Aa1Bb2+Cc3Dd4=Ee5Ff6Gg7';
const PASSWORD = 'cnry4pwd-Lk9Jh8Gf7Ds6';
const REQUEST_KEY = 'cnry5req-Mn5Bv4Cx3Zl2';
/** Sent under the name of a credential that is not a parameter. */
const MISPLACED_KEY = 'cnry6arg-Qa1Ws2Ed3Rf4';
/** In a field that the definitions declare: data, whatever the field is called. */
const DATA = 'data of the business';

const SECRETS = [ENV_KEY, LITERAL_KEY, LITERAL_HEADER, SESSION_TOKEN, PASSWORD, REQUEST_KEY];

/** Parts of each secret as outputs could show them. */
const TRACES = [...SECRETS, MISPLACED_KEY].flatMap((secret) => [
  secret.slice(0, 8),
  secret.slice(-8),
  Buffer.from(secret).toString('base64').slice(4, 16),
  Buffer.from(secret).toString('base64url').slice(4, 16),
]);

const FILES = {
  'main.svc': `
client<llm> ByVariable {
  provider openai-generic
  options {
    model m
    base_url env.PROVIDER_URL
    api_key env.ODDLY_NAMED
  }
}
client<llm> ByLiteral {
  provider openai-generic
  options {
    model m
    base_url env.PROVIDER_URL
    api_key "${LITERAL_KEY}"
    headers {
      x-team "${LITERAL_HEADER}"
    }
    query_params {
      key "${LITERAL_KEY}"
    }
  }
}
client<llm> Amazon {
  provider aws-bedrock
  options {
    model_id m
    region us-east-1
    endpoint_url env.PROVIDER_URL
    access_key_id "AKIA0123456789ABCDEF"
    secret_access_key env.ODDLY_NAMED
    session_token env.SESSION
  }
}
class Account {
  password string
  name string
}
function Variable(account: Account) -> int {
  client ByVariable
  prompt #"{{ account }}"#
}
function Literal(account: Account) -> int {
  client ByLiteral
  prompt #"{{ account }}"#
}
function Aws(account: Account) -> int {
  client Amazon
  prompt #"{{ account }}"#
}
`,
};

const json = (text: string) => JSON.stringify(text).slice(1, -1);

const ENCODINGS: ReadonlyArray<(text: string) => string> = [
  (text) => text,
  encodeURIComponent,
  (text) => encodeURIComponent(text).replaceAll(/%../gu, (escape) => escape.toLowerCase()),
  (text) => new URLSearchParams({ a: text }).toString().slice(2),
  json,
  (text) => json(json(text)),
  (text) => json(text).replaceAll('/', String.raw`\/`),
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(text).toString('base64url'),
];

/** All secrets that the provider and the request know, in one encoding. */
function echo(encode: (text: string) => string): string {
  return SECRETS.map((secret) => `refused "${encode(secret)}" for you`).join('; ');
}

function faults(text: string): readonly Behaviour[] {
  return [
    status(401, { error: { message: text } }),
    status(500, text),
    status(200, { error: { type: 'invalid', message: text } }),
    reply(`I cannot, ${DATA}: ${text}`),
    reply('1', { finishReason: text }),
  ];
}

const BODY = {
  account: { password: DATA, name: 'Ada' },
  svc_options: { env: { UNRELATED: REQUEST_KEY } },
};

/** Requests whose credentials are where svc does not expect them. */
const MISPLACED = [
  { account: BODY.account, svc_option: BODY.svc_options },
  { account: BODY.account, client_registry: { clients: [{ name: 'A', options: { thing: REQUEST_KEY } }] } },
  { account: BODY.account, password: [MISPLACED_KEY], api_key: REQUEST_KEY },
  { account: BODY.account, svc_options: { unknown: { deep: [REQUEST_KEY] } } },
  {
    account: BODY.account,
    svc_options: {
      client: 'A',
      client_registry: {
        clients: [
          { name: 'A', provider: 'openai', options: { base_url: `https://u:${REQUEST_KEY}@h/?key=${REQUEST_KEY}` } },
        ],
      },
    },
  },
];

async function attack(server: AttackedServer): Promise<void> {
  const headers = { 'x-svc-api-key': PASSWORD };
  const answers: string[] = [];
  for (const encode of ENCODINGS) {
    for (const fault of faults(echo(encode))) {
      server.model.answer(fault);
      for (const name of ['Variable', 'Literal', 'Aws']) {
        const { status: code, body } = await server.call(name, BODY, headers);
        expect([200, 500, 502]).toContain(code);
        answers.push(body);
      }
    }
    server.model.answer(faults(echo(encode))[0] ?? status(401, ''));
    const { messages } = await readStream(`${server.url}/stream/Literal`, BODY, headers);
    answers.push(JSON.stringify(messages.map(({ data }) => data)));
  }
  for (const body of MISPLACED) answers.push((await server.call('Variable', body, headers)).body);
  answers.push((await server.ask('GET', '/metrics', undefined, headers)).body);
  // Each client reached the provider, which received their secrets.
  const sent = server.model.requests
    .map(({ path, headers: received }) => `${path} ${JSON.stringify(received)}`)
    .join('\n');
  for (const secret of [ENV_KEY, LITERAL_KEY, LITERAL_HEADER, SESSION_TOKEN])
    expect(sent).toContain(JSON.stringify(secret).slice(1, -1));
  const outputs = [server.output, ...answers].join('\n');
  for (const shown of [server.output, answers.join('\n')]) expect(shown).toContain(DATA);
  expect(outputs).toContain('[redacted]');
  expect(TRACES.filter((trace) => outputs.includes(trace))).toEqual([]);
}

const ENV = { ODDLY_NAMED: ENV_KEY, SESSION: SESSION_TOKEN, SVC_PASSWORD: PASSWORD };

for (const level of ['info', 'debug']) {
  onBothTransports(
    `a provider echoes every secret in nine forms, and no log, error or metric shows a part of one, at level ${level}`,
    { files: FILES, env: ENV, flags: ['--log-level', level, '--log-content', 'full'] },
    attack,
  );
}

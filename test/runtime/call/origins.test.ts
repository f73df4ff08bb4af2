import { expect, test } from 'vitest';
import { recordCall, type RecordedRequest } from '../../support/recorded-calls.ts';
import { compileText } from '../../support/test-runtime.ts';

type Env = Readonly<Record<string, string>>;

function programOf(provider: string, options: string): RecordedRequest['program'] {
  return compileText(`client<llm> Main {
  provider ${provider}
  options {
    ${options}
  }
}
function F() -> string {
  client Main
  prompt #"hi"#
}`);
}

/** The URLs that were called, or the codes of the failures with the options or variables that they name. */
async function outcomeOf(request: RecordedRequest): Promise<readonly string[]> {
  const { sent, failures } = await recordCall(request);
  return [
    ...sent.map(({ origin, path }) => `${origin}${path}`),
    ...failures.map((failure) =>
      failure.code === 'missing_credential'
        ? `missing ${failure.variable}`
        : `${failure.code} ${failure.code === 'invalid_options' ? failure.details[0]?.path : ''}`,
    ),
  ];
}

const OWN = 'https://own.example/v1';
const ELSEWHERE = 'https://elsewhere.example/v1';
const CHAT = '/chat/completions';
const AWS_KEYS = 'access_key_id "AK"\n    secret_access_key "SK"';
const GOOGLE = 'credentials {\n type "authorized_user"\n client_id "ci"\n client_secret "cs"\n refresh_token "rt"\n }';

/** [provider, options, server's variables, request's variables, outcome] */
const MOVED: ReadonlyArray<readonly [string, string, Env, Readonly<Record<string, string | null>>, readonly string[]]> =
  [
    // Literals stay.
    ['openai', 'base_url env.U\n    api_key "L"', { U: OWN }, { U: ELSEWHERE }, ['missing api_key']],
    ['openai-responses', 'base_url env.U\n    api_key "L"', { U: OWN }, { U: ELSEWHERE }, ['missing api_key']],
    ['openrouter', 'base_url env.U\n    api_key "L"', { U: OWN }, { U: ELSEWHERE }, ['missing api_key']],
    ['anthropic', 'base_url env.U\n    api_key "L"', { U: OWN }, { U: ELSEWHERE }, ['missing api_key']],
    ['google-ai', 'model m\n    base_url env.U\n    api_key "L"', { U: OWN }, { U: ELSEWHERE }, ['missing api_key']],
    ['ollama', 'base_url env.U\n    api_key "L"', { U: OWN }, { U: ELSEWHERE }, ['missing api_key']],
    [
      'openai-generic',
      'base_url env.U\n    headers { x-any "L" }',
      { U: OWN },
      { U: ELSEWHERE },
      ['missing headers.x-any'],
    ],
    [
      'openai-generic',
      'base_url env.U\n    query_params { any "L" }',
      { U: OWN },
      { U: ELSEWHERE },
      ['missing query_params.any'],
    ],
    [
      'openai-generic',
      'base_url env.U\n    tools [{ server { authorizationToken "L" } }]',
      { U: OWN },
      { U: ELSEWHERE },
      ['missing tools[0].server.authorizationToken'],
    ],
    ['azure-openai', 'base_url env.U\n    api_key "L"', { U: OWN }, { U: ELSEWHERE }, ['missing api_key']],
    [
      'azure-openai',
      'resource_name env.R\n    deployment_id d\n    api_key "L"',
      { R: 'ours' },
      { R: 'theirs' },
      ['missing api_key'],
    ],
    [
      'aws-bedrock',
      `model m\n    region us-east-1\n    endpoint_url env.U\n    ${AWS_KEYS}`,
      { U: OWN },
      { U: ELSEWHERE },
      ['missing access_key_id'],
    ],
    [
      'aws-bedrock',
      `model m\n    region us-east-1\n    endpoint_url env.U\n    base_url "${OWN}"\n    ${AWS_KEYS}`,
      { U: OWN },
      { U: ELSEWHERE },
      ['missing access_key_id'],
    ],
    [
      'aws-bedrock',
      `model m\n    ${AWS_KEYS}`,
      { AWS_REGION: 'us-east-1' },
      { AWS_REGION: 's3' },
      ['missing access_key_id'],
    ],
    [
      'aws-bedrock',
      `model m\n    ${AWS_KEYS}`,
      { AWS_REGION: 'us-east-1', AWS_DEFAULT_REGION: 'eu-west-1' },
      { AWS_REGION: null },
      ['missing access_key_id'],
    ],
    [
      'aws-bedrock',
      'model m\n    region env.R',
      { R: 'us-east-1', AWS_ACCESS_KEY_ID: 'AK', AWS_SECRET_ACCESS_KEY: 'SK' },
      { R: 's3' },
      ['missing AWS_ACCESS_KEY_ID'],
    ],
    [
      'vertex-ai',
      `model m\n    base_url env.U\n    ${GOOGLE}`,
      { U: OWN },
      { U: ELSEWHERE },
      ['missing credentials.type'],
    ],
    [
      'vertex-ai',
      `model m\n    location env.L\n    project_id p\n    query_params { key "L" }`,
      { L: 'us-central1' },
      { L: 'europe-west1' },
      ['missing query_params.key'],
    ],
    // An address that only requests give is not the server's own.
    ['openai', 'base_url env.U\n    api_key "L"', {}, { U: ELSEWHERE }, ['missing api_key']],
    // A different scheme, port or spelling of the host is another origin, and so is a base that hides the API's path.
    ['openai', 'base_url env.U\n    api_key "L"', { U: OWN }, { U: 'http://own.example/v1' }, ['missing api_key']],
    ['openai', 'base_url env.U\n    api_key "L"', { U: OWN }, { U: 'https://own.example:444/v1' }, ['missing api_key']],
    ['openai', 'base_url env.U\n    api_key "L"', { U: OWN }, { U: 'https://own.example./v1' }, ['missing api_key']],
    ['openai', 'base_url env.U\n    api_key "L"', { U: OWN }, { U: 'https://own.example/admin#' }, ['missing api_key']],
    [
      'openai',
      'base_url env.U\n    api_key "L"',
      { U: OWN },
      { U: 'https://own.example/admin?x=' },
      ['missing api_key'],
    ],
    // The same origin is the server's own, in any spelling.
    ['openai', 'base_url env.U\n    api_key "L"', { U: OWN }, { U: 'HTTPS://OWN.example:443/v1/' }, [`${OWN}${CHAT}`]],
    [
      'openai',
      'base_url env.U\n    api_key "L"',
      { U: OWN },
      { U: 'https://own.example/v2' },
      [`https://own.example/v2${CHAT}`],
    ],
    // Variables that do not decide the address leave the literals in place.
    ['openai', `base_url "${OWN}"\n    api_key "L"\n    user env.X`, { X: 'a' }, { X: 'b' }, [`${OWN}${CHAT}`]],
    // The server's variables stay too; what the request brings goes with it.
    ['openai', 'base_url env.U\n    api_key env.K', { U: OWN, K: 'S' }, { U: ELSEWHERE }, ['missing K']],
    ['openai', 'base_url env.U', { U: OWN, OPENAI_API_KEY: 'S' }, { U: ELSEWHERE }, ['missing OPENAI_API_KEY']],
    [
      'openai',
      'base_url env.U\n    api_key env.K',
      { U: OWN, K: 'S' },
      { U: ELSEWHERE, K: 'M' },
      [`${ELSEWHERE}${CHAT}`],
    ],
    [
      'openai',
      'base_url env.U',
      { U: OWN, OPENAI_API_KEY: 'S' },
      { U: ELSEWHERE, OPENAI_API_KEY: 'M' },
      [`${ELSEWHERE}${CHAT}`],
    ],
    [
      'openai-generic',
      'base_url env.U\n    temperature 0\n    max_tokens 5',
      { U: OWN },
      { U: ELSEWHERE },
      [`${ELSEWHERE}${CHAT}`],
    ],
    // Amazon and Google are the provider's own service in every region; the token service comes first.
    [
      'aws-bedrock',
      'model m',
      { AWS_REGION: 'us-east-1', AWS_BEARER_TOKEN_BEDROCK: 'S' },
      { AWS_REGION: 'us-gov-west-1' },
      ['https://bedrock-runtime.us-gov-west-1.amazonaws.com/model/m/converse'],
    ],
    [
      'vertex-ai',
      `model m\n    location us\n    project_id env.P\n    ${GOOGLE}`,
      { P: 'p' },
      { P: 'q' },
      [
        'https://oauth2.googleapis.com/token',
        'https://aiplatform.us.rep.googleapis.com/v1/projects/q/locations/us/publishers/google/models/m:generateContent',
      ],
    ],
  ];

test.each(MOVED)('%s with %j, of the server %j and of the request %j: %j', async (...row) => {
  const [provider, options, env, requestEnv, expected] = row;
  const program = programOf(provider, options);
  expect(await outcomeOf({ program, env, options: { env: requestEnv } })).toEqual(expected);
});

test.each(MOVED.filter(([, , env]) => Object.keys(env).length > 0))(
  '%s with %j leads to its own address without a request',
  async (provider, options, env) => {
    const outcome = await outcomeOf({ program: programOf(provider, options), env });
    expect(outcome.filter((each) => !each.startsWith('https://'))).toEqual([]);
  },
);

test('the failure of a literal that stays names it and states what to do', async () => {
  const program = programOf('openai', 'base_url env.U\n    api_key "sk-literal"');
  const { failures } = await recordCall({ program, env: { U: OWN }, options: { env: { U: ELSEWHERE } } });
  expect(failures).toEqual([
    {
      code: 'missing_credential',
      client: 'Main',
      variable: 'api_key',
      message: expect.stringContaining('Define a client with its own credentials in the request'),
    },
  ]);
  expect(JSON.stringify(failures)).not.toMatch(/sk-literal|own\.example/u);
});

/** An option that decides a URL, and a value of the server. */
const DECIDING: ReadonlyArray<readonly [string, string, string]> = [
  ['openai', 'base_url env.X', OWN],
  ['azure-openai', 'resource_name env.X\n    deployment_id d', 'ours'],
  ['azure-openai', 'resource_name ours\n    deployment_id env.X', 'd'],
  ['aws-bedrock', 'model m\n    region env.X', 'us-east-1'],
  ['aws-bedrock', 'model m\n    region us-east-1\n    endpoint_url env.X', OWN],
  ['vertex-ai', 'model m\n    location env.X\n    project_id p', 'us'],
  ['vertex-ai', 'model m\n    location us\n    project_id env.X', 'p'],
  ['round-robin', 'strategy ["openai/a", "openai/b"]\n    start env.X', '1'],
];

test.each(DECIDING)('with known and off, a request cannot set X in %s { %s }', async (provider, options, own) => {
  const program = programOf(provider, options);
  for (const policy of ['known', 'off'] as const) {
    for (const value of [own, 'other', '', null]) {
      const { sent, failures } = await recordCall({ program, env: { X: own }, policy, options: { env: { X: value } } });
      expect(sent).toEqual([]);
      expect(failures).toMatchObject([
        {
          code: 'invalid_options',
          details: [{ path: 'svc_options.env.X', message: expect.stringContaining(`--client-registry ${policy}`) }],
        },
      ]);
    }
  }
});

test.each([
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'AWS_ENDPOINT_URL',
  'AWS_ENDPOINT_URL_STS',
  'AWS_EC2_METADATA_SERVICE_ENDPOINT',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'GCE_METADATA_HOST',
  'GOOGLE_CLOUD_PROJECT',
  'HTTPS_PROXY',
  'http_proxy',
  'NO_PROXY',
])('with known and off, a request cannot set %s', async (variable) => {
  const program = programOf('aws-bedrock', 'model m');
  for (const policy of ['known', 'off'] as const) {
    const options = { env: { [variable]: 'us-east-1' } };
    const outcome = await outcomeOf({ program, env: { AWS_BEARER_TOKEN_BEDROCK: 'S' }, policy, options });
    expect(outcome).toEqual([`invalid_options svc_options.env.${variable}`]);
  }
});

test('with known and off, a request can set all other variables', async () => {
  const program = programOf('openai', 'base_url env.U\n    api_key env.K\n    user env.X');
  const options = { env: { K: 'mine', X: 'me', UNUSED: 'x' } };
  for (const policy of ['known', 'off'] as const) {
    expect(await outcomeOf({ program, env: { U: OWN }, policy, options })).toEqual([`${OWN}${CHAT}`]);
  }
});

function registry(name: string, provider: string, options: object): object {
  return { client_registry: { primary: name, clients: [{ name, provider, options }] } };
}

const PRIVATE = 'http://10.0.0.5:8000/v1';

/** [base URL in the files, base URL of a client of the request, whether it is open to remote callers] */
test.each<[string, string, boolean]>([
  [PRIVATE, PRIVATE, true],
  [PRIVATE, `${PRIVATE}/`, true],
  [PRIVATE, 'http://0xa.5:8000/./v1', true],
  [PRIVATE, 'http://10.0.0.5:8000', false],
  [PRIVATE, 'http://10.0.0.5:8000/admin', false],
  [PRIVATE, 'http://10.0.0.5:8000/admin#', false],
  [PRIVATE, `${PRIVATE}#`, false],
  [PRIVATE, `${PRIVATE} `, false],
  [PRIVATE, `${PRIVATE}//`, false],
  [PRIVATE, `${PRIVATE}/x/..`, true],
  [PRIVATE, `${PRIVATE}\t`, true],
  [PRIVATE, `${PRIVATE}?`, false],
  [PRIVATE, `${PRIVATE}/../admin`, false],
  [PRIVATE, `${PRIVATE}/..%2fadmin`, false],
  [PRIVATE, `${PRIVATE}/..;/admin`, false],
  [PRIVATE, `${PRIVATE}/models`, false],
  [PRIVATE, 'http://10.0.0.5:8001/v1', false],
  [PRIVATE, 'https://10.0.0.5:8000/v1', false],
  ['http://10.0.0.5', 'http://10.0.0.5/', true],
  ['http://10.0.0.5', 'http://10.0.0.5/admin', false],
  ['http://10.0.0.5', 'http://10.0.0.5/?', false],
])('declared %s, requested %s: %s', async (declared, base_url, isOpen) => {
  const program = programOf('openai-generic', `base_url "${declared}"`);
  const own = registry('New', 'openai-generic', { base_url });
  const refused = ['invalid_options svc_options.client_registry.clients[0].options.base_url'];
  const opened = [`${new URL(base_url).href.replace(/\/$/u, '')}${CHAT}`];
  expect(await outcomeOf({ program, env: {}, options: own })).toEqual(isOpen ? opened : refused);
  const { sent } = await recordCall({ program, env: {}, options: own, allowPrivateUrls: true });
  expect(sent).toMatchObject([{ origin: new URL(base_url).origin }]);
});

test('a declared name that resolves to a private address is open to requests at its own URL only', async () => {
  const program = programOf('openai-generic', 'base_url "http://internal/v1"');
  const guards = [];
  for (const base_url of ['http://internal/v1', 'http://internal/admin']) {
    const { sent } = await recordCall({ program, env: {}, options: registry('New', 'openai-generic', { base_url }) });
    guards.push(sent[0]?.guard);
  }
  // The guard of the second checks the addresses of the name when it connects.
  expect(guards).toEqual(['none', 'public-only']);
});

const OLLAMA = 'http://localhost:11434/v1/chat/completions';

test('a shorthand on this machine is open to remote callers only if the files name it', async () => {
  const openai = programOf('openai', 'model m');
  const env = { OPENAI_API_KEY: 'S' };
  for (const options of [
    { client: 'ollama/llama3' },
    { client_registry: { fallback: ['ollama/llama3'] } },
    registry('New', 'ollama', { model: 'llama3' }),
    registry('Main', 'ollama', { model: 'llama3' }),
    registry('New', 'fallback', { strategy: ['ollama/llama3'] }),
  ]) {
    const { sent, failures } = await recordCall({ program: openai, env, options });
    expect(sent.map(({ origin }) => origin)).not.toContain('http://localhost:11434');
    expect(JSON.stringify(failures)).toContain('127.0.0.1 is a private address');
  }
  const local = programOf('fallback', 'strategy ["ollama/llama3"]');
  for (const options of [undefined, { client: 'ollama/llama3' }, { client: 'ollama/other' }]) {
    expect(await outcomeOf({ program: local, env, options })).toEqual([OLLAMA]);
  }
  expect(await outcomeOf({ program: openai, env, options: { client: 'openai/gpt-5' } })).toEqual([
    'https://api.openai.com/v1/chat/completions',
  ]);
});

/** [provider, options of a client of the request, variable of the server] */
test.each<[string, object, string]>([
  ['openai', { base_url: 'https://api.openai.com/v1/files#' }, 'OPENAI_API_KEY'],
  ['openai', { base_url: 'https://api.openai.com/v1/files?a=' }, 'OPENAI_API_KEY'],
  ['anthropic', { base_url: 'https://api.anthropic.com/v1/files#' }, 'ANTHROPIC_API_KEY'],
  [
    'aws-bedrock',
    { model: 'm', endpoint_url: 'https://bedrock-runtime.us-east-1.amazonaws.com/x#' },
    'AWS_BEARER_TOKEN_BEDROCK',
  ],
  ['aws-bedrock', { model: 'm', region: 's3' }, 'AWS_BEARER_TOKEN_BEDROCK'],
  ['aws-bedrock', { model: 'm', region: 's3-us-west-2' }, 'AWS_BEARER_TOKEN_BEDROCK'],
  [
    'aws-bedrock',
    { model: 'm', endpoint_url: 'https://bedrock-runtime.us-east-1.amazonaws.com.evil.example' },
    'AWS_BEARER_TOKEN_BEDROCK',
  ],
  ['azure-openai', { resource_name: 'theirs', deployment_id: 'd' }, 'AZURE_OPENAI_API_KEY'],
])('a key of the server does not go with %s %j', async (provider, options, variable) => {
  const program = programOf('offline', '');
  const env = { [variable]: 'S', AWS_REGION: 'us-east-1' };
  const [outcome] = await outcomeOf({ program, env, options: registry('New', provider, options) });
  expect(outcome).toMatch(/^missing /u);
});

import * as fc from 'fast-check';

/** Clients of definition files from parts whose origins follow from this file, without asking svc. */

/** An option of a client in the text of a file, and the variable that it reads. */
interface Written {
  readonly text: string;
  readonly variable?: string;
}

/** The way in which a client finds its address, for any values of variables. */
interface Target {
  readonly provider: string;
  readonly options: readonly Written[];
  /** Variables with which the provider finds a key by itself. */
  readonly ownVariables: readonly string[];
  /** The base URL, or at least its origin; undefined if the values give none. */
  url(env: Env): string | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

const URL_VARIABLES = ['U0', 'U1'];
const KEY_VARIABLES = ['K0', 'K1'];
const URLS = [
  'https://a.example/v1',
  'https://b.example/v1',
  'https://b.example/other',
  'https://a.example/v1?x=',
  'https://a.example./v1',
  'http://10.0.0.5:8000/v1',
  'http://10.0.0.5:8000/admin#',
  'http://127.0.0.1:9/v1',
];
const REGIONS = ['us-east-1', 'eu-west-1', 's3'];
const LOCATIONS = ['us', 'europe-west1'];
const RESOURCES = ['ours', 'theirs'];

const KEY_OF_PROVIDER: Readonly<Record<string, string>> = {
  openai: 'OPENAI_API_KEY',
  'openai-responses': 'OPENAI_API_KEY',
  openrouter: 'OPENROUTER_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  'google-ai': 'GOOGLE_API_KEY',
  'azure-openai': 'AZURE_OPENAI_API_KEY',
};

export const AWS_KEYS = ['AWS_ACCESS_KEY_ID', 'AWS_BEARER_TOKEN_BEDROCK'];
const ADDRESS_PROVIDERS = ['openai-generic', 'ollama', ...Object.keys(KEY_OF_PROVIDER)];

function within(name: string | undefined, url: (name: string) => string): string | undefined {
  return name === undefined ? undefined : url(name);
}

/** An option with one of these values, or with a variable. */
function valueOf(
  name: string,
  values: readonly string[],
  variables: readonly string[],
): fc.Arbitrary<Written & { read(env: Env): string | undefined }> {
  return fc.oneof(
    fc.constantFrom(...values).map((value) => ({ text: `${name} "${value}"`, read: () => value })),
    fc.constantFrom(...variables).map((variable) => ({
      text: `${name} env.${variable}`,
      variable,
      read: (env: Env) => env[variable] || undefined,
    })),
  );
}

const byBaseUrl: fc.Arbitrary<Target> = fc
  .tuple(fc.constantFrom(...ADDRESS_PROVIDERS), valueOf('base_url', URLS, URL_VARIABLES))
  .map(([provider, url]) => ({
    provider,
    options: [url],
    ownVariables: [KEY_OF_PROVIDER[provider] ?? ''].filter((name) => name !== ''),
    url: (env) => url.read(env),
  }));

const byResource: fc.Arbitrary<Target> = valueOf('resource_name', RESOURCES, ['R']).map((resource) => ({
  provider: 'azure-openai',
  options: [resource, { text: 'deployment_id d' }],
  ownVariables: ['AZURE_OPENAI_API_KEY'],
  url: (env) => within(resource.read(env), (name) => `https://${name}.openai.azure.com`),
}));

/** Without the option, variables give the region. */
const REGION_OF_ENV = { text: '', read: (env: Env) => env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] };

const byRegion: fc.Arbitrary<Target> = fc
  .oneof(valueOf('region', REGIONS, ['R']), fc.constant(REGION_OF_ENV))
  .map((region) => ({
    provider: 'aws-bedrock',
    options: [region],
    ownVariables: AWS_KEYS,
    url: (env) => within(region.read(env), (name) => `https://bedrock-runtime.${name}.amazonaws.com`),
  }));

const byEndpoint: fc.Arbitrary<Target> = valueOf('endpoint_url', URLS, URL_VARIABLES).map((url) => ({
  provider: 'aws-bedrock',
  options: [url, { text: 'region "us-east-1"' }],
  ownVariables: AWS_KEYS,
  url: (env) => url.read(env),
}));

const byLocation: fc.Arbitrary<Target> = valueOf('location', LOCATIONS, ['L']).map((location) => ({
  provider: 'vertex-ai',
  options: [location, { text: 'project_id p' }],
  ownVariables: ['GOOGLE_APPLICATION_CREDENTIALS_CONTENT'],
  url: (env) =>
    within(location.read(env), (name) =>
      name === 'us' ? 'https://aiplatform.us.rep.googleapis.com' : `https://${name}-aiplatform.googleapis.com`,
    ),
}));

const byVertexUrl: fc.Arbitrary<Target> = valueOf('base_url', URLS, URL_VARIABLES).map((url) => ({
  provider: 'vertex-ai',
  options: [url],
  ownVariables: ['GOOGLE_APPLICATION_CREDENTIALS_CONTENT'],
  url: (env) => url.read(env),
}));

const target = fc.oneof({ weight: 4, arbitrary: byBaseUrl }, byResource, byRegion, byEndpoint, byLocation, byVertexUrl);

/** The places where a client can have a credential. Literals contain a marker instead of one. */
const PLACES: Readonly<Record<string, (value: string) => string>> = {
  key: (value) => `api_key ${value}`,
  header: (value) => `headers { x-any ${value} }`,
  authorization: (value) => `headers { authorization ${value} }`,
  query: (value) => `query_params { any ${value} }`,
  member: (value) => `gateway { auth [{ secretToken ${value} }] }`,
};

const AWS_PLACE = (value: string): string => `access_key_id ${value}\n    secret_access_key "none"`;
const GOOGLE_PLACE = (value: string): string =>
  `credentials { type "authorized_user"\n client_id "c"\n client_secret "c"\n refresh_token ${value} }`;

interface Client {
  readonly name: string;
  readonly target: Target;
  readonly credential: Written;
  readonly literal?: string;
  /** It reads this variable, so it may send its value to its own origin. */
  readonly reads: readonly string[];
  readonly text: string;
}

function client(name: string): fc.Arbitrary<Client> {
  return target.chain((found) => {
    const places = [
      ...Object.values(PLACES),
      ...(found.provider === 'aws-bedrock' ? [AWS_PLACE] : []),
      ...(found.provider === 'vertex-ai' ? [GOOGLE_PLACE] : []),
    ];
    const literal = `literal-of-${name}`;
    const credential: fc.Arbitrary<Written> = fc.oneof(
      fc.constantFrom(...places).map((place) => ({ text: place(`"${literal}"`) })),
      fc
        .tuple(fc.constantFrom(...places), fc.constantFrom(...KEY_VARIABLES))
        .map(([place, variable]) => ({ text: place(`env.${variable}`), variable })),
      fc.constant({ text: '' }),
    );
    return credential.map((given) => {
      const options = [{ text: 'model m' }, ...found.options, given];
      return {
        name,
        target: found,
        credential: given,
        ...(given.text.includes(literal) ? { literal } : {}),
        reads: [...(given.variable === undefined ? [] : [given.variable]), ...found.ownVariables],
        text: `client<llm> ${name} {\n  provider ${found.provider}\n  options {\n${options.map(({ text }) => `    ${text}`).join('\n')}\n  }\n}\n`,
      };
    });
  });
}

/** Values of the server; a secret contains the name of its variable. */
export const SECRET_VARIABLES = [...KEY_VARIABLES, ...new Set(Object.values(KEY_OF_PROVIDER)), ...AWS_KEYS];

export function secretOf(variable: string): string {
  return `server-value-of-${variable}`;
}

export const ACCOUNT = 'GOOGLE_APPLICATION_CREDENTIALS_CONTENT';

function account(refreshToken: string): string {
  return JSON.stringify({ type: 'authorized_user', client_id: 'c', client_secret: 'c', refresh_token: refreshToken });
}

const serverEnv: fc.Arbitrary<Record<string, string>> = fc
  .record(
    {
      U0: fc.constantFrom(...URLS),
      U1: fc.constantFrom(...URLS),
      R: fc.constantFrom('us-east-1', 'eu-west-1'),
      L: fc.constantFrom(...LOCATIONS),
      AWS_REGION: fc.constantFrom('us-east-1', 'eu-west-1'),
      AWS_DEFAULT_REGION: fc.constantFrom('us-east-1', 'eu-west-1'),
      secrets: fc.subarray(SECRET_VARIABLES),
      hasAccount: fc.boolean(),
    },
    { requiredKeys: ['secrets', 'hasAccount'] },
  )
  .map(({ secrets, hasAccount, ...places }) => ({
    ...(places as Record<string, string>),
    ...Object.fromEntries(secrets.map((variable) => [variable, secretOf(variable)])),
    AWS_SECRET_ACCESS_KEY: 'none',
    ...(hasAccount ? { [ACCOUNT]: account(secretOf(ACCOUNT)) } : {}),
  }));

/** Mostly a fitting value; sometimes a removal, or a value that does not fit. */
function brought(...values: readonly string[]): fc.Arbitrary<string | null> {
  return fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...values) }, fc.constantFrom(null, '', 'mine', ELSEWHERE));
}

const ELSEWHERE = 'https://elsewhere.example/v1';

const requestEnv: fc.Arbitrary<Readonly<Record<string, string | null>>> = fc
  .record(
    {
      U0: brought(...URLS, ELSEWHERE, ELSEWHERE),
      U1: brought(...URLS, ELSEWHERE, ELSEWHERE),
      R: brought(...REGIONS, ...RESOURCES),
      L: brought(...LOCATIONS),
      AWS_REGION: brought(...REGIONS),
      AWS_DEFAULT_REGION: brought(...REGIONS),
      HTTPS_PROXY: brought('http://127.0.0.1:1'),
      secrets: fc.dictionary(fc.constantFrom(...SECRET_VARIABLES), brought('mine'), { maxKeys: 3 }),
    },
    { requiredKeys: ['secrets'] },
  )
  .map(({ secrets, ...places }) => ({ ...(places as Record<string, string | null>), ...secrets }));

const SHORTHANDS = ['openai/m', 'ollama/m', 'anthropic/m', 'aws-bedrock/m', 'openrouter/m', 'google-ai/m'];

/** A client of the request: new, or in place of one of the files. */
const entry = fc.record({
  name: fc.constantFrom('A', 'B', 'New'),
  provider: fc.constantFrom(...ADDRESS_PROVIDERS, 'aws-bedrock', 'vertex-ai'),
  options: fc.record(
    {
      model: fc.constant('m'),
      base_url: fc.constantFrom(...URLS, ELSEWHERE, 'https://api.openai.com/v1#'),
      api_key: fc.constant('mine'),
      region: fc.constantFrom(...REGIONS),
      location: fc.constantFrom(...LOCATIONS),
    },
    { requiredKeys: ['model'] },
  ),
});

const registry = fc.record(
  {
    primary: fc.constantFrom('A', 'B', 'New', 'Both', ...SHORTHANDS),
    fallback: fc.array(fc.constantFrom('A', 'B', ...SHORTHANDS), { maxLength: 2 }),
    clients: fc.uniqueArray(entry, { maxLength: 2, selector: ({ name }) => name }),
  },
  { requiredKeys: [] },
);

/** A server of two clients and a function that asks both, and a request to it. */
export const scenario = fc.record({
  clients: fc.tuple(client('A'), client('B')),
  env: serverEnv,
  // Most of all the calls that only `env` changes.
  options: fc.oneof(fc.record({ env: requestEnv }), fc.record({ env: requestEnv, client_registry: registry })),
  policy: fc.constantFrom('open' as const, 'open' as const, 'known' as const, 'off' as const),
  allowPrivateUrls: fc.boolean(),
});

export type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never;

const BOTH = 'client<llm> Both {\n  provider fallback\n  options {\n    strategy [A, B]\n  }\n}\n';
const CALLER = 'function F() -> string {\n  client Both\n  prompt #"hi"#\n}\n';

export function filesOf({ clients }: Scenario): string {
  return [CALLER, BOTH, ...clients.map(({ text }) => text)].join('\n');
}

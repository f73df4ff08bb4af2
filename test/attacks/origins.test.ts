import { expect } from 'vitest';
import { reply, startFakeProvider, status, type FakeProvider } from '../support/fake-provider.ts';
import type { Answer, AttackedServer } from './support/attacked-server.ts';
import { onBothTransports } from './support/on-both-transports.ts';

/** A caller whose request came through a proxy. */
const REMOTE = { 'x-forwarded-for': '8.8.8.8' };

/** Literals of the definition files, and values of the server's own variables. */
const SECRETS = [
  'sk-literal-1',
  'literal-header-2',
  'literal-query-3',
  'AKIALITERAL4',
  'literal-body-5',
  'sk-server-6',
];

const CLIENTS = {
  Key: `provider openai
  options {
    base_url env.PLACE
    api_key "sk-literal-1"
  }`,
  Header: `provider openai-generic
  options {
    base_url env.PLACE
    headers { x-gateway "literal-header-2" }
  }`,
  Query: `provider openai-generic
  options {
    base_url env.PLACE
    query_params { sig "literal-query-3" }
  }`,
  Aws: `provider aws-bedrock
  options {
    model m
    region us-east-1
    endpoint_url env.PLACE
    access_key_id "AKIALITERAL4"
    secret_access_key "literal"
  }`,
  Body: `provider openai-generic
  options {
    base_url env.PLACE
    gateway { api_key "literal-body-5" }
  }`,
  Variable: `provider openai
  options {
    base_url env.PLACE
    api_key env.SERVER_KEY
  }`,
  Azure: `provider azure-openai
  options {
    resource_name env.RESOURCE
    deployment_id env.DEPLOYMENT
    api_key "sk-literal-1"
  }`,
  Region: `provider aws-bedrock
  options {
    model m
    access_key_id "AKIALITERAL4"
    secret_access_key "literal"
  }`,
  Vertex: `provider vertex-ai
  options {
    model m
    location env.LOCATION
    project_id env.PROJECT
    query_params { key "literal-query-3" }
  }`,
};

const FILES = {
  'main.svc': Object.entries(CLIENTS)
    .map(
      ([name, text]) =>
        `client<llm> ${name} {\n  ${text}\n}\nfunction With${name}() -> string {\n  client ${name}\n  prompt #"x"#\n}\n`,
    )
    .join(''),
};

/** The address of the model is the server's own value of PLACE. */
const ENV = {
  SERVER_KEY: 'sk-server-6',
  RESOURCE: 'ours',
  DEPLOYMENT: 'd',
  LOCATION: 'us-central1',
  PROJECT: 'p',
  AWS_REGION: 'us-east-1',
};

async function withForeignHost(attack: (foreign: FakeProvider) => Promise<void>): Promise<void> {
  const foreign = await startFakeProvider();
  foreign.answer(reply('taken'));
  try {
    await attack(foreign);
    for (const { path, headers, body } of foreign.requests) {
      for (const secret of SECRETS) expect(`${path} ${JSON.stringify(headers)} ${body}`).not.toContain(secret);
    }
  } finally {
    await foreign.close();
  }
}

function codeOf({ status: code, body }: Answer): string {
  return code === 200 ? 'value' : `${code} ${String((JSON.parse(body) as { readonly error: unknown }).error)}`;
}

async function callWith(
  server: AttackedServer,
  client: keyof typeof CLIENTS,
  options: object,
  headers = REMOTE,
): Promise<string> {
  return codeOf(await server.call(`With${client}`, { svc_options: options }, headers));
}

const LITERALS = ['Key', 'Header', 'Query', 'Aws', 'Body', 'Variable'] as const;

onBothTransports(
  'a variable of a request that leads a client elsewhere takes no literal and no key of the server with it',
  { files: FILES, env: { ...ENV, PLACE: 'https://declared.example/v1' }, flags: ['--allow-private-urls'] },
  async (server) => {
    await withForeignHost(async (foreign) => {
      for (const client of LITERALS) {
        for (const place of [foreign.url, `${foreign.url}/v1`, foreign.url.replace('127.0.0.1', 'localhost')]) {
          expect(await callWith(server, client, { env: { PLACE: place } })).toBe('500 missing_credential');
        }
        // What an earlier request brought must not stay either.
        expect(await callWith(server, client, { env: { PLACE: foreign.url, SERVER_KEY: null } })).toBe(
          '500 missing_credential',
        );
      }
      expect(foreign.connections).toBe(0);
      expect(await callWith(server, 'Variable', { env: { PLACE: foreign.url, SERVER_KEY: 'sk-own' } })).toBe('value');
      expect(foreign.requests.map(({ headers }) => headers['authorization'])).toEqual(['Bearer sk-own']);
      expect(await callWith(server, 'Azure', { env: { RESOURCE: 'theirs' } })).toBe('500 missing_credential');
      expect(await callWith(server, 'Region', { env: { AWS_REGION: 'eu-west-1' } })).toBe('500 missing_credential');
      expect(await callWith(server, 'Vertex', { env: { LOCATION: 'europe-west1' } })).toBe('500 missing_credential');
    });
  },
);

/** Values of variables that would decide a URL. */
const TARGETS: Readonly<Record<string, string>> = {
  PLACE: 'http://127.0.0.1:1',
  RESOURCE: 'theirs',
  DEPLOYMENT: 'theirs',
  LOCATION: 'europe-west1',
  PROJECT: 'theirs',
  AWS_REGION: 'eu-west-1',
  AWS_DEFAULT_REGION: 'eu-west-1',
  AWS_ENDPOINT_URL_STS: 'http://127.0.0.1:1',
  AWS_EC2_METADATA_SERVICE_ENDPOINT: 'http://127.0.0.1:1',
  AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1:1',
  GCE_METADATA_HOST: '127.0.0.1:1',
  GOOGLE_CLOUD_PROJECT: 'theirs',
  HTTPS_PROXY: 'http://127.0.0.1:1',
  http_proxy: 'http://127.0.0.1:1',
};

for (const policy of ['known', 'off']) {
  onBothTransports(
    `with --client-registry ${policy}, no request sets or removes a variable that decides a URL`,
    { files: FILES, env: { ...ENV, PLACE: 'http://127.0.0.1:9' }, flags: ['--client-registry', policy] },
    async (server) => {
      for (const [variable, value] of Object.entries(TARGETS)) {
        for (const text of [value, '', null]) {
          const answer = await server.call('WithKey', { svc_options: { env: { [variable]: text } } });
          expect(codeOf(answer), variable).toBe('400 invalid_options');
          expect(answer.body).toContain(`svc_options.env.${variable}`);
          expect(answer.body).toContain(`--client-registry ${policy}`);
        }
      }
    },
  );
}

/** A client that the request defines, for the URL. */
function registry(url: string, more: object = {}): object {
  const clients = [{ name: 'Mine', provider: 'openai-generic', options: { base_url: url, ...more } }];
  return { client_registry: { primary: 'Mine', clients } };
}

const DECLARED = {
  'main.svc': `client<llm> Declared {
  provider openai-generic
  options {
    base_url env.PROVIDER_URL
    headers { x-gateway "literal-header-2" }
  }
}
function WithKey() -> string {
  client Declared
  prompt #"x"#
}`,
};

/** Ways to write another path behind a declared prefix `/v1`. */
const PATHS = [
  '/admin',
  '/admin#',
  '/admin?',
  '/admin?x=',
  '/v1#',
  '/v1?',
  '/v1?/../../admin',
  '/v1/../admin',
  '/v1/%2e%2e/admin',
  '/v1/..%2fadmin',
  '/v1/..;/admin',
  '/v1/.%2e\\admin',
  '/v1\\..\\admin',
  '/v10',
  '//v1',
  '',
];

onBothTransports(
  'no spelling of a path opens the rest of a declared private origin',
  { files: DECLARED },
  async (server) => {
    const { url } = server.model;
    server.model.answer(reply('declared'));
    expect(await callWith(server, 'Key', registry(`${url}/v1`))).toBe('value');
    expect(await callWith(server, 'Key', registry(`${url}/v1/`))).toBe('value');
    for (const path of PATHS) {
      expect(await callWith(server, 'Key', registry(`${url}${path}`)), path).toBe('400 invalid_options');
      const moved = await callWith(server, 'Key', { env: { PROVIDER_URL: `${url}${path}` } });
      expect(moved, path).toBe('502 client_error');
    }
    expect(server.model.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions', '/v1/chat/completions']);
  },
);

const SHORTHANDS = ['ollama/llama3', 'baml-ollama-chat/llama3'];

onBothTransports(
  'the shorthand of a provider on loopback leads no remote caller there',
  { files: FILES, env: { ...ENV, PLACE: 'https://declared.example/v1', AWS_REGION: 'us-east-1' } },
  async (server) => {
    for (const name of SHORTHANDS) {
      const own = [{ name: 'Mine', provider: name.split('/')[0], options: { model: 'llama3' } }];
      const list = [{ name: 'List', provider: 'fallback', options: { strategy: [name] } }];
      for (const options of [
        { client: name },
        { client_registry: { primary: name } },
        { client_registry: { fallback: [name] } },
        { client_registry: { primary: 'Mine', clients: own } },
        { client_registry: { primary: 'List', clients: list } },
        { client_registry: { clients: [{ ...own[0], name: 'Key' }] } },
      ]) {
        const { body } = await server.call('WithKey', { svc_options: options }, REMOTE);
        expect(body, JSON.stringify(options)).toContain('127.0.0.1 is a private address');
      }
    }
  },
);

/** Spellings of this machine, and of metadata services. */
const HOSTS = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '0',
  'localhost',
  'localhost.',
  'LOCALHOST',
  'a.localhost',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
];

onBothTransports('no spelling of a host leads a remote caller to this machine', { files: DECLARED }, async (server) => {
  await withForeignHost(async (foreign) => {
    for (const host of HOSTS) {
      const url = foreign.url.replace('127.0.0.1', host);
      expect(await callWith(server, 'Key', registry(`${url}/v1`)), host).toBe('400 invalid_options');
      expect(await callWith(server, 'Key', { env: { PROVIDER_URL: `${url}/v1` } }), host).toMatch(
        /^(?:500 missing_credential|502 client_error)$/,
      );
    }
    for (const url of [`http://good.example@127.0.0.1:${foreign.port}/v1`, `http://a:b@localhost:${foreign.port}/v1`]) {
      expect(await callWith(server, 'Key', registry(url))).toBe('400 invalid_options');
    }
    expect(foreign.connections).toBe(0);
  });
});

onBothTransports(
  'metadata services are closed to every caller, also with --allow-private-urls',
  { files: DECLARED, flags: ['--allow-private-urls'] },
  async (server) => {
    for (const host of [
      '169.254.169.254',
      '2852039166',
      '[::ffff:a9fe:a9fe]',
      '[fd00:ec2::254]',
      '[fd00:ec2::23]',
      '[fd20:ce::254]',
      '100.100.100.200',
      '168.63.129.16',
      'metadata.google.internal',
    ]) {
      expect(await callWith(server, 'Key', registry(`http://${host}/v1`)), host).toBe('400 invalid_options');
    }
  },
);

onBothTransports('a redirect takes no key and no call elsewhere', { files: DECLARED }, async (server) => {
  await withForeignHost(async (foreign) => {
    for (const code of [301, 302, 303, 307, 308]) {
      server.model.answer(status(code, {}, { location: `${foreign.url}/v1/chat/completions` }));
      expect(await callWith(server, 'Key', {})).toBe('502 client_error');
    }
    expect(foreign.connections).toBe(0);
  });
});

const SEES = {
  'main.svc': `client<llm> Sees {
  provider openai-generic
  options { base_url env.PROVIDER_URL }
}
function See(pictures: image[]) -> string {
  client Sees
  prompt #"{% for picture in pictures %}{{ picture }}{% endfor %}"#
}
`,
};

/** A self-hosted server fetches the media of its messages from its own network, and from its own disk. */
onBothTransports(
  'no media URL sends a self-hosted model to a private host or a file',
  { files: SEES },
  async (server) => {
    const hosts = [...HOSTS, '169.254.169.254', 'metadata.google.internal', 'good.example@127.0.0.1', 'no-such-name'];
    for (const url of [
      ...hosts.map((host) => `http://${host}/x.png`),
      'file:///etc/passwd',
      '/etc/passwd.png',
      'gopher://127.0.0.1:6379/_INFO',
      String.raw`http://good.example\@127.0.0.1/`,
    ]) {
      const body = { pictures: [{ url: 'data:image/png;base64,aGk=' }, { url }] };
      expect(codeOf(await server.call('See', body, REMOTE)), url).toBe('400 invalid_argument');
    }
    expect(server.model.requests).toEqual([]);
    expect(codeOf(await server.call('See', { pictures: [{ url: 'data:image/png;base64,aGk=' }] }, REMOTE))).toBe(
      'value',
    );
  },
);

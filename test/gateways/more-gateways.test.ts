import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { rowsOf } from '../docs/markdown.ts';
import { RESUME_FILES, RESUME_REPLY, RESUME_VALUE } from '../e2e/definitions.ts';
import { TRANSPORTS } from '../server/support/transports.ts';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { APACHE, CADDY, HAPROXY, NGINX, startGateway, type Gateway } from '../support/gateway.ts';
import { startLoad, waitUntil } from '../support/load.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';
import { openStream } from '../support/sse.ts';
import { Probe, ProbeServer, type Behaviour } from './probe.ts';
import { endlessReply, readSteppedStreams } from './stepped-streams.ts';

interface Configured {
  readonly name: string;
  /** A program of the operating system, which must be installed, or Node. */
  readonly program: string;
  readonly flags: readonly string[];
  /** Nothing but what forwards requests, as the documentation of the program begins. */
  readonly plain: string;
  /** The settings for svc, in this folder. In them, 330 is the longest silence: in seconds, or with three zeros in milliseconds. */
  readonly file?: string;
}

/** `npm ci` installs the packages of this program in this folder. */
const NODE_PROXIES = fileURLToPath(new URL('node-proxies.mjs', import.meta.url));

const GATEWAYS: readonly Configured[] = [
  {
    ...NGINX,
    name: 'nginx 1.22',
    plain: `daemon off; pid FOLDER/pid; error_log stderr; events {} http { access_log off; client_body_temp_path FOLDER/b; proxy_temp_path FOLDER/p; fastcgi_temp_path FOLDER/f; uwsgi_temp_path FOLDER/u; scgi_temp_path FOLDER/s; server { listen LISTEN; location / { proxy_pass http://SERVER; } } }`,
    file: 'nginx.conf',
  },
  {
    ...HAPROXY,
    name: 'HAProxy 2.6',
    plain: `defaults
  mode http
  timeout connect 5s
  timeout client 50s
  timeout server 50s
frontend callers
  bind LISTEN
  default_backend svc
backend svc
  server one SERVER
`,
    file: 'haproxy.cfg',
  },
  {
    ...CADDY,
    name: 'Caddy 2.6',
    plain: '{\n  admin off\n  auto_https off\n}\nhttp://LISTEN {\n  reverse_proxy SERVER\n}\n',
    file: 'caddy.conf',
  },
  {
    ...APACHE,
    name: 'Apache 2.4',
    plain: `ServerRoot FOLDER
ServerName localhost
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so
LoadModule proxy_http_module /usr/lib/apache2/modules/mod_proxy_http.so
DefaultRuntimeDir FOLDER
PidFile FOLDER/pid
ErrorLog FOLDER/error.log
Listen LISTEN
ProxyPass / http://SERVER/
`,
    file: 'apache.conf',
  },
  {
    name: 'Varnish 7.1',
    program: '/usr/sbin/varnishd',
    flags: [
      '-F',
      '-j',
      'none',
      '-a',
      'LISTEN',
      '-n',
      'FOLDER/varnish',
      '-s',
      'malloc,32m',
      '-p',
      'backend_idle_timeout=5',
      '-f',
    ],
    plain: 'vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "BACKEND_PORT"; }\n',
    file: 'varnish.vcl',
  },
  {
    name: 'lighttpd 1.4',
    program: '/usr/sbin/lighttpd',
    flags: ['-D', '-f'],
    plain: `server.modules = ("mod_proxy")
server.document-root = "FOLDER"
server.bind = "127.0.0.1"
server.port = PORT
proxy.server = ("" => (("host" => "127.0.0.1", "port" => BACKEND_PORT)))
`,
    file: 'lighttpd.conf',
  },
  {
    name: 'Squid 5.7',
    program: '/usr/sbin/squid',
    flags: ['-N', '-f'],
    plain: `http_port LISTEN accel defaultsite=svc
cache_peer 127.0.0.1 parent BACKEND_PORT 0 no-query originserver
http_access allow all
pid_filename none
access_log none
cache_log /dev/null
coredump_dir FOLDER
shutdown_lifetime 0 seconds
`,
    file: 'squid.conf',
  },
  {
    name: 'nghttpx 1.52',
    program: '/usr/sbin/nghttpx',
    flags: ['--conf'],
    plain: 'frontend=127.0.0.1,PORT;no-tls\nbackend=127.0.0.1,BACKEND_PORT\nworkers=1\n',
    file: 'nghttpx.conf',
  },
  {
    name: 'H2O 2.2',
    program: '/usr/bin/h2o',
    flags: ['-c'],
    plain: `listen: { host: 127.0.0.1, port: PORT }
hosts: { default: { paths: { "/": { proxy.reverse.url: "http://127.0.0.1:BACKEND_PORT/" } } } }
`,
    file: 'h2o.conf',
  },
  {
    name: 'http-proxy',
    program: process.execPath,
    flags: [NODE_PROXIES, 'http-proxy', 'LISTEN', 'SERVER', 'TIMEOUT'],
    plain: '',
    file: 'node-proxies.mjs',
  },
  {
    name: '@fastify/http-proxy',
    program: process.execPath,
    flags: [NODE_PROXIES, '@fastify/http-proxy', 'LISTEN', 'SERVER', 'TIMEOUT'],
    plain: '',
    file: 'node-proxies.mjs',
  },
];

const WITH_SETTINGS = GATEWAYS.filter(({ file }) => file !== undefined);

/** Caddy has no limit. */
const WITH_LIMIT = WITH_SETTINGS.filter(({ file = '' }) => /330/u.test(settingsIn(file)));

function settingsIn(file: string): string {
  return readFileSync(new URL(file, import.meta.url), 'utf8');
}

/** Starts the gateway in front of the server on this port: with no settings, or with those for svc and this silence in seconds. */
function start(of: Configured, kind: 'plain' | 'settings', port: number, silence = '330'): Promise<Gateway> {
  const isFile = kind === 'settings' && of.program !== process.execPath && of.file !== undefined;
  const text = isFile ? settingsIn(of.file) : of.plain;
  // A probe has one server, and nothing on its second address.
  const timeout = kind === 'plain' ? 'plain' : '330000';
  const placed = (part: string): string =>
    part
      .replaceAll('TIMEOUT', timeout)
      .replaceAll('330', silence)
      .replaceAll('SERVER_2', `127.0.0.2:${port}`)
      .replaceAll(/SERVER(?:_1)?/gu, `127.0.0.1:${port}`)
      .replaceAll('BACKEND_PORT', String(port));
  return startGateway({ ...of, flags: of.flags.map(placed) }, placed(text));
}

/** The cells of a row of the table in docs/operating.md. A cell has two values if the settings change the first one. */
function documented(name: string, kind: 'plain' | 'settings'): Behaviour {
  const page = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8');
  const row = rowsOf(page).find(([first, ...cells]) => first === name && cells.length === COLUMNS);
  const cells = (row ?? []).slice(1).map((cell) => cell.split(' → ').at(kind === 'plain' ? 0 : -1) ?? '');
  const [events = '', , leavesStream = '', leavesCall = '', repeats = '', body = '', expects = '', headers = ''] =
    cells;
  return { events, leavesStream, leavesCall, repeats, body, expects, headers };
}

const COLUMNS = 8;

describe.concurrent.each(GATEWAYS)('$name', (of) => {
  test.for(of.file === undefined ? (['plain'] as const) : (['plain', 'settings'] as const))(
    '%s: it does what the table in docs/operating.md states',
    async (kind) => {
      const server = new ProbeServer();
      const gateway = await start(of, kind, await server.listen());
      const measured = await new Probe(gateway.url, server).behaviour();
      console.log(`${of.name}, ${kind}: ${JSON.stringify(measured)}`);
      // Some gateways wait for open requests before they stop.
      server.close();
      await gateway.stop();
      expect(measured).toEqual(documented(of.name, kind));
    },
  );
});

describe.concurrent.each(WITH_LIMIT)('$name with a limit of one second of silence', (of) => {
  test('it cuts a silent call, and not a stream with comments', async () => {
    const server = new ProbeServer();
    const gateway = await start(of, 'settings', await server.listen(), '1');
    const { callStatus, streamEnds } = await new Probe(gateway.url, server).silence();
    server.close();
    await gateway.stop();
    expect({ callStatus, streamEnds }).toEqual({ callStatus: expect.toSatisfy(isCut), streamEnds: true });
  });
});

/** The status of an answer that the gateway makes, or 0 for a connection that it cuts. */
function isCut(status: number): boolean {
  return status === 0 || status >= 500;
}

let fake: FakeProvider;

beforeAll(async () => {
  fake = await startFakeProvider();
});
afterAll(() => fake.close());

describe.each(TRANSPORTS)('transport %s', (transport) => {
  let server: RunningServer;

  beforeAll(async () => {
    const env = { PROVIDER_URL: `${fake.url}/v1`, OPENAI_API_KEY: 'sk-test' };
    server = await startServer({ files: RESUME_FILES, flags: ['--transport', transport, '--log-level', 'warn'], env });
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  describe.each(WITH_SETTINGS)('behind $name', (of) => {
    let gateway: Gateway;

    beforeAll(async () => {
      gateway = await start(of, 'settings', server.port);
    });
    afterEach(() => fake.clear());
    afterAll(() => gateway.stop());

    test('the gateway passes on 1,000 calls, 32 at a time', async () => {
      fake.answer(reply(RESUME_REPLY));
      const load = startLoad(`${gateway.url}/call/ExtractResume`, { text: 'Ada' }, 32);
      await waitUntil('1,000 calls', () => load.counts.served >= 1_000 || load.counts.failed > 0);
      expect(await load.stop()).toMatchObject({ failed: 0, refused: 0, errors: [] });
    });

    test('partial results arrive as svc sends them', async () => {
      expect(await readSteppedStreams(fake, gateway.url, 1)).toEqual([{ final_result: RESUME_VALUE }]);
    });

    test('a caller that leaves a stream cancels the call to the model', async () => {
      fake.answer(endlessReply);
      const abort = new AbortController();
      const response = await openStream(`${gateway.url}/stream/ExtractResume`, { text: 'Ada' }, {}, abort.signal);
      await response.body?.getReader().read();
      abort.abort();
      await waitUntil('the call to the model to be cut', () => fake.abandoned.length > 0);
      expect(fake.abandoned).toHaveLength(1);
    });
  });
});

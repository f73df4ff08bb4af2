import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type * as Undici from 'undici';
import { expect, test } from 'vitest';
import { ConnectionPools } from '../../src/runtime/model/http/connection-pools.ts';
import { Http1Pools } from '../../src/runtime/model/http/http1-pool.ts';
import { SharedPorts } from '../../src/server/ports.ts';
import { TRANSPORTS } from '../server/support/transports.ts';
import { ROOT, textFiles } from './source-files.ts';

/**
 * The versions whose private parts were checked. After an update of one of them: run this test and those of the files
 * below, read the package's changes for each part, and then write the new version here.
 */
const CHECKED: Readonly<Record<string, string>> = {
  undici: '7.30.2',
  'uWebSockets.js': 'npm:uws-pack@20.0.8',
};

const load = createRequire(import.meta.url);

interface PrivatePart {
  /** The name as it appears in the source. */
  readonly part: string;
  readonly file: string;
  /** The reason why no public part can replace it. */
  readonly because: string;
  /** True if the installed version has the part. */
  readonly works: () => boolean | Promise<boolean>;
}

const ENTRY_IS_SLOW = 'the public entry takes 55 ms of CPU and 9 MB in every worker instead of 18 ms';

const PARTS: readonly PrivatePart[] = [
  {
    part: 'undici/lib/dispatcher/pool.js',
    file: 'src/runtime/model/http/http1-pool.ts',
    because: ENTRY_IS_SLOW,
    works: () => load('undici/lib/dispatcher/pool.js') === (load('undici') as typeof Undici).Pool,
  },
  {
    part: 'undici/lib/core/symbols.js',
    file: 'src/runtime/model/http/http1-pool.ts',
    because: 'it contains kParser',
    works: () => typeof (load('undici/lib/core/symbols.js') as { readonly kParser?: unknown }).kParser === 'symbol',
  },
  {
    part: 'kParser',
    file: 'src/runtime/model/http/http1-pool.ts',
    because: 'undici offers no way to skip `100 Continue` or to end a pause when the connection ends',
    works: parserIsFound,
  },
  {
    part: '_createServerHandle',
    file: 'src/server/ports.ts',
    because: 'Node has no public way to bind a port without listening on it',
    works: async () => {
      const ports = new SharedPorts();
      const bound = await ports.get('127.0.0.1', 0);
      ports.close();
      return typeof bound === 'object';
    },
  },
  {
    part: '_cfg',
    file: 'src/server/http/transports/uws-transport.ts',
    because: 'uWebSockets.js has no public way to omit its own headers',
    // Without a binary, there is nothing to check.
    works: async () =>
      !TRANSPORTS.includes('uws') || typeof Reflect.get(await import('uWebSockets.js'), '_cfg') === 'function',
  },
];

function ignore(): void {}

/** True if SocketWatch finds every member of the response parser that it uses. */
async function parserIsFound(): Promise<boolean> {
  const server = createServer((_request, response) => response.end('ok'));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const pools = new ConnectionPools();
  const { port } = server.address() as AddressInfo;
  const pool = pools.to({ origin: `http://127.0.0.1:${port}`, guard: 'none' });
  await new Promise<void>((resolve, reject) => {
    pool.send(
      { path: '/', headers: [], body: '' },
      {
        onSent: ignore,
        onResend: ignore,
        onHeaders: ignore,
        onData: ignore,
        onEnd: resolve,
        onFailure: (failure) => reject(new Error(failure.kind)),
      },
      false,
    );
  });
  await pools.close();
  server.close();
  return pool instanceof Http1Pools && pool.canPause;
}

test.each(Object.entries(CHECKED))(
  '%s is pinned to the version whose private parts were checked, %s',
  (name, version) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    expect(manifest.dependencies[name], `check the private parts of ${name} that svc uses, listed in this file`).toBe(
      version,
    );
  },
);

test.each(PARTS)('the installed version has $part, which $file uses', async ({ part, because, works }) => {
  const advice = `${part} is missing or has changed (Node ${process.version}). svc uses it because ${because}`;
  expect(await works(), advice).toBe(true);
});

/** Paths that packages do not export, and names that begin with an underscore or are known to be private. */
const PRIVATE =
  /(?<=['"`])(?:undici|chevrotain|pino|piscina|openai|prom-client|yaml)\/(?:lib|dist|src)\/[\w./-]+|[\w.-]+\.min\.m?js|(?<=[.{ ])k[A-Z]\w*(?=[,; }?])|(?<=Reflect\.get\(\w+, ')_\w+/gu;

test('svc uses no other private part', () => {
  const found = textFiles('src', 'workers')
    .filter(({ path }) => path.endsWith('.ts'))
    .flatMap(({ path, text }) => {
      const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/gu, '');
      return [...new Set(code.match(PRIVATE))].map((part) => `${path}: ${part}`);
    });
  expect(found.toSorted()).toEqual(PARTS.map(({ file, part }) => `${file}: ${part}`).toSorted());
});

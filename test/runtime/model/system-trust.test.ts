import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { Server as HttpServer } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConnectionPools } from '../../../src/runtime/model/http/connection-pools.ts';
import { readSystemCertificates, SystemTrust } from '../../../src/runtime/model/http/system-trust.ts';
import { ask, clientDefinition, makeClient, testServices } from '../../support/ask-client.ts';
import { chatCompletion } from '../../support/fake-provider.ts';

// A service on loopback whose certificate is signed by an authority that only this test trusts.
const AUTHORITY = new URL('certificates/authority.pem', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'svc-trust-'));
let server: Server;
let handshakes = 0;

beforeAll(async () => {
  server = createServer(
    { cert: certificate('localhost.pem'), key: certificate('localhost-key.pem') },
    (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(chatCompletion('ok')));
    },
  );
  server.on('connection', () => (handshakes += 1));
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

function certificate(name: string): string {
  return readFileSync(new URL(`certificates/${name}`, import.meta.url), 'utf8');
}

/** The results of two calls: the text of the reply, or the message of the failure. */
async function asked(env: Readonly<Record<string, string>>, host = 'localhost'): Promise<readonly unknown[]> {
  handshakes = 0;
  const services = { ...testServices(), pools: new ConnectionPools(env) };
  const { port } = server.address() as AddressInfo;
  const definition = clientDefinition('openai-generic', { base_url: `https://${host}:${port}/v1` });
  const client = makeClient(definition, services);
  const results: unknown[] = [];
  for (let call = 0; call < 2; call += 1) {
    const { result } = await ask(client);
    results.push(result.ok ? result.value.text : result.failure.failure.message);
  }
  await services.pools.close();
  return results;
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('an unknown authority is a failure that states what to do', async () => {
  const [first] = await asked({ SSL_CERT_FILE: file('empty.pem', '') });
  expect(first).toContain('could not be reached: unable to verify the first certificate');
  expect(first).toContain('name its file in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE');
});

test.each<[string, () => Readonly<Record<string, string>>]>([
  ['the bundle of the system', () => ({ SSL_CERT_FILE: AUTHORITY })],
  [
    'a folder of certificates',
    () => ({ SSL_CERT_FILE: file('empty.pem', ''), SSL_CERT_DIR: `/nowhere:${folderWith(AUTHORITY)}` }),
  ],
  ['the file for Node', () => ({ SSL_CERT_FILE: '/nowhere', NODE_EXTRA_CA_CERTS: AUTHORITY })],
  [
    'a bundle with a broken certificate in it',
    () => ({ SSL_CERT_FILE: file('broken.pem', `${BROKEN}\n${readFileSync(AUTHORITY, 'utf8')}`) }),
  ],
])('an authority that %s names is trusted', async (_what, env) => {
  expect(await asked(env())).toEqual(['ok', 'ok']);
  // One handshake failed, and the connection of the second one is kept.
  expect(handshakes).toBe(2);
});

const BROKEN = '-----BEGIN CERTIFICATE-----\nTm8gY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----';

function folderWith(path: string): string {
  const inner = mkdtempSync(join(folder, 'certificates-'));
  writeFileSync(join(inner, '0a1b2c3d.0'), readFileSync(path));
  return inner;
}

test('the authority is trusted through a proxy too', async () => {
  const proxy = createProxy();
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  const { port } = proxy.address() as AddressInfo;
  const env = { HTTPS_PROXY: `http://127.0.0.1:${port}`, SSL_CERT_FILE: AUTHORITY };
  expect(await asked(env, 'model.example')).toEqual(['ok', 'ok']);
  expect(handshakes).toBe(1);
  proxy.close();
});

/** All of its tunnels lead to the service of this test. */
function createProxy(): HttpServer {
  const proxy = createHttpServer();
  proxy.on('connect', (_request, socket: Socket) => {
    const { port } = server.address() as AddressInfo;
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [upstream, socket]) end.on('error', () => {});
  });
  return proxy;
}

test('certificates are read from every place of the system, each once', () => {
  const env = { SSL_CERT_FILE: AUTHORITY, SSL_CERT_DIR: folderWith(AUTHORITY), NODE_EXTRA_CA_CERTS: AUTHORITY };
  expect(readSystemCertificates(env)).toHaveLength(1);
  expect(readSystemCertificates({ SSL_CERT_FILE: '/nowhere', SSL_CERT_DIR: '/nowhere' })).toEqual([]);
});

test('no context is created if the system adds nothing, or if Node uses only the store of the system', () => {
  const known = file('known.pem', rootCertificates.slice(0, 3).join('\n').replaceAll('\n', '\r\n'));
  expect(new SystemTrust({ SSL_CERT_FILE: known }).context()).toBeUndefined();
  const flags = { SSL_CERT_FILE: AUTHORITY, NODE_OPTIONS: '--use-openssl-ca' };
  expect(new SystemTrust(flags).context()).toBeUndefined();
  const trust = new SystemTrust({ SSL_CERT_FILE: AUTHORITY });
  expect(trust.wasNeeded).toBe(false);
  expect(trust.context()).toBe(trust.context());
  expect(trust.wasNeeded).toBe(true);
});

import { afterEach, expect, test, vi } from 'vitest';
import { startServer, type TestServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';

const servers: TestServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

test.each(TRANSPORTS)('HEAD prepares no body on any page (%s)', async (name) => {
  const server = await startServer(name);
  servers.push(server);
  const { assets } = server.services;
  const openapi = server.services.openapi.of(undefined);
  const made = [
    ...[...assets.values()].map((asset) => vi.spyOn(asset, 'bytes')),
    vi.spyOn(openapi, 'gzip'),
    vi.spyOn(server.services, 'metricsText'),
  ];
  const pages = [...assets.keys(), '/openapi.json', '/metrics', '/livez', '/readyz', '/_debug/ping', '/_debug/status'];
  for (const path of pages) {
    for (const encoding of ['identity', 'gzip']) {
      const answer = await fetch(server.url + path, { method: 'HEAD', headers: { 'accept-encoding': encoding } });
      expect(answer.status, path).toBe(200);
    }
  }
  expect((await fetch(`${server.url}/nope`, { method: 'HEAD' })).status).toBe(404);
  for (const make of made) expect(make).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

import { afterEach, expect, it, test, vi } from 'vitest';
import { startServer, type TestServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';
import { chooseEncoding } from '../../src/server/http/response-head.ts';
import { metricsFormat } from '../../src/server/http/create-handler.ts';
import { metricsText } from '../support/exported-metrics.ts';

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

it.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP;q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br; q=0.000, *', 'gzip'],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['gzip;q=0', undefined],
  ['deflate', undefined],
])('of a client that accepts %j it takes %s', (accepted, expected) => {
  expect(chooseEncoding(accepted, ['br', 'gzip'])).toBe(expected);
});

/** The `accept` header of Prometheus 2.42. */
const PROMETHEUS =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';

it.each([
  [undefined, 'prometheus'],
  ['*/*', 'prometheus'],
  ['text/html, */*;q=0.8', 'prometheus'],
  ['application/openmetrics-text', 'openmetrics'],
  [PROMETHEUS, 'openmetrics'],
  ['text/plain, application/openmetrics-text;q=0.5', 'prometheus'],
  ['application/openmetrics-text;q=0', 'prometheus'],
  ['application/openmetrics-text;q=high', 'prometheus'],
])('for accept: %s, the format is %s', (accept, format) => {
  expect(metricsFormat(accept)).toBe(format);
});

it('in OpenMetrics, the family of a counter has no suffix, its samples have one, and the text has an end', async () => {
  const text = await metricsText('openmetrics');
  expect(text).toContain(
    '# TYPE svc_requests counter\nsvc_requests_total{function="Greet",route="call",status="200"} 1\n',
  );
  expect(text).toMatch(/\n# EOF\n$/u);
  expect(text).not.toContain('\n\n');
  expect(stableSamples(text)).toEqual(stableSamples(await metricsText()));
});

/** The samples that do not depend on the moment of the scrape. */
function stableSamples(text: string): readonly string[] {
  const ofMoment = /^svc_(?:primary_memory_bytes|event_loop_busy_seconds_total|memory_bytes) /u;
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && !ofMoment.test(line));
}

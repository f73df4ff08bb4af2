import { readFileSync } from 'node:fs';
import { HAPROXY, startGateway, type Gateway } from '../../support/gateway.ts';
import { waitUntil } from '../../support/load.ts';
import { startServer, temporaryFolder, type RunningServer, type ServerOptions } from '../../support/running-server.ts';

/** The key with which tests read the status of a machine. */
export const KEY = 'test-key-4711';

export const JSON_HEADERS = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` };

/** Two svc servers with two workers each, and HAProxy in front of them. */
export interface Machines {
  readonly servers: readonly RunningServer[];
  /** The address of HAProxy. */
  readonly url: string;
  stop(): Promise<void>;
}

export async function startMachines(options: ServerOptions): Promise<Machines> {
  const flags = ['--workers', '2', '--log-level', 'info', '--log-format', 'json', ...(options.flags ?? [])];
  const env = { SVC_PASSWORD: KEY, ...options.env };
  // The hash of a program contains the path of its files.
  const from = temporaryFolder(options.files ?? {});
  const servers = await Promise.all([1, 2].map(() => startServer({ ...options, from, flags, env })));
  const proxy = await startProxy(servers).catch(async (error: unknown) => {
    await Promise.all(servers.map((server) => server.stop()));
    throw error;
  });
  return {
    servers,
    url: proxy.url,
    stop: async () => {
      await proxy.stop();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

function startProxy(servers: readonly RunningServer[]): Promise<Gateway> {
  const lines = servers.map((server, index) => `  server svc${index} 127.0.0.1:${server.port} check inter 1s`);
  const text = readFileSync(new URL('../haproxy.cfg', import.meta.url), 'utf8');
  return startGateway(HAPROXY, text.replaceAll('SERVERS', lines.join('\n').trim()));
}

/** A part of the body of /readyz or /_debug/status. */
export interface StoreReport {
  readonly status?: string;
  readonly store?: string | { readonly state: string; readonly reason?: string; readonly machines: number };
  readonly reason?: string;
}

export async function report(server: RunningServer, path: '/readyz' | '/_debug/status'): Promise<StoreReport> {
  const response = await fetch(`${server.url}${path}`, { headers: JSON_HEADERS });
  return (await response.json()) as StoreReport;
}

/** Resolves when every machine reports this state of the store to callers with a key. */
export async function storeBecomes(machines: Machines, ...states: readonly string[]): Promise<void> {
  const reports = async () => {
    const all = await Promise.all(machines.servers.map((server) => report(server, '/_debug/status')));
    return all.every(({ store }) => typeof store === 'object' && states.includes(store.state));
  };
  await waitUntil(`the store to be ${states.join(' or ')}`, reports);
}

/**
 * The operations of this kind that the store did not answer in time, on all machines. Each can cost what the store would have
 * prevented, such as a second call to the model: a busy test machine makes the store slow, and svc then goes on without it.
 */
export function storeFailures(machines: Machines, operation: string): Promise<number> {
  return metricOf(machines, 'svc_store_failures_total', `operation="${operation}"`);
}

/** The sum of a metric over all machines, of the series with this label if one is given. */
export async function metricOf({ servers }: Machines, name: string, label = ''): Promise<number> {
  const texts = await Promise.all(
    servers.map(async ({ url }) => (await fetch(`${url}/metrics`, { headers: JSON_HEADERS })).text()),
  );
  const series = texts
    .flatMap((text) => text.split('\n'))
    .filter((line) => line.startsWith(name) && line.includes(label));
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

import { afterAll, beforeEach, expect } from 'vitest';
import { startFakeProvider, type FakeProvider } from './fake-provider.ts';
import type { Answer } from './fake-wire.ts';
import { waitUntil } from './load.ts';
import { startServer, type RunningServer, type ServerOptions } from './running-server.ts';
import { ONE_USE } from './sse.ts';

/** A provider and a server that calls it, for all tests of a file. Definitions name the provider with `env.PROVIDER_URL`. */
export interface ServedModel {
  readonly fake: FakeProvider;
  readonly server: RunningServer;
  /** Sends a POST request to `route` on a connection of its own, with the body as JSON; to another server if its URL is given. */
  readonly post: (route: string, body: unknown, options?: PostOptions) => Promise<Response>;
  /** The value of a series of /metrics; 0 if there is none. */
  readonly metric: (series: string) => Promise<number>;
  /** Waits for the log line of a request, and returns it. */
  readonly logLine: (requestId: string) => Promise<Readonly<Record<string, unknown>>>;
  /** Starts another server with the same definitions and variables, and these flags besides. */
  readonly start: (...flags: readonly string[]) => Promise<RunningServer>;
}

export interface PostOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly url?: string;
}

/**
 * Starts both, and ends them after the tests of the file. Before each test, the provider forgets its requests and returns `answer` again.
 */
export async function serveModel({
  answer,
  ...options
}: ServerOptions & { readonly answer?: Answer }): Promise<ServedModel> {
  const fake = await startFakeProvider();
  const env = { PROVIDER_URL: `${fake.url}/v1`, OPENAI_API_KEY: 'k', ...options.env };
  const start = (...flags: readonly string[]): Promise<RunningServer> =>
    startServer({ ...options, env, flags: [...(options.flags ?? []), ...flags] });
  const server = await start();
  beforeEach(() => {
    fake.clear();
    if (answer !== undefined) fake.answer(answer);
  });
  afterAll(async () => {
    const code = await server.stop();
    await fake.close();
    expect(code).toBe(0);
  });
  return {
    fake,
    server,
    start,
    post: (route, body, { headers = {}, signal, url = server.url } = {}) =>
      fetch(`${url}/${route}`, {
        method: 'POST',
        headers: { ...ONE_USE, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: signal ?? null,
      }),
    metric: async (series) => {
      const text = await (await fetch(`${server.url}/metrics`, { headers: ONE_USE })).text();
      const line = text.split('\n').find((each) => each.startsWith(`${series} `));
      return Number(line?.slice(series.length + 1) ?? 0);
    },
    logLine: async (requestId) => {
      const find = (): string | undefined =>
        server
          .output()
          .split('\n')
          .find((line) => line.includes(`"${requestId}"`) && line.includes('"request"'));
      await waitUntil(`the log line of ${requestId}`, () => find() !== undefined);
      return JSON.parse(find() ?? '') as Readonly<Record<string, unknown>>;
    },
  };
}

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { reply, startFakeProvider } from '../support/fake-provider.ts';
import { childrenOf, waitUntil } from '../support/load.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';
import { TRANSPORTS } from '../server/support/transports.ts';
import { RESUME_FILES, RESUME_REPLY } from './definitions.ts';

const fake = await startFakeProvider();
const env = { PROVIDER_URL: `${fake.url}/v1`, OPENAI_API_KEY: 'sk-test', SVC_WARM_UP: 'on' };

afterAll(() => fake.close());

/** The numbers of calls in the log lines of warm workers. */
function warmUps(output: string): readonly number[] {
  const lines = output.split('\n').filter((line) => line.includes('"the worker is warm"'));
  return lines.map((line) => (JSON.parse(line) as { readonly calls: number }).calls);
}

/** What a descriptor of a process stands for; an empty text if the process has closed it meanwhile. */
function targetOf(pid: number, descriptor: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
  } catch {
    return '';
  }
}

/** The ports on which the processes of a server listen. */
function portsOf({ child }: RunningServer): ReadonlySet<number> {
  const pid = child.pid ?? 0;
  const sockets = new Set(
    [pid, ...childrenOf(pid)].flatMap((each) =>
      readdirSync(`/proc/${each}/fd`).map((descriptor) => targetOf(each, descriptor)),
    ),
  );
  const rows = ['tcp', 'tcp6'].flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n'));
  const listening = rows.map((row) => row.trim().split(/\s+/u)).filter(([, , , state]) => state === '0A');
  return new Set(
    listening
      .filter((row) => sockets.has(`socket:[${row[9]}]`))
      .map(([, address = '']) => Number.parseInt(address.split(':')[1] ?? '', 16)),
  );
}

test.each(TRANSPORTS)(
  'a warm-up reaches no model, metric or log, and leaves nothing behind (%s)',
  async (transport) => {
    fake.clear();
    const flags = ['--workers', '2', '--transport', transport, '--log-level', 'debug'];
    const server = await startServer({ files: RESUME_FILES, flags, env });
    try {
      // The workers that listen, and the spare one.
      await waitUntil('all workers are warm', () => warmUps(server.output()).length >= 3);
      expect([...portsOf(server)]).toEqual([server.port]);
      for (const calls of warmUps(server.output())) expect(calls).toBeGreaterThan(100);
      expect(fake.requests).toHaveLength(0);
      expect(server.output()).not.toContain('/call/');
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      expect(metrics).not.toMatch(/^svc_requests_total\{/mu);
      expect(metrics).not.toMatch(/^svc_tokens_total\{/mu);
      fake.answer(reply(RESUME_REPLY));
      const response = await fetch(`${server.url}/call/ExtractResume`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'Ada' }),
      });
      expect(response.status).toBe(200);
    } finally {
      expect(await server.stop()).toBe(0);
    }
  },
);

test.each([
  ['openai', ''],
  ['openai-responses', ''],
  ['anthropic', ''],
  ['google-ai', ''],
  ['anthropic', 'base_url "http://127.0.0.1:9"'],
])('a worker warms up with the wire format and the version of HTTP of %s %s', async (provider, option) => {
  const main = `client<llm> Model {
  provider ${provider}
  options {
    model "m"
    ${option}
  }
}
function Shorten(text: string) -> string {
  client Model
  prompt #"{{ text }}"#
}
`;
  const flags = ['--workers', '1', '--log-level', 'debug'];
  const server = await startServer({ files: { 'main.svc': main }, flags, env });
  try {
    await waitUntil('a worker is warm', () => warmUps(server.output()).length > 0);
    expect(warmUps(server.output())[0]).toBeGreaterThan(100);
  } finally {
    expect(await server.stop()).toBe(0);
  }
});

test('a worker collects the garbage of its warm-up after its end', async () => {
  const server = await startServer({ files: RESUME_FILES, flags: ['--log-level', 'debug'], env });
  const collects = '"the worker is idle: it collects its garbage"';
  try {
    await waitUntil('the workers and the spare one collect', () => server.output().split(collects).length > 3);
    const lines = server.output().split('\n');
    for (const line of lines.filter((each) => each.includes(collects))) {
      const { worker } = JSON.parse(line) as { readonly worker: number };
      const events = lines.filter((each) => each.includes(`"worker":${worker},`));
      const warmAt = events.findIndex((each) => each.includes('"the worker is warm"'));
      expect(warmAt).toBeGreaterThanOrEqual(0);
      expect(warmAt).toBeLessThan(events.findIndex((each) => each.includes(collects)));
    }
  } finally {
    expect(await server.stop()).toBe(0);
  }
});

test('a server that is stopped during the warm-up ends at once', async () => {
  const server = await startServer({ files: RESUME_FILES, flags: ['--workers', '1'], env });
  const children = childrenOf(server.child.pid ?? 0);
  expect(children.length).toBeGreaterThan(0);
  expect(await server.stop()).toBe(0);
});

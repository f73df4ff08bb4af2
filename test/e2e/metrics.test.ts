import { hash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reply, startFakeProvider, status, type FakeProvider } from '../support/fake-provider.ts';
import { childrenOf, startLoad, waitUntil } from '../support/load.ts';
import { startServer, temporaryFolder, type RunningServer } from '../support/running-server.ts';
import { readStream } from '../support/sse.ts';
import { RESUME_FILES, RESUME_REPLY } from './definitions.ts';

const BODY = { text: 'Ada' };
const USAGE = { prompt_tokens: 12, completion_tokens: 7 };
const LOSSY =
  '{"name":"Ada","email":null,"seniority":"experienced","jobs":[{"years":1},{"title":"Poet","years":"?!"}],"scores":{}}';
const CLEAN = '{"name":"Ada","email":null,"seniority":"experienced","jobs":[],"scores":{}}';

/** Every documented metric, with its labels. */
const PROMISED: Readonly<Record<string, string>> = {
  svc_requests_total: 'function route status',
  svc_failures_total: 'error function',
  svc_request_duration_seconds: 'function',
  svc_requests_in_flight: 'route',
  svc_first_text_seconds: 'function',
  svc_model_duration_seconds: 'function',
  svc_overhead_seconds: 'function',
  svc_parse_seconds: 'function',
  svc_attempt_duration_seconds: 'client',
  svc_tokens_total: 'client direction',
  svc_cost_usd_total: 'client',
  svc_attempts_total: 'client outcome',
  svc_repeated_attempts_total: 'client kind',
  svc_client_cooling: 'client',
  svc_client_cool_downs_total: 'client reason',
  svc_reasks_total: 'client function outcome',
  svc_replies_total: 'function outcome',
  svc_reply_losses_total: 'function kind',
  svc_stream_cuts_total: '',
  svc_idempotent_calls_total: 'function outcome',
  svc_kept_answers: '',
  svc_kept_answer_bytes: '',
  svc_kept_answer_waits_total: '',
  svc_answer_claims_failed_total: '',
  svc_queue_length: '',
  svc_parse_queue_length: '',
  svc_parse_thread_replies_total: '',
  svc_parse_limits_total: 'limit',
  svc_upstream_origins: '',
  svc_upstream_connections: 'protocol',
  svc_upstream_requests: 'protocol state',
  svc_event_loop_lag_seconds: '',
  svc_event_loop_busy_seconds_total: '',
  svc_worker_restarts_total: 'reason',
  svc_workers: '',
  svc_memory_bytes: '',
  svc_worker_memory_bytes: 'worker',
  svc_worker_event_loop_delay_seconds: 'worker',
  svc_primary_memory_bytes: '',
  svc_connections: '',
  svc_log_lines_dropped_total: '',
  svc_program_info: 'hash version',
};

/** The metrics of keys, limits and the cache, which have values only with them. */
const OF_CALLERS: Readonly<Record<string, string>> = {
  svc_key_requests_total: 'key status',
  svc_key_tokens_total: 'direction key',
  svc_key_cost_usd_total: 'key',
  svc_rate_limited_total: 'key limit',
  svc_limit_failures_total: '',
  svc_cached_calls_total: 'function outcome',
};

/** A function whose client is asked again. */
const CORRECTING = `
retry_policy Again {
  on_invalid_reply 1
}
client<llm> Correcting {
  provider openai-generic
  retry_policy Again
  options {
    model local
    prices { input 1000, output 0 }
    base_url env.PROVIDER_URL
  }
}
function Count() -> int {
  client Correcting
  prompt #"How many?"#
}
`;

interface Scrape {
  /** The declared type of each metric, by name. */
  readonly types: ReadonlyMap<string, string>;
  readonly helps: ReadonlySet<string>;
  /** The value of each series, by name and labels as written. */
  readonly samples: ReadonlyMap<string, number>;
}

let fake: FakeProvider;
let server: RunningServer;

beforeAll(async () => {
  fake = await startFakeProvider();
  const env = { PROVIDER_URL: `${fake.url}/v1`, OPENAI_API_KEY: 'sk-test' };
  server = await startServer({
    files: { ...RESUME_FILES, 'correcting.svc': CORRECTING },
    flags: ['--workers', '2', '--log-level', 'off'],
    env,
  });
});

afterAll(async () => {
  await server.stop();
  await fake.close();
});

/** Reads the text format; throws for any other line. */
async function scrape(headers: Readonly<Record<string, string>> = {}, from = server): Promise<Scrape> {
  const response = await fetchAgain(`${from.url}/metrics`, headers);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const types = new Map<string, string>();
  const helps = new Set<string>();
  const samples = new Map<string, number>();
  for (const line of (await response.text()).split('\n')) {
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/u.exec(line);
    const sample = /^([a-z_]+(?:\{(?:[a-z_]+="[^"\\\n]*",?)+\})?) (\S+)$/u.exec(line);
    if (comment?.[1] === 'HELP') helps.add(comment[2] ?? '');
    else if (comment?.[1] === 'TYPE') types.set(comment[2] ?? '', comment[3] ?? '');
    else if (sample !== null) samples.set(sample[1] ?? '', Number(sample[2]));
    else expect(line).toBe('');
  }
  return { types, helps, samples };
}

/** A connection can lead to a worker that was just killed. */
async function fetchAgain(url: string, headers: Readonly<Record<string, string>>): Promise<Response> {
  return fetch(url, { headers }).catch(() => fetchAgain(url, headers));
}

function nameOf(series: string): string {
  return series.replace(/\{.*/u, '').replace(/_(?:bucket|sum|count)$/u, '');
}

/** All labels except `le`, which every histogram has. */
function labelsOf(series: string): string {
  const names = [...series.matchAll(/([a-z_]+)="/gu)].map((match) => match[1] ?? '');
  return names
    .filter((name) => name !== 'le')
    .toSorted()
    .join(' ');
}

/** Each of these metrics has a value, and exactly these labels. */
function expectLabels(samples: Scrape['samples'], metrics: Readonly<Record<string, string>>): void {
  for (const [name, labels] of Object.entries(metrics)) {
    const own = [...samples.keys()].filter((series) => nameOf(series) === name);
    expect(own.length, name).toBeGreaterThan(0);
    for (const series of own) expect(labelsOf(series), series).toBe(labels);
  }
}

function call(name = 'ExtractResume', more: Readonly<Record<string, string>> = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...more };
  return fetch(`${server.url}/call/${name}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(name === 'Count' ? {} : BODY),
  });
}

test('every documented metric exists, with a name and a type by the rules of Prometheus', async () => {
  fake.script(
    reply(CLEAN, { usage: USAGE }),
    reply(RESUME_REPLY, { usage: USAGE }),
    reply('no idea', { usage: USAGE }),
    reply(LOSSY, { usage: USAGE }),
    status(401, '{"error":{"message":"no"}}'),
    reply(CLEAN, { usage: USAGE }),
  );
  for (let at = 0; at < 5; at += 1) await (await call()).text();
  await readStream(`${server.url}/stream/ExtractResume`, BODY);
  fake.script(reply('none', { usage: USAGE }), reply('3', { usage: USAGE }));
  await (await call('Count')).text();
  fake.script(status(429, {}, { 'retry-after': '300' }));
  await (await call('Count', { 'idempotency-key': 'a' })).text();
  const cooling = 'svc_client_cooling{client="Correcting"}';
  await waitUntil('the cool-down to reach the primary', async () => (await scrape()).samples.get(cooling) === 1);
  const { types, helps, samples } = await scrape();
  expect([...types.keys()].toSorted()).toEqual(Object.keys({ ...PROMISED, ...OF_CALLERS }).toSorted());
  expect([...helps].toSorted()).toEqual([...types.keys()].toSorted());
  for (const [name, type] of types) expect(name.endsWith('_total'), name).toBe(type === 'counter');
  expectLabels(samples, PROMISED);
  expect(Object.fromEntries(samples)).toMatchObject({
    'svc_requests_total{function="ExtractResume",route="call",status="200"}': 3,
    'svc_requests_total{function="ExtractResume",route="call",status="500"}': 1,
    'svc_requests_total{function="ExtractResume",route="call",status="502"}': 1,
    'svc_requests_total{function="ExtractResume",route="stream",status="200"}': 1,
    'svc_failures_total{function="ExtractResume",error="validation_failure"}': 1,
    'svc_replies_total{function="ExtractResume",outcome="clean"}': 2,
    'svc_replies_total{function="ExtractResume",outcome="repaired"}': 1,
    'svc_replies_total{function="ExtractResume",outcome="failed"}': 1,
    'svc_replies_total{function="ExtractResume",outcome="lossy"}': 1,
    'svc_reply_losses_total{function="ExtractResume",kind="dropped"}': 1,
    'svc_reply_losses_total{function="ExtractResume",kind="defaulted"}': 1,
    'svc_tokens_total{client="Fast",direction="input"}': 60,
    'svc_tokens_total{client="Fast",direction="output"}': 35,
    'svc_tokens_total{client="Correcting",direction="input"}': 24,
    'svc_cost_usd_total{client="Correcting"}': 0.024,
    'svc_reasks_total{function="Count",client="Correcting",outcome="ok"}': 1,
    'svc_first_text_seconds_count{function="ExtractResume"}': 1,
    'svc_request_duration_seconds_count{function="ExtractResume"}': 6,
    'svc_repeated_attempts_total{client="Correcting",kind="reask"}': 1,
    'svc_client_cool_downs_total{client="Correcting",reason="retry_after"}': 1,
    'svc_idempotent_calls_total{function="Count",outcome="first"}': 1,
    svc_upstream_origins: expect.any(Number),
    svc_workers: 2,
  });
});

test('keys, limits and the cache have metrics with the name of the key', async () => {
  const sha256 = hash('sha256', 'key-of-team-a');
  const keys = { keys: [{ name: 'team-a', sha256, limits: { requests_per_minute: 2 } }] };
  const folder = temporaryFolder({ 'keys.json': JSON.stringify(keys) });
  const own = await startServer({
    files: { 'correcting.svc': CORRECTING },
    flags: ['--workers', '1', '--log-level', 'off', '--keys', join(folder, 'keys.json'), '--cache'],
    env: { PROVIDER_URL: `${fake.url}/v1` },
  });
  const headers = { 'content-type': 'application/json', 'x-svc-api-key': 'key-of-team-a' };
  const body = JSON.stringify({ svc_options: { cache: { ttl: '1m' } } });
  fake.script(reply('3', { usage: USAGE }));
  const statuses: number[] = [];
  for (let at = 0; at < 3; at += 1) {
    const answer = await fetch(`${own.url}/call/Count`, { method: 'POST', headers, body });
    statuses.push(answer.status);
    await answer.text();
  }
  expect(statuses).toEqual([200, 200, 429]);
  const { samples } = await scrape(headers, own);
  await own.stop();
  expectLabels(samples, OF_CALLERS);
  expect(Object.fromEntries(samples)).toMatchObject({
    'svc_key_requests_total{key="team-a",status="200"}': 2,
    'svc_key_tokens_total{key="team-a",direction="input"}': 12,
    'svc_key_cost_usd_total{key="team-a"}': 0.012,
    'svc_rate_limited_total{key="team-a",limit="requests_per_minute"}': 1,
    'svc_cached_calls_total{function="Count",outcome="miss"}': 1,
    'svc_cached_calls_total{function="Count",outcome="hit"}': 1,
  });
});

test('names that callers invent do not become label values', async () => {
  for (let at = 0; at < 30; at += 1) {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    await (await fetch(`${server.url}/call/Made${at}`, init)).text();
  }
  const { samples } = await scrape();
  expect([...samples.keys()].filter((series) => series.includes('Made'))).toEqual([]);
  expect(samples.get('svc_requests_total{function="unknown",route="call",status="404"}')).toBe(30);
});

test('no counter decreases while workers are killed under load', async () => {
  // The load leaves time for the rest of a busy machine.
  fake.answer(reply(RESUME_REPLY, { usage: USAGE, latencyMs: 20 }));
  const load = startLoad(`${server.url}/call/ExtractResume`, BODY, 4);
  let last = await scrape();
  let compared = 0;
  const compare = async (): Promise<Scrape> => {
    const now = await scrape();
    for (const [series, value] of last.samples) {
      if (last.types.get(nameOf(series)) === 'gauge') continue;
      compared += 1;
      expect(now.samples.get(series), series).toBeGreaterThanOrEqual(value);
    }
    last = now;
    return now;
  };
  for (let killed = 1; killed <= 2; killed += 1) {
    const [victim] = childrenOf(server.child.pid ?? 0);
    await compare();
    if (victim !== undefined) process.kill(victim, 'SIGKILL');
    for (let look = 0; look < 5; look += 1) await compare();
    await waitUntil('the worker to be replaced', async () => {
      const { samples } = await compare();
      const restarts = samples.get('svc_worker_restarts_total{reason="crash"}') ?? 0;
      return restarts >= killed && samples.get('svc_workers') === 2;
    });
  }
  const { served } = await load.stop();
  const { samples } = await compare();
  const counted = samples.get('svc_requests_total{function="ExtractResume",route="call",status="200"}') ?? 0;
  console.log(`${compared} values compared over 2 kills; ${served} calls served, ${counted} counted`);
  expect(compared).toBeGreaterThan(500);
});

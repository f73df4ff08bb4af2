// Entry file: CPU time of a small call with keys, limits, idempotency keys and the cache, embedded and with a store on loopback,
// in the primary and the workers together.
import autocannon from 'autocannon';
import { hash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { end, freePort, start } from './child-process.ts';
import { COMPARISON_HEAD, compareInTurn, comparisonCells, sizeOfRun, WARM_UP_CALLS } from './in-turn.ts';
import { BODY } from './load.ts';
import { cpuMicrosOf } from './process-usage.ts';
import { table, writeResults } from './report.ts';
import { setStage, type Side, type Stage } from './sides.ts';

const { requests: REQUESTS, rounds: ROUNDS, complete } = sizeOfRun({ requests: 6000, rounds: 24 });
/** The number of servers per subject. */
const SERVERS = 3;

const KEY = 'svc_key-of-the-bench';
const REDIS = '/usr/bin/redis-server';

interface Subject {
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes each request different: a header of this name gets a new value. */
  readonly freshHeader?: string;
  readonly body?: string;
}

const folder = mkdtempSync(join(tmpdir(), 'svc-callers-'));
// As high as no run reaches, and numbers of a usual size.
const limits = { requests_per_minute: 1e7, tokens_per_minute: 1e8, in_flight: 1_000, cost_per_day: 1_000 };
const withKey = { 'x-svc-api-key': KEY };
const keys = { SVC_KEYS: keyFile('keys', undefined) };
const limited = { SVC_KEYS: keyFile('limits', limits) };
const cachedBody = JSON.stringify({ ...(JSON.parse(BODY) as object), svc_options: { cache: { ttl: '10m' } } });
const port = await freePort();
const redis = existsSync(REDIS)
  ? start({ program: REDIS, args: ['--port', String(port), '--save', '', '--dir', folder, '--bind', '127.0.0.1'] })
  : undefined;
const store = { SVC_STORE: `redis://127.0.0.1:${port}` };

const SUBJECTS: readonly Subject[] = [
  { name: 'all of it off' },
  { name: 'a key', env: keys, headers: withKey },
  { name: 'a key with four limits', env: limited, headers: withKey },
  { name: 'a value from the cache', env: { SVC_CACHE: 'true' }, body: cachedBody },
  { name: 'a new idempotency key', freshHeader: 'idempotency-key' },
  ...(redis === undefined
    ? []
    : [
        { name: 'four limits, store', env: { ...limited, ...store }, headers: withKey },
        { name: 'a value from the cache, store', env: { SVC_CACHE: 'true', ...store }, body: cachedBody },
        { name: 'a new idempotency key, store', env: store, freshHeader: 'idempotency-key' },
      ]),
];

let sent = 0;
const stages: Stage[] = [];
try {
  const servers: (readonly Side[])[] = [];
  for (const subject of SUBJECTS) {
    const own = await Promise.all(
      Array.from({ length: SERVERS }, () => setStage({ sides: ['svc'], env: subject.env ?? {} })),
    );
    stages.push(...own);
    const sides = own.flatMap((stage) => stage.sides);
    servers.push(sides);
    for (const side of sides) await cpuPerCall(side, subject, WARM_UP_CALLS);
  }
  const compared = await compareInTurn(
    SUBJECTS.map((subject, index) => (servers[index] ?? []).map((side) => () => cpuPerCall(side, subject, REQUESTS))),
    ROUNDS,
  );
  const rows = compared.map((row, index) => ({ call: SUBJECTS[index]?.name ?? '', ...row }));
  console.log(`\n${table([['call', ...COMPARISON_HEAD], ...rows.map((row) => [row.call, ...comparisonCells(row)])])}`);
  if (complete)
    console.log(`\n${writeResults({ requests: REQUESTS, rounds: ROUNDS, servers: SERVERS, rows }, 'callers')}`);
} finally {
  await Promise.all(stages.map((stage) => stage.end()));
  if (redis !== undefined) await end(redis);
  rmSync(folder, { recursive: true });
}

function keyFile(name: string, ofKey: object | undefined): string {
  const path = join(folder, `${name}.json`);
  const sha256 = hash('sha256', KEY);
  writeFileSync(path, JSON.stringify({ keys: [{ name: 'bench', sha256, limits: ofKey }] }));
  return path;
}

async function cpuPerCall(
  side: Side,
  { headers = {}, freshHeader, body = BODY }: Subject,
  amount: number,
): Promise<number> {
  const common = { 'content-type': 'application/json', ...headers };
  const fresh = (request: object) => {
    sent += 1;
    return { ...request, headers: { ...common, [freshHeader ?? '']: `call-${sent}` } };
  };
  const before = cpuMicrosOf(side.pid);
  const { errors, timeouts, non2xx, requests } = await autocannon({
    url: `${side.url}/call/Small`,
    method: 'POST',
    headers: common,
    body,
    connections: 32,
    amount,
    timeout: 60,
    ...(freshHeader === undefined ? {} : { requests: [{ setupRequest: fresh }] }),
  });
  if (errors + timeouts + non2xx > 0) throw new Error(`${side.url}: ${errors + timeouts + non2xx} calls failed`);
  return (cpuMicrosOf(side.pid) - before) / requests.total;
}

// Entry file: the replacement of workers, one after the other, by reload and by age, under 500 new connections a second, with and
// without the kernel's net.ipv4.tcp_migrate_req, each in a network namespace of its own. Needs `unshare` and `ip`.
//
// Usage: rolling.js [--rate 500]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { post } from './load.ts';
import { table, writeResults } from './report.ts';
import { setStage, type Side, type Stage } from './sides.ts';

type Reason = 'reload' | 'age';
type TransportName = 'uws' | 'node';

/** How calls ended. */
interface Tally {
  served: number;
  /** No process accepted the connection. */
  refused: number;
  /** Everything else: connections reset, no answer, other statuses. */
  failed: number;
  /** Each kind of failure, with its number. */
  readonly reasons: Record<string, number>;
}

interface RollingResult extends Tally {
  readonly migrate: string;
  readonly transport: TransportName;
  readonly reason: Reason;
  readonly replaced: number;
}

const RELOADS = 8;
const RELOAD_EVERY_MS = 2500;
/** The shortest age that can be set; each worker is replaced about twice. */
const AGE = '10s';
const AGE_RUN_MS = 25_000;
/** Pause after the load: the last replacement can still be in progress. */
const QUIET_MS = 2000;
/** Connections opened at once after a pause of this process: a server that is not late itself accepts them. */
const MAX_BURST_SECONDS = 0.05;
/** Without `ip link`, a new namespace has no loopback. */
const INSIDE = 'ip link set lo up && echo "$1" > /proc/sys/net/ipv4/tcp_migrate_req && shift && exec "$@"';

const { values } = parseArgs({
  options: { rate: { type: 'string', default: '500' }, inside: { type: 'boolean', default: false } },
});
if (values.inside) console.log(JSON.stringify(await runInside()));
else await runBoth();

async function runBoth(): Promise<void> {
  const results = [...(await runWith('0')), ...(await runWith('1'))];
  const head = [
    'tcp_migrate_req',
    'transport',
    'replaced by',
    'workers replaced',
    'served',
    'refused',
    'failed',
    'how',
  ];
  const rows = results.map((one) => [
    ...[one.migrate, one.transport, one.reason, one.replaced, one.served, one.refused, one.failed].map(String),
    Object.entries(one.reasons)
      .map(([reason, number]) => `${number} ${reason}`)
      .join(', ') || '-',
  ]);
  console.log(table([head, ...rows]));
  console.log(writeResults({ results }, 'rolling'));
}

/** Does all runs in one namespace, in which the setting has this value. */
async function runWith(migrate: string): Promise<readonly RollingResult[]> {
  const self = [process.execPath, fileURLToPath(import.meta.url), '--inside', '--rate', values.rate];
  const namespace = ['--net', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])];
  const child = spawn('unshare', [...namespace, 'sh', '-c', INSIDE, 'sh', migrate, ...self], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`the process in the namespace exited with ${code}`);
  return JSON.parse(output) as readonly RollingResult[];
}

async function runInside(): Promise<readonly RollingResult[]> {
  const results: RollingResult[] = [];
  for (const transport of ['uws', 'node'] as const) {
    for (const reason of ['reload', 'age'] as const) {
      const result = await measure(transport, reason);
      console.error(JSON.stringify(result));
      results.push(result);
    }
  }
  return results;
}

async function measure(transport: TransportName, reason: Reason): Promise<RollingResult> {
  const env = { SVC_TRANSPORT: transport, ...(reason === 'age' ? { SVC_MAX_WORKER_AGE: AGE } : {}) };
  const stage = await setStage({ sides: ['svc'], env });
  try {
    const [side] = stage.sides;
    if (side === undefined) throw new Error('no server');
    return { ...(await roll(stage, side, reason)), transport, reason };
  } finally {
    await stage.end();
  }
}

type Rolled = Omit<RollingResult, 'transport' | 'reason'>;

async function roll(stage: Stage, side: Side, reason: Reason): Promise<Rolled> {
  const stop = startConnections(side.url, Number(values.rate));
  if (reason === 'age') await sleep(AGE_RUN_MS);
  else for (let time = 0; time < RELOADS; time += 1) await reload(stage, side, time);
  const tally = await stop();
  await sleep(QUIET_MS);
  const replaced = await restarts(side, reason);
  const migrate = readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'utf8').trim();
  return { ...tally, replaced, migrate };
}

async function reload(stage: Stage, { child }: Side, time: number): Promise<void> {
  writeFileSync(join(stage.definitions, 'later.baml'), `enum Later {\n  VALUE_${time}\n}\n`);
  child.kill('SIGHUP');
  await sleep(RELOAD_EVERY_MS);
}

/** New connections at a fixed rate, one call each, until stopped. Omits those that this process could not open in time. */
function startConnections(url: string, perSecond: number): () => Promise<Tally> {
  const tally: Tally = { served: 0, refused: 0, failed: 0, reasons: {} };
  const agent = new Agent({ keepAlive: false });
  const open = new Set<Promise<void>>();
  let last = performance.now();
  let due = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    due = Math.min(due + ((now - last) / 1000) * perSecond, perSecond * MAX_BURST_SECONDS);
    last = now;
    for (; due >= 1; due -= 1) {
      const call = ask(`${url}/call/Small`, agent, tally).finally(() => open.delete(call));
      open.add(call);
    }
  }, 2);
  return async () => {
    clearInterval(timer);
    await Promise.all(open);
    return tally;
  };
}

async function ask(url: string, agent: Agent, tally: Tally): Promise<void> {
  try {
    await post(url, agent);
    tally.served += 1;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code ?? message;
    if (reason === 'ECONNREFUSED') tally.refused += 1;
    else {
      tally.failed += 1;
      tally.reasons[reason] = (tally.reasons[reason] ?? 0) + 1;
    }
  }
}

/** The number of workers that were replaced for this reason. */
async function restarts({ url }: Side, reason: Reason): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('svc_worker_restarts_total{') && line.includes(`reason="${reason}"`));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

// Entry file: the replacement of workers, one after the other, by reload and by age, under 500 new connections a second, with and
// without the kernel's net.ipv4.tcp_migrate_req, each in a network namespace of its own. Needs `unshare` and `ip`.
//
// Usage: rolling.js [--rate 500]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { end } from './child-process.ts';
import { startConnections, type Tally } from './fault-load.ts';
import { metric, startFaultServer, type FaultServer, type TransportName } from './fault-server.ts';
import { table, writeResults } from './report.ts';
import { setStage, type Stage } from './sides.ts';

type Reason = 'reload' | 'age';

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
  const stage = await setStage({ sides: [] });
  try {
    const env = reason === 'age' ? { SVC_MAX_WORKER_AGE: AGE } : {};
    const server = await startFaultServer(stage, { transport, env });
    try {
      return { ...(await roll(stage, server, reason)), transport, reason };
    } finally {
      await end(server.child);
    }
  } finally {
    await stage.end();
  }
}

type Rolled = Omit<RollingResult, 'transport' | 'reason'>;

async function roll(stage: Stage, server: FaultServer, reason: Reason): Promise<Rolled> {
  const load = startConnections(server.url, Number(values.rate));
  if (reason === 'age') await sleep(AGE_RUN_MS);
  else for (let time = 0; time < RELOADS; time += 1) await reload(stage, server, time);
  const tally = await load.stop();
  await sleep(QUIET_MS);
  const replaced = await metric(server, 'svc_worker_restarts_total', `reason="${reason}"`);
  const migrate = readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'utf8').trim();
  return { ...tally, replaced, migrate };
}

async function reload(stage: Stage, server: FaultServer, time: number): Promise<void> {
  writeFileSync(join(stage.definitions, 'later.baml'), `enum Later {\n  VALUE_${time}\n}\n`);
  server.child.kill('SIGHUP');
  await sleep(RELOAD_EVERY_MS);
}

import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LaneOptions, RunningLoad } from './fault-load.ts';
import {
  isAlive,
  listenersOn,
  metric,
  startFaultServer,
  timeUntil,
  workersOf,
  type FaultServer,
  type FaultStart,
  type TransportName,
} from './fault-server.ts';
import { cpuMicrosOf } from './process-usage.ts';
import type { Stage } from './sides.ts';

/** The server and the load that a fault acts on. */
export interface FaultScene {
  readonly stage: Stage;
  readonly server: FaultServer;
  readonly transport: TransportName;
  readonly load: RunningLoad;
}

export interface FaultCase {
  readonly name: string;
  readonly title: string;
  readonly load: Omit<LaneOptions, 'url'>;
  readonly start?: Omit<FaultStart, 'transport'>;
  /** Causes the fault; resolves to other observations, as a sentence. */
  act(scene: FaultScene): Promise<string>;
}

/** About 800 requests a second: two cores are partly idle. */
const MODERATE = { calls: 16, streams: 4, pauseMs: 20 };
/** As many requests as the cores allow. */
const SATURATED = { calls: 16, streams: 4, pauseMs: 0 };
const KILLS = 10;
const LARGE_CALLS = 200;

export const FAULT_CASES: readonly FaultCase[] = [
  {
    name: 'kill-worker',
    title: 'kill -9 of a worker each second, 10 times',
    load: MODERATE,
    act: killWorkers,
  },
  {
    name: 'kill-worker-saturated',
    title: 'the same, with both cores saturated',
    load: SATURATED,
    act: killWorkers,
  },
  {
    name: 'kill-worker-saturated-4',
    title: 'the same, saturated, with 4 workers',
    load: SATURATED,
    start: { env: { SVC_WORKERS: '4' } },
    act: killWorkers,
  },
  {
    name: 'stop-worker',
    title: 'SIGSTOP of a worker',
    load: MODERATE,
    act: stopWorker,
  },
  {
    name: 'kill-primary',
    title: 'kill -9 of the primary, started again at once',
    load: MODERATE,
    act: killPrimary,
  },
  {
    name: 'heap',
    title: 'heap exhaustion: 200 replies of 1 MB at once in 40 MB of heap',
    load: { ...MODERATE, streams: 0 },
    start: { env: { NODE_OPTIONS: '--max-old-space-size=40' } },
    act: exhaustHeap,
  },
  {
    name: 'descriptors',
    title: 'descriptor exhaustion: 256 descriptors a process, 600 idle connections',
    load: MODERATE,
    start: { shell: 'sh -c \'ulimit -n 256; exec "$@"\' sh "$@"' },
    act: exhaustDescriptors,
  },
  {
    name: 'disk-full',
    title: 'log on a full disk (/dev/full)',
    load: MODERATE,
    start: { env: { SVC_LOG_LEVEL: 'info' }, shell: '"$@" >/dev/full 2>/dev/full' },
    act: loseLog,
  },
  {
    name: 'stdout-closed',
    title: 'stdout and stderr closed: a pipe without a reader',
    load: MODERATE,
    start: { env: { SVC_LOG_LEVEL: 'info' }, shell: 'bash -c \'exec "$@" > >(exit 0) 2>&1\' bash "$@"' },
    act: loseLog,
  },
  {
    name: 'sigterm',
    title: 'SIGTERM (refused: after the server stopped accepting)',
    load: MODERATE,
    act: terminate,
  },
];

async function killWorkers({ server, transport }: FaultScene): Promise<string> {
  const gaps: number[] = [];
  const killed = new Set<number>();
  for (let time = 0; time < KILLS; time += 1) {
    const begin = performance.now();
    const victim = workersOf(server).find((pid) => !killed.has(pid));
    if (victim === undefined) return 'no worker remains';
    killed.add(victim);
    const listeners = listenersOn(server.port);
    process.kill(victim, 'SIGKILL');
    await timeUntil(() => !isAlive(victim), 1000);
    gaps.push(await timeUntil(() => listenersOn(server.port) >= listeners, 5000));
    await sleep(Math.max(0, 1000 - (performance.now() - begin)));
  }
  if (transport === 'node') return 'the primary holds the socket';
  const late = gaps.filter((gap) => !(gap < 1000)).length;
  return `listens again after at most ${milliseconds(Math.max(...gaps))}, ${late} times after more than 1 s`;
}

async function stopWorker({ server }: FaultScene): Promise<string> {
  const [victim = 0] = workersOf(server);
  process.kill(victim, 'SIGSTOP');
  const gone = await timeUntil(() => !isAlive(victim), 15_000);
  await sleep(1000);
  return `killed after ${milliseconds(gone)}`;
}

async function killPrimary({ stage, server, transport }: FaultScene): Promise<string> {
  const workers = workersOf(server);
  process.kill(server.pid, 'SIGKILL');
  const gone = await timeUntil(() => !workers.some(isAlive), 10_000);
  const begin = performance.now();
  const again = await startFaultServer(stage, { transport, port: server.port });
  const served = performance.now() - begin;
  await sleep(1000);
  again.child.kill('SIGTERM');
  await timeUntil(() => again.child.exitCode !== null, 10_000);
  return `workers gone after ${milliseconds(gone)}, a new server answers ${milliseconds(served)} later`;
}

async function exhaustHeap({ server }: FaultScene): Promise<string> {
  const calls = Array.from({ length: LARGE_CALLS }, () => callLarge(server));
  const answers = await Promise.all(calls);
  await sleep(3000);
  const deaths = await metric(server, 'svc_worker_restarts_total', 'reason="crash"');
  const served = answers.filter((status) => status === 200).length;
  return `${served} of ${LARGE_CALLS} large calls served; ${deaths} workers died and were replaced`;
}

async function callLarge(server: FaultServer): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  try {
    const init = { method: 'POST', headers, body: '{"text": "all of it"}' };
    const response = await fetch(`${server.url}/call/Megabyte`, init);
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

async function exhaustDescriptors({ server }: FaultScene): Promise<string> {
  const held = await Promise.all(Array.from({ length: 600 }, () => hold(server.port)));
  await sleep(1000);
  const before = cpuMicrosOf(server.pid);
  await sleep(2000);
  const share = (cpuMicrosOf(server.pid) - before) / 2_000_000;
  for (const socket of held) socket?.destroy();
  await sleep(1000);
  const response = await fetch(`${server.url}/readyz`);
  const open = held.filter((socket) => socket !== undefined && !socket.destroyed).length;
  return `${(share * 100).toFixed(0)} % of a core meanwhile; ${open} open; afterwards /readyz ${response.status}`;
}

/** A connection that sends nothing; undefined if it is not accepted. */
function hold(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(undefined));
    socket.once('connect', () => resolve(socket));
  });
}

async function loseLog({ server }: FaultScene): Promise<string> {
  await sleep(3000);
  return `${await metric(server, 'svc_log_lines_dropped_total')} lines dropped, counted in the metrics`;
}

async function terminate({ server, load }: FaultScene): Promise<string> {
  await sleep(2000);
  const begin = performance.now();
  server.child.kill('SIGTERM');
  await timeUntil(() => server.child.exitCode !== null || server.child.signalCode !== null, 20_000);
  const took = performance.now() - begin;
  const { exitCode } = server.child;
  return `exit code ${exitCode} after ${milliseconds(took)}; streams without a last message: ${load.tally.cutStreams}`;
}

function milliseconds(time: number): string {
  return Number.isNaN(time) ? '(not in time)' : `${time.toFixed(0)} ms`;
}

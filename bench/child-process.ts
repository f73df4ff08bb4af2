import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree } from './process-usage.ts';

/** The bench kills a server that has not exited within this time after SIGTERM. */
const END_TIMEOUT_MS = 3000;
const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 5;

/** Every child that has not exited: no process outlives the bench, even if the bench fails. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) killTree(child.pid);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The working folder; by default that of the bench. */
  readonly cwd?: string;
}

/** Starts a program; discards its stdout and stderr unless `BENCH_DEBUG` is set. */
export function start(command: Command): ChildProcess {
  const output = process.env['BENCH_DEBUG'] === undefined ? 'ignore' : 'inherit';
  return track(command, ['ignore', output, output]);
}

/** Starts a program whose first line of output is the port it chose. */
export async function startWithPort(
  command: Command,
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = track(command, ['ignore', 'pipe', 'inherit']);
  const output = child.stdout;
  if (output === null) throw new Error('no output');
  const [line] = (await once(output, 'data')) as [Buffer];
  return { child, port: Number(line.toString()) };
}

function track(command: Command, stdio: ['ignore', 'ignore' | 'pipe' | 'inherit', 'ignore' | 'inherit']): ChildProcess {
  const { program, args, env, cwd } = command;
  const child = spawn(program, args, { stdio, cwd, env: { ...process.env, ...env } });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Sends SIGTERM, then, some seconds later, SIGKILL to the process and its children if they still run. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  const tree = processTree(child.pid ?? 0);
  child.kill('SIGTERM');
  const timer = setTimeout(() => killAll(tree), END_TIMEOUT_MS);
  await exit;
  clearTimeout(timer);
}

function killTree(pid: number | undefined): void {
  if (pid !== undefined) killAll(processTree(pid));
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Already gone.
    }
  }
}

/** The kernel can give a port again before the server for which it was chosen has bound it. */
const chosen = new Set<number>();

/** A port that was free a moment ago, and that this process has not chosen before. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  if (chosen.has(port)) return freePort();
  chosen.add(port);
  return port;
}

/** Waits until the address answers 200; throws if the process exits first or takes too long. */
export async function untilReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')}: exited with ${child.exitCode}`);
    if (await answers(url)) return;
    await sleep(POLL_MS);
  }
  throw new Error(`${child.spawnargs.join(' ')}: not ready after ${READY_TIMEOUT_MS} ms`);
}

/** Waits until the spare worker of svc has started, a second or two after the others, so that it disturbs no measurement. */
export async function untilSpare(child: ChildProcess, workers: number): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  // Besides these, the primary.
  while (processTree(child.pid ?? 0).length < 1 + workers + 1) {
    if (performance.now() > deadline) throw new Error(`no spare worker after ${READY_TIMEOUT_MS} ms`);
    await sleep(100);
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

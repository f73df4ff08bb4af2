import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { end, freePort, start, untilReady } from './child-process.ts';
import { processTree } from './process-usage.ts';
import { commandOf, type Stage } from './sides.ts';

export type TransportName = 'uws' | 'node';

/** How to start svc for a fault. */
export interface FaultStart {
  readonly transport: TransportName;
  readonly env?: Readonly<Record<string, string>>;
  /** Shell code around the command, which is `"$@"`; by default only the command. */
  readonly shell?: string;
  /** By default a free port. */
  readonly port?: number;
}

/** A server that a fault acts on. */
export interface FaultServer {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  readonly url: string;
}

/** Starts svc with two workers and waits until it answers. */
export async function startFaultServer(stage: Stage, options: FaultStart): Promise<FaultServer> {
  const port = options.port ?? (await freePort());
  const env = { SVC_TRANSPORT: options.transport, ...options.env };
  const { program, args, ...rest } = commandOf('svc', String(port), { ...stage, env });
  const shell = ['-c', `exec ${options.shell ?? '"$@"'}`, 'sh', program, ...args];
  const child = start({ ...rest, program: 'sh', args: shell });
  const url = `http://127.0.0.1:${port}`;
  try {
    await untilReady(child, `${url}/_debug/ping`);
  } catch (error) {
    await end(child);
    throw error;
  }
  return { child, pid: child.pid ?? 0, port, url };
}

/** The processes of the workers, including the spare one, oldest first. */
export function workersOf(server: FaultServer): readonly number[] {
  return processTree(server.pid).slice(1);
}

/** Sockets that listen on the port: one for each worker on uws; one, shared by all, on node. */
export function listenersOn(port: number): number {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(suffix) && state === '0A').length;
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie: a process that exited, and whose parent has not waited for it yet.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Milliseconds until the condition holds; NaN if it does not hold within the limit. */
export async function timeUntil(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<number> {
  const begin = performance.now();
  while (!(await condition())) {
    if (performance.now() - begin > limitMs) return Number.NaN;
    await sleep(5);
  }
  return performance.now() - begin;
}

/** The sum of a metric over the label sets that match. */
export async function metric(server: FaultServer, name: string, labels = ''): Promise<number> {
  const response = await fetch(`${server.url}/metrics`);
  const lines = (await response.text()).split('\n');
  const matching = lines.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  const values = matching.filter((line) => line.includes(labels)).map((line) => Number(line.split(' ').at(-1)));
  return values.reduce((sum, value) => sum + value, 0);
}

import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { end, freePort, start, untilReady } from './child-process.ts';
import { processTree } from './process-usage.ts';
import { commandOf, type Stage } from './sides.ts';

export type TransportName = 'uws' | 'node';

/** How svc is started for a fault. */
export interface FaultStart {
  readonly transport: TransportName;
  readonly env?: Readonly<Record<string, string>>;
  /** Shell code around the command, which is `"$@"`; by default that alone. */
  readonly shell?: string;
  /** A free one unless given. */
  readonly port?: number;
}

/** A server that something is done to. */
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

/** The processes of the workers, the spare one among them, oldest first. */
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
    // A process that ended and that nobody has waited for yet.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Milliseconds until the condition holds; NaN when it does not within the limit. */
export async function timeUntil(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<number> {
  const begin = performance.now();
  while (!(await condition())) {
    if (performance.now() - begin > limitMs) return Number.NaN;
    await sleep(5);
  }
  return performance.now() - begin;
}

/** The sum of a metric over its labels, those that match. */
export async function metric(server: FaultServer, name: string, labels = ''): Promise<number> {
  const response = await fetch(`${server.url}/metrics`);
  const lines = (await response.text()).split('\n');
  const matching = lines.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  const values = matching.filter((line) => line.includes(labels)).map((line) => Number(line.split(' ').at(-1)));
  return values.reduce((sum, value) => sum + value, 0);
}

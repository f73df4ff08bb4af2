import { readFileSync, readdirSync } from 'node:fs';

/** Microseconds in one tick of /proc/<pid>/stat: USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MICROS = 10_000;
const KIB = 1024;

interface ProcessStat {
  readonly parent: number;
  readonly cpuMicros: number;
}

/** User and system time of a process and of all its living descendants, in microseconds. */
export function cpuMicrosOf(root: number): number {
  let total = 0;
  for (const pid of processTree(root)) total += readStat(pid)?.cpuMicros ?? 0;
  return total;
}

/**
 * Returns the user and system time of processes in microseconds: the sum of `/proc/<pid>/task/<tid>/schedstat`. Measures spans of less
 * than a second, for which the ticks of `/proc/<pid>/stat` are too coarse. A thread that ends takes its whole time out of the sum, so the
 * difference over a span in which a thread ends is too small.
 */
export function fineCpuMicrosOf(pids: readonly number[]): number {
  let nanos = 0;
  for (const pid of pids) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) nanos += nanosOf(`/proc/${pid}/task/${thread}/schedstat`);
  }
  return nanos / 1000;
}

/** 0 if the thread has ended. */
function nanosOf(schedstat: string): number {
  try {
    return Number.parseInt(readFileSync(schedstat, 'latin1'), 10);
  } catch {
    return 0;
  }
}

/** `root` first, then its living descendants. */
export function processTree(root: number): readonly number[] {
  const children = childrenByParent();
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

export interface Memory {
  readonly rssBytes: number;
  /** Shared pages divided by their number of users, so that processes can be added up. */
  readonly pssBytes: number;
}

export function memoryOf(pid: number): Memory {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return { rssBytes: kibibytesIn(rollup, 'Rss'), pssBytes: kibibytesIn(rollup, 'Pss') };
}

function kibibytesIn(rollup: string, field: string): number {
  const match = new RegExp(`^${field}: +(\\d+) kB`, 'm').exec(rollup);
  return Number(match?.[1] ?? Number.NaN) * KIB;
}

function childrenByParent(): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    const parent = Number.isInteger(pid) ? readStat(pid)?.parent : undefined;
    if (parent === undefined) continue;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [pid]);
    else siblings.push(pid);
  }
  return children;
}

/** Undefined if the process has exited. Fields as in proc_pid_stat(5), counted after the name, which can contain spaces. */
function readStat(pid: number): ProcessStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { parent: Number(fields[1]), cpuMicros: ticks * TICK_MICROS };
}

import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';

/** What this process may use of the machine. */
export interface ContainerLimits {
  /** Whole cores, at least 1: the smaller one of CPU affinity and the container's CPU quota, rounded up. */
  readonly cores: number;
  /** The container's memory limit; absent when there is none below the machine's own memory. */
  readonly memoryBytes?: number;
}

/** How the limits of one control group are read, by version of the interface. */
const V2 = { mount: '/sys/fs/cgroup', controller: '' };
const V1_CPU = { mount: '/sys/fs/cgroup/cpu', controller: 'cpu' };
const V1_MEMORY = { mount: '/sys/fs/cgroup/memory', controller: 'memory' };

/** Reads a file, or undefined when it is not there: control groups exist on Linux alone, in two versions. */
export type ReadText = (path: string) => string | undefined;

/**
 * Cores and memory by affinity and control groups, version 1 and 2. `os.availableParallelism` knows the affinity but, in
 * Node 20, no quota, with which `docker run --cpus 2` on a machine of 64 cores would get 64 workers.
 */
export function containerLimits(read: ReadText = readTextFile): ContainerLimits {
  const quotas = [...groupFiles(V2, 'cpu.max', read).map(quotaOfV2), ...quotasOfV1(read)];
  const limits = [
    ...groupFiles(V2, 'memory.max', read).map(Number),
    ...groupFiles(V1_MEMORY, 'memory.limit_in_bytes', read).map(Number),
  ];
  const cores = Math.max(1, Math.ceil(smallest([availableParallelism(), ...quotas])));
  const memoryBytes = smallest(limits);
  return memoryBytes < totalmem() ? { cores, memoryBytes } : { cores };
}

function quotasOfV1(read: ReadText): readonly number[] {
  const quotas = groupFiles(V1_CPU, 'cpu.cfs_quota_us', read);
  const periods = groupFiles(V1_CPU, 'cpu.cfs_period_us', read);
  // A quota of -1 means none.
  return quotas.map((quota, index) => (Number(quota) > 0 ? Number(quota) / Number(periods[index]) : Number.NaN));
}

/** `max 100000` or `150000 100000`: microseconds of CPU time in each period. */
function quotaOfV2(text: string): number {
  const [quota, period] = text.split(' ');
  return Number(quota) / Number(period);
}

/** The file in the group of this process and in every group above it: each of them limits. */
function groupFiles(group: typeof V2, file: string, read: ReadText): readonly string[] {
  const found: string[] = [];
  for (let path = groupPath(group.controller, read); ; path = path.slice(0, path.lastIndexOf('/'))) {
    const text = read(join(group.mount, path, file));
    if (text !== undefined) found.push(text.trim());
    if (path === '') return found;
  }
}

/** Inside a container the path is `/` or not visible below the mount: then the mount itself is the group. */
function groupPath(controller: string, read: ReadText): string {
  for (const line of (read('/proc/self/cgroup') ?? '').split('\n')) {
    const [, controllers, path] = line.split(':');
    if (controllers?.split(',').includes(controller) === true && path?.startsWith('/') === true) {
      return path.replace(/\/$/u, '');
    }
  }
  return '';
}

/** Infinity for an empty list; what is no positive number does not count. */
function smallest(values: readonly number[]): number {
  return Math.min(...values.filter((value) => value > 0), Number.POSITIVE_INFINITY);
}

function readTextFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

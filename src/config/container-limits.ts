import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';

/** The share of the machine that this process can use. */
export interface ContainerLimits {
  /** Whole cores, at least 1: the smaller of CPU affinity and the container's CPU quota, rounded up. */
  readonly cores: number;
  /** The container's memory limit; absent if there is none below the memory of the machine. */
  readonly memoryBytes?: number;
}

/** Mount points and controllers of control groups, for both versions of the interface. */
const V2 = { mount: '/sys/fs/cgroup', controller: '' };
const V1_CPU = { mount: '/sys/fs/cgroup/cpu', controller: 'cpu' };
const V1_MEMORY = { mount: '/sys/fs/cgroup/memory', controller: 'memory' };

/** Returns the text of a file, or undefined if it does not exist: only Linux has control groups, in two versions. */
export type ReadText = (path: string) => string | undefined;

/**
 * Reads the limits on cores and memory from CPU affinity and control groups, version 1 and 2. In Node 20,
 * `os.availableParallelism` ignores quotas: with it, `docker run --cpus 2` on a machine of 64 cores would start 64 workers.
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
  // A quota of -1 means no quota.
  return quotas.map((quota, index) => (Number(quota) > 0 ? Number(quota) / Number(periods[index]) : Number.NaN));
}

/** `max 100000` or `150000 100000`: microseconds of CPU time in each period. */
function quotaOfV2(text: string): number {
  const [quota, period] = text.split(' ');
  return Number(quota) / Number(period);
}

/** Reads the file in the group of this process and in every group above it, since each of them sets a limit. */
function groupFiles(group: typeof V2, file: string, read: ReadText): readonly string[] {
  const found: string[] = [];
  for (let path = groupPath(group.controller, read); ; path = path.slice(0, path.lastIndexOf('/'))) {
    const text = read(join(group.mount, path, file));
    if (text !== undefined) found.push(text.trim());
    if (path === '') return found;
  }
}

/** Inside a container the path is `/`, or not visible below the mount; then the mount itself is the group. */
function groupPath(controller: string, read: ReadText): string {
  for (const line of (read('/proc/self/cgroup') ?? '').split('\n')) {
    const [, controllers, path] = line.split(':');
    if (controllers?.split(',').includes(controller) === true && path?.startsWith('/') === true) {
      return path.replace(/\/$/u, '');
    }
  }
  return '';
}

/** The smallest positive number; Infinity if there is none. */
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

/** Memory of the primary and of the spare worker. */
const PRIMARY_AND_SPARE_BYTES = 136 * 2 ** 20;

/** A worker takes under 100 MB. With less room than this for garbage, svc would keep replacing it. */
const MIN_WORKER_BYTES = 128 * 2 ** 20;

/** How many workers the container's memory holds; Infinity without a limit. */
export function workersThatFit(limits: ContainerLimits): number {
  return Math.floor(memoryForWorkers(limits) / MIN_WORKER_BYTES) - 1;
}

/** Resident bytes above which a worker is replaced; 0 (never) without a limit. */
export function workerMemoryShare(limits: ContainerLimits, workers: number): number {
  if (limits.memoryBytes === undefined) return 0;
  return Math.max(MIN_WORKER_BYTES, Math.floor(memoryForWorkers(limits) / (workers + 1)));
}

/**
 * A tenth of the container is left to the system. The primary and the spare worker take their part; the workers share the
 * rest with an old one that still drains while its replacement serves.
 */
function memoryForWorkers({ memoryBytes = Number.POSITIVE_INFINITY }: ContainerLimits): number {
  return memoryBytes * 0.9 - PRIMARY_AND_SPARE_BYTES;
}

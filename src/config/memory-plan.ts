import type { ContainerLimits } from './container-limits.ts';

/** The primary, and the worker that is loaded and waits. */
const BESIDE_WORKERS = 136 * 2 ** 20;

/** A worker takes under 100 MB; with less room than this for garbage it would be replaced for nothing. */
const LEAST_FOR_WORKER = 128 * 2 ** 20;

/** So many workers at most fit into the container's memory; Infinity where it has no limit. */
export function roomForWorkers(limits: ContainerLimits): number {
  return Math.floor(memoryOfWorkers(limits) / LEAST_FOR_WORKER) - 1;
}

/** Resident bytes above which a worker is replaced; 0, which is never, without a limit. */
export function memoryShare(limits: ContainerLimits, workers: number): number {
  if (limits.memoryBytes === undefined) return 0;
  return Math.max(LEAST_FOR_WORKER, Math.floor(memoryOfWorkers(limits) / (workers + 1)));
}

/**
 * A tenth of the container is left to the system, and what the primary and the spare worker take; the rest is shared by the
 * workers and by an old one that still drains while its replacement serves.
 */
function memoryOfWorkers({ memoryBytes = Number.POSITIVE_INFINITY }: ContainerLimits): number {
  return memoryBytes * 0.9 - BESIDE_WORKERS;
}

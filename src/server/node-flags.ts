import type { Config } from '../config/config.ts';
import { LIBRARY_MAX_HEAD_BYTES } from './http/transports/framing.ts';

const MIB = 2 ** 20;

/**
 * Megabytes of each half of V8's young generation, a quarter of the default 16. An eighth would cost up to 10 % more CPU
 * time: calls in flight would be moved to the old generation before they end.
 */
const SEMI_SPACE_MB = 4;

/**
 * Percentage by which the old generation can grow over what survived the last collection. About 11 MB survive in a worker,
 * whatever it served; V8's default accumulates 35 MB of garbage on top, this setting 8 MB, at no measurable cost in CPU time.
 */
const HEAP_GROWING_PERCENT = 30;

/** V8 starts four threads for compilation and garbage collection, however few cores there are. */
const MAX_V8_THREADS = 4;

/**
 * The flags of Node for workers. The heap limit equals the memory at which a worker is replaced. Resident memory contains much
 * besides the heap, so replacement comes first; V8 ends only a worker that grows faster than it can be replaced.
 */
export function nodeFlags({ cores, maxWorkerMemoryBytes }: Config): readonly string[] {
  const flags = [
    `--max-semi-space-size=${SEMI_SPACE_MB}`,
    `--heap-growing-percent=${HEAP_GROWING_PERCENT}`,
    `--v8-pool-size=${Math.min(MAX_V8_THREADS, cores)}`,
  ];
  if (maxWorkerMemoryBytes > 0) flags.push(`--max-old-space-size=${Math.ceil(maxWorkerMemoryBytes / MIB)}`);
  return flags;
}

/**
 * Environment variables of workers, which libraries read before any code of svc runs. uWebSockets.js would accept at most 4 KB
 * of headers. glibc's allocator gets two arenas instead of one per thread, each of which keeps the memory of past compilations.
 */
export function workerVariables(config: Config): Readonly<Record<string, string>> {
  return {
    UWS_HTTP_MAX_HEADERS_SIZE: String(LIBRARY_MAX_HEAD_BYTES),
    MALLOC_ARENA_MAX: config.env['MALLOC_ARENA_MAX'] ?? '2',
  };
}

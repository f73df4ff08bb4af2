import type { Config } from '../config/config.ts';
import { LIBRARY_MAX_HEAD_BYTES } from './http/transports/framing.ts';

const MIB = 2 ** 20;

/**
 * Megabytes of each half of V8's young generation, a quarter of its usual 16. An eighth would cost up to a tenth more CPU
 * time: what calls in flight hold is then moved to the old generation before they end.
 */
const SEMI_SPACE_MB = 4;

/**
 * By so many percent the old generation may grow over what was alive at the last collection. Some 11 MB are alive in a
 * worker, whatever it has served; V8's own choice lets it pile up 35 MB of garbage on that, this one 8 MB, at no cost in
 * CPU time that could be measured.
 */
const HEAP_GROWING_PERCENT = 30;

/** V8 starts four threads for compiling and collecting, however few cores there are. */
const MAX_V8_THREADS = 4;

/**
 * The flags of Node for workers. The limit of the heap is the one at which a worker is replaced: its resident memory holds
 * much besides the heap, so replacement comes first, and V8 ends only a worker that grows faster than it can be replaced.
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
 * Variables of workers, read by libraries before any code of ours runs: uWebSockets.js would take headers of 4 KB at most;
 * and two arenas for glibc's allocator in place of one per thread, each of which keeps what compiling once took.
 */
export function workerVariables(config: Config): Readonly<Record<string, string>> {
  return {
    UWS_HTTP_MAX_HEADERS_SIZE: String(LIBRARY_MAX_HEAD_BYTES),
    MALLOC_ARENA_MAX: config.env['MALLOC_ARENA_MAX'] ?? '2',
  };
}

import type { Config } from '../config/config.ts';
import { LIBRARY_MAX_HEAD_BYTES } from './http/transports/framing.ts';

const KIB = 2 ** 10;
const MIB = 2 ** 20;

/**
 * Megabytes of each half of V8's young generation, a quarter of the default 16. An eighth would cost up to 10 % more CPU
 * time: calls in flight would be moved to the old generation before they end.
 */
const SEMI_SPACE_MB = 4;

/**
 * Percentage by which the old generation can grow over what survived the last collection. About 11 MB survive in a worker,
 * whatever it served, and 8 KB for each call in flight; V8's default accumulates 35 MB of garbage on top. Calls that take a second
 * outlive the young generation: with 30 %, a worker with 500 of them in flight collects once a second, which takes a quarter of its
 * CPU time. 100 % halves that, and a call in flight then takes 73 KiB; 50 % is between them, with 57 KiB.
 */
const HEAP_GROWING_PERCENT = 50;

/** V8 starts four threads for compilation and garbage collection, however few cores there are. */
const MAX_V8_THREADS = 4;

/**
 * V8 optimizes a WebAssembly function after it has executed about this many bytes of its code. With the defaults, 1.8 million on Node 20
 * and 13 million on Node 22, V8 would optimize the parser of HTTP responses, one large function, during the first calls of each worker.
 * That takes 0.2 to 0.4 s of CPU time.
 */
const WASM_TIERING_BUDGET = 1e9;

/**
 * The flags of Node for workers. The heap limit equals the memory at which a worker is replaced. Resident memory contains much
 * besides the heap, so replacement comes first; V8 ends only a worker that grows faster than it can be replaced.
 */
export function nodeFlags({ cores, workers, maxWorkerMemoryBytes }: Config): readonly string[] {
  // Divides the cores among the workers: during a burst, more compiler threads would take CPU time from the threads that answer calls.
  const v8Threads = Math.max(1, Math.min(MAX_V8_THREADS, Math.floor(cores / workers)));
  const flags = [
    `--max-semi-space-size=${SEMI_SPACE_MB}`,
    `--heap-growing-percent=${HEAP_GROWING_PERCENT}`,
    `--v8-pool-size=${v8Threads}`,
    `--wasm-tiering-budget=${WASM_TIERING_BUDGET}`,
    // Idle workers collect garbage by themselves: see idle-memory.ts, which calls a function that is experimental.
    '--no-memory-reducer',
    '--disable-warning=ExperimentalWarning',
  ];
  if (maxWorkerMemoryBytes > 0) flags.push(`--max-old-space-size=${Math.ceil(maxWorkerMemoryBytes / MIB)}`);
  return flags;
}

/**
 * Environment variables of workers, which libraries read before any code of svc runs. uWebSockets.js would accept at most 4 KB
 * of headers. V8's threads compile with up to 30 MB that they free soon afterwards. glibc returns such memory only if nothing that
 * stays is above it: the few arenas keep it apart from the memory of the main thread, and the threshold makes glibc return more
 * than that; its own rises to tens of megabytes.
 */
export function workerVariables(config: Config): Readonly<Record<string, string>> {
  return {
    UWS_HTTP_MAX_HEADERS_SIZE: String(LIBRARY_MAX_HEAD_BYTES),
    MALLOC_ARENA_MAX: config.env['MALLOC_ARENA_MAX'] ?? '4',
    MALLOC_TRIM_THRESHOLD_: config.env['MALLOC_TRIM_THRESHOLD_'] ?? String(256 * KIB),
  };
}

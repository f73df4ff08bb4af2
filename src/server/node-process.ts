import { readFileSync } from 'node:fs';
import { AsyncResource } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';
import { measureMemory } from 'node:vm';
import type { Config } from '../config/config.ts';
import { LIBRARY_MAX_HEAD_BYTES } from './http/transports/framing.ts';
import { shareOf } from './admission.ts';

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
 * V8 of Node 20 optimizes a function after it has executed a few times this many bytes of its code; its default is 67,584. With less than half of
 * that, the first 3,000 calls of a warm worker cost about a fifth less, and later ones the same. Later versions of Node have no such flag.
 */
const INTERRUPT_BUDGET = 30_000;

/**
 * V8 builds the code of callees into that of their caller, up to this many bytes of bytecode for each function that it optimizes; its default
 * is 920. With about half of that, a worker compiles its hot code in a third less time, and the later price of calls and streams is the same.
 */
const MAX_INLINED_BYTES = 500;

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
    `--max-inlined-bytecode-size-cumulative=${MAX_INLINED_BYTES}`,
    // Idle workers collect garbage by themselves: see `IdleMemory`, which calls a function that is experimental.
    '--no-memory-reducer',
    '--disable-warning=ExperimentalWarning',
  ];
  if (process.versions.modules === '115') flags.push(`--interrupt-budget=${INTERRUPT_BUDGET}`);
  if (maxWorkerMemoryBytes > 0) flags.push(`--max-old-space-size=${Math.ceil(maxWorkerMemoryBytes / MIB)}`);
  return flags;
}

/**
 * Environment variables of workers, which libraries read before any code of svc runs. uWebSockets.js would accept at most 4 KB
 * of headers. V8's threads compile with up to 30 MB that they free soon afterwards. glibc returns such memory only if nothing that
 * stays is above it: the few arenas keep it apart from the memory of the main thread, and the threshold makes glibc return what is
 * free above it; its own rises to tens of megabytes. With a threshold of 256 KB, each function that is compiled would fault in its
 * pages again, which is a fifth of the compiler's time.
 */
export function workerVariables(config: Config): Readonly<Record<string, string>> {
  return {
    UWS_HTTP_MAX_HEADERS_SIZE: String(LIBRARY_MAX_HEAD_BYTES),
    MALLOC_ARENA_MAX: config.env['MALLOC_ARENA_MAX'] ?? '4',
    MALLOC_TRIM_THRESHOLD_: config.env['MALLOC_TRIM_THRESHOLD_'] ?? String(MIB),
  };
}

/** The files that a worker has open without a call (about 50), and room for idle callers and downloads of media. */
const RESERVE = 200;

type Limits = Pick<Config, 'maxInFlight' | 'maxQueue' | 'workers'>;

/**
 * The files that one worker can have open at its limits: a socket for the caller of each call in flight or in the queue, and,
 * over HTTP/1.1, a connection to the provider for each call in flight.
 */
export function openFilesNeeded({ maxInFlight, maxQueue, workers }: Limits): number {
  return 2 * shareOf(maxInFlight, workers) + shareOf(maxQueue, workers) + RESERVE;
}

/**
 * The limit of open files of this process, which its workers inherit; undefined if it is unknown or unlimited. Node raises the
 * soft limit to the hard one when it starts. `limits`: the text of /proc/self/limits, which only Linux has.
 */
export function openFileLimit(limits: string | undefined = readLimits()): number | undefined {
  const soft = /^Max open files +(\d+) /m.exec(limits ?? '')?.[1];
  return soft === undefined ? undefined : Number(soft);
}

function readLimits(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns a warning for the log if a worker can reach the limit of open files before its limits of calls. */
export function openFilesWarning(config: Limits, limit: number | undefined): string | undefined {
  const needed = openFilesNeeded(config);
  if (limit === undefined || limit >= needed) return undefined;
  const { maxInFlight, maxQueue, workers } = config;
  return (
    `A process can open ${limit} files, but each of ${workers} workers needs up to ${needed} for --max-in-flight ${maxInFlight} and ` +
    `--max-queue ${maxQueue}: further connections fail. Raise the hard limit to ${needed} (ulimit -Hn, LimitNOFILE= in ` +
    'systemd, --ulimit nofile= in Docker), or lower --max-in-flight and --max-queue.'
  );
}

type AnyFunction = (this: unknown, ...args: readonly unknown[]) => unknown;

/**
 * Replaces `AsyncResource.prototype.bind` in this process with a version that defines neither the deprecated property `asyncResource`
 * (DEP0172) nor `length` on bound functions.
 *
 * node:http2 binds a function for each request. To define that property, Node creates two accessors each time and, in Node 20,
 * changes their prototypes. V8 keeps those prototypes, and the request that they refer to, until it collects the old generation. On
 * Node 20, this costs 2 KB per request and a tenth of the CPU time of a call over HTTP/2.
 */
export function usePlainBind(): void {
  Object.defineProperty(AsyncResource.prototype, 'bind', { value: bind, writable: true, configurable: true });
}

function bind(this: AsyncResource, callback: AnyFunction, receiver?: unknown): AnyFunction {
  if (typeof callback !== 'function')
    throw new TypeError('the first argument of AsyncResource.bind must be a function');
  const run: AnyFunction = this.runInAsyncScope.bind(this, callback);
  if (receiver !== undefined) return run.bind(undefined, receiver);
  return function bound(...args) {
    return run(this, ...args);
  };
}

/**
 * Heartbeats without work after which a process collects its garbage. V8 shrinks its young generation only if less than 1 MB per second
 * was allocated in the last five seconds. The fifth beat can come after four of them, and the process would keep 7 MB.
 */
const IDLE_BEATS = 7;

/** A collection takes 15 to 30 ms of CPU time: less growth than this is not worth it. */
const MIN_GROWTH_BYTES = 4 * 1024 * 1024;

/**
 * Collects garbage, moves what is left together, and keeps optimized code. gc() and V8's own collections in idle processes also discard the
 * shapes of objects that no longer exist, and with them most of the optimized code of calls. Compiling it again takes about a second of CPU
 * time. Without moving, a warm worker would keep 8 MB that are free, but in pieces. Resolves when it is done.
 */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--compact-on-every-full-gc');
  // Rejects if the process ends first.
  await measureMemory({ execution: 'eager' }).catch(() => undefined);
  setFlagsFromString('--no-compact-on-every-full-gc');
}

/**
 * Decides when an idle process collects garbage. V8 collects only as it allocates: an idle worker would keep, for as long as it
 * is idle, the 10 to 20 MB that its start or its last calls left.
 */
export class IdleMemory {
  readonly #collect: () => void;
  /** The lowest resident memory since the last collection; undefined before the first one. */
  #lowest: number | undefined;
  #idleBeats = 0;

  constructor(collect: () => void) {
    this.#collect = collect;
  }

  /**
   * Call this once a second. `idle`: the process did no work since the last beat, and does none now. A warm-up is work.
   */
  beat(idle: boolean, rssBytes: number): void {
    if (this.#lowest !== undefined) this.#lowest = Math.min(this.#lowest, rssBytes);
    this.#idleBeats = idle ? this.#idleBeats + 1 : 0;
    if (this.#idleBeats < IDLE_BEATS || rssBytes - (this.#lowest ?? 0) < MIN_GROWTH_BYTES) return;
    this.#lowest = rssBytes;
    this.#collect();
  }
}

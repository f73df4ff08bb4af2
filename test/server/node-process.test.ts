import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { afterAll, beforeAll, expect, it, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/config/config.ts';
import {
  IdleMemory,
  nodeFlags,
  openFileLimit,
  openFilesNeeded,
  openFilesWarning,
  usePlainBind,
  workerVariables,
} from '../../src/server/node-process.ts';
import type { ThreadName } from '../support/bundle-threads.ts';
import { sourceThread } from '../support/source-thread.ts';
import type { OldSpace } from './support/fragmented-heap-thread.ts';
import type { Collector, OptimizedCode } from './support/optimized-code-thread.ts';

function configOf(cores: number, memoryBytes?: number, variables: Record<string, string> = {}): Config {
  const limits = memoryBytes === undefined ? { cores } : { cores, memoryBytes };
  const loaded = loadConfig({ dotenv: false }, { variables, limits });
  if (!loaded.ok) throw new Error(loaded.failure.message);
  return loaded.value.config;
}

function threads(cores: number, workers: string): string | undefined {
  const flags = nodeFlags(configOf(cores, undefined, { SVC_WORKERS: workers }));
  return flags.find((flag) => flag.startsWith('--v8-pool-size='));
}

test('each worker gets one V8 thread for each core of its share, at least one and at most four', () => {
  expect(threads(1, '2')).toBe('--v8-pool-size=1');
  expect(threads(4, '2')).toBe('--v8-pool-size=2');
  expect(threads(64, '64')).toBe('--v8-pool-size=1');
  expect(threads(64, '2')).toBe('--v8-pool-size=4');
});

test('where memory is limited, the heap limit is the size at which the worker is replaced', () => {
  const config = configOf(2, 2 ** 30);
  const limit = nodeFlags(config).find((flag) => flag.startsWith('--max-old-space-size='));
  const heapBytes = Number(limit?.split('=')[1]) * 2 ** 20;
  expect(heapBytes).toBeGreaterThanOrEqual(config.maxWorkerMemoryBytes);
  expect(heapBytes).toBeLessThan(config.maxWorkerMemoryBytes + 2 ** 20);
  expect(nodeFlags(configOf(2)).join(' ')).not.toContain('--max-old-space-size');
});

test('Node accepts all the flags', () => {
  const run = spawnSync(process.execPath, [...nodeFlags(configOf(2, 2 ** 30)), '--eval', 'process.exit(7)']);
  expect(run.stderr.toString()).toBe('');
  expect(run.status).toBe(7);
});

test.each(['MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_'])('svc sets %s unless the environment does', (name) => {
  expect(Number(workerVariables(configOf(2))[name])).toBeGreaterThan(0);
  expect(workerVariables(configOf(2, undefined, { [name]: '8' }))[name]).toBe('8');
});

const MIB = 2 ** 20;

/** Sends one beat per entry, true for an idle one, and returns the beats at which garbage was collected, from 1. */
function collections(idle: readonly boolean[], mib: (beat: number) => number): readonly number[] {
  const found: number[] = [];
  let beat = 0;
  const memory = new IdleMemory(() => found.push(beat));
  for (const one of idle) {
    beat += 1;
    memory.beat(one, mib(beat) * MIB);
  }
  return found;
}

const repeat = (idle: boolean, beats: number): readonly boolean[] => Array<boolean>(beats).fill(idle);

test('a process that started collects its garbage once, after seven idle beats', () => {
  expect(collections(repeat(true, 100), () => 60)).toEqual([7]);
});

test('a process that works does not collect', () => {
  expect(collections(repeat(false, 200), (beat) => 60 + beat)).toEqual([]);
  const pauses = Array.from({ length: 200 }, (_, index) => index % 5 !== 0);
  expect(collections(pauses, (beat) => 60 + beat)).toEqual([]);
});

test('work after which memory grew is followed by a collection, other work is not', () => {
  const beats = [...repeat(true, 10), ...repeat(false, 5), ...repeat(true, 100)];
  expect(collections(beats, (beat) => (beat > 10 ? 64 : 60))).toEqual([7, 22]);
  expect(collections(beats, (beat) => (beat > 10 ? 63 : 60))).toEqual([7]);
});

test('growth counts from what stayed after the last collection', () => {
  const beats = [...repeat(true, 10), ...repeat(false, 5), ...repeat(true, 100)];
  const mib = [...Array<number>(7).fill(80), ...Array<number>(3).fill(60)];
  expect(collections(beats, (beat) => mib[beat - 1] ?? 65)).toEqual([7, 22]);
});

for (const flag of ['--allow-natives-syntax', '--expose-gc']) setFlagsFromString(flag);

/** The message of a thread of `support`. */
async function messageOf<T>(name: ThreadName, data?: Collector): Promise<T> {
  const thread = new Worker(sourceThread(name), { workerData: data });
  const [message] = (await once(thread, 'message')) as [T];
  await thread.terminate();
  return message;
}

/** Returns whether a function has optimized code before and after a collection, which runs in a separate thread. */
function codeAround(collector: Collector): Promise<OptimizedCode> {
  return messageOf('optimized-code-thread', collector);
}

/** `gc()` discards the code each time. A collection of an idle process does so rarely: V8 marks while other threads run. */
const MOST_COLLECTIONS = 7;

test('a collection of an idle process keeps optimized code whose objects no longer exist', async () => {
  let kept = false;
  for (let index = 0; index < MOST_COLLECTIONS && !kept; index += 1) {
    const { before, after } = await codeAround('idle');
    expect(before).toBe(true);
    kept = after;
  }
  expect(kept).toBe(true);
});

test('gc() discards optimized code whose objects no longer exist', async () => {
  expect(await codeAround('gc')).toEqual({ before: true, after: false });
});

test('a collection of an idle process returns pages of which only pieces are in use', async () => {
  const { objects, usedBytes, pageBytes } = await messageOf<OldSpace>('fragmented-heap-thread');
  expect(objects).toBeGreaterThan(10_000);
  expect(usedBytes).toBeGreaterThan(2 ** 20);
  expect(pageBytes).toBeLessThan(2 * usedBytes);
});

const LIMITS = { maxInFlight: 2048, maxQueue: 2048, workers: 2 };

it('a worker needs two sockets for each call in flight, one for each in the queue, and a reserve', () => {
  expect(openFilesNeeded(LIMITS)).toBe(2 * 1024 + 1024 + 200);
  expect(openFilesNeeded({ ...LIMITS, maxQueue: 0 })).toBe(2 * 1024 + 200);
  expect(openFilesNeeded({ ...LIMITS, workers: 4 })).toBe(2 * 512 + 512 + 200);
});

it('a limit that is too low is reported with the number needed', () => {
  expect(openFilesWarning(LIMITS, 3271)).toBe(
    'A process can open 3271 files, but each of 2 workers needs up to 3272 for --max-in-flight 2048 and --max-queue 2048: ' +
      'further connections fail. Raise the hard limit to 3272 (ulimit -Hn, LimitNOFILE= in systemd, --ulimit nofile= in ' +
      'Docker), or lower --max-in-flight and --max-queue.',
  );
});

it('a limit that is high enough, unlimited or unknown is not reported', () => {
  expect(openFilesWarning(LIMITS, 3272)).toBeUndefined();
  expect(openFilesWarning(LIMITS, undefined)).toBeUndefined();
});

/** A part of `/proc/self/limits`. */
function line(soft: string): string {
  return `Limit                     Soft Limit           Hard Limit           Units\nMax processes             7                    8                    processes\nMax open files            ${soft.padEnd(20)} 1048576              files\n`;
}

it('the limit is the soft one of the process', () => {
  expect(openFileLimit(line('1024'))).toBe(1024);
  expect(openFileLimit(line('unlimited'))).toBeUndefined();
  expect(openFileLimit('')).toBeUndefined();
});

const original = Object.getOwnPropertyDescriptor(AsyncResource.prototype, 'bind');

beforeAll(() => usePlainBind());
afterAll(() => {
  if (original !== undefined) Object.defineProperty(AsyncResource.prototype, 'bind', original);
});

function receiverAndArguments(this: unknown, ...args: readonly unknown[]): unknown {
  return [this, ...args];
}

test('a bound function calls the original with the receiver and the arguments, and returns its result', () => {
  const receiver = {};
  expect(AsyncResource.bind(receiverAndArguments, 'test', receiver)(1, 2)).toEqual([receiver, 1, 2]);
  expect(new AsyncResource('test').bind(receiverAndArguments).call(receiver, 1, 2)).toEqual([receiver, 1, 2]);
});

test('a bound function runs in the asynchronous context in which its resource was created', () => {
  const storage = new AsyncLocalStorage<string>();
  const read = storage.run('inner', () => new AsyncResource('test').bind(() => storage.getStore()));
  expect(storage.run('outer', () => read())).toBe('inner');
  const readStatic = storage.run('inner', () => AsyncResource.bind(() => storage.getStore()));
  expect(storage.run('outer', () => readStatic())).toBe('inner');
});

test('a bound function throws the error of the original, and bind throws a TypeError if its argument is not a function', () => {
  const resource = new AsyncResource('test');
  const failing = resource.bind(() => {
    throw new Error('failed');
  });
  expect(failing).toThrow('failed');
  expect(() => resource.bind('text' as never)).toThrow(TypeError);
});

test('a bound function has no property `asyncResource`', () => {
  expect(new AsyncResource('test').bind(receiverAndArguments)).not.toHaveProperty('asyncResource');
});

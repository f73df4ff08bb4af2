import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { IdleMemory } from '../../src/server/idle-memory.ts';
import { sourceThread } from '../support/source-thread.ts';
import type { Collector, OptimizedCode } from './support/optimized-code-thread.ts';

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

test('a process that started collects its garbage once, after five idle beats', () => {
  expect(collections(repeat(true, 100), () => 60)).toEqual([5]);
});

test('a process that works does not collect', () => {
  expect(collections(repeat(false, 200), (beat) => 60 + beat)).toEqual([]);
  const pauses = Array.from({ length: 200 }, (_, index) => index % 5 !== 0);
  expect(collections(pauses, (beat) => 60 + beat)).toEqual([]);
});

test('work after which memory grew is followed by a collection, other work is not', () => {
  const beats = [...repeat(true, 10), ...repeat(false, 5), ...repeat(true, 100)];
  expect(collections(beats, (beat) => (beat > 10 ? 64 : 60))).toEqual([5, 20]);
  expect(collections(beats, (beat) => (beat > 10 ? 63 : 60))).toEqual([5]);
});

test('growth counts from what stayed after the last collection', () => {
  const beats = [...repeat(true, 10), ...repeat(false, 5), ...repeat(true, 100)];
  const mib = [...Array<number>(5).fill(80), ...Array<number>(5).fill(60)];
  expect(collections(beats, (beat) => mib[beat - 1] ?? 65)).toEqual([5, 20]);
});

for (const flag of ['--allow-natives-syntax', '--expose-gc']) setFlagsFromString(flag);

/** Returns whether a function has optimized code before and after a collection, which runs in a separate thread. */
async function codeAround(collector: Collector): Promise<OptimizedCode> {
  const thread = new Worker(sourceThread('optimized-code-thread'), { workerData: collector });
  const [code] = (await once(thread, 'message')) as [OptimizedCode];
  await thread.terminate();
  return code;
}

/** Most of these collections must keep the code. About one in 50 discards it, because V8 marks while other threads run. */
const COLLECTIONS = 7;

test('most collections of idle processes keep optimized code whose objects no longer exist', async () => {
  let kept = 0;
  for (let index = 0; index < COLLECTIONS; index += 1) {
    const { before, after } = await codeAround('idle');
    expect(before).toBe(true);
    if (after) kept += 1;
  }
  expect(kept).toBeGreaterThan(COLLECTIONS / 2);
});

test('gc() discards optimized code whose objects no longer exist', async () => {
  expect(await codeAround('gc')).toEqual({ before: true, after: false });
});

import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext, runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { collectGarbage, IdleMemory } from '../../src/server/idle-memory.ts';

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

/** Bit of %GetOptimizationStatus(): the function has optimized code. */
const OPTIMIZED = 16;

/** Compiles a function with optimization, whose objects exist only during its calls; returns a check whether it still has this code. */
function optimizedFunction(): () => boolean {
  setFlagsFromString('--allow-natives-syntax');
  const status = runInThisContext(`(() => {
    class Point { constructor(x) { this.x = x; this.y = { name: String(x) }; } get length() { return this.y.name.length; } }
    const work = (count) => { let sum = 0; for (let i = 0; i < count; i++) sum += new Point(i).length; return sum; };
    %PrepareFunctionForOptimization(work);
    work(100);
    work(100);
    %OptimizeFunctionOnNextCall(work);
    work(100);
    return () => { work(1); return %GetOptimizationStatus(work); };
  })()`) as () => number;
  return () => (status() & OPTIMIZED) > 0;
}

/** Counts the complete collections of this process from now on. */
function majorCollections(): () => number {
  let count = 0;
  const observer = new PerformanceObserver((list) => {
    const entries = list.getEntries().map((entry) => entry.toJSON() as { detail: { kind: number } });
    count += entries.filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR).length;
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => count;
}

test('the collection of an idle process keeps optimized code whose objects no longer exist', async () => {
  const isOptimized = optimizedFunction();
  expect(isOptimized()).toBe(true);
  const collected = majorCollections();
  collectGarbage();
  await expect.poll(collected).toBeGreaterThan(0);
  expect(isOptimized()).toBe(true);
});

test('gc() discards such code', () => {
  const isOptimized = optimizedFunction();
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  expect(isOptimized()).toBe(false);
});

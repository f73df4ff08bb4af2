import { expect, test } from 'vitest';
import { IdleMemory } from '../../src/server/idle-memory.ts';

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
  const pauses = Array.from({ length: 200 }, (_, index) => index % 60 !== 0);
  expect(collections(pauses, (beat) => 60 + beat)).toEqual([]);
});

test('a process that has worked collects after sixty idle beats', () => {
  expect(collections([...repeat(false, 10), ...repeat(true, 100)], () => 60)).toEqual([70]);
});

test('work after which memory grew is followed by a collection, other work is not', () => {
  const beats = [...repeat(true, 10), ...repeat(false, 5), ...repeat(true, 100)];
  expect(collections(beats, (beat) => (beat > 10 ? 64 : 60))).toEqual([5, 75]);
  expect(collections(beats, (beat) => (beat > 10 ? 63 : 60))).toEqual([5]);
});

test('growth counts from what stayed after the last collection', () => {
  const beats = [...repeat(true, 10), ...repeat(false, 5), ...repeat(true, 100)];
  const mib = [...Array<number>(5).fill(80), ...Array<number>(5).fill(60)];
  expect(collections(beats, (beat) => mib[beat - 1] ?? 65)).toEqual([5, 75]);
});

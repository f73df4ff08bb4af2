import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ReadCoalescer } from '../../../src/runtime/model/http/read-coalescer.ts';

const EVERY_MS = 50;
const KIB = 1024;
let events: string[];
let coalescer: ReadCoalescer;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.advanceTimersByTime(1000);
  events = [];
  coalescer = new ReadCoalescer(EVERY_MS, { pause: () => events.push('pause'), readOn: () => events.push('read on') });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Reads with this many chunks each, at this distance in milliseconds. */
function read(reads: number, apartMs: number, chunks = 1, bytes = 200): void {
  for (let index = 0; index < reads; index += 1) {
    coalescer.wasRead(chunks, bytes);
    vi.advanceTimersByTime(apartMs);
  }
}

test('slow reads are never paused', () => {
  read(20, 30);
  expect(events).toEqual([]);
});

test('the second of two quick reads pauses reading for the given time', () => {
  read(2, 1);
  expect(events).toEqual(['pause']);
  expect(coalescer.isPausing).toBe(true);
  vi.advanceTimersByTime(EVERY_MS - 2);
  expect(events).toEqual(['pause']);
  vi.advanceTimersByTime(1);
  expect(events).toEqual(['pause', 'read on']);
  expect(coalescer.isPausing).toBe(false);
});

test('pauses continue while each gathers several chunks, and end with the first that does not', () => {
  read(2, EVERY_MS / 10);
  vi.advanceTimersByTime(EVERY_MS);
  read(3, EVERY_MS, 3);
  expect(events).toEqual(['pause', 'read on', 'pause', 'read on', 'pause', 'read on', 'pause', 'read on']);
  read(3, EVERY_MS, 2);
  expect(events).toHaveLength(8);
});

test('large reads are not delayed', () => {
  read(20, 1, 100, 40 * KIB);
  expect(events).toEqual([]);
});

test('a stopped coalescer does nothing more', () => {
  read(2, 1);
  coalescer.stop();
  vi.advanceTimersByTime(1000);
  expect(events).toEqual(['pause']);
});

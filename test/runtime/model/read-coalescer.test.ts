import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ReadCoalescer } from '../../../src/runtime/model/http-model-client.ts';

const EVERY_MS = 50;
const KIB = 1024;
let events: string[];
let coalescer: ReadCoalescer;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.advanceTimersByTime(1000);
  events = [];
  coalescer = new ReadCoalescer({ rest: () => events.push('pause'), readOn: () => events.push('read on') });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Reads with this many events each, at this distance in milliseconds. Each is used, and no text is needed for a while. */
function read(reads: number, apartMs: number, eventsInRead = 1, bytes = 200): void {
  for (let index = 0; index < reads; index += 1) {
    coalescer.wasRead(eventsInRead, bytes);
    coalescer.rest(EVERY_MS);
    vi.advanceTimersByTime(apartMs);
  }
}

/** The first read of a reply that began so long ago that a rest can take its whole time. */
function readFirst(): void {
  coalescer.wasRead(1, 200);
  vi.advanceTimersByTime(4 * EVERY_MS);
}

test('slow reads are never paused', () => {
  readFirst();
  read(20, 30);
  expect(events).toEqual([]);
});

test('the second of two quick reads pauses reading for the given time', () => {
  readFirst();
  read(2, 1);
  expect(events).toEqual(['pause']);
  expect(coalescer.isResting).toBe(true);
  vi.advanceTimersByTime(EVERY_MS - 2);
  expect(events).toEqual(['pause']);
  vi.advanceTimersByTime(1);
  expect(events).toEqual(['pause', 'read on']);
  expect(coalescer.isResting).toBe(false);
});

test('a rest takes a quarter of the time since the first read at most, and a millisecond at least', () => {
  coalescer.wasRead(1, 200);
  read(1, 0);
  expect(events).toEqual(['pause']);
  vi.advanceTimersByTime(1);
  expect(events).toEqual(['pause', 'read on']);
  vi.advanceTimersByTime(39);
  read(1, 9, 2);
  expect(events).toEqual(['pause', 'read on', 'pause']);
  vi.advanceTimersByTime(1);
  expect(events).toEqual(['pause', 'read on', 'pause', 'read on']);
});

test('reading does not rest if a rest would gather less than two events at the pace of the last one', () => {
  coalescer.wasRead(1, 200);
  vi.advanceTimersByTime(20);
  // A quarter of 20 ms.
  read(1, 0);
  expect(events).toEqual([]);
});

test('pauses continue while each gathers two events, and end with the first that does not', () => {
  readFirst();
  read(2, EVERY_MS / 10);
  vi.advanceTimersByTime(EVERY_MS);
  read(3, EVERY_MS, 2);
  expect(events).toEqual(['pause', 'read on', 'pause', 'read on', 'pause', 'read on', 'pause', 'read on']);
  read(3, EVERY_MS);
  expect(events).toHaveLength(8);
});

test('large reads are not delayed', () => {
  read(20, 1, 100, 40 * KIB);
  expect(events).toEqual([]);
});

test('reading rests for the time that follows the last use of the text', () => {
  readFirst();
  coalescer.wasRead(1, 200);
  vi.advanceTimersByTime(20);
  coalescer.wasRead(1, 200);
  vi.advanceTimersByTime(30);
  coalescer.rest(EVERY_MS);
  expect(events).toEqual(['pause']);
  vi.advanceTimersByTime(EVERY_MS - 1);
  expect(events).toEqual(['pause']);
  vi.advanceTimersByTime(1);
  expect(events).toEqual(['pause', 'read on']);
});

test('reading goes on while text is needed', () => {
  for (let index = 0; index < 10; index += 1) coalescer.wasRead(1, 200);
  expect(events).toEqual([]);
});

test('a stopped coalescer does nothing more', () => {
  readFirst();
  read(2, 1);
  coalescer.stop();
  vi.advanceTimersByTime(1000);
  expect(events).toEqual(['pause']);
});

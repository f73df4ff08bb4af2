import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PartialPace } from '../../src/server/http/handlers/stream-request.ts';

const INTERVAL_MS = 50;
const SLOT_MS = 12.5;
/** A partial waits so long for text that is read when it is due. */
const WAIT_FOR_READ_MS = 4;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A stream that has text at all times, and the times of its partials. */
function streamFrom(beginMs: number): { readonly times: readonly number[] } {
  const times: number[] = [];
  const pace = new PartialPace(INTERVAL_MS, () => {
    times.push(performance.now());
    pace.sent();
    queueMicrotask(() => pace.touch());
  });
  setTimeout(() => pace.touch(), beginMs);
  return { times };
}

async function pass(ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 1) await vi.advanceTimersByTimeAsync(1);
}

test('the first partial is due at once, and each other one an interval after the one before', async () => {
  const { times } = streamFrom(7);
  await pass(500);
  expect(times[0]).toBe(7);
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(gaps.length).toBeGreaterThan(7);
  expect(gaps[0]).toBeGreaterThanOrEqual(INTERVAL_MS);
  expect(gaps[0]).toBeLessThanOrEqual(INTERVAL_MS + SLOT_MS + WAIT_FOR_READ_MS + 1);
  expect(new Set(gaps.slice(1))).toEqual(new Set([INTERVAL_MS]));
});

test('streams that begin at any time are due in the same few slots', async () => {
  const streams = Array.from({ length: 60 }, (_, index) => streamFrom(index * 3));
  await pass(1000);
  const turns = new Set(streams.flatMap(({ times }) => times.slice(1)));
  expect(streams.every(({ times }) => times.length > 15)).toBe(true);
  expect(turns.size).toBeLessThanOrEqual(1000 / SLOT_MS);
});

test('a partial that is less than a slot late does not delay the next one', () => {
  const pace = new PartialPace(INTERVAL_MS, () => {});
  vi.advanceTimersByTime(100);
  pace.sent();
  expect(pace.restMs).toBe(INTERVAL_MS);
  vi.advanceTimersByTime(INTERVAL_MS + 10);
  pace.sent();
  expect(pace.restMs).toBe(INTERVAL_MS - 10);
  vi.advanceTimersByTime(INTERVAL_MS - 10 + 20);
  pace.sent();
  expect(pace.restMs).toBeGreaterThanOrEqual(INTERVAL_MS);
});

/** A stream that sent a partial at 100 ms, and got text 2 ms later; now the next one is due since 2 ms. */
function overdue(): { readonly pace: PartialPace; readonly dueAt: readonly number[] } {
  const dueAt: number[] = [];
  const pace = new PartialPace(INTERVAL_MS, () => dueAt.push(performance.now()));
  vi.advanceTimersByTime(100);
  pace.sent();
  vi.advanceTimersByTime(2);
  pace.touch();
  vi.advanceTimersByTime(INTERVAL_MS);
  return { pace, dueAt };
}

test('text that is read when a partial is due goes out with it, although older text waits', () => {
  const { pace, dueAt } = overdue();
  pace.touch();
  vi.advanceTimersByTime(INTERVAL_MS / 2);
  expect(dueAt).toEqual([100 + INTERVAL_MS + 2]);
});

test('text after which nothing is read goes out soon after the partial is due', () => {
  const { dueAt } = overdue();
  expect(dueAt).toEqual([]);
  vi.advanceTimersByTime(WAIT_FOR_READ_MS);
  expect(dueAt).toEqual([100 + INTERVAL_MS + WAIT_FOR_READ_MS]);
});

test('two messages of one turn begin one interval', () => {
  const pace = new PartialPace(INTERVAL_MS, () => {});
  vi.advanceTimersByTime(100);
  pace.sent();
  pace.sent();
  expect(pace.restMs).toBe(INTERVAL_MS);
});

test('a partial that is due already rests for a whole interval', () => {
  const pace = new PartialPace(INTERVAL_MS, () => {});
  vi.advanceTimersByTime(100);
  expect(pace.restMs).toBe(INTERVAL_MS);
});

test('with an interval of 0, each delta is due at once', () => {
  let due = 0;
  const pace = new PartialPace(0, () => {
    due += 1;
    pace.sent();
  });
  for (let delta = 0; delta < 3; delta += 1) pace.touch();
  expect(due).toBe(3);
});

import { expect, test } from 'vitest';
import { DAY_MS, MemoryLedger, type Limit } from '../../src/policy/ledger.ts';

/** Both clocks at the same time, set by the test. */
function manualClock(start = 0) {
  const clock = { now: start, elapsedMs: () => clock.now, utcMs: () => clock.now };
  return clock;
}

const PER_MINUTE: Limit = { id: 'key:a requests_per_minute', units: 10, windowMs: 60_000 };
const IN_FLIGHT: Limit = { id: 'key:a in_flight', units: 3, windowMs: undefined };

test('grants are partial, and the sum of a window is the limit', async () => {
  const ledger = new MemoryLedger(manualClock());
  expect(await ledger.take(PER_MINUTE, 7)).toEqual({ granted: 7, remaining: 3, resetMs: 60_000, window: 1 });
  expect(await ledger.take(PER_MINUTE, 7)).toMatchObject({ granted: 3, remaining: 0 });
  expect(await ledger.take(PER_MINUTE, 1)).toMatchObject({ granted: 0, remaining: 0 });
});

test('fewer units than the least are not granted, and stay free', async () => {
  const ledger = new MemoryLedger(manualClock());
  await ledger.take(PER_MINUTE, 4);
  expect(await ledger.take(PER_MINUTE, 9, 7)).toMatchObject({ granted: 0, remaining: 6 });
  expect(await ledger.take(PER_MINUTE, 9, 5)).toMatchObject({ granted: 6, remaining: 0 });
});

test('a window begins with the first units and ends after its length', async () => {
  const clock = manualClock(5_000);
  const ledger = new MemoryLedger(clock);
  await ledger.take(PER_MINUTE, 10);
  clock.now = 64_999;
  expect(await ledger.take(PER_MINUTE, 1)).toMatchObject({ granted: 0, resetMs: 1 });
  clock.now = 65_000;
  expect(await ledger.take(PER_MINUTE, 1)).toMatchObject({ granted: 1, resetMs: 60_000, window: 2 });
});

test('a report begins no window', async () => {
  const clock = manualClock();
  const ledger = new MemoryLedger(clock);
  expect(await ledger.take(PER_MINUTE, 0)).toMatchObject({ granted: 0, remaining: 10, resetMs: 0 });
  clock.now = 30_000;
  await ledger.take(PER_MINUTE, 4);
  expect(await ledger.take(PER_MINUTE, 0)).toMatchObject({ granted: 0, remaining: 6, resetMs: 60_000 });
  expect(await ledger.take(IN_FLIGHT, 0)).toMatchObject({ granted: 0, remaining: 3, resetMs: 0 });
  expect(ledger.size).toBe(1);
});

test('a window of a day begins at midnight UTC', async () => {
  const clock = manualClock(DAY_MS * 20_000 + 1_000);
  const ledger = new MemoryLedger(clock);
  const limit = { id: 'key:a cost_per_day', units: 5, windowMs: DAY_MS };
  expect(await ledger.take(limit, 5)).toMatchObject({ granted: 5, resetMs: DAY_MS - 1_000 });
  clock.now = DAY_MS * 20_001;
  expect(await ledger.take(limit, 5)).toMatchObject({ granted: 5, resetMs: DAY_MS });
});

test('units return to their window only', async () => {
  const clock = manualClock();
  const ledger = new MemoryLedger(clock);
  const { window } = await ledger.take(PER_MINUTE, 10);
  ledger.give(PER_MINUTE, 4, window);
  expect(await ledger.take(PER_MINUTE, 10)).toMatchObject({ granted: 4 });
  clock.now = 60_000;
  await ledger.take(PER_MINUTE, 10);
  ledger.give(PER_MINUTE, 4, window);
  expect(await ledger.take(PER_MINUTE, 1)).toMatchObject({ granted: 0 });
});

test('units that were used already count even beyond the limit', async () => {
  const ledger = new MemoryLedger(manualClock());
  const { window } = await ledger.take(PER_MINUTE, 8);
  ledger.give(PER_MINUTE, -5, window);
  expect(await ledger.take(PER_MINUTE, 1)).toMatchObject({ granted: 0, remaining: 0 });
  ledger.give(PER_MINUTE, 4, window);
  expect(await ledger.take(PER_MINUTE, 5)).toMatchObject({ granted: 1 });
});

test('a limit without a window takes no memory once its units are back', async () => {
  const ledger = new MemoryLedger(manualClock());
  const { granted, window, resetMs } = await ledger.take(IN_FLIGHT, 5);
  expect({ granted, resetMs, size: ledger.size }).toEqual({ granted: 3, resetMs: 0, size: 1 });
  ledger.give(IN_FLIGHT, 3, window);
  expect(ledger.size).toBe(0);
});

test('the number of windows in memory is bounded, and windows that are over are forgotten', async () => {
  const clock = manualClock();
  const ledger = new MemoryLedger(clock, 3);
  for (let caller = 0; caller < 10; caller += 1) await ledger.take({ ...PER_MINUTE, id: `address:${caller}` }, 1);
  expect(ledger.size).toBe(3);
  clock.now = 60_000;
  await ledger.take(PER_MINUTE, 1);
  expect(ledger.size).toBe(1);
});

test('a limit that a reload lowers counts what was taken before', async () => {
  const ledger = new MemoryLedger(manualClock());
  await ledger.take(PER_MINUTE, 8);
  expect(await ledger.take({ ...PER_MINUTE, units: 5 }, 1)).toMatchObject({ granted: 0, remaining: 0 });
});

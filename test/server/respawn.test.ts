import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Respawn } from '../../src/server/respawn.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a worker that served is made good for at once', () => {
  const respawn = new Respawn(() => undefined);
  respawn.allStarted();
  respawn.workerDied(true, 'killed');
  expect([respawn.pausing, respawn.failing]).toEqual([false, false]);
});

test('workers that were started together and die together are one attempt', () => {
  const again = vi.fn();
  const respawn = new Respawn(again);
  respawn.allStarted();
  for (let wave = 1; wave <= 3; wave += 1) {
    for (let worker = 0; worker < 8; worker += 1) respawn.workerDied(false, 'no memory');
    expect([respawn.pausing, respawn.failing]).toEqual([true, true]);
    vi.advanceTimersByTime(100 * 2 ** (wave - 1) - 1);
    expect(again).toHaveBeenCalledTimes(wave - 1);
    vi.advanceTimersByTime(1);
    expect(again).toHaveBeenCalledTimes(wave);
  }
  respawn.workerStarted();
  expect([respawn.pausing, respawn.failing]).toEqual([false, false]);
});

test('the first start is given up after three deaths, later ones never', () => {
  const first = new Respawn(() => undefined);
  for (const reason of ['a', 'b']) first.workerDied(false, reason);
  expect(first.startFailure).toBeUndefined();
  first.workerDied(false, 'c');
  first.workerDied(false, 'd');
  expect(first.startFailure).toBe('c');
  const later = new Respawn(() => undefined);
  later.allStarted();
  for (let death = 0; death < 10; death += 1) later.workerDied(false, 'a');
  expect(later.startFailure).toBeUndefined();
});

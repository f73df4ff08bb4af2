import { expect, it, vi } from 'vitest';
import { Admission, shareOf } from '../../src/server/admission.ts';

it.each([
  [100, 4, 25],
  [103, 4, 25],
  [4, 4, 1],
  [3, 4, 1],
  [1, 2, 1],
  [0, 2, 0],
])('of %i places each of %i workers has %i', (total, workers, share) => {
  expect(shareOf(total, workers)).toBe(share);
});

it('admits waiters in order, also those that leave at once', () => {
  const admission = new Admission(1, 5_000);
  const first = { admitted: () => undefined };
  admission.enter(first);
  let served = 0;
  for (let waiting = 0; waiting < 5_000; waiting += 1) {
    const waiter = {
      admitted: () => {
        served += 1;
        admission.leave(waiter);
      },
    };
    expect(admission.enter(waiter)).toBeUndefined();
  }
  admission.leave(first);
  expect([served, admission.running, admission.waiting]).toEqual([5_000, 0, 0]);
});

it('admits no waiter once it is closed', () => {
  const admission = new Admission(1, 1);
  const first = { admitted: () => undefined };
  const second = { admitted: vi.fn() };
  admission.enter(first);
  admission.enter(second);
  admission.close();
  admission.leave(first);
  expect(second.admitted).not.toHaveBeenCalled();
});

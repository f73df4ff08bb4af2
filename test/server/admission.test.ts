import { expect, it } from 'vitest';
import { shareOf } from '../../src/server/admission.ts';

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

import { expect, test } from 'vitest';
import { surplusConnections, type ConnectionLoad } from '../../src/server/connection-balance.ts';

/** The surplus of each worker; all are busy. */
function surplusOf(...connections: readonly number[]): readonly number[] {
  const loads: readonly ConnectionLoad[] = connections.map((count) => ({ connections: count, busy: 0.9 }));
  return loads.map((own) => surplusConnections(own, loads));
}

test('a worker hands over its connections above the mean', () => {
  expect(surplusOf(4, 0)).toEqual([2, 0]);
  expect(surplusOf(3, 1)).toEqual([1, 0]);
  expect(surplusOf(20, 12)).toEqual([4, 0]);
  expect(surplusOf(0, 30, 60)).toEqual([0, 0, 30]);
});

test('a single connection, equal numbers and a tenth of surplus stay', () => {
  expect(surplusOf(1, 0)).toEqual([0, 0]);
  expect(surplusOf(7)).toEqual([0]);
  expect(surplusOf(17, 15)).toEqual([0, 0]);
  expect(surplusOf(110, 90)).toEqual([0, 0]);
  expect(surplusOf(0, 0)).toEqual([0, 0]);
});

test('a worker that is not busy keeps its connections', () => {
  const idle = { connections: 30, busy: 0.4 };
  expect(surplusConnections(idle, [idle, { connections: 2, busy: 0.1 }])).toBe(0);
});

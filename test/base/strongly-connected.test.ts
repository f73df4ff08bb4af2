import { expect, test } from 'vitest';
import { dependenciesFirst, stronglyConnected } from '../../src/base/strongly-connected.ts';

const EDGES: Readonly<Record<string, readonly string[]>> = { a: ['b'], b: ['c'], c: ['b', 'd'], d: [], e: ['e'] };
const edges = (name: string): readonly string[] => EDGES[name] ?? [];
const names = Object.keys(EDGES);

test('names that reach each other are one group, in declaration order', () => {
  expect(stronglyConnected(names, edges)).toEqual([['b', 'c'], ['e']]);
  expect(stronglyConnected(names.toReversed(), edges)).toEqual([['e'], ['c', 'b']]);
});

test('a name that reaches only others is in no group', () => {
  expect(stronglyConnected(['a', 'd'], edges)).toEqual([['b', 'c']]);
});

test('every name comes after the names that it reaches', () => {
  const order = dependenciesFirst(['a', 'd'], edges);
  expect(order.indexOf('d')).toBeLessThan(order.indexOf('a'));
  expect(order.indexOf('b')).toBeLessThan(order.indexOf('a'));
});

test('a chain of a hundred thousand names does not overflow the stack', () => {
  const chain = Array.from({ length: 100_000 }, (_, index) => String(index));
  expect(stronglyConnected(chain, (name) => [String((Number(name) + 1) % chain.length)])[0]).toHaveLength(100_000);
});

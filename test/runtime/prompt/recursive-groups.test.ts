import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recursiveGroups } from '../../../src/runtime/prompt/describe-output.ts';
import { assertProperty } from '../../support/assert-property.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const GRAPH = fc
  .tuple(...NAMES.map(() => fc.subarray(NAMES)))
  .map((mentioned) => new Map(NAMES.map((name, index) => [name, mentioned[index] ?? []])));

test('a group consists of the names that lead to each other', () => {
  assertProperty(
    fc.property(GRAPH, (edges) => {
      const groups = recursiveGroups(edges);
      for (const name of NAMES) {
        const mates = NAMES.filter((other) => leads(name, other, edges) && leads(other, name, edges));
        expect(groups.get(name)?.toSorted() ?? []).toEqual(mates);
      }
    }),
  );
});

test('the first declared name of a group comes first', () => {
  assertProperty(
    fc.property(GRAPH, (edges) => {
      for (const group of recursiveGroups(edges).values()) expect(group[0]).toBe(group.toSorted()[0]);
    }),
  );
});

test('a search that enters a group in the middle puts the names before its first at the end', () => {
  const edges = new Map([
    ['entry', ['b']],
    ['a', ['b', 'c']],
    ['b', ['a']],
    ['c', ['a']],
  ]);
  expect(recursiveGroups(edges).get('a')).toEqual(['a', 'c', 'b']);
  edges.delete('entry');
  expect(recursiveGroups(edges).get('a')).toEqual(['a', 'b', 'c']);
});

test('a chain of any length is searched', () => {
  const length = 50_000;
  const edges = new Map(Array.from({ length }, (_, at) => [`n${at}`, [`n${(at + 1) % length}`]]));
  expect(recursiveGroups(edges).get('n7')?.length).toBe(length);
});

function leads(from: string, to: string, edges: ReadonlyMap<string, readonly string[]>): boolean {
  const reached = new Set(edges.get(from));
  for (const name of reached) for (const next of edges.get(name) ?? []) reached.add(next);
  return reached.has(to);
}

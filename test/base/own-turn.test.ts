import { expect, test } from 'vitest';
import { inOwnTurn, inTurn, LARGE, ownTurn } from '../../src/base/own-turn.ts';
import { countTurns } from '../support/count-turns.ts';

test('steps run in order, each in a turn of its own, also those that other steps add', async () => {
  const seen: Array<readonly [string, number]> = [];
  const turn = countTurns();
  const step = (name: string) => () => seen.push([name, turn()]);
  inOwnTurn(step('a'));
  inOwnTurn(() => {
    step('b')();
    inOwnTurn(step('d'));
  });
  inOwnTurn(step('c'));
  const awaited = ownTurn().then(step('e'));
  expect(seen).toEqual([]);
  await awaited;
  await ownTurn();
  expect(seen.map(([name]) => name)).toEqual(['a', 'b', 'c', 'e', 'd']);
  expect(new Set(seen.map(([, at]) => at)).size).toBe(5);
});

test('small steps run at once, and others share a turn up to the length of a large one', async () => {
  const seen: Array<readonly [string, number]> = [];
  const turn = countTurns();
  const step = (name: string) => () => seen.push([name, turn()]);
  inTurn(LARGE / 2, step('a'));
  inTurn(LARGE / 4, step('b'));
  inTurn(LARGE / 2, step('c'));
  inTurn(10, step('small'));
  inTurn(2 * LARGE, step('d'));
  inTurn(LARGE / 2, step('e'));
  await ownTurn();
  expect(seen.map(([name]) => name)).toEqual(['small', 'a', 'b', 'c', 'd', 'e']);
  const [small, a, b, c, d, e] = seen.map(([, at]) => at);
  expect(small).toBe(0);
  expect(b).toBe(a);
  expect(new Set([a, c, d, e]).size).toBe(4);
});

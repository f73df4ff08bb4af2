import { expect, test } from 'vitest';
import { inOwnTurn } from '../../src/base/own-turn.ts';

/** Runs until `done`, and numbers the turns of the event loop meanwhile. */
async function turnsOf(start: (turn: () => number) => Promise<void>): Promise<void> {
  let turn = 0;
  let running = true;
  const next = (): void => {
    turn += 1;
    if (running) setImmediate(next);
  };
  next();
  await start(() => turn);
  running = false;
}

test('steps run in order, each in a turn of its own, also those that other steps add', async () => {
  const seen: Array<readonly [string, number]> = [];
  await turnsOf(
    (turn) =>
      new Promise((resolve) => {
        const step = (name: string) => () => seen.push([name, turn()]);
        inOwnTurn(step('a'));
        inOwnTurn(() => {
          step('b')();
          inOwnTurn(step('d'));
          inOwnTurn(resolve);
        });
        inOwnTurn(step('c'));
        expect(seen).toEqual([]);
      }),
  );
  expect(seen.map(([name]) => name)).toEqual(['a', 'b', 'c', 'd']);
  expect(new Set(seen.map(([, turn]) => turn)).size).toBe(4);
});

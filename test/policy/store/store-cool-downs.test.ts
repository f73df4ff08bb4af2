import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CoolDownChange } from '../../../src/policy/cool-downs.ts';
import { StoreCoolDowns } from '../../../src/policy/shared-cool-downs.ts';
import { fakeStore } from './fake-client.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const BEGIN: CoolDownChange = { type: 'begin', client: 'Fast', forMs: 30_000, reason: 'failures' };

/** A machine whose store answers the beat with these clients: name, value and milliseconds left. */
async function machine() {
  const { client, store } = fakeStore();
  let reply: readonly unknown[] = [];
  const reported: Array<ReadonlyArray<string | number>> = [];
  client.answers.beat = () => [2, ...reply];
  client.answers.cool = (_keys, args) => reported.push(args);
  const coolDowns = new StoreCoolDowns(store);
  const changes: CoolDownChange[] = [];
  coolDowns.onChange((change) => void changes.push(change));
  client.become('none');
  await vi.advanceTimersByTimeAsync(0);
  const beat = async (...clients: readonly unknown[]): Promise<void> => {
    reply = clients;
    await vi.advanceTimersByTimeAsync(1_000);
  };
  return { client, store, coolDowns, reported, changes, beat };
}

test('a change of this machine is reported once, without those that only concern a worker', async () => {
  const { coolDowns, reported, store } = await machine();
  coolDowns.report(BEGIN);
  coolDowns.report({ type: 'decide', client: 'Fast' });
  coolDowns.report({ type: 'end', client: 'Fast' });
  expect(reported).toEqual([
    ['Fast', store.machine, 30_000, 'failures', 60_000],
    ['Fast', store.machine, 0, '', 60_000],
  ]);
});

test('a cool-down of another machine begins, begins again and ends once', async () => {
  const { changes, beat } = await machine();
  await beat('Fast', '1000 failures m2', 20_000);
  await beat('Fast', '1000 failures m2', 19_000);
  await beat('Fast', '2000 retry_after m3', 5_000);
  await beat();
  await beat();
  expect(changes).toEqual([
    { type: 'begin', client: 'Fast', forMs: 20_000, reason: 'failures' },
    { type: 'begin', client: 'Fast', forMs: 5_000, reason: 'retry_after' },
    { type: 'end', client: 'Fast' },
  ]);
});

test('what this machine decided, what is over and what is not a cool-down begins nothing', async () => {
  const { store, changes, beat } = await machine();
  await beat('A', `1000 failures ${store.machine}`, 20_000, 'B', '1000 failures m2', 0, 'C', '1000 unknown m2', 1, 4);
  expect(changes).toEqual([]);
});

test('a store that restarts without its data ends no cool-down', async () => {
  const { client, changes, beat } = await machine();
  await beat('Fast', '1000 failures m2', 20_000);
  client.become('closed');
  client.answers.beat = () => [2];
  client.become('none');
  await vi.advanceTimersByTimeAsync(3_000);
  expect(changes).toHaveLength(1);
});

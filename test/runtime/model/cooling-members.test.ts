import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { err, ok } from '../../../src/base/result.ts';
import { clientFailure, finalFailure } from '../../../src/runtime/model/attempt-failure.ts';
import { type ClientPlan, type RoundRobinPlan, Weights } from '../../../src/runtime/model/strategies/client-plan.ts';
import {
  memberForKey,
  memberForTurn,
  membersInOrder,
  type CoolingClients,
} from '../../../src/runtime/model/strategies/strategy-members.ts';
import { runPlan } from '../../../src/runtime/model/strategies/run-plan.ts';
import { assertAsyncProperty, assertProperty } from '../../support/assert-property.ts';

const NAMES = ['A', 'B', 'C', 'D', 'E'];

function single(name: string): ClientPlan {
  return { kind: 'single', name, source: { definition: { name, provider: 'offline', options: [] }, from: 'files' } };
}

function fallback(...members: readonly ClientPlan[]): ClientPlan {
  return { kind: 'fallback', name: 'Fallback', members, ofRequest: false };
}

function roundRobin(members: readonly ClientPlan[], weights?: readonly number[]) {
  const weighted = weights === undefined ? {} : { weights: new Weights(weights) };
  return { kind: 'round-robin', name: 'Turns', members, start: 0, ofRequest: false, ...weighted } satisfies ClientPlan &
    RoundRobinPlan;
}

/** The ends of cool-downs by client, and the members that strategies passed over. */
function cooling(until: Readonly<Record<string, number>>): CoolingClients & { readonly passed: readonly string[] } {
  const passed: string[] = [];
  return {
    passed,
    until: ({ definition }) => until[definition.name],
    passedOver: ({ name }) => passed.push(name),
  };
}

const UNTIL = fc.dictionary(fc.constantFrom(...NAMES), fc.integer({ min: 1, max: 9 }), { noNullPrototype: true });

test('a fallback keeps the order of its members, with those that cool down last, by the ends of their times', () => {
  assertProperty(
    fc.property(UNTIL, (until) => {
      const order = [...membersInOrder(NAMES.map(single), cooling(until))].map(({ name }) => name);
      const ready = NAMES.filter((name) => until[name] === undefined);
      expect(order.slice(0, ready.length)).toEqual(ready);
      expect(order.toSorted()).toEqual(NAMES);
      const ends = order.slice(ready.length).map((name) => until[name] ?? 0);
      expect(ends).toEqual(ends.toSorted((a, b) => a - b));
    }),
  );
});

test('a strategy cools down while all its members do', () => {
  const members = [roundRobin([single('A'), single('B')], [1, 0]), fallback(single('C'), single('D')), single('E')];
  const orderFor = (until: Readonly<Record<string, number>>) =>
    [...membersInOrder(members, cooling(until))].map(({ name }) => name);
  expect(orderFor({ C: 5 })).toEqual(['Turns', 'Fallback', 'E']);
  expect(orderFor({ C: 5, D: 3 })).toEqual(['Turns', 'E', 'Fallback']);
  expect(orderFor({ A: 4, C: 5, D: 3 })).toEqual(['E', 'Fallback', 'Turns']);
});

/** Nested fallbacks of clients. */
const PLAN = fc.letrec<{ plan: ClientPlan }>((tie) => ({
  plan: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...NAMES).map(single),
    fc.array(tie('plan'), { minLength: 1, maxLength: 4 }).map((members) => fallback(...members)),
  ),
})).plan;

function run(plan: ClientPlan, well: readonly string[], clients: CoolingClients | undefined) {
  const asked: string[] = [];
  const context = {
    attempt: async ({ definition: { name } }: { readonly definition: { readonly name: string } }) => {
      asked.push(name);
      return well.includes(name) ? ok(name) : err(finalFailure(clientFailure(name, 'is down')));
    },
    cancellation: new Cancellation(),
    turn: () => 0,
    exhausted: () => false,
    cooling: clients,
  };
  return runPlan<string>(plan, Infinity, context).then((result) => ({ result, asked }));
}

test('cool-downs change only the order: a call fails if and only if it fails without them', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(PLAN, UNTIL, fc.subarray(NAMES), async (plan, until, well) => {
      const without = await run(plan, well, undefined);
      const withThem = await run(plan, well, cooling(until));
      expect(withThem.result.ok).toBe(without.result.ok);
      if (!without.result.ok) expect(withThem.asked.toSorted()).toEqual(without.asked.toSorted());
    }),
    { numRuns: 300 },
  );
});

test('a client that cools down is asked only after all others have failed', async () => {
  const plan = fallback(single('A'), single('B'), single('C'));
  expect((await run(plan, ['C'], cooling({ A: 9 }))).asked).toEqual(['B', 'C']);
  expect((await run(plan, ['A'], cooling({ A: 9 }))).asked).toEqual(['B', 'C', 'A']);
  expect((await run(plan, ['A'], cooling({ A: 9, B: 5, C: 7 }))).asked).toEqual(['B', 'C', 'A']);
  expect((await run(single('A'), ['A'], cooling({ A: 9 }))).asked).toEqual(['A']);
});

function shares(plan: RoundRobinPlan, clients: CoolingClients, turns: number): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let turn = 0; turn < turns; turn += 1) {
    const { name } = memberForTurn(plan, turn, clients);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

test('the turns of a member that cools down go to the others in proportion to their weights', () => {
  const even = shares(roundRobin(['A', 'B', 'C'].map(single)), cooling({ A: 9 }), 3_000);
  expect(even['A']).toBeUndefined();
  expect(Math.abs((even['B'] ?? 0) - 1_500)).toBeLessThan(15);
  const weighted = shares(roundRobin(['A', 'B', 'C', 'D'].map(single), [6, 3, 1, 0]), cooling({ A: 9 }), 10_000);
  expect(Object.keys(weighted).toSorted()).toEqual(['B', 'C']);
  expect(Math.abs((weighted['B'] ?? 0) - 7_500)).toBeLessThan(40);
});

test('turns of members that do not cool down stay theirs', () => {
  const plan = roundRobin(['A', 'B', 'C'].map(single));
  const turns = Array.from({ length: 60 }, (_, turn) => turn);
  const usual = turns.map((turn) => memberForTurn(plan, turn, undefined).name);
  const kept = turns.map((turn) => (usual[turn] === 'A' ? 'A' : memberForTurn(plan, turn, cooling({ A: 9 })).name));
  expect(kept).toEqual(usual);
});

test('if all members of a round-robin client cool down, the one whose time ends first has the turn', () => {
  const plan = roundRobin(['A', 'B', 'C'].map(single), [1, 1, 0]);
  for (let turn = 0; turn < 4; turn += 1) {
    const clients = cooling({ A: 9, B: 5 });
    expect(memberForTurn(plan, turn, clients).name).toBe('B');
    expect(clients.passed).toEqual([]);
  }
});

test('a route key moves to its next member while the first one cools down, and returns', () => {
  const plan = roundRobin(['A', 'B', 'C'].map(single));
  for (let key = 0; key < 50; key += 1) {
    const route = { routeKey: `user-${key}`, index: 0 };
    const first = memberForKey(plan, route, undefined).name;
    const second = memberForKey(plan, { ...route, index: 1 }, undefined).name;
    const clients = cooling({ [first]: 9 });
    expect(memberForKey(plan, route, clients).name).toBe(second);
    expect(clients.passed).toEqual([first]);
    expect(memberForKey(plan, route, cooling({ [second]: 9 })).name).toBe(first);
  }
});

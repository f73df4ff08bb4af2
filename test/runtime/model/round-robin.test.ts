import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ClientPlan, type RoundRobinPlan, Weights } from '../../../src/runtime/model/strategies/client-plan.ts';
import { memberForKey, memberOfTurn } from '../../../src/runtime/model/strategies/strategy-members.ts';
import { assertProperty } from '../../support/assert-property.ts';

type Turns = RoundRobinPlan & { readonly name: string };

function single(name: string): ClientPlan {
  return { kind: 'single', name, source: { definition: { name, provider: 'offline', options: [] }, from: 'files' } };
}

function plan(members: string, weights?: readonly number[], start = 0): Turns {
  const weighted = weights === undefined ? {} : { weights: new Weights(weights) };
  return { kind: 'round-robin', name: 'Top', members: [...members].map(single), start, ofRequest: false, ...weighted };
}

function turns(subject: Turns, count: number): string {
  return Array.from({ length: count }, (_, turn) => memberOfTurn(subject, turn).name).join('');
}

function times(text: string, name: string): number {
  return text.split(name).length - 1;
}

test('without weights, members take turns in the order of the list', () => {
  expect(turns(plan('ABC'), 7)).toBe('ABCABCA');
  expect(turns(plan('ABC', [1, 1, 1]), 7)).toBe('ABCABCA');
  expect(turns(plan('ABC', [4, 4, 4], 2), 7)).toBe('CABCABC');
});

test('weighted turns are spread evenly', () => {
  expect(turns(plan('ABC', [5, 1, 1]), 14)).toBe('AABACAAAABACAA');
  expect(turns(plan('ABC', [0, 3, 0]), 4)).toBe('BBBB');
  expect(turns(plan('AB', [1000, 0]), 4)).toBe('AAAA');
  expect(turns(plan('AB', [3, 1], 2), 8)).toBe('BAAABAAA');
});

test('five per cent are five of any hundred turns', () => {
  const all = turns(plan('AB', [95, 5]), 400);
  for (let from = 0; from <= 300; from += 1) expect(times(all.slice(from, from + 100), 'B')).toBe(5);
});

const LETTERS = 'ABCDEF';
const WEIGHTS = fc
  .array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: LETTERS.length })
  .filter((weights) => weights.some((weight) => weight > 0));

test('each cycle from any turn gives every member its weight, and no turn lets a member fall far behind', () => {
  assertProperty(
    fc.property(WEIGHTS, fc.nat(1000), (weights, start) => {
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const members = LETTERS.slice(0, weights.length);
      const cycle = turns(plan(members, weights, start), total);
      expect([...members].map((name) => times(cycle, name))).toEqual(weights);
      const fromTheFirst = turns(plan(members, weights), total);
      for (let turn = 1; turn <= total; turn += 1) {
        for (const [index, name] of [...members].entries()) {
          const share = (turn * (weights[index] ?? 0)) / total;
          expect(Math.abs(times(fromTheFirst.slice(0, turn), name) - share)).toBeLessThan(members.length);
        }
      }
    }),
  );
});

const KEYS = Array.from({ length: 20_000 }, (_, index) => `user-${index}`);

function routed(subject: Turns, index = 0): readonly string[] {
  return KEYS.map((key) => memberForKey(subject, { routeKey: key, index }, undefined).name);
}

test.each<[string, readonly number[] | undefined]>([
  ['ABC', undefined],
  ['AB', [95, 5]],
  ['ABCD', [1, 2, 3, 994]],
  ['ABC', [7, 0, 3]],
])('route keys spread over %s by the weights %j', (members, weights) => {
  const found = routed(plan(members, weights)).join('');
  const values = weights ?? [...members].map(() => 1);
  const total = values.reduce((sum, weight) => sum + weight, 0);
  for (const [index, name] of [...members].entries()) {
    const share = (values[index] ?? 0) / total;
    // Four standard deviations of the binomial distribution; the keys are fixed, so the outcome is too.
    const bound = 4 * Math.sqrt(KEYS.length * share * (1 - share));
    expect(Math.abs(times(found, name) - KEYS.length * share)).toBeLessThanOrEqual(bound);
  }
});

test('a greater weight only draws keys, and the order of the list does not matter', () => {
  const before = routed(plan('ABC', [50, 45, 5]));
  const after = routed(plan('ABC', [50, 45, 10]));
  const moved = KEYS.flatMap((_, at) => (before[at] === after[at] ? [] : [after[at]]));
  expect(new Set(moved)).toEqual(new Set(['C']));
  expect(routed(plan('CAB', [5, 50, 45]))).toEqual(before);
});

test('a retry goes to another member of the key, and to none with weight 0', () => {
  const subject = plan('ABC', [1, 0, 1]);
  for (const key of KEYS.slice(0, 100)) {
    const [first, second, third] = [0, 1, 2].map(
      (index) => memberForKey(subject, { routeKey: key, index }, undefined).name,
    );
    expect(new Set([first, second])).toEqual(new Set(['A', 'C']));
    expect(third).toBe(first);
  }
});

test('the hash is part of the contract: keys keep their member from version to version', () => {
  const subject = plan('ABC', [5, 3, 2]);
  expect(
    KEYS.slice(0, 20)
      .map((key) => memberForKey(subject, { routeKey: key, index: 0 }, undefined).name)
      .join(''),
  ).toBe('BBAAABBBACCBAAABBAAA');
});

test('a member that the list contains twice has both weights', () => {
  const found = routed(plan('AAB', [1, 1, 2])).join('');
  expect(found).toBe(routed(plan('AB', [2, 2])).join(''));
});

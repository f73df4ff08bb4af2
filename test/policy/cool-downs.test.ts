import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CoolDowns, type CoolDownChange } from '../../src/policy/cool-downs.ts';
import { assertProperty } from '../support/assert-property.ts';

const OK = { outcome: 'ok', coolDownMs: 30_000 } as const;
const FAILED = { outcome: 'failed', coolDownMs: 30_000 } as const;
const UNDECIDED = { outcome: 'undecided', coolDownMs: 30_000 } as const;

const LIMITED = { ...FAILED, retryAfterMs: 10_000 } as const;

type End = typeof OK | typeof FAILED | typeof UNDECIDED | typeof LIMITED;

/** Cool-downs with a clock that the test sets, and the changes that they decide. */
function create() {
  const clock = { now: 1_000 };
  const changes: CoolDownChange[] = [];
  const coolDowns = new CoolDowns(
    (change) => changes.push(change),
    [],
    () => clock.now,
  );
  const attempt = (end: Parameters<CoolDowns['ended']>[2], client = 'A'): void =>
    coolDowns.ended(client, coolDowns.started(client), end);
  const fail = (times: number): void => {
    for (let at = 0; at < times; at += 1) attempt(FAILED);
  };
  return { clock, changes, coolDowns, attempt, fail };
}

test('a client cools down after five failed attempts in a row', () => {
  const { changes, coolDowns, attempt, fail } = create();
  fail(4);
  attempt(OK);
  fail(4);
  attempt(UNDECIDED);
  expect(coolDowns.coolingUntil('A')).toBeUndefined();
  fail(1);
  expect(coolDowns.coolingUntil('A')).toBe(31_000);
  expect(coolDowns.coolingUntil('B')).toBeUndefined();
  expect(changes).toEqual([{ type: 'begin', client: 'A', forMs: 30_000, reason: 'failures' }]);
});

test.each([
  [20_000, 20_000],
  [1, 1],
  [86_400_000, 300_000],
])('a provider that asks for a wait of %i ms gets %i ms at once', (retryAfterMs, forMs) => {
  const { changes, coolDowns, attempt } = create();
  attempt({ ...FAILED, retryAfterMs });
  expect(coolDowns.coolingUntil('A')).toBe(1_000 + forMs);
  expect(changes).toEqual([{ type: 'begin', client: 'A', forMs, reason: 'retry_after' }]);
});

test('a wait of 0 is a failure like any other', () => {
  const { coolDowns, attempt } = create();
  for (let at = 0; at < 4; at += 1) attempt({ ...FAILED, retryAfterMs: 0 });
  expect(coolDowns.coolingUntil('A')).toBeUndefined();
  attempt({ ...FAILED, retryAfterMs: 0 });
  expect(coolDowns.coolingUntil('A')).toBe(31_000);
});

test('a client with a time of 0 never cools down', () => {
  const { coolDowns, attempt } = create();
  for (let at = 0; at < 20; at += 1) attempt({ outcome: 'failed', retryAfterMs: 5_000, coolDownMs: 0 });
  expect(coolDowns.coolingUntil('A')).toBeUndefined();
});

test('when the time is over, one attempt decides; a success ends the cool-down', () => {
  const { clock, changes, coolDowns, fail } = create();
  fail(5);
  clock.now = 31_000;
  expect(coolDowns.coolingUntil('A')).toBeUndefined();
  const id = coolDowns.started('A');
  expect(coolDowns.coolingUntil('A')).toBe(31_000);
  coolDowns.ended('A', id, OK);
  expect(coolDowns.coolingUntil('A')).toBeUndefined();
  expect(changes.slice(1)).toEqual([
    { type: 'decide', client: 'A' },
    { type: 'end', client: 'A' },
  ]);
  fail(4);
  expect(coolDowns.coolingUntil('A')).toBeUndefined();
});

test('an attempt that decides and fails begins another period', () => {
  const { clock, changes, coolDowns, fail } = create();
  fail(5);
  clock.now = 40_000;
  fail(1);
  expect(coolDowns.coolingUntil('A')).toBe(70_000);
  expect(changes.map(({ type }) => type)).toEqual(['begin', 'decide', 'begin']);
});

test('an attempt of a function that names the client leaves the decision to the one that began before', () => {
  const { clock, coolDowns, attempt, fail } = create();
  fail(5);
  clock.now = 31_000;
  const decides = coolDowns.started('A');
  attempt(FAILED);
  expect(coolDowns.coolingUntil('A')).toBe(31_000);
  coolDowns.ended('A', decides, OK);
  expect(coolDowns.coolingUntil('A')).toBeUndefined();
});

test('attempts that started before the begin or the end decide nothing after it', () => {
  const { clock, coolDowns, attempt, fail } = create();
  const early = [1, 2, 3, 4, 5].map(() => coolDowns.started('A'));
  fail(5);
  clock.now = 31_000;
  const decides = coolDowns.started('A');
  coolDowns.ended('A', early[0] ?? 0, OK);
  expect(coolDowns.coolingUntil('A')).toBe(31_000);
  coolDowns.ended('A', decides, OK);
  for (const id of early.slice(1)) coolDowns.ended('A', id, { ...FAILED, retryAfterMs: 9_000 });
  expect(coolDowns.coolingUntil('A')).toBeUndefined();
  attempt({ ...FAILED, retryAfterMs: 9_000 });
  expect(coolDowns.coolingUntil('A')).toBe(40_000);
});

test('a worker applies the changes of others, and lets an attempt of its own decide', () => {
  const { clock, changes, coolDowns } = create();
  coolDowns.apply({ type: 'begin', client: 'A', forMs: 500, reason: 'failures' });
  expect(coolDowns.coolingUntil('A')).toBe(1_500);
  coolDowns.apply({ type: 'decide', client: 'A' });
  clock.now = 1_500;
  expect(coolDowns.coolingUntil('A')).toBeUndefined();
  const id = coolDowns.started('A');
  coolDowns.apply({ type: 'end', client: 'A' });
  expect(coolDowns.coolingUntil('A')).toBeUndefined();
  coolDowns.ended('A', id, FAILED);
  expect(changes).toEqual([{ type: 'decide', client: 'A' }]);
});

/** One step of a random history: time passes, an attempt starts if the client is not passed over, or the n-th one in flight ends. */
const STEP = fc.oneof(
  fc.record({ pass: fc.integer({ min: 0, max: 20_000 }) }),
  fc.constant({ start: true }),
  fc.record({ end: fc.nat(10), as: fc.constantFrom<End[]>(OK, FAILED, LIMITED, UNDECIDED) }),
);

test('while a client cools down, callers that pass over it start at most one attempt, and only when its time is over', () => {
  assertProperty(
    fc.property(fc.array(STEP, { maxLength: 80, size: 'max' }), (steps) => {
      const { clock, changes, coolDowns } = create();
      /** In flight: the number of changes before the attempt started. */
      const open: Array<{ readonly id: number; readonly since: number }> = [];
      let until: number | undefined;
      let ended = 0;
      const faults: string[] = [];
      for (const step of steps) {
        if ('pass' in step) clock.now += step.pass;
        else if ('start' in step) {
          if (coolDowns.coolingUntil('A') !== undefined) continue;
          if (until !== undefined && clock.now < until) faults.push(`an attempt at ${clock.now}, before ${until}`);
          open.push({ id: coolDowns.started('A'), since: changes.length });
        } else if (open.length > 0) {
          const [attempt] = open.splice(step.end % open.length, 1);
          if (attempt !== undefined) coolDowns.ended('A', attempt.id, step.as);
        }
        for (; ended < changes.length; ended += 1) {
          const change = changes[ended];
          if (change?.type === 'begin') until = clock.now + change.forMs;
          else if (change?.type === 'end') until = undefined;
        }
        const begun = changes.findLastIndex(({ type }) => type === 'begin');
        const deciding = open.filter(({ since }) => since > begun).length;
        if (until !== undefined && deciding > 1) faults.push(`${deciding} attempts at ${clock.now}`);
      }
      expect(faults).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('however attempts end, a client is asked again once its time is over and nothing decides', () => {
  assertProperty(
    fc.property(
      fc.array(fc.constantFrom<End[]>(OK, FAILED, FAILED, FAILED, UNDECIDED), { maxLength: 40, size: 'max' }),
      (ends) => {
        const { clock, coolDowns, attempt } = create();
        for (const end of ends) {
          attempt(end);
          clock.now = Math.max(clock.now, coolDowns.coolingUntil('A') ?? 0);
          expect(coolDowns.coolingUntil('A')).toBeUndefined();
        }
      },
    ),
  );
});

import { expect, test } from 'vitest';
import type { CoolDownChange } from '../../src/policy/cool-downs.ts';
import { SharedCoolDowns } from '../../src/policy/shared-cool-downs.ts';
import { recordingLogger } from '../support/recording-logger.ts';

const BEGIN: CoolDownChange = { type: 'begin', client: 'A', forMs: 30_000, reason: 'failures' };
const END: CoolDownChange = { type: 'end', client: 'A' };
const DECIDE: CoolDownChange = { type: 'decide', client: 'A' };

function create() {
  const clock = { now: 0 };
  const { logger, lines } = recordingLogger();
  const sent: Array<readonly [CoolDownChange, object | undefined]> = [];
  const counted: Array<readonly [string, string | undefined]> = [];
  const shared = new SharedCoolDowns({
    logger,
    now: () => clock.now,
    counted: (client, reason) => counted.push([client, reason]),
    send: (change, from) => sent.push([change, from]),
  });
  return { clock, lines, sent, counted, shared, worker: {} };
}

test('the other workers hear of each begin and each end, and the log has one line for each cool-down and one for its end', () => {
  const { clock, lines, sent, counted, shared, worker } = create();
  shared.take(BEGIN, worker);
  clock.now = 30_000;
  shared.take(DECIDE, worker);
  shared.take(BEGIN, worker);
  expect(shared.list).toEqual([{ client: 'A', reason: 'failures', leftMs: 30_000 }]);
  clock.now = 65_000;
  shared.take(END, worker);
  shared.take(END, worker);
  expect(sent.slice(0, 3)).toEqual([
    [BEGIN, worker],
    [BEGIN, worker],
    [END, worker],
  ]);
  expect(counted).toEqual([
    ['A', 'failures'],
    ['A', undefined],
  ]);
  expect(lines).toEqual([
    'a client cools down: strategies ask their other members first {"client":"A","reason":"failures","forMs":30000}',
    'the cool-down of a client is over {"client":"A","ms":65000}',
  ]);
  expect(shared.list).toEqual([]);
});

test('a new worker gets the time that is left', () => {
  const { clock, shared, worker } = create();
  shared.take(BEGIN, worker);
  clock.now = 12_000;
  expect(shared.changes).toEqual([{ ...BEGIN, forMs: 18_000 }]);
  clock.now = 42_000;
  expect(shared.changes).toEqual([{ ...BEGIN, forMs: 0 }]);
  expect(shared.list).toMatchObject([{ leftMs: -12_000 }]);
});

test('a cool-down that no attempt decides ends a minute after its time', () => {
  const { clock, sent, shared, worker } = create();
  shared.take(BEGIN, worker);
  clock.now = 89_999;
  shared.endUnused();
  expect(shared.list).toHaveLength(1);
  clock.now = 90_000;
  shared.endUnused();
  expect(shared.list).toEqual([]);
  expect(sent.at(-1)).toEqual([END, undefined]);
});

test('an attempt that decides has ten minutes', () => {
  const { clock, shared, worker } = create();
  shared.take(BEGIN, worker);
  clock.now = 31_000;
  shared.take(DECIDE, worker);
  clock.now = 630_999;
  shared.endUnused();
  expect(shared.list).toHaveLength(1);
  clock.now = 631_000;
  shared.endUnused();
  expect(shared.list).toEqual([]);
});

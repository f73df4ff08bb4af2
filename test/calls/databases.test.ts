import { afterAll, describe, expect, test } from 'vitest';
import { openCalls } from '../../src/calls/open-calls.ts';
import type { CallsAddress } from '../../src/config/calls-address.ts';
import { FACTS, idsOf, POSTGRES, PostgresServer, row, sqliteFile } from './databases.ts';

const postgres = POSTGRES === undefined ? undefined : await PostgresServer.start();
afterAll(() => postgres?.stop());

const DATABASES: readonly [name: string, address: CallsAddress | undefined][] = [
  ['sqlite', sqliteFile()],
  ['postgres', postgres?.address],
];

const FEEDBACK = { at: FACTS.at, key: null, score: 1, label: 'good', comment: null, value: null };

describe.each(DATABASES)('%s', (_name, address) => {
  test.skipIf(address === undefined)('keeps calls, and finds them by every member of a filter', async () => {
    const calls = await openCalls(address as CallsAddress, { readOnly: false });
    const { at } = FACTS;
    await calls.keep([
      row({ requestId: 'plain' }, { args: { text: 'Ünïcode "quoted" 100%' }, value: { total: 1 } }),
      row({ requestId: 'failed', error: 'client_error', status: 502, at: at + 60_000 }),
      row({ requestId: 'lossy', lossy: true, functionName: 'Other', at: at + 120_000 }),
      row({ requestId: 'slow', ms: 5000, client: 'Careful', at: at + 180_000 }),
      row({ requestId: 'tagged', tags: { customer: '4"2' }, key: 'team-a', at: at + 240_000 }, null),
    ]);
    const all = ['tagged', 'slow', 'lossy', 'failed', 'plain'];
    expect(await idsOf(calls, {})).toEqual(all);
    expect(await idsOf(calls, { functionName: 'Other' })).toEqual(['lossy']);
    expect(await idsOf(calls, { client: 'Careful' })).toEqual(['slow']);
    expect(await idsOf(calls, { key: 'team-a' })).toEqual(['tagged']);
    expect(await idsOf(calls, { requestId: 'plain' })).toEqual(['plain']);
    expect(await idsOf(calls, { error: 'any' })).toEqual(['failed']);
    expect(await idsOf(calls, { error: 'timeout' })).toEqual([]);
    expect(await idsOf(calls, { lossy: true })).toEqual(['lossy']);
    expect(await idsOf(calls, { slowMs: 5000 })).toEqual(['slow']);
    expect(await idsOf(calls, { tag: { name: 'customer', value: '4"2' } })).toEqual(['tagged']);
    expect(await idsOf(calls, { tag: { name: 'customer', value: '4' } })).toEqual([]);
    expect(await idsOf(calls, { text: '"QUOTED" 100%' })).toEqual(['plain']);
    expect(await idsOf(calls, { text: '100_' })).toEqual([]);
    expect(await idsOf(calls, { since: at + 60_000, until: at + 180_000 })).toEqual(['lossy', 'failed']);
    expect(await idsOf(calls, { functionName: 'ReadInvoice', slowMs: 100, since: at })).toEqual(['slow']);
    await calls.close();
  });

  test.skipIf(address === undefined)('reads a call in full, with its feedback', async () => {
    const calls = await openCalls(address as CallsAddress, { readOnly: false });
    const [listed] = (await calls.page({ requestId: 'plain' }, { limit: 1 })).calls;
    expect(await calls.addFeedback('plain', { ...FEEDBACK, label: 'bad', score: 0 })).toBe('stored');
    expect(await calls.addFeedback('plain', { ...FEEDBACK, value: { total: 2 }, comment: 'the second page' })).toBe(
      'stored',
    );
    expect(await calls.addFeedback('nothing', FEEDBACK)).toBe('unknown call');
    expect(await calls.addFeedback('tagged', { ...FEEDBACK, key: 'team-b' })).toBe('unknown call');
    expect(await calls.addFeedback('tagged', { ...FEEDBACK, key: 'team-a' })).toBe('stored');
    const call = await calls.call(listed?.seq ?? 0);
    expect(call).toEqual({
      ...FACTS,
      requestId: 'plain',
      seq: listed?.seq,
      score: 1,
      label: 'good',
      content: { args: { text: 'Ünïcode "quoted" 100%' }, value: { total: 1 } },
      feedback: [
        { ...FEEDBACK, label: 'bad', score: 0 },
        { ...FEEDBACK, value: { total: 2 }, comment: 'the second page' },
      ],
    });
    expect(await idsOf(calls, { feedback: 'any' })).toEqual(['tagged', 'plain']);
    expect(await idsOf(calls, { feedback: 'bad' })).toEqual(['plain']);
    for (let entry = 0; entry < 99; entry += 1) await calls.addFeedback('tagged', FEEDBACK);
    expect(await calls.addFeedback('tagged', FEEDBACK)).toBe('too much');
    expect(await calls.call(10 ** 9)).toBeUndefined();
    await calls.close();
  });

  test.skipIf(address === undefined)('sums calls by function and interval', async () => {
    const calls = await openCalls(address as CallsAddress, { readOnly: false });
    await calls.keep([row({ at: FACTS.at + 1000, cost: null })]);
    const series = await calls.series({ since: FACTS.at, until: FACTS.at + 600_000, intervalMs: 300_000 });
    const other = {
      at: FACTS.at,
      calls: 1,
      failures: 0,
      lossy: 1,
      cost: 0.001,
      inputTokens: 10,
      outputTokens: 5,
      ms: 12.5,
    };
    expect(series).toEqual([
      { functionName: 'Other', points: [other] },
      {
        functionName: 'ReadInvoice',
        points: [
          {
            ...other,
            calls: 5,
            failures: 1,
            lossy: 0,
            cost: expect.closeTo(0.004),
            inputTokens: 50,
            outputTokens: 25,
            ms: 5050,
          },
        ],
      },
    ]);
    await calls.close();
  });

  test.skipIf(address === undefined)('deletes calls that are too old, with their feedback', async () => {
    const calls = await openCalls(address as CallsAddress, { readOnly: false });
    const now = FACTS.at + 170_000;
    // The call that was kept last ended before the others: the search for the age relies on their order.
    await calls.prune({ maxAgeMs: 60_000, maxSize: Infinity }, now);
    expect(await idsOf(calls, { feedback: 'bad' })).toEqual([]);
    expect((await idsOf(calls, {})).slice(-2)).toEqual(['slow', 'lossy']);
    await calls.close();
  });

  test.skipIf(address === undefined)('two processes create the tables at once', async () => {
    const fresh = address?.kind === 'sqlite' ? sqliteFile() : (address as CallsAddress);
    const both = await Promise.all([1, 2].map(() => openCalls(fresh, { readOnly: false })));
    await Promise.all(both.map((calls, index) => calls.keep([row({ requestId: `of-${index}` })])));
    expect((await idsOf(both[0] as never, {})).slice(0, 2).toSorted()).toEqual(['of-0', 'of-1']);
    for (const calls of both) await calls.close();
  });
});

test('a large SQLite file gives the oldest calls away', async () => {
  const calls = await openCalls(sqliteFile(), { readOnly: false });
  const text = 'x'.repeat(10_000);
  for (let part = 0; part < 20; part += 1) {
    await calls.keep(
      Array.from({ length: 20 }, (_, index) => row({ requestId: `${part * 20 + index}`, at: part }, { reply: text })),
    );
  }
  const deleted = await calls.prune({ maxAgeMs: FACTS.at, maxSize: 2_000_000 }, FACTS.at);
  const left = await idsOf(calls, {});
  expect(deleted + left.length).toBe(400);
  expect(left[0]).toBe('399');
  expect(left.length).toBeGreaterThan(100);
  expect(left.length).toBeLessThan(200);
  await calls.close();
});

test('a reader of a file without tables says what to do', async () => {
  const address = sqliteFile();
  const calls = await openCalls(address, { readOnly: false });
  await calls.close();
  await expect(openCalls({ ...address, path: `${address.path}-none` }, { readOnly: true })).rejects.toThrow(/open/u);
});

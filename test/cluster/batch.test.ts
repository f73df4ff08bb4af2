import { afterAll, beforeAll, expect, test } from 'vitest';
import { askedWithThreeKills } from '../support/batch-rows.ts';
import { startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
});
afterAll(() => provider.close());

test('10,000 rows that are killed three times have one answer each, and only rows in flight are asked twice', async () => {
  // Three kills with ten calls in flight each.
  expect(await askedWithThreeKills(provider, 10_000)).toBeLessThanOrEqual(10_030);
});

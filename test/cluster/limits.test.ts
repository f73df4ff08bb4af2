import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reply } from '../support/fake-provider.ts';
import { temporaryFolder } from '../support/running-server.ts';
import { callWithKey, useCluster, writeKeys } from './support/cluster.ts';
import { metricOf, storeFailures } from './support/machines.ts';

const KEYS = join(temporaryFolder({}), 'keys.yaml');
writeKeys(KEYS, { limited: '    limits: {requests_per_minute: 500}\n' });

const cluster = useCluster({ flags: ['--keys', KEYS] });

test('a limit of 500 requests a minute is one limit for four workers on two machines', async () => {
  const { fake, machines } = cluster();
  fake.answer(reply('Hello'));
  const statuses: number[] = [];
  const loop = async (): Promise<void> => {
    while (statuses.length < 700) {
      const { status } = await callWithKey('limited', machines.url);
      statuses.push(status);
    }
  };
  await Promise.all(Array.from({ length: 16 }, loop));
  const served = statuses.filter((status) => status === 200).length;
  const late = (await storeFailures(machines, 'take')) + (await metricOf(machines, 'svc_limit_failures_total'));
  console.log(`${served} of ${statuses.length} calls were served, with ${late} late answers`);
  // A worker that got no answer in time counts by itself, as on a machine that is too busy for this test.
  expect(served).toBeLessThanOrEqual(late === 0 ? 500 : 1_000);
  expect(served).toBeGreaterThanOrEqual(490 - 3 * late);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
});

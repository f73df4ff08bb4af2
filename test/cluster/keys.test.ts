import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reply } from '../support/fake-provider.ts';
import { startLoad, waitUntil } from '../support/load.ts';
import { temporaryFolder } from '../support/running-server.ts';
import { callWithKey, keyOf, useCluster, writeKeys } from './support/cluster.ts';

const KEYS = join(temporaryFolder({}), 'keys.yaml');
writeKeys(KEYS, { one: '' });

const cluster = useCluster({ flags: ['--keys', KEYS] });

test('a new key works on both machines after a reload, and no call under way fails', async () => {
  const { fake, machines } = cluster();
  fake.answer(reply('Hello'));
  const load = startLoad(`${machines.url}/call/Hi`, { name: 'Ada' }, 8, { authorization: `Bearer ${keyOf('one')}` });
  await waitUntil('some calls', () => load.counts.served > 50);
  expect((await callWithKey('two', machines.url)).status).toBe(403);
  writeKeys(KEYS, { one: '', two: '' });
  for (const { child } of machines.servers) child.kill('SIGHUP');
  const reloaded = () => machines.servers.every((server) => server.output().includes('all workers use the new keys'));
  await waitUntil('the new keys on both machines', reloaded);
  for (const { url } of machines.servers) expect((await callWithKey('two', url)).status).toBe(200);
  const { failed, refused, errors } = await load.stop();
  expect({ failed, refused, errors }).toEqual({ failed: 0, refused: 0, errors: [] });
});

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { ConnectionPools } from '../../../src/runtime/clients/http/connection-pools.ts';
import { fetchMedia } from '../../../src/runtime/clients/http/fetch-media.ts';
import { clientDefinition, makeClient, testServices } from '../../support/ask-client.ts';
import { head, sleep, startFakeProvider, status } from '../../support/fake-provider.ts';
import type { FakeProvider } from '../../support/fake-provider.ts';

let fake: FakeProvider;
const services = testServices();

beforeAll(async () => {
  fake = await startFakeProvider();
});
beforeEach(() => fake.clear());
afterAll(async () => {
  await services.pools.close();
  await fake.close();
});

/** Until `condition` holds, two seconds at most. */
async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition() && waited < 400; waited += 1) await sleep(5);
}

const DEADLINE_MS = 10_000;

test('media come as base64, with the type that the server names', async () => {
  fake.answer(status(200, 'hello', { 'content-type': 'image/png; x=1' }));
  const pools = new ConnectionPools();
  const fetched = await fetchMedia(`${fake.url}/a.png`, {
    pools,
    guard: 'not-link-local',
    deadlineAt: performance.now() + DEADLINE_MS,
    cancellation: new Cancellation(),
  });
  expect(fetched).toEqual({ ok: true, value: { data: 'aGVsbG8=', mediaType: 'image/png' } });
  await pools.close();
});

test('who leaves while media are downloaded ends the download, and the model is not asked', async () => {
  fake.answer(async (_request, wire) => {
    wire.write(`${head(200, { 'content-length': '1000000' })}begin`);
    while (!wire.gone) await sleep(5);
  });
  const client = makeClient(
    clientDefinition('openai-generic', {
      base_url: `${fake.url}/v1`,
      media_url_handler: { image: 'send_base64' },
    }),
    services,
  );
  const told: unknown[] = [];
  const exchange = client.ask(
    {
      functionName: 'Fn',
      args: {},
      messages: [
        {
          role: 'user',
          parts: [{ kind: 'media', media: 'image', source: { kind: 'url', url: `${fake.url}/a.png` } }],
        },
      ],
      streamed: false,
      deadlineAt: performance.now() + DEADLINE_MS,
      privateUrls: true,
    },
    { text: (piece) => told.push(piece), ended: (result) => told.push(result) },
  );
  await until(() => fake.requests.length === 1);
  exchange.cancel();
  await until(() => fake.abandoned.length === 1);
  expect(fake.abandoned.map((each) => each.path)).toEqual(['/a.png']);
  expect(fake.requests.map((each) => each.path)).toEqual(['/a.png']);
  expect(told).toEqual([]);
});

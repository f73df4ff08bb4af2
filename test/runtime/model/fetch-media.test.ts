import { expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { ConnectionPools, INLINED_MEDIA_BYTES } from '../../../src/runtime/model/http/connection-pools.ts';
import { fetchMedia } from '../../../src/runtime/model/inline-media.ts';
import type { ModelClient } from '../../../src/runtime/model/model-client.ts';
import type { Message } from '../../../src/schema/message.ts';
import { ask, clientDefinition, makeClient } from '../../support/ask-client.ts';
import { reply, status } from '../../support/fake-provider.ts';
import { sleep, type Behaviour } from '../../support/fake-wire.ts';
import { waitUntil } from '../../support/load.ts';
import { runOnOwnClock } from '../../support/own-clock.ts';
import { head } from '../../support/http1-connection.ts';
import { fakeModels } from '../../support/fake-models.ts';

const { fake, services } = await fakeModels();

runOnOwnClock(() => fake.traffic);

const DEADLINE_MS = 10_000;

/** A client that accepts images only inline. */
function inlining(): ModelClient {
  const options = { base_url: `${fake.url}/v1`, media_url_handler: { image: 'send_base64' } };
  return makeClient(clientDefinition('openai-generic', options), services);
}

function withImage(): readonly Message[] {
  const source = { kind: 'url', url: `${fake.url}/a.png` } as const;
  return [{ role: 'user', parts: [{ kind: 'media', media: 'image', source }] }];
}

const stalled: Behaviour = async (_request, wire) => {
  while (!wire.gone) await sleep(5);
};

const MIB = 1024 * 1024;

function withImages(count: number): readonly Message[] {
  return [
    { role: 'user', parts: withImage().flatMap(({ parts }) => Array.from({ length: count }, () => parts).flat()) },
  ];
}

/** Answers each download with this number of bytes, and each request to the model with a reply. */
function serving(bytes: number): Behaviour {
  const image = status(200, 'x'.repeat(bytes), { 'content-type': 'image/png' });
  return (request, wire) => (request.method === 'GET' ? image(request, wire) : reply('fine')(request, wire));
}

test('one limit bounds all media of a call', { timeout: 20_000 }, async () => {
  fake.answer(serving(25 * MIB));
  const { result } = await ask(inlining(), { messages: withImages(4) });
  expect(!result.ok && result.failure.failure.message).toBe(
    'The client "Tested" was given more than 64 MiB of media to send inline',
  );
  expect(fake.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
});

test('one limit bounds the media of all calls, and a call that ends releases its share', async () => {
  fake.answer(serving(MIB));
  const { media } = services.pools;
  const left = INLINED_MEDIA_BYTES - 3 * MIB;
  expect(media.take(left)).toBe(true);
  for (const streamed of [false, true]) {
    expect((await ask(inlining(), { messages: withImages(3), streamed })).result.ok).toBe(true);
    expect(media.held).toBe(left);
  }
  const { result } = await ask(inlining(), { messages: withImages(4) });
  expect(!result.ok && result.failure.failure.message).toBe(
    'The client "Tested" was given media to send inline while the server held too much of it already',
  );
  expect(media.held).toBe(left);
  media.give(left);
});

test('downloaded media are sent as base64, with the type that the server states', async () => {
  fake.answer(status(200, 'hello', { 'content-type': 'image/png; x=1' }));
  const pools = new ConnectionPools();
  const fetched = await fetchMedia(`${fake.url}/a.png`, {
    pools,
    guard: 'not-link-local',
    cancellation: new Cancellation(),
  });
  expect(fetched).toEqual({ ok: true, value: { data: 'aGVsbG8=', mediaType: 'image/png' } });
  await pools.close();
});

test('a cancellation during a download ends it, and svc does not call the model', async () => {
  fake.answer(async (_request, wire) => {
    wire.write(`${head(200, { 'content-length': '1000000' })}begin`);
    while (!wire.gone) await sleep(5);
  });
  const received: unknown[] = [];
  const exchange = inlining().ask(
    {
      functionName: 'Fn',
      args: {},
      messages: withImage(),
      streamed: false,
      deadlineAt: performance.now() + DEADLINE_MS,
      privateUrls: true,
    },
    { text: (delta) => received.push(delta), ended: (result) => received.push(result) },
  );
  await waitUntil('the download', () => fake.requests.length === 1);
  exchange.cancel();
  await waitUntil('the end of the download', () => fake.abandoned.length === 1);
  expect(fake.abandoned.map((each) => each.path)).toEqual(['/a.png']);
  expect(fake.requests.map((each) => each.path)).toEqual(['/a.png']);
  expect(received).toEqual([]);
});

test('the deadline of a call applies to the download of media', async () => {
  fake.answer(stalled);
  const { result } = await ask(inlining(), { messages: withImage(), deadlineMs: 3000 });
  expect(result).toMatchObject({ ok: false, failure: { failure: { code: 'timeout', timer: 'total' } } });
  await waitUntil('the end of the download', () => fake.abandoned.length === 1);
  expect(fake.abandoned.map((each) => each.path)).toEqual(['/a.png']);
});

test('the deadline of a call applies to the request for a token', async () => {
  fake.answer(stalled);
  const definition = clientDefinition('vertex-ai', { model: 'm', base_url: fake.url });
  const client = makeClient(definition, services, { GCE_METADATA_HOST: new URL(fake.url).host });
  const { result } = await ask(client, { deadlineMs: 3000 });
  expect(result).toMatchObject({ ok: false, failure: { failure: { code: 'timeout', timer: 'total' } } });
  expect(fake.requests.map((each) => each.path)).toEqual([
    '/computeMetadata/v1/instance/service-accounts/default/token',
  ]);
});

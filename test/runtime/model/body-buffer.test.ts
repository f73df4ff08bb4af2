import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { ConnectionPools } from '../../../src/runtime/model/http/connection-pools.ts';
import { BodyBuffer } from '../../../src/runtime/model/http/http-exchange.ts';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { fetchMedia } from '../../../src/runtime/model/inline-media.ts';
import { ask, clientDefinition, makeClient, testServices } from '../../support/ask-client.ts';
import { startFakeProvider } from '../../support/fake-provider.ts';
import { head } from '../../support/http1-connection.ts';
import type { Behaviour } from '../../support/fake-wire.ts';

test('the buffer joins chunks in order and never writes to them', () => {
  assertProperty(
    fc.property(fc.array(fc.uint8Array({ maxLength: 9 })), (chunks) => {
      const body = new BodyBuffer();
      const given = chunks.map((chunk) => Buffer.from(chunk));
      for (const chunk of given) body.add(chunk);
      expect(body.take()).toEqual(Buffer.concat(chunks));
      expect(given).toEqual(chunks.map((chunk) => Buffer.from(chunk)));
      expect(body.take()).toHaveLength(0);
    }),
  );
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const CHUNKS = 200_000;

/** The beginning of a body in chunks of one byte each. `held`: the bytes of heap that it takes after its arrival. */
function inBytes(held: (bytes: number) => void): Behaviour {
  return async (_request, wire) => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    wire.write(head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }));
    wire.write('1\r\n{\r\n'.repeat(CHUNKS));
    await new Promise((resolve) => {
      setTimeout(resolve, 500);
    });
    collectGarbage();
    held(process.memoryUsage().heapUsed - before);
    wire.reset();
  };
}

test('a body in tiny chunks does not take a multiple of its size', async () => {
  const fake = await startFakeProvider();
  const services = testServices();
  const pools = new ConnectionPools();
  const held: number[] = [];
  fake.answer(inBytes((bytes) => held.push(bytes)));
  await ask(makeClient(clientDefinition('openai-generic', { base_url: fake.url, model: 'm' }), services));
  await fetchMedia(`${fake.url}/a.png`, { pools, guard: 'not-link-local', cancellation: new Cancellation() });
  expect(held).toHaveLength(2);
  for (const bytes of held) expect(bytes).toBeLessThan(10 * CHUNKS);
  await Promise.all([services.pools.close(), pools.close()]);
  await fake.close();
});

import { afterAll, beforeEach } from 'vitest';
import { testServices } from './ask-client.ts';
import { startFakeProvider } from './fake-provider.ts';

/** A provider for the tests of one file, which forgets its requests and answers before each test, and services for their clients. */
export async function fakeModels() {
  const fake = await startFakeProvider();
  const services = testServices();
  beforeEach(() => fake.clear());
  afterAll(async () => {
    await services.pools.close();
    await fake.close();
  });
  return { fake, services };
}

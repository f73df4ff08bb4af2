import { afterAll, afterEach, beforeEach } from 'vitest';
import type { FunctionRuntime } from '../../src/runtime/call/runtime.ts';
import { startFakeProvider, type FakeProvider } from './fake-provider.ts';
import type { Behaviour } from './fake-wire.ts';

interface ProviderSuite {
  readonly fake: FakeProvider;
  /** The runtimes that are closed after the test. */
  readonly open: FunctionRuntime[];
}

/** Starts a provider for the tests of a file. At the beginning of each test, it has received nothing and gives `answer`. */
export async function startProviderSuite(answer: Behaviour): Promise<ProviderSuite> {
  const fake = await startFakeProvider();
  const open: FunctionRuntime[] = [];
  beforeEach(() => {
    fake.clear();
    fake.answer(answer);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((runtime) => runtime.close()));
  });
  afterAll(() => fake.close());
  return { fake, open };
}

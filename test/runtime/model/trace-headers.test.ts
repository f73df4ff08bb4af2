import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallObserver } from '../../../src/base/call-observer.ts';
import { reply, startFakeProvider, type FakeProvider } from '../../support/fake-provider.ts';
import { callContext, callFunction, testRuntime, valueOf } from '../../support/test-runtime.ts';

const TRACE = ['traceparent', '00-1-2-01', 'baggage', 'tenant=acme'];

/** Observes the call, and has trace headers for it. */
const OBSERVER: CallObserver = {
  started: () => {},
  rendered: () => {},
  passedOver: () => {},
  asked: () => ({ traceHeaders: () => TRACE, firstText: () => {}, ended: () => {} }),
  parsing: () => undefined,
};

let fake: FakeProvider;

beforeAll(async () => {
  fake = await startFakeProvider();
  fake.answer(reply('fine'));
});

afterAll(() => fake.close());

/** The trace headers in a request of a client with these options. */
async function sent(options: string, observer?: CallObserver): Promise<readonly (string | undefined)[]> {
  const runtime = testRuntime(`
client<llm> Traced {
  provider openai-generic
  options {
    model m
    base_url "${fake.url}/v1"
    ${options}
  }
}
function Ask() -> string {
  client Traced
  prompt #"x"#
}`);
  const outcome = await callFunction(runtime, 'Ask', {}, { ...callContext(), observer });
  expect(valueOf(outcome)).toBe('fine');
  await runtime.close();
  const { traceparent, baggage } = fake.requests.at(-1)?.headers ?? {};
  return [traceparent, baggage];
}

test('a provider receives the trace headers if its client sets propagate_trace', async () => {
  expect(await sent('http { propagate_trace true }', OBSERVER)).toEqual(['00-1-2-01', 'tenant=acme']);
});

test('by default, a provider receives no trace headers', async () => {
  expect(await sent('', OBSERVER)).toEqual([undefined, undefined]);
});

test('a header of the client takes precedence', async () => {
  const options = 'headers { Baggage "own=1" }\n    http { propagate_trace true }';
  expect(await sent(options, OBSERVER)).toEqual(['00-1-2-01', 'own=1']);
});

test('a call without an observer has no trace headers', async () => {
  expect(await sent('http { propagate_trace true }')).toEqual([undefined, undefined]);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FunctionRuntime } from '../../../src/runtime/call/runtime.ts';
import { outcomeOf, readExchanges, sections } from '../../support/exchanges.ts';
import { SSE_HEADERS, sse, startFakeProvider, type FakeProvider } from '../../support/fake-provider.ts';
import { sleep, type Behaviour } from '../../support/fake-wire.ts';
import { chunk, head } from '../../support/http1-connection.ts';
import { callContext, streamFunction, testRuntime, valueOf } from '../../support/test-runtime.ts';

const FEWEST_STREAMS = 10;

interface RecordedStream {
  readonly name: string;
  readonly client: string;
  readonly returns: string;
  /** Server-sent events, ended by a blank line. */
  readonly events: string;
  readonly value: unknown;
}

/** The recorded streams that return a value; the tests break them. */
const STREAMS = readExchanges().exchanges.flatMap((exchange): readonly RecordedStream[] => {
  const [reply = ''] = sections(exchange, 'reply');
  const { value } = outcomeOf(exchange);
  const isStream = sections(exchange, 'stream').length > 0 && reply.includes('content-type: text/event-stream');
  if (!isStream || value === undefined) return [];
  const events = `${reply.slice(reply.indexOf('\n\n') + 2).trimEnd()}\n\n`;
  const [returns = 'string'] = sections(exchange, 'returns');
  return [{ name: exchange.name, client: sections(exchange, 'client').join(''), returns, events, value }];
});

let fake: FakeProvider;
const env = { OPENAI_API_KEY: 'k', KEY: 'k', AWS_ID: 'i', AWS_SECRET: 's' };

beforeAll(async () => {
  fake = await startFakeProvider();
});
afterAll(() => fake.close());

async function withRuntime<T>(stream: RecordedStream, use: (runtime: FunctionRuntime) => Promise<T>): Promise<T> {
  const program = `${stream.client}\nfunction F() -> ${stream.returns} {\n  client Tested\n  prompt #"x"#\n}\n`;
  const runtime = testRuntime(program, { ...env, URL: fake.url, URL_WITH_SLASH: `${fake.url}/v1/` });
  try {
    return await use(runtime);
  } finally {
    await runtime.close();
  }
}

async function streamed(runtime: FunctionRuntime, behaviour: Behaviour): Promise<unknown> {
  fake.answer(behaviour);
  return valueOf((await streamFunction(runtime, 'F', {}, callContext(20_000))).outcome);
}

test('there are enough streams', () => {
  expect(STREAMS.length).toBeGreaterThanOrEqual(FEWEST_STREAMS);
});

/** All ways to write the same events. */
const WRITINGS: Readonly<Record<string, (events: string) => readonly (string | Uint8Array)[]>> = {
  'byte by byte': (events) => [...Buffer.from(events)].map((byte) => Buffer.from([byte])),
  'with CRLF': (events) => [events.replaceAll('\n', '\r\n')],
  'with CR': (events) => [events.replaceAll('\n', '\r')],
  'with a byte order mark and comments': (events) => [`\uFEFF: hello\n\n${events.replaceAll('\n\n', '\n:\n\n')}`],
  'without the blank line at the end': (events) => [events.trimEnd()],
};

test.each(STREAMS)('$name: the same value however it is written', async (stream) => {
  await withRuntime(stream, async (runtime) => {
    for (const [name, write] of Object.entries(WRITINGS)) {
      expect(await streamed(runtime, sse(write(stream.events))), name).toEqual(stream.value);
    }
  });
});

function cutAt(events: string, at: number): Behaviour {
  return async (_request, wire) => {
    wire.write(head(200, SSE_HEADERS));
    wire.write(chunk(events.slice(0, at)));
    await sleep(5);
    wire.reset();
  };
}

test.each(STREAMS)('$name: cut anywhere, it is a failure or the whole value', async (stream) => {
  const { events } = stream;
  const ends = [...events.matchAll(/\n\n/gu)].map((match) => match.index + 2);
  const cuts = [...ends.slice(0, -1), ...ends.map((end) => end - 9)].filter((at) => at > 0);
  await withRuntime(stream, async (runtime) => {
    const outcomes = new Set<string>();
    for (const at of cuts) outcomes.add(JSON.stringify(await streamed(runtime, cutAt(events, at))));
    expect(outcomes.delete('"client_error"')).toBe(true);
    // The rest after the finish reason (usage, end marks) can be missing.
    expect([...outcomes].filter((outcome) => outcome !== JSON.stringify(stream.value))).toEqual([]);
  });
});

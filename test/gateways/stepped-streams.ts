import { RESUME_REPLY } from '../e2e/definitions.ts';
import { chatEvent, type FakeProvider } from '../support/fake-provider.ts';
import { sleep, type Answer } from '../support/fake-wire.ts';
import { waitUntil } from '../support/load.ts';
import { openStream } from '../support/sse.ts';

/** Each part but the last ends within a string of the value, which has grown. */
const PARTS = RESUME_REPLY.split(/(?<=Ada|Lovelace|Analyst|Author)/u);

/** One reader of a stream, and the lines of events that it has received. */
interface Reader {
  readonly name: string;
  events: string[];
}

/**
 * Reads streams of `ExtractResume` at the same time. The model of each writes a part of its reply only when an event with the part before
 * has arrived: behind a gateway that holds events back, no stream ends. Resolves to the last messages.
 */
export async function readSteppedStreams(fake: FakeProvider, url: string, count: number): Promise<readonly unknown[]> {
  const readers = Array.from({ length: count }, (_, index): Reader => ({ name: `Reader-${index}.`, events: [] }));
  fake.answer(async (request, wire) => {
    const reader = readers.find(({ name }) => request.body.includes(name));
    wire.head(200, { 'content-type': 'text/event-stream' });
    for (const [index, content] of PARTS.entries()) {
      const before = reader?.events.length ?? 0;
      wire.body(chatEvent({ content }));
      if (index === PARTS.length - 1) break;
      await waitUntil('the event with this part', () => (reader?.events.length ?? 0) > before);
    }
    wire.body(`${chatEvent({}, 'stop')}data: [DONE]\n\n`);
    wire.finish();
  });
  await Promise.all(readers.map((reader) => read(url, reader)));
  return readers.map(({ events }) => JSON.parse(events.at(-1) ?? 'null') as unknown);
}

/** Writes text until the caller leaves: the call ends only when it is cut. */
export const endlessReply: Answer = async (_request, wire) => {
  wire.head(200, { 'content-type': 'text/event-stream' });
  wire.body(chatEvent({ content: '{"name": "' }));
  while (!wire.gone) {
    wire.body(chatEvent({ content: 'x' }));
    await sleep(50);
  }
};

async function read(url: string, reader: Reader): Promise<void> {
  const response = await openStream(`${url}/stream/ExtractResume`, { text: reader.name });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    reader.events = text
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('data: '))
      .map((line) => line.slice('data: '.length));
  }
}

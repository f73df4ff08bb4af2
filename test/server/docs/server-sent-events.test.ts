import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';

interface EventSplitter {
  push(chunk: string): string[];
}

interface View {
  readonly partials: number;
  readonly resets: number;
}

// Scripts of the page are plain JavaScript without declarations.
const page = new URL('../../../src/server/http/docs/page/', import.meta.url);
const splitting: { EventSplitter: new () => EventSplitter } = await import(new URL('server-sent-events.js', page).href);
const live: { meaning(event: unknown, view: View): unknown } = await import(new URL('live-answers.js', page).href);

function eventsOf(chunks: readonly string[]): readonly string[] {
  const splitter = new splitting.EventSplitter();
  return chunks.flatMap((chunk) => splitter.push(chunk));
}

test('one chunk can contain several events', () => {
  expect(eventsOf(['data: {"a":1}\n\ndata: {"b":2}\n\n'])).toEqual(['{"a":1}', '{"b":2}']);
});

test('comments and other fields are skipped, several data lines are joined', () => {
  expect(eventsOf([': keep-alive\n\nevent: x\nid: 5\ndata: a\ndata:b\ndata\n\n'])).toEqual(['a\nb\n']);
});

test('an event without its blank line is not complete', () => {
  expect(eventsOf(['data: a\n'])).toEqual([]);
});

test('the events do not depend on where the text is cut, with any line break', () => {
  const line = fc.constantFrom('data: x', 'data: {"y": 1}', ': c', 'data:', 'event: z', '');
  const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 12 });
  assertProperty(
    fc.property(stream, fc.array(fc.nat(12), { maxLength: 20 }), (lines, sizes) => {
      const whole = `${lines.map(([text, end]) => text + end).join('')}\n`;
      const chunks: string[] = [];
      let at = 0;
      for (const size of sizes) chunks.push(whole.slice(at, (at += size)));
      chunks.push(whole.slice(at));
      expect(eventsOf(chunks)).toEqual(eventsOf([whole]));
    }),
  );
});

test.each([
  [{ partial_result: null }, { state: 'streaming', value: null, partials: 4 }],
  [{ final_result: 5 }, { state: 'final', value: 5, warnings: 0 }],
  [{ final_result: 5, warnings: [{}, {}], more_warnings: 3 }, { state: 'final', value: 5, warnings: 5 }],
  [{ final_result: 5, meta: { attempts: [] } }, { state: 'final', value: 5, warnings: 0, meta: { attempts: [] } }],
  [{ text: 'of the model' }, { state: 'streaming' }],
  [{ reasoning: 'of the model' }, { state: 'streaming' }],
  [{ reset: { reason: 'r' } }, { state: 'waiting', value: undefined, resets: 2 }],
  [
    { error: 'timeout', message: 'm' },
    { state: 'failed', error: { error: 'timeout', message: 'm' } },
  ],
])('the event %j changes the view', (event, change) => {
  expect(live.meaning(event, { partials: 3, resets: 1 })).toEqual(change);
});

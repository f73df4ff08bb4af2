import { joinParts } from '../../../src/base/text-parts.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stepGrowth } from '../../support/count-steps.ts';
import { isJsonObject } from '../../../src/base/json.ts';
import { assertProperty } from '../../support/assert-property.ts';
import { cut } from './cut.ts';
import { parserOf, partialsOf, valueOf } from './parser-of.ts';

const DEFINITIONS = `
enum Mood {
  HAPPY @alias("glad")
  SAD
}
class Search {
  tool "search"
  query string
}
class Page {
  title string
  note string?
}
class Item {
  name string
  price float @assert(positive, {{ this > 0 }})
}
`;

const UNIONS = [
  'string?',
  'string | int',
  '"yes" | string',
  'Mood | string',
  'Search | string',
  'string | Search[]',
  '(Search | string)?',
  'Page | Search | string',
  'map<string, int> | string',
  'bool | float | string',
];

const parsers = new Map(UNIONS.map((returns) => [returns, parserOf(returns, DEFINITIONS)]));

/** Parts of replies: prose, and what can be another member of a union or only looks like it. */
const PART = fc.constantFrom(
  'Hello ',
  'world',
  ' ',
  '\n\n',
  'yes',
  'null',
  '42',
  '3.',
  'true',
  'glad',
  '"',
  '"quoted"',
  "'",
  '`code`',
  '\n```\n',
  '```python\nprint("x")\n```\n',
  '```json\n{"tool": "search", "query": "x"}\n```',
  '{"tool": "search", "query": "x"}',
  '{"tool": "fly"}',
  '{"port": 80}',
  '[1, 2]',
  '[1]',
  '{name}',
  '<',
  '# Title\n',
  '- item\n',
  '\\',
  ': ',
);

const streamed = fc.record({
  returns: fc.constantFrom(...UNIONS),
  parts: fc.array(PART, { minLength: 1, maxLength: 8 }),
  lengths: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 3 }),
});

test('partials of a union with a string keep their kind, grow by prefix, and begin a final string', () => {
  assertProperty(
    fc.property(streamed, ({ returns, parts, lengths }) => {
      const parser = parsers.get(returns);
      if (parser === undefined) throw new Error(`no parser for ${returns}`);
      const reply = parts.join('');
      const partials = partialsOf(parser, cut(reply, lengths)).map((json): unknown => JSON.parse(json));
      for (const [index, partial] of partials.slice(1).entries())
        expect(continues(partials[index], partial)).toBe(true);
      const outcome = parser.parse(reply);
      const final = outcome.ok ? outcome.value.value : null;
      const last = partials.at(-1);
      // Another member can follow prose, also in a fence, but no string follows an object.
      const isText = typeof final === 'string' && !reply.includes('```');
      if (isText && last !== undefined) expect(continues(last, final)).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

/** True if the second value can follow the first one in a stream. */
function continues(before: unknown, after: unknown): boolean {
  if (typeof before === 'string') return typeof after === 'string' && after.startsWith(before);
  return Array.isArray(before) === Array.isArray(after) && isJsonObject(before) === isJsonObject(after);
}

test.each(UNIONS)('prose of %s appears from the first delta that can be nothing else', (returns) => {
  const parser = parserOf(returns, DEFINITIONS);
  const partials = partialsOf(parser, ['The weather', ' is nice', ' today.']);
  expect(partials).toEqual(['"The weather"', '"The weather is nice"', '"The weather is nice today."']);
});

test.each(['string?', 'Search | string', '"yes" | string'])(
  'reading the prose of %s takes steps in proportion',
  (type) => {
    const parser = parserOf(type, DEFINITIONS);
    const growth = stepGrowth(3000, (size) => {
      const deltas = cut('See [1], {x} or `y` for "it".\n```sh\nls\n```\n'.repeat(size / 40), [7]);
      return () => {
        const stream = parser.openStream();
        for (const delta of deltas) stream.push(delta);
        stream.takePartial();
        stream.finish();
      };
    });
    expect(growth.factor).toBeLessThan(2.2);
  },
);

test('elements of a list appear as they grow, and one that an assert rejects stays as it was until the final value', () => {
  const reply = '[{"name": "pen", "price": 2}, {"name": "ink", "price": -1}, {"name": "pad", "price": 3}]';
  const parser = parserOf('Item[]', DEFINITIONS);
  const partials = partialsOf(parser, cut(reply, [1]));
  expect(partials).toContain('[{"name":"p","price":null}]');
  expect(partials).toContain('[{"name":"pen","price":2},{"name":"ink","price":null}]');
  expect(partials.at(-1)).toBe('[{"name":"pen","price":2},{"name":"ink","price":null},{"name":"pad","price":3}]');
  expect(partials.join()).not.toContain('-1');
  expect(valueOf(parser, reply)).toEqual([
    { name: 'pen', price: 2 },
    { name: 'pad', price: 3 },
  ]);
});

test('a partial of a long reply comes in parts, of which all but the last are those of the partial before', () => {
  const pages = Array.from({ length: 8000 }, (_, at) => ({ title: `page ${at}`, note: null }));
  const stream = parserOf('Page[]', DEFINITIONS).openStream();
  let before: readonly string[] = [];
  for (const delta of cut(JSON.stringify(pages).slice(0, -1), [10_000])) {
    stream.push(delta);
    const parts = stream.takePartial() ?? [];
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(30_000);
    const settled = before.slice(0, -2);
    expect(parts.slice(0, settled.length)).toEqual(settled);
    before = parts;
  }
  expect(before.length).toBeGreaterThan(10);
  expect(JSON.parse(joinParts(before))).toEqual(pages);
});

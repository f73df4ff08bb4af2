import { expect, test } from 'vitest';
import { stepGrowth, type Growth } from '../../support/count-steps.ts';
import { everyOther } from '../../support/assert-property.ts';
import { cut } from './cut.ts';
import { COUNTED, PATTERNS, schemaNamed } from './growth-cases.ts';
import { parserOf, partialsOf } from './parser-of.ts';

/** The length of a reply whose steps are compared with those of a reply twice as long: chains of each of five keys fit into it. */
const SIZE = 2_700;

/** The same for a reply in deltas, whose chains have to reach the end of their nesting. */
const STREAMED_SIZE = 2_000;

/** The same for values that show hardly anything: the text that each partial writes outweighs the reading of longer replies. */
const EMPTY_SIZE = 1_000;

/** The most steps for twice the text, as a multiple: 2 is linear, 4 is quadratic. */
const MAX_GROWTH = 2.4;

const LINEAR = expect.toSatisfy(
  ({ factor }: Growth) => factor <= MAX_GROWTH,
  `at most ${MAX_GROWTH} times as many steps for twice the text`,
) as unknown;

test.each(COUNTED)('coercing a reply to %s takes steps in proportion to its length', (name) => {
  const schema = schemaNamed(name);
  const parser = parserOf(schema.returns, schema.definitions);
  for (const pattern of everyOther(PATTERNS, COUNTED.indexOf(name))) {
    const growth = stepGrowth(SIZE, (size) => {
      const reply = pattern.reply(schema, size);
      return () => parser.parse(reply);
    });
    expect(growth, pattern.name).toEqual(LINEAR);
  }
});

/** Replies in which every delta changes an unfinished value. */
const STREAMED: ReadonlySet<string> = new Set([
  'valid values',
  'unknown keys',
  'empty objects',
  'chains of known keys',
  'trees of known keys',
]);

test.each(['6 all-optional classes', '12 all-optional classes', 'document of 4 classes', 'JSON alias'])(
  'partials of %s take steps in proportion to the deltas',
  (name) => {
    const schema = schemaNamed(name);
    const parser = parserOf(schema.returns, schema.definitions);
    for (const pattern of PATTERNS.filter((each) => STREAMED.has(each.name))) {
      const growth = stepGrowth(pattern.name === 'empty objects' ? EMPTY_SIZE : STREAMED_SIZE, (size) => {
        const deltas = cut(pattern.reply(schema, size), [40]);
        return () => partialsOf(parser, deltas);
      });
      expect(growth, pattern.name).toEqual(LINEAR);
    }
  },
);

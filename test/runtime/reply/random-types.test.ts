import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import { createReplyParser } from '../../../src/runtime/reply/create-reply-parser.ts';
import type { ReplyParser } from '../../../src/runtime/reply/reply-parser.ts';
import { indexDefinitions } from '../../../src/schema/program.ts';
import { programOf } from '../../support/definitions.ts';
import { publishedSchemas } from '../../support/published-schemas.ts';
import { partialsOf } from './parser-of.ts';
import { samples, type Sample } from './random-types.ts';
import { withoutStates } from './shapes.ts';
import { cut } from './cut.ts';

// Laws over random classes, types and values. The types are recursive and include unions, maps, aliases and every
// attribute of streams; `laws.test.ts` uses a few fixed types.

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    'plain',
    'a, b',
    'say "hi"',
    "it's",
    'x: y',
    '{a}',
    '[1]',
    'two\nlines',
    '\\d+',
    '```',
    '```json\n{}\n```',
    '// no',
    '/* no */',
    'null',
    'true',
    '12',
    '<think>',
    '</think>',
    '__proto__',
    '',
  ),
);
/** Strings that mean the same with and without quotes. */
const simpleText = fc.stringMatching(/^[a-z][a-z]{0,6} ?[a-z]{2}q$/u);

const anyLayout = fc.constantFrom(undefined, 2);
const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 });

function parserOf({ returns, definitions }: Sample): ReplyParser {
  return createReplyParser(returns, indexDefinitions(definitions), compileCondition);
}

test('valid JSON of any type is its own value', () => {
  assertProperty(
    fc.property(samples(anyText), anyLayout, (sample, layout) => {
      const outcome = parserOf(sample).parse(JSON.stringify(sample.reply, undefined, layout));
      expect(outcome.ok ? outcome.value.value : outcome.failure).toEqual(sample.value);
    }),
    { numRuns: 250 },
  );
});

/** Damage that the parser repairs if strings are simple. The JSON has a line for each value. */
const DAMAGES: Readonly<Record<string, (json: string) => string>> = {
  'a fence': (json) => `\`\`\`json\n${json}\n\`\`\``,
  'an open fence': (json) => `\`\`\`json\n${json}`,
  'a fence without a tag, prose around it': (json) => `Here you go:\n\n\`\`\`\n${json}\n\`\`\`\n\nAnything else?`,
  'prose before and after': (json) => `The answer is:\n${json}\nI hope that this helps.`,
  'a thought before': (json) => `<think>Maybe {"f0": "draft"}? Or [1]?</think>\n${json}`,
  'a byte order mark': (json) => `\uFEFF${json}`,
  'trailing commas': (json) => json.replaceAll(/([^\s,{[:])(\n\s*[\]}])/gu, '$1,$2'),
  'missing commas': (json) => json.replaceAll(/,\n/gu, '\n'),
  comments: (json) => json.replaceAll(/,\n/gu, ', // as asked\n').replaceAll(/([{[])\n/gu, '$1 /* begins */\n'),
  'keys without quotes': (json) => json.replaceAll(/"([\w ]+)":/gu, '$1:'),
  'single quotes': (json) => json.replaceAll('"', "'"),
  'typographic quotes': (json) => json.replaceAll(/"([^"]*)"/gu, '“$1”'),
  'strings without quotes': (json) => json.replaceAll(/: "([^"]+)"/gu, ': $1'),
  'a missing end': (json) => json.replace(/(?<=["\w])[\s\]}]+$/u, ''),
};

test.each(Object.entries(DAMAGES))('%s: the value of any type is recovered', (_name, damage) => {
  assertProperty(
    fc.property(samples(simpleText), (sample) => {
      const outcome = parserOf(sample).parse(damage(JSON.stringify(sample.reply, undefined, 2)));
      expect(outcome.ok ? outcome.value.value : outcome.failure).toEqual(sample.value);
    }),
    { numRuns: 50 },
  );
});

const anyDamage = fc.constantFrom<(json: string) => string>((json) => json, ...Object.values(DAMAGES));

test('a stream of any type ends in the outcome of the whole reply, wherever it is cut', () => {
  assertProperty(
    fc.property(samples(anyText), cuts, anyDamage, anyLayout, (sample, lengths, damage, layout) => {
      const reply = damage(JSON.stringify(sample.reply, undefined, layout));
      const parser = parserOf(sample);
      const stream = parser.openStream();
      for (const delta of cut(reply, lengths)) {
        stream.push(delta);
        stream.takePartial();
      }
      expect(stream.finish()).toEqual(parser.parse(reply));
    }),
    { numRuns: 250 },
  );
});

test(
  'partials of any type show a beginning of its value, fit their schema, and end in the whole of it',
  { timeout: 120_000 },
  () => {
    let seen = 0;
    assertProperty(
      fc.property(samples(anyText), cuts, anyLayout, (sample, lengths, layout) => {
        const { partial: schema } = publishedSchemas(programOf(sample.definitions));
        const partials = partialsOf(parserOf(sample), cut(JSON.stringify(sample.reply, undefined, layout), lengths));
        seen += partials.length;
        for (const text of partials) {
          const partial: unknown = JSON.parse(text);
          expect({ partial, shown: sample.shape.shows(partial, sample.value, sample.world) }).toEqual({
            partial,
            shown: true,
          });
          expect({ partial, fits: schema(partial) }).toEqual({ partial, fits: true });
        }
        expect(withoutStates(JSON.parse(partials.at(-1) ?? 'null'))).toEqual(sample.value);
      }),
      { numRuns: 100 },
    );
    expect(seen).toBeGreaterThan(300);
  },
);

test('partials of any type never take anything back, and no two in a row are equal', () => {
  assertProperty(
    fc.property(samples(simpleText), cuts, anyDamage, (sample, lengths, damage) => {
      const partials = partialsOf(parserOf(sample), cut(damage(JSON.stringify(sample.reply, undefined, 2)), lengths));
      for (const [index, partial] of partials.entries()) {
        const previous = partials[index - 1];
        if (previous === undefined) continue;
        expect(partial).not.toBe(previous);
        expect(stepBack(JSON.parse(previous), JSON.parse(partial), '')).toBeUndefined();
      }
    }),
    { numRuns: 200 },
  );
});

const STATES = ['Pending', 'Incomplete', 'Complete'];

/** Returns the path at which `after` takes back a value of `before`; undefined if there is none. */
function stepBack(before: unknown, after: unknown, path: string): string | undefined {
  if (before === null) return undefined;
  if (typeof before === 'string') {
    const isState = path.endsWith('.state') && STATES.includes(before);
    if (isState) return STATES.indexOf(before) <= STATES.indexOf(String(after)) ? undefined : path;
    return typeof after === 'string' && after.startsWith(before) ? undefined : path;
  }
  if (typeof before !== 'object') return before === after ? undefined : path;
  if (typeof after !== 'object' || after === null || Array.isArray(before) !== Array.isArray(after)) return path;
  const next = new Map(Object.entries(after));
  for (const [key, value] of Object.entries(before)) {
    const place = next.has(key) ? stepBack(value, next.get(key), `${path}.${key}`) : `${path}.${key}`;
    if (place !== undefined) return place;
  }
  return undefined;
}

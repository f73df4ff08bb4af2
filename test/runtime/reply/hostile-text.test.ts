import { expect, test } from 'vitest';
import { countSteps, stepGrowth, type Growth } from '../../support/count-steps.ts';
import type { ReplyParser } from '../../../src/runtime/reply/reply-parser.ts';
import { everyOther } from '../../support/assert-property.ts';
import {
  HOSTILE_DEFINITIONS,
  HOSTILE_TYPES,
  LONG_TEXTS,
  OBJECTS,
  PAIRS,
  PAIR_TYPES,
  PATTERNS,
} from './hostile-patterns.ts';
import { parserOf, partialsOf } from './parser-of.ts';

/** The length of a reply whose steps are compared with those of a reply twice as long. */
const SIZE = 1_000;

/** The same for replies of brackets: only at this length do they reach the limit of nesting, and their fixed cost is small. */
const BRACKETS_SIZE = 3_000;

/** The most steps for twice the text, as a multiple: 2 is linear, 4 is quadratic. */
const MAX_GROWTH = 2.1;

/** The most steps for each character of a reply. Small objects in a list take the most, more than 500. */
const MAX_STEPS = 1000;

test.each(HOSTILE_TYPES)(
  'reading a repetition as %s takes steps in proportion to its length, in deltas and then as a whole',
  (type) => {
    const parser = parserOf(type, HOSTILE_DEFINITIONS);
    const patterns = [...PATTERNS, ...OBJECTS];
    // Some patterns have the keys of this class.
    const tried = type === 'Node' ? patterns : everyOther(patterns, HOSTILE_TYPES.indexOf(type));
    for (const pattern of tried) {
      const growth = stepGrowth(/[[({]/u.test(pattern) ? BRACKETS_SIZE : SIZE, (size) => {
        const reply = pattern.repeat(Math.ceil(size / pattern.length));
        return () => stream(parser, reply);
      });
      expect(growth, pattern).toEqual(LINEAR);
    }
  },
);

test.each(HOSTILE_TYPES)('reading one long string as %s takes steps in proportion to its length', (type) => {
  const parser = parserOf(type, HOSTILE_DEFINITIONS);
  for (const pattern of LONG_TEXTS) {
    const whole = stepGrowth(SIZE, (size) => {
      const reply = JSON.stringify({ value: `${pattern.repeat(size / pattern.length)}x` });
      return () => parser.parse(reply);
    });
    expect(whole, pattern).toEqual(LINEAR);
  }
});

/** Of the pairs of marks, one in so many is tried with each type; `npm run growth` tries all with all. */
const EVERY = 24;

test.each(PAIR_TYPES)('reading two marks in turn, or one after the other, as %s takes steps in proportion', (type) => {
  const parser = parserOf(type, HOSTILE_DEFINITIONS);
  const tried = PAIRS.filter((_, index) => index % EVERY === PAIR_TYPES.indexOf(type));
  expect(tried.length).toBeGreaterThan(80);
  for (const { name, repeat } of tried) {
    const growth = stepGrowth(BRACKETS_SIZE, (size) => {
      const reply = repeat(size);
      return () => parser.parse(reply);
    });
    expect(growth, name).toEqual(LINEAR);
  }
});

test.each(['`', '**', '_'])('a list item of %s alone takes steps in proportion to its length', (mark) => {
  const parser = parserOf('Leaf[]', HOSTILE_DEFINITIONS);
  const growth = stepGrowth(SIZE, (size) => {
    const reply = `1. ${mark.repeat(size / mark.length)}`;
    return () => parser.parse(reply);
  });
  expect(growth).toEqual(LINEAR);
});

const LINEAR = expect.toSatisfy(
  ({ size, steps, factor }: Growth) => steps <= MAX_STEPS * size && factor <= MAX_GROWTH,
  `at most ${MAX_STEPS} steps for each character, and at most ${MAX_GROWTH} times as many for twice the text`,
) as unknown;

/** Reads a reply in deltas of seven characters, with one partial. The end of the stream reads it again, as a whole. */
function stream(parser: ReplyParser, reply: string): void {
  const open = parser.openStream();
  for (let at = 0; at < reply.length; at += 7) open.push(reply.slice(at, at + 7));
  open.takePartial();
  open.finish();
}

test('100,000 nested brackets are refused once they are too deep', () => {
  const parser = parserOf('Node', HOSTILE_DEFINITIONS);
  const reply = '['.repeat(100_000) + ']'.repeat(100_000);
  let failure = '';
  const steps = countSteps(() => {
    const outcome = parser.parse(reply);
    failure = outcome.ok ? '' : outcome.failure.message;
  });
  expect(failure).toContain('nests deeper than 400 levels');
  expect(steps).toBeLessThan(2 * reply.length);
});

test('a block of YAML is read whatever its number of lines', () => {
  const outcome = parserOf('Block', 'class Block {\n  title string\n  note string\n}').parse(
    `title: T\nnote: |\n${'  a\n'.repeat(150_000)}`,
  );
  expect(outcome.ok && outcome.value.value).toEqual({ title: 'T', note: 'a\n'.repeat(150_000).trimEnd() });
});

test('a value as deep as the limit is read, also as a recursive type', () => {
  const reply = '['.repeat(400) + ']'.repeat(400);
  const outcome = parserOf('Data', HOSTILE_DEFINITIONS).parse(reply);
  expect(outcome.ok && outcome.value.json).toBe(reply);
});

function deep(innermost: string): string {
  return '{"children":['.repeat(199) + innermost + ']}'.repeat(199);
}

test('deep values in strings in deep values are read', () => {
  const reply = deep(`{"children": ${JSON.stringify(`[${deep('{}')}]`)}}`);
  const outcome = parserOf('Node', HOSTILE_DEFINITIONS).parse(reply);
  expect(outcome.ok && outcome.value.flags.map((flag) => flag.flag)).toContain('json-in-text');
});

test('partials of a list of itself end, although an object can be its member at any depth', () => {
  expect(partialsOf(parserOf('Nest', 'type Nest = Nest[]'), ['{"a": 1', ', "b": [', ']']).at(-1)).toBe('[]');
});

test('the type string takes any text as it is', () => {
  const reply = '['.repeat(100_000);
  const outcome = parserOf('string').parse(reply);
  expect(outcome.ok && outcome.value.value).toBe(reply);
});

test('keys of the prototype are data', () => {
  const parser = parserOf('map<string, map<string, bool>>');
  const outcome = parser.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": false}}');
  expect(outcome.ok && outcome.value.json).toBe('{"__proto__":{"polluted":true},"constructor":{"prototype":false}}');
  expect(outcome.ok && Object.keys(outcome.value.value as object)).toEqual(['__proto__', 'constructor']);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

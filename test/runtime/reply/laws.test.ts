import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { parserOf, partialsOf } from './parser-of.ts';
import { cut } from './cut.ts';
import { SHARD } from './shards.ts';

const DEFINITIONS = `
enum Color {
  RED
  GREEN
  BLUE
}
class Leaf {
  name string
  size int
}
class Branch {
  label string?
  leaves Leaf[]
  lengths float[]
  colors map<string, Color>
  open bool
  next Branch?
}
`;

/** A type and a generator of its values. */
interface Sample {
  readonly returns: string;
  readonly values: fc.Arbitrary<unknown>;
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
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
    '// no',
    'null',
  ),
);
const color = fc.constantFrom('RED', 'GREEN', 'BLUE');
const leaf = fc.record({ name: text, size: fc.integer() });
const branch = fc.letrec((tie) => ({
  branch: fc.record({
    label: fc.option(text),
    leaves: fc.array(leaf, { maxLength: 4 }),
    lengths: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 4 }),
    colors: fc.dictionary(text, color, { maxKeys: 4 }),
    open: fc.boolean(),
    next: fc.option(tie('branch'), { maxDepth: 3, nil: null }),
  }),
})).branch;

const SAMPLES: readonly Sample[] = [
  { returns: 'Leaf', values: leaf },
  { returns: 'Branch', values: branch },
  { returns: 'Branch[]', values: fc.array(branch, { maxLength: 3 }) },
  { returns: 'string[]', values: fc.array(text, { maxLength: 6 }) },
  { returns: 'int[][]', values: fc.array(fc.array(fc.integer(), { maxLength: 4 }), { maxLength: 4 }) },
  { returns: 'map<string, string[]>', values: fc.dictionary(text, fc.array(text, { maxLength: 3 }), { maxKeys: 4 }) },
  { returns: '(Leaf | string | null)[]', values: fc.array(fc.oneof(leaf, fc.constant(null)), { maxLength: 5 }) },
];

const sampled = fc
  .constantFrom(...SAMPLES)
  .chain((sample) => fc.record({ returns: fc.constant(sample.returns), value: sample.values }));

const parsers = new Map(SAMPLES.map(({ returns }) => [returns, parserOf(returns, DEFINITIONS)]));

function parserFor(returns: string): ReturnType<typeof parserOf> {
  const parser = parsers.get(returns);
  if (parser === undefined) throw new Error(`no parser for ${returns}`);
  return parser;
}

/** Removes -0 and undefined, which JSON lacks. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

test('valid JSON of a type is its own value, minified or pretty', () => {
  assertProperty(
    fc.property(sampled, fc.constantFrom(undefined, 2), ({ returns, value }, indentation) => {
      const outcome = parserFor(returns).parse(JSON.stringify(value, undefined, indentation));
      expect(outcome.ok && outcome.value.value).toEqual(asJson(value));
    }),
    { numRuns: 250 },
  );
});

/** Damage that the parser repairs in every value. */
const DAMAGES: Readonly<Record<string, (json: string) => string>> = {
  'a fence': (json) => `\`\`\`json\n${json}\n\`\`\``,
  'an open fence': (json) => `\`\`\`json\n${json}`,
  'a fence without a tag, prose around it': (json) => `Here you go:\n\n\`\`\`\n${json}\n\`\`\`\n\nAnything else?`,
  'prose before and after': (json) => `The answer is:\n${json}\nI hope that this helps.`,
  'a thought before': (json) => `<think>Maybe {"name": "draft", "size": 0}? Or [1]?</think>\n${json}`,
  'a byte order mark': (json) => `\uFEFF${json}`,
  'trailing commas': (json) => json.replaceAll(/(["\]}\de])(\n\s*[\]}])/gu, '$1,$2'),
  comments: (json) => json.replaceAll(/,\n/gu, ', // as asked\n').replaceAll(/\{\n/gu, '{ /* an object */\n'),
  'a missing end': (json) => json.replace(/[\s\]}]+$/u, ''),
};

const simpleText = fc.stringMatching(/^[A-Za-z][A-Za-z0-9 ]{0,12}[a-z]$/u);
const simpleBranch = fc.record({
  label: fc.option(simpleText),
  leaves: fc.array(fc.record({ name: simpleText, size: fc.integer() }), { minLength: 1, maxLength: 3 }),
  lengths: fc.array(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 3 }),
  colors: fc.dictionary(fc.constantFrom('wall', 'door'), color, { minKeys: 1, maxKeys: 2 }),
  open: fc.boolean(),
  next: fc.constant(null),
});

test.each(Object.entries(DAMAGES))('a reply with %s gives the value', (_name, damage) => {
  assertProperty(
    fc.property(simpleBranch, (value) => {
      const outcome = parserFor('Branch').parse(damage(JSON.stringify(value, undefined, 2)));
      expect(outcome.ok ? outcome.value.value : outcome.failure).toEqual(asJson(value));
    }),
    { numRuns: 100 },
  );
});

const QUOTE_DAMAGES: Readonly<Record<string, (json: string) => string>> = {
  'keys without quotes': (json) => json.replaceAll(/"(\w+)":/gu, '$1:'),
  'single quotes': (json) => json.replaceAll('"', "'"),
  'typographic quotes': (json) => json.replaceAll(/"([^"]*)"/gu, '“$1”'),
  'texts without quotes': (json) => json.replaceAll(/: "([^"]*)"/gu, ': $1'),
  'missing commas': (json) => json.replaceAll(/,\n/gu, '\n'),
};

test.each(Object.entries(QUOTE_DAMAGES))('a reply with %s gives the value', (_name, damage) => {
  assertProperty(
    fc.property(simpleBranch, (value) => {
      const outcome = parserFor('Branch').parse(damage(JSON.stringify(value, undefined, 2)));
      expect(outcome.ok ? outcome.value.value : outcome.failure).toEqual(asJson(value));
    }),
    { numRuns: 100 },
  );
});

const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 });
const anyDamage = fc.constantFrom<(json: string) => string>((json) => json, ...Object.values(DAMAGES));
const anyLayout = fc.constantFrom(undefined, 2);

test('a stream ends in the outcome of the whole reply, wherever it is cut', () => {
  assertProperty(
    fc.property(sampled, cuts, anyDamage, anyLayout, ({ returns, value }, lengths, damage, layout) => {
      const reply = damage(JSON.stringify(value, undefined, layout));
      const parser = parserFor(returns);
      const stream = parser.openStream();
      for (const delta of cut(reply, lengths)) {
        stream.push(delta);
        stream.takePartial();
      }
      expect(stream.finish()).toEqual(parser.parse(reply));
    }),
    { numRuns: 200 },
  );
});

test('partials never take anything back, and no two in a row are equal', () => {
  assertProperty(
    fc.property(sampled, cuts, anyDamage, anyLayout, ({ returns, value }, lengths, damage, layout) => {
      const reply = damage(JSON.stringify(value, undefined, layout));
      const partials = partialsOf(parserFor(returns), cut(reply, lengths));
      for (const [index, partial] of partials.entries()) {
        const previous = partials[index - 1];
        if (previous === undefined) continue;
        expect(partial).not.toBe(previous);
        expect(stepBack(JSON.parse(previous), JSON.parse(partial), '')).toBeUndefined();
      }
    }),
    { numRuns: 250 },
  );
});

test('the last partial of valid JSON is its value', () => {
  assertProperty(
    fc.property(sampled, cuts, anyLayout, ({ returns, value }, lengths, layout) => {
      const partials = partialsOf(parserFor(returns), cut(JSON.stringify(value, undefined, layout), lengths));
      expect(JSON.parse(partials.at(-1) ?? 'null')).toEqual(asJson(value));
    }),
    { numRuns: 200 },
  );
});

test('numbers, booleans and enums appear only when they are complete', () => {
  assertProperty(
    fc.property(simpleBranch, cuts, anyLayout, (value, lengths, layout) => {
      const sizes = new Set(value.leaves.map((each) => each.size));
      for (const partial of partialsOf(parserFor('Branch'), cut(JSON.stringify(value, undefined, layout), lengths))) {
        const seen = JSON.parse(partial) as typeof value;
        expect([null, value.open]).toContain(seen.open);
        for (const each of seen.leaves) expect(each.size === null || sizes.has(each.size)).toBe(true);
        for (const length of seen.lengths) expect(value.lengths).toContain(length);
        for (const each of Object.values(seen.colors)) expect(['RED', 'GREEN', 'BLUE']).toContain(each);
      }
    }),
    { numRuns: 200 },
  );
});

test('the parser throws for no text', () => {
  const noise = fc.array(SHARD, { maxLength: 30 }).map((shards) => shards.join(''));
  assertProperty(
    fc.property(fc.constantFrom(...SAMPLES), noise, cuts, ({ returns }, reply, lengths) => {
      const parser = parserFor(returns);
      partialsOf(parser, cut(reply, lengths));
      const outcome = parser.parse(reply);
      if (outcome.ok) expect(JSON.parse(outcome.value.json)).toEqual(outcome.value.value);
      else expect(outcome.failure.details.length).toBeGreaterThan(0);
    }),
    { numRuns: 1000 },
  );
});

/** Returns the path at which `after` takes back a value of `before`; undefined if there is none. */
function stepBack(before: unknown, after: unknown, path: string): string | undefined {
  if (before === null) return undefined;
  if (typeof before === 'string') return typeof after === 'string' && after.startsWith(before) ? undefined : path;
  if (typeof before !== 'object') return before === after ? undefined : path;
  if (typeof after !== 'object' || after === null || Array.isArray(before) !== Array.isArray(after)) return path;
  const next = new Map(Object.entries(after));
  for (const [key, value] of Object.entries(before)) {
    const place = next.has(key) ? stepBack(value, next.get(key), `${path}.${key}`) : `${path}.${key}`;
    if (place !== undefined) return place;
  }
  return undefined;
}

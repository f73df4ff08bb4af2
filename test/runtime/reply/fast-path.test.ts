import { textParts } from '../../../src/base/text-parts.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { coerceReply } from '../../../src/runtime/reply/reply.ts';
import type { CoercionOutcome } from '../../../src/runtime/reply/coerce/outcome.ts';
import { FastPath } from '../../../src/runtime/reply/coerce/fast-path.ts';
import { TolerantPartials } from '../../../src/runtime/reply/stream.ts';
import type { ReplyType } from '../../../src/runtime/reply/reply-type.ts';
import { replyTypeOf } from './parser-of.ts';
import { cut } from './cut.ts';
import { SHARD } from './shards.ts';

/** The fast path must return the same value, flags and partials as the tolerant parser. */
const DEFINITIONS = `
enum Color {
  RED
  GREEN @alias("verde")
  BLUE @description("like the sky")
}
class Leaf {
  name string
  size int
}
class Marked {
  title string @stream.done
  parts Leaf[] @stream.done
  best Leaf? @stream.done
  count int @assert(positive, {{ this > 0 }})
}
class Whole {
  a float
  b string[]
  @@stream.done
}
class Branch {
  label string? @alias("the label")
  leaves Leaf[]
  lengths float[]
  colors map<Color, Color>
  open bool
  next Branch?
  either int | string | Leaf | null
  only "yes" | "no" | null
  fit (Leaf @assert(small, {{ this.size < 50 }}))[]
}
class State {
  text string @stream.with_state
  list string[]
}
class Wanted {
  id int @stream.not_null
  text string?
}
class Pair {
  value int
  left Pair?
}
class Checked {
  n int @check(big, {{ this > 10 }})
  s string
}
type Data = int | float | bool | string | null | Data[] | map<string, Data>
`;

interface Sample {
  readonly returns: string;
  readonly values: fc.Arbitrary<unknown>;
}

const text = fc.oneof(
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
    '// no',
    'null',
    '😀 é',
  ),
);
const color = fc.constantFrom('RED', 'verde', 'BLUE', 'like the sky', 'red');
const small = fc.integer({ min: -5, max: 99 });
const leaf = fc.record({ name: text, size: small });
const whole = fc.record({
  a: fc.double({ noNaN: true, noDefaultInfinity: true }),
  b: fc.array(text, { maxLength: 3 }),
});
const marked = fc.record({
  title: text,
  parts: fc.array(leaf, { maxLength: 3 }),
  best: fc.option(leaf),
  count: small,
});
const branch = fc.letrec((tie) => ({
  branch: fc.record(
    {
      'the label': fc.option(text),
      leaves: fc.array(leaf, { maxLength: 3 }),
      lengths: fc.array(fc.oneof(small, fc.double({ noNaN: true })), { maxLength: 4 }),
      colors: fc.dictionary(fc.constantFrom('RED', 'verde', 'BLUE', 'x'), color, { maxKeys: 3 }),
      open: fc.boolean(),
      next: fc.option(tie('branch'), { maxDepth: 2, nil: null }),
      either: fc.oneof(small, text, leaf, fc.constant(null)),
      only: fc.constantFrom('yes', 'no', null),
      fit: fc.array(leaf, { maxLength: 2 }),
    },
    { requiredKeys: ['leaves', 'lengths', 'colors', 'open', 'fit'] },
  ),
})).branch;

const SAMPLES: readonly Sample[] = [
  { returns: 'Branch', values: branch },
  { returns: 'Branch[]', values: fc.array(branch, { maxLength: 3 }) },
  { returns: 'Marked', values: marked },
  { returns: 'Marked[]', values: fc.array(marked, { maxLength: 3 }) },
  {
    returns: '(Whole | string | null)[]',
    values: fc.array(fc.oneof(whole, text, fc.constant(null)), { maxLength: 4 }),
  },
  { returns: 'Leaf | string', values: leaf },
  { returns: '(Leaf | Whole)[]', values: fc.array(fc.oneof(leaf, whole), { maxLength: 3 }) },
  { returns: 'Data', values: fc.jsonValue({ maxDepth: 4 }) },
  { returns: 'map<string, Leaf[]>', values: fc.dictionary(text, fc.array(leaf, { maxLength: 2 }), { maxKeys: 3 }) },
  { returns: 'State', values: fc.record({ text, list: fc.array(text, { maxLength: 3 }) }) },
  {
    returns: 'Wanted[]',
    values: fc.array(fc.record({ id: fc.option(small), text: fc.option(text) }), { maxLength: 3 }),
  },
  { returns: 'Checked', values: fc.record({ n: small, s: text }) },
  { returns: 'int[][]', values: fc.array(fc.array(small, { maxLength: 3 }), { maxLength: 3 }) },
];

const planned = new Map(SAMPLES.map(({ returns }) => [returns, replyTypeOf(returns, DEFINITIONS)]));

/** Additions of models to JSON, some of which make the fast path give up in the middle. */
const HABITS: Readonly<Record<string, (json: string) => string>> = {
  none: (json) => json,
  fence: (json) => `Sure:\n\`\`\`json\n${json}\n\`\`\`\nDone.`,
  'open fence': (json) => `\`\`\`\n${json}`,
  prose: (json) => `The answer is ${json} as asked.`,
  thought: (json) => `<think>{"name": 1} or [1]?</think>\n${json}`,
  'a second value': (json) => `${json}\n\nor ${json}`,
  'trailing commas': (json) => json.replaceAll(/(["\]}\de])(\n\s*[\]}])/gu, '$1,$2'),
  comments: (json) => json.replaceAll(/,\n/gu, ', // as asked\n').replaceAll(/\{\n/gu, '{ /* an object */\n'),
  'hash comments': (json) => json.replaceAll(/,\n/gu, ', # as asked\n'),
  'bare keys': (json) => json.replaceAll(/"(\w+)":/gu, '$1:'),
  'bare keys, broad': (json) => json.replaceAll(/"(\w+)":/gu, '$1 :\n'),
  'extra keys': (json) =>
    json.replaceAll('{', '{"extra": {"a": [1, {}, "}"]}, "more": null, ').replaceAll(/, \}/gu, '}'),
  'extra keys of odd values': (json) => json.replaceAll('{', '{"extra": [a, \'b\', True, 1,5],'),
  semicolons: (json) => json.replaceAll(/,\n/gu, ';\n'),
  'double commas': (json) => json.replaceAll(/,\n/gu, ',,\n'),
  'escaped keys': (json) =>
    json.replaceAll(/"(\w)(\w*)":/gu, (_, first: string, rest: string) => {
      return `"\\u00${first.charCodeAt(0).toString(16)}${rest}":`;
    }),
  'space before colons': (json) => json.replaceAll('":', '"\n :'),
  'escaped apostrophes': (json) => json.replaceAll("'", String.raw`\'`).replaceAll('/', String.raw`\/`),
  'missing commas': (json) => json.replaceAll(/,\n/gu, '\n'),
  'other quotes': (json) => json.replaceAll('"', "'"),
  'escaped unicode': (json) =>
    json.replaceAll(/[^ -~\n]/gu, (letter) =>
      letter
        .split('')
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join(''),
    ),
  'block strings': (json) => json.replaceAll(/: "(\w*)"/gu, ': """$1"""'),
  // A reply is decoded UTF-8, so it has no half of a surrogate pair.
  'a missing end': (json) => json.slice(0, Math.ceil(json.length * 0.8)).replace(/[\uD800-\uDBFF]$/u, ''),
  'much space': (json) => json.replaceAll(/([:,[{])/gu, `$1${' '.repeat(130)}`),
  'space behind': (json) => json.replaceAll(/(["\d])([,\]}])/gu, `$1${' '.repeat(130)}$2`),
};

const scenario = fc.constantFrom(...SAMPLES).chain((sample) =>
  fc.record({
    returns: fc.constant(sample.returns),
    value: sample.values,
    layout: fc.constantFrom(undefined, 1, 2),
    habit: fc.constantFrom(...Object.keys(HABITS)),
    other: fc.constantFrom(...Object.keys(HABITS)),
    lengths: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 }),
  }),
);

test('values, flags and partials of the fast path are those of the tolerant parser', () => {
  let taken = 0;
  assertProperty(
    fc.property(scenario, ({ returns, value, layout, habit, other, lengths }) => {
      const spell = (json: string): string => (HABITS[other] ?? String)((HABITS[habit] ?? String)(json));
      if (takesAsTolerant(spell(JSON.stringify(value, undefined, layout)), plannedFor(returns), lengths)) taken += 1;
    }),
    { numRuns: 600 },
  );
  expect(taken).toBeGreaterThan(60);
});

/** A mistake at a position of the reply, which is a share between 0 and 1. */
const SLIP = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.integer({ min: 0, max: 2 }),
  added: fc.oneof(SHARD, fc.constantFrom('', '\t', '\u0001', '.', '-', '+ "b"', '"a", ')),
});

test('the fast path and the tolerant parser agree on a reply with slips anywhere in it', () => {
  let taken = 0;
  assertProperty(
    fc.property(scenario, fc.array(SLIP, { minLength: 1, maxLength: 3 }), (sample, slips) => {
      const { returns, value, layout, habit, lengths } = sample;
      let reply = (HABITS[habit] ?? String)(JSON.stringify(value, undefined, layout));
      for (const { at, removed, added } of slips) {
        const from = Math.floor(at * reply.length);
        reply = reply.slice(0, from) + added + reply.slice(from + removed);
      }
      if (takesAsTolerant(reply.replaceAll(/\p{Surrogate}/gu, ''), plannedFor(returns), lengths)) taken += 1;
    }),
    { numRuns: 600 },
  );
  expect(taken).toBeGreaterThan(20);
});

/** Replies that the two once read differently. */
const KNOWN: readonly (readonly [returns: string, reply: string])[] = [
  ['(Whole | string | null)[]', '\\[Sure:\n```json\n[null]\n```\nDone.'],
  ['int[]', '[3, 4] instead of \\[1, 2\\]'],
  ['map<string, int>', '{\\"a\\": 1}'],
  ['Data', 'The answer is [""]</think> as asked.'],
  ['Pair', '<think>?</think>\n"value": 1, "left": {"value": 2, "left": null}}'],
];

test.each(KNOWN)('the fast path and the tolerant parser agree for %s on %j', (returns, reply) => {
  expect(() => takesAsTolerant(reply, replyTypeOf(returns, DEFINITIONS), [1])).not.toThrow();
});

/** Compares both for the whole reply and for its deltas. Returns true if the fast path takes the whole reply. */
function takesAsTolerant(reply: string, type: ReplyType, lengths: readonly number[]): boolean {
  const expected = tolerant(reply, type);
  const atOnce = new FastPath(type);
  atOnce.push(reply);
  const read = atOnce.finish(reply);
  if (read !== undefined) expectSame(read, expected);
  const fastPath = new FastPath(type);
  const partials = new TolerantPartials(type);
  let last: string | undefined;
  let lastTolerant: string | undefined;
  for (const delta of cut(reply, lengths)) {
    fastPath.push(delta);
    lastTolerant = partials.read(delta, lastTolerant === undefined ? undefined : [lastTolerant]) ?? lastTolerant;
    if (fastPath.gaveUp) break;
    const json = fastPath.show();
    last = json === undefined ? last : textParts(json).join('');
    expect(last).toBe(lastTolerant);
  }
  const end = fastPath.finish(reply);
  if (end !== undefined) expectSame(end, expected);
  return read !== undefined;
}

function plannedFor(returns: string): ReplyType {
  const found = planned.get(returns);
  if (found === undefined) throw new Error(`no plan for ${returns}`);
  return found;
}

function tolerant(reply: string, type: ReplyType): CoercionOutcome {
  const lost = new FastPath(type);
  lost.push('{}{}');
  return coerceReply(reply, type, { fastPath: lost });
}

/** The fast path knows no frames around JSON: it reads the same value, and flags its place instead of the frame. */
function expectSame(read: CoercionOutcome, expected: CoercionOutcome): void {
  const isFramed = expected.ok && expected.flags.some(({ flag }) => flag === 'frame');
  if (isFramed) expect(read.ok && read.json).toBe(expected.json);
  else expect(shown(read)).toEqual(shown(expected));
}

function shown(outcome: CoercionOutcome): unknown {
  return outcome.ok ? { json: outcome.json, flags: outcome.flags } : { violations: outcome.violations };
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { contentOf, SettledText } from '../../../src/server/doors/openai/settled-text.ts';
import { assertProperty } from '../../support/assert-property.ts';

/** A value, and the order in which a model writes the members of its objects. */
type Written =
  | string
  | number
  | boolean
  | null
  | readonly Written[]
  | { readonly members: ReadonlyArray<{ readonly key: string; readonly value: Written; readonly rank: number }> };

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.string({ unit: fc.constantFrom('"', '\\', '\n', '😀', 'a', '{', ',', '\u2028'), maxLength: 6 }),
);
const key = fc.constantFrom('a', 'b', 'c', 'd', 'k"', '\\', '😀');

const { tree } = fc.letrec<{ tree: Written }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    fc.constantFrom(null, true, false),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.record({
      members: fc.uniqueArray(fc.record({ key, value: tie('tree'), rank: fc.nat(9) }), {
        maxLength: 4,
        selector: (member) => member.key,
      }),
    }),
  ),
}));

function isObject(value: Written): value is Extract<Written, { readonly members: unknown }> {
  return typeof value === 'object' && value !== null && 'members' in value;
}

function jsonOf(value: Written): JsonValue {
  if (isObject(value)) return Object.fromEntries(value.members.map((member) => [member.key, jsonOf(member.value)]));
  return Array.isArray(value) ? value.map((each: Written) => jsonOf(each)) : value;
}

/** The partial value before the model writes anything. */
function blank(value: Written): JsonValue {
  if (isObject(value)) return Object.fromEntries(value.members.map((member) => [member.key, blank(member.value)]));
  return Array.isArray(value) ? [] : null;
}

/** All partial values in the order in which they arise. */
function* partials(value: Written): Generator<JsonValue> {
  if (typeof value === 'string') for (let end = 0; end <= value.length; end += 1) yield value.slice(0, end);
  else if (isObject(value)) {
    let now = blank(value) as Readonly<Record<string, JsonValue>>;
    yield now;
    for (const member of value.members.toSorted((a, b) => a.rank - b.rank)) {
      for (const partial of partials(member.value)) {
        now = { ...now, [member.key]: partial };
        yield now;
      }
    }
  } else if (Array.isArray(value)) {
    yield [];
    for (const [index, each] of (value as readonly Written[]).entries()) {
      for (const partial of partials(each))
        yield [...value.slice(0, index).map((one: Written) => jsonOf(one)), partial];
    }
  } else yield value;
}

/** The text that a caller receives; undefined if the stream ends with an error. */
function received(values: readonly JsonValue[], final: JsonValue): string | undefined {
  const growing = new SettledText();
  const deltas = values.map((value) => growing.partial(JSON.stringify(value)));
  const rest = growing.final(contentOf(JSON.stringify(final)));
  return rest === undefined ? undefined : deltas.join('') + rest;
}

function content(value: JsonValue): string {
  return contentOf(JSON.stringify(value));
}

test('whatever the order of the fields, the deltas are the content of the final value', () => {
  assertProperty(
    fc.property(tree, fc.array(fc.nat(3), { minLength: 1, maxLength: 20 }), (value, steps) => {
      const all = [...partials(value)];
      const shown: JsonValue[] = [];
      for (let at = 0, turn = 0; at < all.length; at += 1 + (steps[turn % steps.length] ?? 0), turn += 1) {
        shown.push(all[at] ?? null);
      }
      expect(received(shown, jsonOf(value))).toBe(content(jsonOf(value)));
    }),
    { numRuns: 1_000 },
  );
});

test('if partials and the final value do not agree, the stream ends with an error, or the deltas are the content', () => {
  const value = fc.oneof(text, fc.jsonValue({ maxDepth: 2 })) as fc.Arbitrary<JsonValue>;
  assertProperty(
    fc.property(fc.array(value, { maxLength: 5 }), value, (values, final) => {
      expect([undefined, content(final)]).toContain(received(values, final));
    }),
    { numRuns: 500 },
  );
});

test('a string flows, and half a character waits', () => {
  const growing = new SettledText();
  expect(['', 'a', 'a\ud83d', 'a😀', 'a😀"'].map((each) => growing.partial(JSON.stringify(each)))).toEqual([
    '',
    'a',
    '',
    '😀',
    '"',
  ]);
  expect(growing.final('a😀".')).toBe('.');
});

test('in an object, strings and lists flow, and a field waits for those before it', () => {
  const growing = new SettledText();
  const shown = [
    { name: null, age: null, skills: [] },
    { name: 'Ad', age: null, skills: [] },
    { name: 'Ada', age: null, skills: [] },
    { name: 'Ada', age: 3, skills: [] },
    { name: 'Ada', age: 36, skills: [] },
    { name: 'Ada', age: 36, skills: ['al'] },
    { name: 'Ada', age: 36, skills: ['algebra', 'po'] },
  ];
  expect(shown.map((value) => growing.partial(JSON.stringify(value)))).toEqual([
    '',
    '{"name":"Ad',
    'a',
    '"',
    '',
    ',"age":36,"skills":["al',
    'gebra","po',
  ]);
  expect(growing.final('{"name":"Ada","age":36,"skills":["algebra","poetry"]}')).toBe('etry"]}');
});

test('a field that the model writes first waits for the ones declared before it', () => {
  const growing = new SettledText();
  expect(growing.partial('{"a":null,"b":"x"}')).toBe('');
  expect(growing.partial('{"a":"y","b":"x"}')).toBe('{"a":"y');
  expect(growing.partial('{"a":"yz","b":"x"}')).toBe('z');
  expect(growing.final('{"a":"yz","b":"x"}')).toBe('","b":"x"}');
});

test('after a reset, another value does not continue the text, and the same one does', () => {
  const growing = new SettledText();
  growing.partial('"Hello"');
  growing.reset();
  expect(growing.partial('"H"')).toBe('');
  expect(growing.final('Hi')).toBeUndefined();
  expect(growing.final('Hello!')).toBe('!');
});

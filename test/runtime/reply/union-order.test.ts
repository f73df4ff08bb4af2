import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coerceReply } from '../../../src/runtime/reply/reply.ts';
import { compareCost, type CoercionOutcome } from '../../../src/runtime/reply/coerce/outcome.ts';
import { assertProperty } from '../../support/assert-property.ts';
import type { ReplyType } from '../../../src/runtime/reply/reply-type.ts';
import { replyTypeOf } from './parser-of.ts';

const DEFINITIONS = `
enum Color {
  RED
  GREEN
  DARK_BLUE
}
class Circle {
  type "circle"
  radius float
}
class Square {
  type "square"
  side float
}
class Person {
  name string
  age int?
}
class Book {
  title string
  pages int?
  author Person?
}
class Loose {
  name string?
  title string?
  tags string[]
}
`;

const UNIONS: readonly (readonly string[])[] = [
  ['Circle', 'Square', 'Person'],
  ['Person', 'Book', 'Loose'],
  ['Book', 'Book[]', 'string'],
  ['int', 'bool', 'Color'],
  ['float', 'string', 'null'],
  ['int', 'float', 'string[]'],
  ['Person', 'map<string, int>', 'map<string, string>'],
  ['"low"', '"high"', 'int'],
  ['Loose', 'Color[]', 'int[]'],
];

/** Each union in all orders of its members. */
const ORDERS: readonly (readonly ReplyType[])[] = UNIONS.map(([a = '', b = '', c = '']) =>
  [
    [a, b, c],
    [a, c, b],
    [b, a, c],
    [b, c, a],
    [c, a, b],
    [c, b, a],
  ].map((members) => replyTypeOf(members.map((member) => `(${member})`).join(' | '), DEFINITIONS)),
);

const scalar = fc.oneof(
  fc.constantFrom(
    'RED',
    'dark blue',
    'circle',
    'square',
    'Ada',
    'Emma',
    'low',
    'yes',
    'N/A',
    '5',
    '3.5 kg',
    '',
    'red, GREEN',
  ),
  fc.integer({ min: -2, max: 40 }),
  fc.constantFrom(0.5, 12.25),
  fc.boolean(),
  fc.constant(null),
);
const KEYS = ['name', 'Name', 'title', 'age', 'pages', 'type', 'radius', 'side', 'tags', 'author', 'other', 'value'];
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), tie('value')), { maxLength: 4, selector: ([key]) => key })
      .map((entries) => Object.fromEntries(entries) as unknown),
  ),
})).value;

const reply = fc
  .tuple(
    fc.array(value, { minLength: 1, maxLength: 2 }),
    fc.constantFrom('', 'Here it is: ', 'Not this, but:\n\n', '- '),
  )
  .map(([values, before]) => before + values.map((each) => written(each)).join('\n\nor\n\n'));

/** A string is a reply without quotes. */
function written(each: unknown): string {
  return typeof each === 'string' ? each : JSON.stringify(each);
}

// The order decides only between values that are equal by every other criterion of docs/replies.md.
test('the verdict depends on the order of the members of a union only between values of equal rank', () => {
  assertProperty(
    fc.property(reply, fc.nat(UNIONS.length - 1), (text, index) => {
      const [first, ...others] = (ORDERS[index] ?? []).map((type) => coerceReply(text, type));
      for (const other of others) expect([first, other]).toSatisfy(areEqual);
    }),
  );
});

function areEqual([a, b]: readonly CoercionOutcome[]): boolean {
  if (a?.ok !== true || b?.ok !== true) return a?.ok === b?.ok;
  return a.json === b.json || compareCost(a.cost, b.cost) === 0;
}

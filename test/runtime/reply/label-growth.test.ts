import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countSteps } from '../../support/count-steps.ts';
import { assertProperty } from '../../support/assert-property.ts';
import { parserOf } from './parser-of.ts';

/** The limits of a `type_builder` (docs/dynamic-types.md). */
const MAX_CHARACTERS = 32 * 1024;
const MAX_MEMBERS = 500;

/** The most steps of the first reply for each character of the definitions and of the reply: the tables of the labels are built for it. */
const MAX_STEPS = 150;

/** Attributes of enum values: many values share their words, begin with others, or have the same words and other marks. */
const ATTRIBUTES: readonly ((index: number) => string)[] = [
  () => '',
  (index) => `@alias("value ${index} of many that go on and on")`,
  (index) => `@alias("${'a '.repeat(index)}${index}")`,
  (index) => `@alias("a${'+'.repeat(index)}")`,
  (index) => `@alias("a${' '.repeat(index)}")`,
  (index) => `@description("the colour of things, number ${index}, such as grass and leaves")`,
  (index) => (index > 0 ? '' : `@alias("${'a '.repeat(15_000)}")`),
  (index) => (index > 0 ? '' : `@alias("${'+'.repeat(30_000)}a")`),
];

/** Types that name the enum E in each of `count` fields. */
const FIELDS: readonly ((index: number) => string)[] = [
  () => 'E',
  (index) => `E | "x${index}"`,
  (index) => `(E | int | "x${index}")[]`,
  (index) => `map<E | "x${index}", int>`,
];

/** Strings that are no label. Some have the words of one. */
const VALUES: readonly string[] = ['none of them', 'a a a a b', 'a+-', 'V1 or V2', 'value 3 of many', 'b '.repeat(200)];

/** Returns an enum as large as the limits allow, and a class that names it in its fields. */
function definitionsOf(attribute: (index: number) => string, field: (index: number) => string, fields: number): string {
  const members = Array.from({ length: fields }, (_, index) => `  f${index} (${field(index)})?\n`);
  const text = `class C {\n${members.join('')}}\nenum E {\n`;
  const values: string[] = [];
  let { length } = text;
  for (let index = 0; fields + values.length < MAX_MEMBERS; index += 1) {
    const value = `  V${index} ${attribute(index)}\n`;
    length += value.length;
    if (length > MAX_CHARACTERS - 10) break;
    values.push(value);
  }
  return `${text}${values.join('')}}\n`;
}

test('the first reply to types at the limits of a type_builder takes steps in proportion to both', () => {
  const input = fc.record({
    attribute: fc.constantFrom(...ATTRIBUTES),
    field: fc.constantFrom(...FIELDS),
    fields: fc.constantFrom(1, 100, 250),
    value: fc.constantFrom(...VALUES),
    isMap: fc.boolean(),
  });
  assertProperty(
    fc.property(input, ({ attribute, field, fields, value, isMap }) => {
      const definitions = definitionsOf(attribute, field, fields);
      const written = JSON.stringify(isMap ? { [value]: 1 } : value);
      const reply = `{${Array.from({ length: fields }, (_, index) => `"f${index}": ${written}`).join(', ')}}`;
      const parser = parserOf('C', definitions);
      const steps = countSteps(() => parser.parse(reply));
      expect(steps).toBeLessThan(MAX_STEPS * (definitions.length + reply.length));
    }),
    { numRuns: 40 },
  );
});

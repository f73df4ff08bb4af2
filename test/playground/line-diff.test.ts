import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLines } from '../../src/playground/data/line-diff.ts';
import { assertProperty } from '../support/assert-property.ts';

function shown(a: string, b: string): readonly string[] {
  return diffLines(a, b).map((row) => (row.a === row.b ? `= ${row.a}` : `${row.a ?? '-'} | ${row.b ?? '-'}`));
}

test.each<readonly [string, string, readonly string[]]>([
  ['', '', []],
  ['a', '', ['a | -']],
  ['a\nb\nc', 'a\nb\nc', ['= a', '= b', '= c']],
  ['a\nb\nc', 'a\nx\nc', ['= a', 'b | x', '= c']],
  ['a\nc', 'a\nb\nc', ['= a', '- | b', '= c']],
  ['a\nb\nc\nd', 'b\nd\ne', ['a | -', '= b', 'c | -', '= d', '- | e']],
  ['a\na', 'a', ['= a', 'a | -']],
])('the lines of %j and %j are side by side where they are equal', (a, b, expected) => {
  expect(shown(a, b)).toEqual(expected);
});

test('the rows contain every line of both texts, in order', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '')).map((lines) => lines.join('\n'));
  assertProperty(
    fc.property(text, text, (a, b) => {
      const rows = diffLines(a, b);
      const linesOf = (side: 'a' | 'b'): string =>
        rows.flatMap((row) => (row[side] === undefined ? [] : [row[side]])).join('\n');
      expect([linesOf('a'), linesOf('b')]).toEqual([a, b]);
      expect(diffLines(a, a).every((row) => row.a === row.b)).toBe(true);
    }),
  );
});

test('texts with too many lines to compare each with each are compared line by line', () => {
  const rows = diffLines(numbersFrom(0), numbersFrom(1));
  expect(rows.length).toBe(3_000);
  expect(rows[0]).toEqual({ a: '0', b: '1' });
});

function numbersFrom(first: number): string {
  return Array.from({ length: 3_000 }, (_, at) => String(first + at)).join('\n');
}

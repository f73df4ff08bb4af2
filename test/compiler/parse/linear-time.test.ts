import { expect, test } from 'vitest';
import { stepGrowth } from '../../support/count-steps.ts';
import { checkText } from '../check/sample-files.ts';

/** Texts of about `size` characters that make a careless parser slow or exhaust its stack. */
const SHAPES: ReadonlyArray<readonly [name: string, make: (size: number) => string]> = [
  ['open brackets', (size) => '['.repeat(size)],
  ['open brackets in a value', (size) => `client<llm> A {\n options {\n x ${'[a'.repeat(size / 2)}`],
  ['open parentheses in a type', (size) => `class A {\n x ${'('.repeat(size)}`],
  ['brackets that do not fit', (size) => '[}'.repeat(size / 2)],
  ['maps of maps', (size) => `class A { a ${'map<string,'.repeat(size / 11)}`],
  ['lists of lists', (size) => `class A { a int${'[]'.repeat(size / 2)} }`],
  ['open quotes', (size) => '"\\"\n'.repeat(size / 4)],
  ['open raw strings', (size) => '#"\n##"\n'.repeat(size / 7)],
  ['open expressions', (size) => `class A { a int @check(${'{{ "}}\n'.repeat(size / 7)}`],
  ['open block comments', (size) => '{//'.repeat(size / 3)],
  ['open attributes', (size) => `class A { a int ${'@a('.repeat(size / 3)}`],
  ['many fields', (size) => `class A {\n${rows(size / 12, (row) => ` f${row} string\n`)}}`],
  ['many classes', (size) => rows(size / 30, (row) => `class C${row} {\n a C${row + 1}?\n}\n`)],
  ['a chain of aliases', (size) => rows(size / 20, (row) => `type T${row} = T${row + 1}\n`)],
  ['a chain of classes', (size) => rows(size / 20, (row) => `class T${row} { a T${row + 1} }\n`)],
  [
    'functions over a chain of classes',
    (size) =>
      rows(
        size / 90,
        (row) => `class C${row} { a C${row + 1}? }\nfunction F${row}() -> C0 {\n client "openai/m"\n prompt #""#\n}\n`,
      ),
  ],
  [
    'tests with types of their own',
    (size) =>
      rows(
        size / 70,
        (row) => `class C${row} {\n}\ntest T${row} {\n functions [F]\n type_builder {\n class D { a X }\n }\n}\n`,
      ),
  ],
  [
    'unions of one large class',
    (size) =>
      `class A {\n${rows(size / 60, (row) => ` f${row} string\n`)}}\n${rows(size / 30, (row) => `type T${row} = A | int\n`)}`,
  ],
  ['unknown types', (size) => rows(size / 16, (row) => `class A${row} { a B${row} }\n`)],
  ['open classes', (size) => 'class A { a int\n'.repeat(size / 16)],
  ['duplicates', (size) => 'class A { a int }\n'.repeat(size / 18)],
  [
    'open functions of code',
    (size) => 'function F(n: int) -> int {\n a }'.repeat(size / 32) + ' function F(n: int) { x'.repeat(size / 22),
  ],
  ['open methods', (size) => `class A {\n${' function f(self) { "a } b" {'.repeat(size / 28)}`],
  ['open raw strings in code', (size) => `function F(n: int) {\n x(${'#"'.repeat(size / 2)}`],
  ['nothing that means anything', (size) => '$%^&*\n'.repeat(size / 6)],
];

const SIZE = 6_000;

test.each(SHAPES)('the steps for %s are proportional to their size', (_, make) => {
  const growth = stepGrowth(SIZE, (size) => {
    const text = make(size);
    return () => checkText(text);
  });
  expect(growth.factor).toBeLessThan(2.2);
});

test('a hundred thousand nested brackets have one diagnostic', () => {
  const { diagnostics } = checkText(`class A {\n x ${'('.repeat(100_000)}int${')'.repeat(100_000)}\n}\n`);
  expect(diagnostics.map(({ code }) => code)).toEqual(['parse/nesting-too-deep']);
});

test('thirty aliases that each double the last are an error, and are not built', () => {
  const text = `type T0 = int\n${rows(30, (row) => `type T${row + 1} = map<string, T${row} | T${row}[]>\n`)}`;
  expect(checkText(text).diagnostics.map(({ code }) => code)).toContain('check/type-too-large');
});

function rows(count: number, make: (row: number) => string): string {
  return Array.from({ length: Math.floor(count) }, (_, row) => make(row)).join('');
}

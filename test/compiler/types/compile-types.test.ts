import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { TypeCompiler } from '../../../src/compiler/compile-types.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { extensionOf, faultsOf } from './types-of-requests.ts';

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

test('a snippet adds fields and values, and defines classes, enums and recursive types', () => {
  const extension = extensionOf(
    `
    dynamic class Person {
      age int? @description("in years")
      home Address
      tree Tree
      @@check(adult, {{ this.age > 17 }})
    }
    dynamic enum Kind { B @alias("bee") }
    class Address { street string id Id }
    type Tree = string | Tree[]
  `.replace('string id', 'string\n id'),
  );
  expect(extension.classes.map(({ name, fields }) => [name, fields.map((field) => field.name)])).toEqual([
    ['Person', ['age', 'home', 'tree']],
    ['Address', ['street', 'id']],
  ]);
  expect(extension.classes[0]?.constraints.map(({ label }) => label)).toEqual(['adult']);
  expect(extension.enums).toMatchObject([{ name: 'Kind', values: [{ name: 'B', alias: 'bee' }] }]);
  expect(extension.aliases.map(({ name }) => name)).toEqual(['Tree']);
});

const HAS = 'The definitions already have a';
const CHOOSE = 'Choose another name.';

test.each([
  [
    '1:15',
    'dynamic class Fixed {\n  x int\n}',
    'The class "Fixed" cannot be extended: its definition has no `@@dynamic`.',
  ],
  [
    '1:15',
    'dynamic class Persn {\n  x int\n}',
    'The definitions have no class "Persn" to extend. Did you mean "Person"?',
  ],
  [
    '1:14',
    'dynamic enum Person {\n  B\n}',
    'The definitions have no enum "Person" to extend. To define it, remove "dynamic".',
  ],
  ['1:7', 'class Person {\n  x int\n}', `${HAS} class "Person". To extend it, write "dynamic class".`],
  ['1:6', 'enum Person {\n  B\n}', `${HAS} class "Person". ${CHOOSE}`],
  ['1:7', 'class Id {\n  x int\n}', `${HAS} type "Id". ${CHOOSE}`],
  ['1:7', 'class Read {\n  x int\n}', `${HAS} function "Read". ${CHOOSE}`],
  ['1:7', 'class Main {\n  x int\n}', `${HAS} client "Main". ${CHOOSE}`],
  ['1:7', 'class Greeting {\n  x int\n}', `${HAS} template_string "Greeting". ${CHOOSE}`],
  ['4:7', 'class A {\n  x int\n}\nclass A {\n  y int\n}', 'The name "A" has two definitions. Merge them.'],
  ['2:3', 'dynamic class Person {\n  name int\n}', 'The class "Person" has two fields "name".'],
  [
    '2:5',
    'dynamic class Person {\n  x Adress\n}',
    'There is no type "Adress". Declare it as a class, an enum or a type, or use a built-in type such as `string`.',
  ],
  [
    '2:19',
    'dynamic class Person {\n  x string @alias(env.KEY)\n}',
    'A request cannot read "env.KEY" of the server. Write the text itself.',
  ],
  [
    '1:15',
    'dynamic class Person {\n  boss Person\n}',
    'No value can ever be complete, because each needs another one: Person -> Person. Make one of these fields optional, or a list.',
  ],
  [
    '1:15',
    'dynamic class Person {\n  boss Person | Boss\n}\nclass Boss {\n  of Person\n}',
    'No value can ever be complete, because each needs another one: Person -> Boss -> Person. Make one of these fields optional, or a list.',
  ],
  ['2:30', 'dynamic class Person {\n  x int @assert(a, {{ ((this }})\n}', 'Expected ")", found the end.'],
])('at %s, %j is refused', (place, snippet, message) => {
  const [line, column] = place.split(':').map(Number);
  const faults = faultsOf(snippet);
  expect(faults).toMatchObject([{ path: '', line, column, message }]);
  expect(faults[0]?.frame).toContain(`${line} | `);
});

test.each([
  'function F() -> int {\n}',
  'client<llm> C {\n}',
  'retry_policy R {\n}',
  'generator g {\n}',
  'test T {\n}',
  'template_string T() #"x"#',
  'let x = 1',
])('a snippet cannot contain %j', (snippet) => {
  expect(faultsOf(snippet)[0]).toMatchObject({
    message: expect.stringContaining('A `type_builder` cannot contain'),
    line: 1,
    column: 1,
  });
});

test('a constraint of a definition does not count twice, and its variables are not read', () => {
  const [person] = extensionOf('dynamic class Person {\n  age int\n}').classes;
  expect(person).toMatchObject({ constraints: [], fields: [{ name: 'age' }] });
});

test.each([
  ['a number', 1],
  ['null', null],
  ['a list', []],
  ['an object', { schema: {} }],
])('%s is not a type_builder', (_, builder) => {
  expect(faultsOf(builder)).toEqual([
    { path: '', message: 'has to be a string with definitions, or an object with "json_schema"' },
  ]);
});

const HOSTILE: ReadonlyArray<readonly [string, string, string]> = [
  ['a megabyte', 'x'.repeat(2 ** 20), 'more than 32768 characters'],
  [
    '100,000 fields',
    `dynamic class Person {\n${lines(100_000, (at) => `f${at} int`)}\n}`,
    'more than 32768 characters',
  ],
  ['600 fields', `dynamic class Person {\n${lines(600, (at) => `f${at} int`)}\n}`, 'more than 500 fields'],
  ['600 enum values', `enum E {\n${lines(600, (at) => `V${at}`)}\n}`, 'more than 500 fields'],
  ['120 definitions', lines(120, (at) => `type T${at} = int`), 'more than 100 definitions'],
  [
    'a class that doubles 30 times',
    `dynamic class Person {\n  x C0\n}\n${lines(30, (at) => `class C${at} {\n  a C${at + 1}\n  b C${at + 1}\n}`)}\nclass C30 {\n  a int\n}`,
    'after the expansion of all types in it',
  ],
  [
    'an alias that doubles 40 times',
    `type A0 = int\n${lines(40, (at) => `type A${at + 1} = A${at}[] | map<string, A${at}>`)}`,
    'after the expansion of type aliases',
  ],
  [
    'a long constraint of an alias with many uses',
    `type A = string @assert(x, {{ ${lines(200, () => 'this ==').replaceAll('\n', ' ')} 1 }})\ndynamic class Person {\n${lines(400, (at) => `f${at} A`)}\n}`,
    'after the expansion of type aliases',
  ],
  ['an endless alias', 'type A = B\ntype B = A', 'refers only to itself'],
  ['nested parentheses', `type A = ${'('.repeat(5_000)}int${')'.repeat(5_000)}`, 'nested more than 64 deep'],
  ['nested lists', `type A = int${'[]'.repeat(5_000)}`, 'nested more than 64 deep'],
  ['nested maps', `type A = ${'map<string,'.repeat(2_000)}int${'>'.repeat(2_000)}`, 'nested more than 64 deep'],
  [
    'a nested expression',
    `dynamic class Person {\n  x int @assert(a, {{ ${'('.repeat(5_000)}this }})\n}`,
    'nested too deeply',
  ],
  ['opening braces', '{'.repeat(32_000), ''],
  ['closing braces', '}'.repeat(32_000), 'closes nothing'],
  ['quotes', '"'.repeat(32_001), ''],
  ['hashes', '#"'.repeat(16_000), ''],
  ['at signs', '@'.repeat(32_000), ''],
  ['words', 'class '.repeat(5_000), ''],
  ['dynamic', 'dynamic '.repeat(4_000), ''],
];

test.each(HOSTILE)('%s: refused with at most 101 short faults', (_, snippet, message) => {
  const faults = faultsOf(snippet);
  expect(faults.length).toBeGreaterThan(0);
  expect(faults.length).toBeLessThanOrEqual(101);
  expect(faults[0]?.message).toContain(message);
  expect(JSON.stringify(faults).length).toBeLessThan(200_000);
});

test('a type that refers to itself through lists and maps is written once', () => {
  expect(faultsOf('type J = string | J[] | map<string, J>\ndynamic class Person {\n  x J\n}')).toEqual([]);
});

test('__proto__ and constructor are ordinary names that do not exist', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    expect(faultsOf(`dynamic class ${name} {\n  x int\n}`).length).toBeGreaterThan(0);
    expect(faultsOf(`dynamic class Person {\n  x ${name}\n}`).length).toBeGreaterThan(0);
  }
});

const TOKENS = fc.constantFrom(
  ...'dynamic class enum type Person Kind Id A B name int string? [] | ( ) { } < > , ; : = @alias @check @@dynamic map "x" #" "# {{ this }} // /// env.KEY \n é 1.5 __proto__'.split(
    ' ',
  ),
  '\n',
  ' ',
);

test('no text makes the compiler throw, and each outcome is an extension or at least one fault', () => {
  const snippets = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(TOKENS, { maxLength: 60 }).map((tokens) => tokens.join(' ')),
  );
  assertProperty(
    fc.property(snippets, (snippet) => {
      const faults = faultsOf(snippet);
      for (const { message, path } of faults) expect([message, path]).toEqual([expect.stringMatching(/./u), '']);
      if (faults.length === 0) expect(extensionOf(snippet)).toHaveProperty('classes');
    }),
  );
});

test('no JSON makes the compiler throw, and each fault names a path', () => {
  assertProperty(
    fc.property(fc.jsonValue(), fc.constantFrom('Person', 'Kind', 'New'), (value, name) => {
      for (const { path } of faultsOf({ json_schema: { [name]: value } })) expect(path).toMatch(/^json_schema/u);
    }),
  );
});

test('a type that is larger than the limit already can still get a field', () => {
  const parts = lines(2_000, (at) => `  f${at} int`);
  const text = `class Wide {\n${parts}\n  @@dynamic\n}\nfunction Read(text: string) -> Wide[] {\n}\n`;
  const wide = new TypeCompiler([new SourceFile('main.svc', text)]);
  expect(wide.compile('dynamic class Wide {\n  x int\n}', 'Read')).toMatchObject({ ok: true });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/base/json.ts';
import { compile } from '../../../src/compiler/compile.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { createArgumentChecker } from '../../../src/runtime/arguments/check-arguments.ts';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import type { FunctionType, Program } from '../../../src/schema/program.ts';
import { assertProperty } from '../../support/assert-property.ts';
import {
  alias,
  aliasRef,
  bool,
  classRef,
  classType,
  enumRef,
  enumType,
  field,
  float,
  functionType,
  int,
  list,
  literal,
  map,
  media,
  optional,
  programOf,
  string,
  union,
} from '../../support/definitions.ts';
import { validatorsOf } from '../../support/validators.ts';
import { openApiFaults, resolve } from './openapi-rules.ts';

interface Example {
  readonly value: JsonObject;
  readonly description?: string;
}

/** Returns the examples of a function by the names of its tests, through their references. */
function examplesOf({ openapi }: Program, name: string, path = 'call'): Readonly<Record<string, Example>> {
  const content = resolve(`#/paths/~1${path}~1${name}/post/requestBody/content/application~1json`, openapi);
  const { examples = {} } = content as { readonly examples?: Readonly<Record<string, { readonly $ref: string }>> };
  return Object.fromEntries(
    Object.entries(examples).map(([key, { $ref: reference }]) => [key, resolve(reference, openapi) as Example]),
  );
}

function shown(fn: FunctionType, more: Parameters<typeof programOf>[0] = {}): Readonly<Record<string, Example>> {
  return examplesOf(programOf({ ...more, functions: [fn] }), fn.name);
}

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

test('calls and streams share the examples of the tests', () => {
  const examples = [{ name: 'first', args: { text: 'hello' } }];
  const program = programOf({ functions: [functionType('Do', { text: string }, string, { examples })] });
  expect(examplesOf(program, 'Do')).toEqual({ first: { value: { text: 'hello' } } });
  expect(examplesOf(program, 'Do', 'stream')).toEqual(examplesOf(program, 'Do'));
  expect(openApiFaults(program.openapi)).toEqual([]);
});

test('a test with too few or too many arguments is not an example', () => {
  const examples = [
    { name: 'few', args: {} },
    { name: 'many', args: { text: 'a', more: 1 } },
    { name: 'right', args: { text: 'a' } },
  ];
  const fn = functionType('Do', { text: string, limit: optional(int) }, string, { examples });
  expect(shown(fn)).toEqual({ right: { value: { text: 'a' } } });
});

const SHARED = {
  classes: [classType('Item', [field('name', string), field('count', optional(int))])],
  enums: [enumType('Color', ['Red', 'Green'])],
  aliases: [alias('Tree', union(string, list(aliasRef('Tree'))))],
};

test.each<readonly [string, FunctionType['parameters'][number]['type'], JsonValue]>([
  ['a field is missing', classRef('Item'), { count: 1 }],
  ['a value of an enum is unknown', enumRef('Color'), 'Blue'],
  ['a key of a map is unknown', map(enumRef('Color'), int), { Blue: 1 }],
  ['an image is a file', media('image'), { file: 'a.png' }],
  ['an image is both', media('image'), { url: 'http://a', base64: 'aGk=' }],
  ['base64 is not base64', media('pdf'), { base64: 'a' }],
  ['an int has a fraction', int, 1.5],
  ['an int is too large', int, 2 ** 53],
  ['no member of a union fits', union(int, literal('a')), 'b'],
  ['a tree has a number', aliasRef('Tree'), ['a', [1]]],
  ['a list is a string', list(string), 'a'],
])('a test is not an example when %s', (_, type, value) => {
  const examples = [{ name: 'T', args: { a: value } }];
  expect(shown(functionType('Do', { a: type }, string, { examples }), SHARED)).toEqual({});
});

test.each<readonly [string, FunctionType['parameters'][number]['type'], JsonValue]>([
  ['undeclared fields', classRef('Item'), { name: 'a', more: { b: [1] } }],
  ['null for an optional field', classRef('Item'), { name: 'a', count: null }],
  ['maps by enum', map(enumRef('Color'), list(float)), { Red: [1.5] }],
  ['images', list(media('image')), [{ url: 'http://a' }, { base64: 'aGk=', media_type: 'image/png' }]],
  ['trees', aliasRef('Tree'), ['a', [['b'], 'c']]],
  ['unions', list(union(int, bool, literal('x'), classRef('Item'))), [1, true, 'x', { name: 'a' }]],
])('a test with %s is an example', (_, type, value) => {
  const examples = [{ name: 'T', args: { a: value } }];
  expect(shown(functionType('Do', { a: type }, string, { examples }), SHARED)).toEqual({ T: { value: { a: value } } });
});

test('long arguments are cut, and a note states so', () => {
  const text = 'All happy families are alike. '.repeat(700);
  const examples = [{ name: 'T', args: { text } }];
  const { T: example } = shown(functionType('Do', { text: string }, string, { examples }));
  expect(example?.value).toEqual({ text: `${text.slice(0, 1000)}…` });
  expect(example?.description).toBe(
    'Shortened: the arguments of this test take 21 KB. "…" marks where a string is cut; lists and maps can have fewer entries.',
  );
});

test('arguments that are too large even when cut are not an example', () => {
  const names = Array.from({ length: 2000 }, (_, at) => `field${at}`);
  const classes = [
    classType(
      'Wide',
      names.map((name) => field(name, int)),
    ),
  ];
  const examples = [{ name: 'T', args: { a: Object.fromEntries(names.map((name) => [name, 1])) } }];
  expect(shown(functionType('Do', { a: classRef('Wide') }, string, { examples }), { classes })).toEqual({});
});

const exampleOf = (text: string) => ({ name: 'T', args: { text } });

test('tests with one name have a component each, and a test of several functions has one', () => {
  const functions = [
    functionType('A', { text: string }, string, { examples: [exampleOf('a'), exampleOf('a2')] }),
    functionType('B', { text: string }, string, { examples: [exampleOf('a')] }),
    functionType('C', { text: string }, string, { examples: [exampleOf('c')] }),
  ];
  const program = programOf({ functions });
  expect(resolve('#/components/examples', program.openapi)).toEqual({
    T: { value: { text: 'a' } },
    T2: { value: { text: 'a2' } },
    T3: { value: { text: 'c' } },
  });
  expect(Object.keys(examplesOf(program, 'A'))).toEqual(['T', 'T2']);
  expect(examplesOf(program, 'C')).toEqual({ T: { value: { text: 'c' } } });
});

const LARGE = 20;

test(`${LARGE} tests of 20 KB for three functions add at most 4 KB each to the document, and nothing to the program`, () => {
  const functions = ['A', 'B', 'C'].map(
    (name) => `function ${name}(text: string) -> string {\n  client "openai/m"\n  prompt #"{{ text }}"#\n}\n`,
  );
  const tests = Array.from(
    { length: LARGE },
    (_, at) => `test T${at} {\n  functions [A, B, C]\n  args {\n    text #"${`é ${at} `.repeat(5000)}"#\n  }\n}\n`,
  );
  const sizes = [functions, [...functions, ...tests]].map((parts) => {
    const files = [new SourceFile('a.baml', parts.join('\n'))];
    const { program } = compile(files, { version: '0.1.0', versionCheck: true, beta: true, apiKey: true });
    if (program !== undefined && parts.length > 3) {
      expect(Object.keys(examplesOf(program, 'B', 'stream'))).toHaveLength(LARGE);
    }
    return { document: bytes(program?.openapi), rest: bytes({ ...program, openapi: {}, files: [] }) };
  });
  const added = (part: 'document' | 'rest'): number => (sizes[1]?.[part] ?? 0) - (sizes[0]?.[part] ?? 0);
  expect(added('document')).toBeGreaterThan(LARGE * 1000);
  // Besides the example, each of nine operations has a reference.
  expect(added('document')).toBeLessThan(LARGE * (4096 + 9 * 60));
  expect(added('rest')).toBe(0);
});

const word = fc.string({ unit: 'binary', maxLength: 3000 });
const item = fc.record({ name: word, more: word }, { requiredKeys: ['name'] });
const args = fc.record({
  text: word,
  items: fc.array(item, { maxLength: 100 }),
  scores: fc.dictionary(fc.string({ maxLength: 20 }), fc.double({ noNaN: true, noDefaultInfinity: true })),
  color: fc.constantFrom('Red', 'Green'),
  photo: fc.uint8Array({ maxLength: 9000 }).map((data) => ({ base64: Buffer.from(data).toString('base64') })),
});

test('an example is at most 4 KB of JSON, and calls accept it', () => {
  const parameters = {
    text: string,
    items: list(classRef('Item')),
    scores: map(string, float),
    color: enumRef('Color'),
    photo: media('image'),
  };
  const plain = programOf({ ...SHARED, functions: [functionType('Do', parameters)] });
  const check = createArgumentChecker(plain, validatorsOf(plain), compileCondition);
  const [fn] = plain.functions;
  assertProperty(
    fc.property(args, (given) => {
      const examples = [{ name: 'T', args: given as unknown as JsonObject }];
      const { T: example } = shown(functionType('Do', parameters, string, { examples }), SHARED);
      expect(bytes(example)).toBeLessThanOrEqual(4096);
      expect(fn && example && check(fn, example.value)).toEqual([]);
    }),
  );
});

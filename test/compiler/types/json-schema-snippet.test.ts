import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { extensionOf, faultsOf } from './types-of-requests.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A type as a JSON Schema and as a definition. */
interface Both {
  readonly schema: Schema;
  readonly text: string;
}

const person = (properties: Schema, required: readonly string[] = [], more: Schema = {}): Schema => ({
  json_schema: { Person: { type: 'object', properties, required, ...more } },
});

/** The type of a required field with that schema. */
function typeOf(schema: Schema): unknown {
  return extensionOf(person({ x: schema }, ['x'])).classes.find(({ name }) => name === 'Person')?.fields[0]?.type;
}

/** The type of a field with that definition. */
function typeOfText(text: string, definitions = ''): unknown {
  return extensionOf(`dynamic class Person {\n  x ${text}\n}\n${definitions}`).classes[0]?.fields[0]?.type;
}

test.each([
  [{ type: 'string' }, 'string'],
  [{ type: 'integer', title: 'X', default: 1, examples: [2], $comment: 'c', deprecated: true }, 'int'],
  [{ type: 'number' }, 'float'],
  [{ type: 'boolean' }, 'bool'],
  [{ type: ['string', 'null'] }, 'string?'],
  [{ type: ['string', 'array'], items: { type: 'integer' } }, 'string | int[]'],
  [{ type: 'string', nullable: true }, 'string?'],
  [{ anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] }, '(string | int)?'],
  [{ anyOf: [{ type: 'string' }] }, 'string'],
  [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } }, '(string | int)[]'],
  [{ type: 'array', items: { type: 'string', nullable: true } }, '(string?)[]'],
  [{ type: 'object', additionalProperties: { type: 'array', items: { type: 'number' } } }, 'map<string, float[]>'],
  [{ enum: ['a b', 'say "x"', 3, -1, true, false, null] }, '("a b" | "say \\"x\\"" | 3 | -1 | true | false)?'],
  [{ type: 'string', enum: ['only'] }, '"only"'],
  [{ const: 'x' }, '"x"'],
  [{ $ref: '#/$defs/Fixed' }, 'Fixed'],
  [{ $ref: '#/definitions/Id' }, 'Id'],
  [{ type: 'array', items: { $ref: '#' } }, 'Person[]'],
])('%j is the type %s', (schema, text) => {
  expect(typeOf(schema)).toEqual(typeOfText(text));
});

test('a property that is not required is optional, and its description reaches the field', () => {
  const { classes } = extensionOf(
    person({ a: { type: 'string', description: 'one\n"two" \\ \t three' }, b: { type: 'null' } }, ['b']),
  );
  expect(classes[0]?.fields).toMatchObject([
    { name: 'a', type: { kind: 'union' }, description: 'one\n"two" \\ \t three' },
    { name: 'b', type: { kind: 'null' } },
  ]);
});

test('an object in a property becomes a class with a free name, and an object in a list too', () => {
  const street = {
    type: 'object',
    properties: { street: { type: 'string' } },
    required: ['street'],
    additionalProperties: false,
  };
  const builder = {
    json_schema: {
      Person_home: { type: 'object', properties: { a: { type: 'integer' } } },
      Person: { properties: { home: street, all: { type: 'array', items: street } } },
    },
  };
  const names = extensionOf(builder).classes.map(({ name }) => name);
  expect(names.toSorted()).toEqual(['Person', 'Person_all_item', 'Person_home', 'Person_home_2']);
});

test('a defined enum gets values, and other names become types, also those in $defs', () => {
  const extension = extensionOf({
    json_schema: {
      Kind: { type: 'string', enum: ['B', 'C'], description: 'ignored' },
      Level: { enum: ['low', 'high'] },
      Person: {
        title: 'Person',
        type: 'object',
        description: 'ignored, because the definition has its own',
        properties: { level: { $ref: '#/$defs/Level' }, pet: { $ref: '#/$defs/Pet' }, tree: { $ref: '#/$defs/Tree' } },
        required: ['level'],
        $defs: {
          Pet: { type: 'object', description: 'an animal', properties: { name: { type: 'string' } } },
          Tree: { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/$defs/Tree' } }] },
        },
      },
    },
  });
  expect(extension.enums).toMatchObject([{ name: 'Kind', values: [{ name: 'B' }, { name: 'C' }] }]);
  expect(extension.aliases).toMatchObject([{ name: 'Tree' }]);
  expect(extension.classes.find(({ name }) => name === 'Pet')).toMatchObject({ description: 'an animal' });
  expect(extension.classes.find(({ name }) => name === 'Person')?.fields[0]).toMatchObject({
    type: { kind: 'union', members: [{ value: 'low' }, { value: 'high' }] },
  });
});

test('two schemas can repeat a definition, but not change it', () => {
  const a = { type: 'object', properties: { x: { type: 'string' } } };
  const with2 = (second: Schema): Schema => ({
    json_schema: { Person: { properties: {}, $defs: { A: a } }, B: { properties: {}, $defs: { A: second } } },
  });
  expect(faultsOf(with2({ properties: { x: { type: 'string' } }, type: 'object' }))).toEqual([]);
  expect(faultsOf(with2({ ...a, required: ['x'] }))).toEqual(
    [{ path: 'json_schema.B["$defs"].A', message: 'differs from another schema with the name "A"' }].map(
      (fault) => expect.objectContaining({ message: fault.message }) as unknown,
    ),
  );
});

test.each([
  [{ type: 'string', pattern: 'a' }, '.pattern', 'is not supported here'],
  [{ type: 'integer', minimum: 1 }, '.minimum', 'is not supported here'],
  [{ type: 'string', item: {} }, '.item', 'is not supported here'],
  [{ type: 'array', item: {} }, '.item', 'Did you mean "items"?'],
  [
    { oneOf: [{ type: 'string' }] },
    '.oneOf',
    'is not supported here; allowed: type, enum, const, anyOf, $ref, nullable',
  ],
  [{}, '', 'svc has no type for arbitrary values'],
  [true, '', 'has to be a JSON Schema: an object'],
  [{ type: 'array' }, '', 'needs "items"'],
  [{ type: 'object' }, '', 'needs "properties"'],
  [{ type: 'object', additionalProperties: true }, '', 'needs "properties"'],
  [{ properties: {}, additionalProperties: { type: 'string' } }, '.additionalProperties', 'has to be false'],
  [{ properties: { 'a-b': { type: 'string' } } }, '.properties["a-b"]', 'is not a name'],
  [
    { properties: { a: { type: 'string' } }, required: ['b'] },
    '.required[0]',
    'has to be the name of one of the "properties"',
  ],
  [{ properties: { class: { type: 'string' } } }, '.properties.class', 'cannot be called "class"'],
  [{ type: 'text' }, '.type', 'has to be one of string, integer'],
  [{ type: [] }, '.type', 'contains no type'],
  [{ enum: [] }, '.enum', 'at least one entry'],
  [{ enum: [1.5] }, '.enum[0]', 'a number with a fraction'],
  [{ enum: [{}] }, '.enum[0]', 'has to be a string, an integer, a boolean or null'],
  [{ const: 'a\\' }, '.const', 'a backslash or a control character'],
  [{ const: 'a\nb' }, '.const', 'a backslash or a control character'],
  [{ $ref: 'http://x/y' }, '.$ref', 'has to be "#"'],
  [{ $ref: '#/$defs/A | int' }, '.$ref', 'has to be "#"'],
  [{ $ref: '#/$defs/Nope' }, '', 'There is no type "Nope"'],
  [{ type: 'string', nullable: 'yes' }, '.nullable', 'has to be true or false'],
  [{ type: 'string', description: 1 }, '.description', 'has to be a string'],
  [{ type: 'string', $defs: {} }, '["$defs"]', 'only at the top of a schema'],
])('%j in a property is refused at %j', (schema, path, message) => {
  const [fault] = faultsOf({ json_schema: { Person: { properties: { x: schema } } } });
  expect(fault?.message).toContain(message);
  expect(fault?.path.replaceAll(/\["(\$\w+)"\]/gu, '.$1')).toBe(
    `json_schema.Person.properties.x${path.replaceAll(/\["(\$\w+)"\]/gu, '.$1')}`,
  );
});

test.each([
  [{ json_schema: [] }, 'json_schema', 'has to be an object that maps names'],
  [{ json_schema: {}, x: 1 }, 'x', 'is unknown; allowed: json_schema'],
  [{ json_schema: { 'A B': {} } }, 'json_schema["A B"]', 'is not a name'],
  [
    { json_schema: { a: { type: 'string' }, Person: { properties: {} } } },
    'json_schema.a',
    'must begin with a capital letter',
  ],
  [{ json_schema: { Person: { type: 'string' } } }, 'json_schema.Person.type', 'has to be "object"'],
  [{ json_schema: { Fixed: { properties: {} } } }, 'json_schema.Fixed', 'has no `@@dynamic`'],
  [{ json_schema: { Kind: { enum: ['in progress'] } } }, 'json_schema.Kind.enum[0]', 'is not a name'],
  [{ json_schema: { Kind: { type: 'integer', enum: ['B'] } } }, 'json_schema.Kind.type', 'has to be "string"'],
  [{ json_schema: { Person: null } }, 'json_schema.Person', 'has to be a JSON Schema'],
  [{ json_schema: { Read: { type: 'string' } } }, 'json_schema.Read', 'already have a function "Read"'],
  [
    { json_schema: { Person: { properties: { name: { type: 'string' } } } } },
    'json_schema.Person.properties.name',
    'two fields "name"',
  ],
])('%j is refused at %s', (builder, path, message) => {
  expect(faultsOf(builder)[0]).toMatchObject({ path, message: expect.stringContaining(message) });
});

test('schemas that are nested without end, or too many, are refused', () => {
  let deep: Schema = { type: 'string' };
  for (let level = 0; level < 1_000; level += 1) deep = { type: 'array', items: deep };
  expect(faultsOf(person({ x: deep }))[0]?.message).toContain('nested deeper than 64 levels');
  const wide = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`f${at}`, { type: 'string' }]));
  expect(faultsOf(person(wide))[0]?.message).toContain('more than 500 fields');
});

const NAMES = fc.constantFrom('alpha', 'beta', 'gamma', 'delta');

const WORD = fc.constantFrom('a', 'in progress', 'x "y" z', '}', '{{ x }}', '@check', '#"', '//', '日本', "it's", '');

/** A random type of the subset, without objects with properties. */
const TYPES = fc.letrec<{ type: Both; inner: Both }>((tie) => ({
  inner: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Both>(
      { schema: { type: 'string' }, text: 'string' },
      { schema: { type: 'integer' }, text: 'int' },
      { schema: { type: 'number' }, text: 'float' },
      { schema: { type: 'boolean' }, text: 'bool' },
      { schema: { $ref: '#/$defs/Fixed' }, text: 'Fixed' },
      { schema: { $ref: '#/$defs/Kind' }, text: 'Kind' },
    ),
    WORD.map((value): Both => ({ schema: { const: value }, text: `"${value.replaceAll('"', '\\"')}"` })),
    tie('type').map(({ schema, text }): Both => ({ schema: { type: 'array', items: schema }, text: `(${text})[]` })),
    tie('type').map(({ schema, text }): Both => ({
      schema: { type: 'object', additionalProperties: schema },
      text: `map<string, ${text}>`,
    })),
  ),
  type: fc.oneof(
    { maxDepth: 4 },
    tie('inner'),
    tie('inner').map(({ schema, text }): Both => ({
      schema: { anyOf: [schema, { type: 'null' }] },
      text: `(${text})?`,
    })),
    fc.uniqueArray(tie('inner'), { minLength: 2, maxLength: 4, selector: ({ text }) => text }).map((members): Both => ({
      schema: { anyOf: members.map(({ schema }) => schema) },
      text: members.map(({ text }) => `(${text})`).join(' | '),
    })),
  ),
})).type;

test('a random JSON Schema of the subset becomes the type that it describes', () => {
  assertProperty(
    fc.property(TYPES, ({ schema, text }) => {
      expect(typeOf(schema)).toEqual(typeOfText(text));
    }),
  );
});

test('schemas with random properties, descriptions and requirements become the classes that they describe', () => {
  const fields = fc.uniqueArray(
    fc.record({ name: NAMES, type: TYPES, required: fc.boolean(), about: fc.string({ unit: 'binary' }) }),
    {
      minLength: 1,
      selector: ({ name }) => name,
    },
  );
  assertProperty(
    fc.property(fields, (all) => {
      const properties = Object.fromEntries(
        all.map(({ name, type, about }) => [name, { ...type.schema, description: about }]),
      );
      const required = all.filter((field) => field.required).map(({ name }) => name);
      const [type] = extensionOf(person(properties, required)).classes;
      expect(type?.fields.map(({ name }) => name)).toEqual(all.map(({ name }) => name));
      for (const [index, { about, type: both, required: isRequired }] of all.entries()) {
        const field = type?.fields[index];
        const expected = typeOfText(isRequired ? both.text : `(${both.text})?`);
        expect(field?.type).toEqual(expected);
        expect(field?.description ?? '').toBe(about.replaceAll(/(?![\n\t])[\p{Cc}\u2028\u2029]/gu, ' '));
      }
    }),
  );
});

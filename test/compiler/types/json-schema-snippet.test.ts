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

/** The type of a required field with that schema, without the keywords of its asserts, which definitions do not have. */
function typeOf(schema: Schema): unknown {
  const { classes } = extensionOf(person({ x: schema }, ['x']));
  const type = classes.find(({ name }) => name === 'Person')?.fields[0]?.type;
  return JSON.parse(JSON.stringify(type, (key, value: unknown) => (key === 'keyword' ? undefined : value)));
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
  [{ oneOf: [{ type: 'string' }, { type: 'null' }], discriminator: { propertyName: 'kind' } }, 'string?'],
  [{ allOf: [{ $ref: '#/$defs/Fixed' }], description: 'd', nullable: true, 'x-own': 1 }, 'Fixed?'],
  [
    { type: 'integer', minimum: 1, maximum: 2 },
    '(int @assert(minimum, {{ this >= 1 }}) @assert(maximum, {{ this <= 2 }}))',
  ],
  [{ type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991, format: 'int64' }, 'int'],
  [{ type: 'integer', minimum: -(2 ** 63), maximum: 2 ** 63 - 1, multipleOf: 1 }, 'int'],
  [{ type: 'number', minimum: 1, exclusiveMinimum: true }, '(float @assert(minimum, {{ this > 1 }}))'],
  [{ type: 'number', maximum: 2 ** 60 }, '(float @assert(maximum, {{ this <= 1152921504606847000.0 }}))'],
  [{ type: 'string', minLength: 0, maxLength: 3 }, '(string @assert(maxLength, {{ this|length <= 3 }}))'],
  [{ type: 'string', format: 'uuid', contentEncoding: 'base64' }, 'string @description("format: uuid")'],
  [{ type: ['integer', 'null'], minimum: 0 }, '((int @assert(minimum, {{ this >= 0 }})) | null)'],
  [{ type: 'array', items: { type: 'string' }, uniqueItems: false, minItems: 0 }, 'string[]'],
  [{ $ref: '#/components/schemas/Fixed' }, 'Fixed'],
  [{ $ref: '#/$defs/Fixed' }, 'Fixed'],
  [{ $ref: '#/definitions/Id' }, 'Id'],
  [{ type: 'array', items: { $ref: '#' } }, 'Person[]'],
  [{ type: 'object', additionalProperties: { type: 'string' }, properties: {}, required: [] }, 'map<string, string>'],
  [{ type: 'object', patternProperties: { '': { type: 'integer' } } }, 'map<string, int>'],
  [
    { type: 'object', patternProperties: { '^.*$': { type: 'integer' } }, additionalProperties: false },
    'map<string, int>',
  ],
  [
    { type: 'object', propertyNames: { type: 'string', description: 'd' }, additionalProperties: { type: 'integer' } },
    'map<string, int>',
  ],
  [
    { type: 'object', propertyNames: { enum: ['a b', 'c'] }, additionalProperties: { type: 'integer' } },
    'map<"a b" | "c", int>',
  ],
  [
    {
      anyOf: [
        { type: 'string', format: 'uuid' },
        { const: '-', format: 'uuid' },
      ],
      format: 'uuid',
    },
    'string | "-" @description("format: uuid")',
  ],
  [{ type: 'object', propertyNames: { const: 'a' }, additionalProperties: { type: 'integer' } }, 'map<"a", int>'],
])('%j is the type %s', (schema, text) => {
  expect(typeOf(schema)).toEqual(typeOfText(text));
});

test('a property that is not required is optional, and its description reaches the field', () => {
  const { classes } = extensionOf(
    person({ a: { type: 'string', description: 'one\n"two" \\ \t three\0\u2028.' }, b: { type: 'null' } }, ['b']),
  );
  expect(classes[0]?.fields).toMatchObject([
    { name: 'a', type: { kind: 'union' }, description: 'one\n"two" \\ \t three  .' },
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
    json_schema: {
      Person: { properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: a } },
      B: { properties: {}, $defs: { A: second } },
    },
  });
  expect(faultsOf(with2({ properties: { x: { type: 'string' } }, type: 'object' }))).toEqual([]);
  expect(faultsOf(with2({ ...a, required: ['x'] }))).toEqual(
    [{ path: 'json_schema.B["$defs"].A', message: 'differs from another schema with the name "A"' }].map(
      (fault) => expect.objectContaining({ message: fault.message }) as unknown,
    ),
  );
});

test.each([
  [{ type: 'string', minimum: 1 }, '.minimum', 'is not supported here'],
  [{ $ref: '#/$defs/Fixed', minimum: 1 }, '.minimum', 'is not supported here; allowed: $ref'],
  [{ type: 'integer', minimum: '1' }, '.minimum', 'has to be a finite number'],
  [{ type: 'integer', maximum: 2 ** 60 }, '.maximum', 'numbers of JSON are not exact. Remove it'],
  [{ type: 'number', multipleOf: 0.1 }, '.multipleOf', 'remainders of fractions are not exact. Remove it'],
  [{ type: 'string', maxLength: 1.5 }, '.maxLength', 'has to be an integer of at least 0'],
  [{ type: 'array', items: { type: 'string' }, uniqueItems: 1 }, '.uniqueItems', 'has to be true or false'],
  [{ type: 'string', pattern: '(' }, '.pattern', 'is not a regular expression. Remove it'],
  [{ type: 'string', pattern: 1 }, '.pattern', 'has to be a string'],
  [{ type: 'string', pattern: 'a(?=b)' }, '.pattern', 'has a lookahead or lookbehind'],
  [{ type: 'string', pattern: '^(?=a)|b' }, '.pattern', 'has a lookahead or lookbehind'],
  [{ type: 'string', pattern: '(?<=a)b' }, '.pattern', 'has a lookahead or lookbehind'],
  [{ type: 'string', pattern: '^(?=a)*b' }, '.pattern', 'repeats a lookahead'],
  [{ type: 'string', pattern: '(a)\\1' }, '.pattern', 'contains "\\1"'],
  [{ type: 'string', pattern: '\\bword' }, '.pattern', 'contains "\\b"'],
  [{ type: 'string', pattern: '[]' }, '.pattern', 'an empty set'],
  [{ type: 'string', pattern: '\\ud800' }, '.pattern', 'half a surrogate pair'],
  [{ type: 'string', pattern: 'a{2000}' }, '.pattern', 'repeats more than 1000 times'],
  [{ type: 'string', pattern: '((a{100}){100}){100}' }, '.pattern', 'repeats too much'],
  [{ type: 'string', pattern: 'a'.repeat(2001) }, '.pattern', 'more than 2000 characters'],
  [{ type: 'string', pattern: '('.repeat(900) }, '.pattern', 'is not a regular expression'],
  [{ type: 'array', prefixItems: [] }, '.prefixItems', 'is not supported here'],
  [{ not: { type: 'string' } }, '.not', 'Remove it'],
  [{ anyOf: [{ type: 'string' }], oneOf: [{ type: 'string' }] }, '.oneOf', 'is not supported here'],
  [{ allOf: [] }, '.allOf', 'at least one entry'],
  [{ allOf: 1 }, '.allOf', 'has to be a list'],
  [{ allOf: [{ type: 'string' }, { minLength: 1 }] }, '.allOf[0].type', 'has to be "object"'],
  [{ allOf: [{ $ref: '#/$defs/Fixed' }, { properties: {} }] }, '.allOf[0].$ref', 'has to name a schema in this'],
  [
    { allOf: [{ properties: { a: { type: 'string' } } }, { properties: { a: { type: 'integer' } } }] },
    '.allOf[1].properties.a',
    'differs from json_schema.Person.properties.x.allOf[0].properties.a, and "allOf" cannot merge them',
  ],
  [
    { type: 'object', propertyNames: { pattern: 'a' }, additionalProperties: { type: 'string' } },
    '.propertyNames',
    'keys of maps are any strings',
  ],
  [{ type: 'string', item: {} }, '.item', 'is not supported here'],
  [{ type: 'array', item: {} }, '.item', 'Did you mean "items"?'],
  [{}, '', 'svc has no type for arbitrary values'],
  [true, '', 'has to be a JSON Schema: an object'],
  [{ type: 'array' }, '', 'needs "items"'],
  [{ type: 'object' }, '', 'needs "properties"'],
  [{ type: 'object', additionalProperties: true }, '', 'needs "properties"'],
  [{ type: 'object', properties: {}, additionalProperties: {} }, '', 'needs "properties"'],
  [{ type: 'array', items: [{ type: 'string' }] }, '.items', 'svc has no tuples'],
  [
    { properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } },
    '.additionalProperties',
    'has to be absent, true or false beside "properties"',
  ],
  [{ properties: { '': { type: 'string' } } }, '.properties[""]', 'no prompt can contain'],
  [{ properties: { 'a\nb': { type: 'string' } } }, '.properties["a\\nb"]', 'no prompt can contain'],
  [
    { type: 'object', patternProperties: { '^x-': { type: 'string' } } },
    '.patternProperties',
    'has to contain only "^.*$"',
  ],
  [
    { type: 'object', patternProperties: { '': { type: 'string' } }, additionalProperties: { type: 'integer' } },
    '.patternProperties',
    'has to contain only "^.*$"',
  ],
  [
    { properties: { a: { type: 'string' } }, patternProperties: { '': { type: 'string' } } },
    '.patternProperties',
    'is not supported here',
  ],
  [
    { type: 'object', propertyNames: { enum: ['a'] }, additionalProperties: { type: 'string' }, required: ['b'] },
    '.required[0]',
    'has to be in the "enum" of "propertyNames"',
  ],
  [{ $ref: '#/properties/nope' }, '.$ref', 'the JSON pointer of a part of this schema'],
  [
    { properties: { a: { type: 'string' } }, required: ['b'] },
    '.required[0]',
    'has to be the name of one of the "properties"',
  ],
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
  [
    {
      json_schema: {
        Person: {
          properties: { x: { anyOf: [{ $ref: '#' }, { $ref: '#/$defs/Boss' }] } },
          required: ['x'],
          $defs: { Boss: { type: 'object', properties: { of: { $ref: '#' } }, required: ['of'] } },
        },
      },
    },
    'json_schema.Person',
    'each needs another one: Person -> Boss -> Person',
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

test('"allOf" merges objects, also through references, and names that no type can have get another one', () => {
  const base = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
  const extension = extensionOf({
    json_schema: {
      Person: {
        allOf: [
          { $ref: '#/$defs/base-item' },
          { properties: { x: { $ref: '#/$defs/__schema0' }, of: { $ref: '#/$defs/base-item' } } },
        ],
        required: ['x'],
        $defs: { 'base-item': base, __schema0: { type: 'object', properties: { up: { $ref: '#' } } } },
      },
      More: { allOf: [{ allOf: [base] }, { ...base, description: 'again' }] },
    },
  });
  const fields = extension.classes.map((type) => [type.name, type.fields.map(({ name }) => name)]);
  expect(Object.fromEntries(fields)).toEqual({
    Base_item: ['id'],
    Schema0: ['up'],
    Person: ['id', 'x', 'of'],
    More: ['id'],
  });
  expect(extension.classes.find(({ name }) => name === 'Person')?.fields).toMatchObject([
    { type: { kind: 'string' } },
    { type: { kind: 'class', name: 'Schema0' } },
    { type: { kind: 'union' } },
  ]);
});

test('merging takes bounded work, also for schemas that refer to each other', () => {
  const wide = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`f${at}`, { type: 'string' }]));
  const merged = Array.from({ length: 500 }, (_, at) => [`T${at}`, { allOf: [{ $ref: '#/$defs/Wide' }, {}] }] as const);
  const faults = faultsOf({
    json_schema: { Person: { properties: {}, $defs: { Wide: { properties: wide } } }, ...Object.fromEntries(merged) },
  });
  expect(faults[0]?.message).toBe('is one of more than 500 fields');
  expect(faults.length).toBeLessThanOrEqual(101);
  const loop = { A: { allOf: [{ $ref: '#/$defs/B' }, {}] }, B: { allOf: [{ $ref: '#/$defs/A' }, {}] } };
  expect(faultsOf({ json_schema: { Person: { properties: { x: { $ref: '#/$defs/A' } }, $defs: loop } } })).toEqual([]);
  const chain = Array.from({ length: 1_000 }, (_, at) => [`C${at}`, { allOf: [{ $ref: `#/$defs/C${at + 1}` }, {}] }]);
  expect(
    faultsOf({
      json_schema: {
        Person: { properties: { c: { $ref: '#/$defs/C0' } }, $defs: Object.fromEntries(chain) as Schema },
      },
    }),
  ).toContainEqual(expect.objectContaining({ message: 'is nested deeper than 64 levels' }));
});

test('additional properties that only may exist change nothing', () => {
  const names = [true, {}, { description: 'any' }].map((additionalProperties) =>
    extensionOf(person({ a: { type: 'string' } }, [], { additionalProperties })).classes.map(({ fields }) => fields),
  );
  const absent = extensionOf(person({ a: { type: 'string' } })).classes.map(({ fields }) => fields);
  expect(names).toEqual([absent, absent, absent]);
});

test('a reference can point to any part of its schema, which has one type in both places', () => {
  const builder = person(
    {
      home: { type: 'object', properties: { next: { $ref: '#/properties/home' } } },
      'a/b': { type: 'array', items: { type: 'object', properties: { x: { type: 'string' } } } },
      work: { $ref: '#/properties/home' },
      first: { $ref: '#/properties/a~1b/items' },
      code: { $ref: '#/$defs/Codes/anyOf/0' },
    },
    [],
    { $defs: { Codes: { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'integer' }] } } },
  );
  const { classes } = extensionOf(builder);
  expect(classes.map(({ name }) => name).toSorted()).toEqual(['Person', 'Person_a_b_items', 'Person_home']);
  const fields = classes.find(({ name }) => name === 'Person')?.fields ?? [];
  const typeOfField = (name: string): unknown => fields.find((field) => field.name === name)?.type;
  expect(typeOfField('work')).toEqual(typeOfField('home'));
  expect(typeOfField('first')).toMatchObject({ members: [{ kind: 'class', name: 'Person_a_b_items' }, {}] });
  expect(typeOfField('code')).toMatchObject({
    members: [{ kind: 'string', constraints: [{ label: 'maxLength' }] }, {}],
  });
});

test('a definition that nothing refers to has no effect, whatever it contains, unless a type has its name', () => {
  const unused = { Unreadable: { not: {} }, Alone: { properties: { a: { $ref: '#/$defs/Unreadable' } } } };
  expect(extensionOf(person({}, [], { $defs: unused })).classes.map(({ name }) => name)).toEqual(['Person']);
  const whole = { type: 'string', definitions: { Person: { properties: { age: { type: 'integer' } } } } };
  expect(extensionOf({ json_schema: { Text: whole } }).classes).toMatchObject([{ fields: [{ name: 'age' }] }]);
});

test('a property can have any name, and its field has the same one', () => {
  const names = ['class', 'ref', '_id', 'x-a', '$schema', 'first name', 'say "x"', 'a\\b', '日本', '__proto__', 'x'];
  const properties = Object.fromEntries(
    names.map((name) => [name, { type: 'object', properties: { a: { type: 'string' } } }]),
  );
  const { classes } = extensionOf(person(properties, ['_id']));
  const extended = classes.find(({ name }) => name === 'Person');
  expect(extended?.fields.map(({ name }) => name)).toEqual(names);
  expect(extended?.fields.map(({ alias }) => alias)).toEqual(names.map(() => undefined));
  expect(new Set(classes.map(({ name }) => name)).size).toBe(names.length + 1);
});

test('a reference can add bounds to a scalar type', () => {
  const age = { $ref: '#/$defs/Int', minimum: 0, description: 'in years' };
  const { classes } = extensionOf(person({ age }, ['age'], { $defs: { Int: { type: 'integer', maximum: 150 } } }));
  const [field] = classes[0]?.fields ?? [];
  expect(field).toMatchObject({
    description: 'in years',
    type: { kind: 'int', constraints: [{ label: 'maximum' }, { label: 'minimum', keyword: { minimum: 0 } }] },
  });
});

test('a definition with a name that is reserved for types gets another one', () => {
  const { classes } = extensionOf(
    person({ at: { $ref: '#/$defs/Json' } }, [], { $defs: { Json: { properties: { a: { type: 'string' } } } } }),
  );
  expect(classes.map(({ name }) => name).toSorted()).toEqual(['Json_2', 'Person']);
});

test('a record whose listed keys are required is a class, and its other keys are optional', () => {
  const record = {
    type: 'object',
    propertyNames: { $ref: '#/$defs/Side' },
    additionalProperties: { type: 'integer' },
    required: ['left-most'],
  };
  const { classes } = extensionOf(
    person({ record }, ['record'], { $defs: { Side: { type: 'string', enum: ['left-most', 'right'] } } }),
  );
  expect(classes.find(({ name }) => name === 'Person_record')?.fields).toMatchObject([
    { name: 'left-most', type: { kind: 'int' } },
    { name: 'right', type: { kind: 'union' } },
  ]);
  const { required: _, ...open } = record;
  const map = extensionOf(person({ open }, ['open'], { $defs: { Side: { enum: ['left-most', 'right'] } } }));
  expect(map.classes[0]?.fields[0]?.type).toEqual(typeOfText('map<"left-most" | "right", int>'));
});

test('records that share many keys take bounded work, and so do names that differ only in other characters', () => {
  const keys = Array.from({ length: 400 }, (_, at) => `key${at}`);
  const record = {
    type: 'object',
    propertyNames: { $ref: '#/$defs/Keys' },
    additionalProperties: { enum: Array.from({ length: 500 }, (_, at) => `value ${at}`) },
    required: ['key0'],
  };
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`f${at}`, { ...record, title: `${at}` }]));
  const faults = faultsOf(person(many, [], { $defs: { Keys: { enum: keys } } }));
  expect(faults[0]?.message).toBe('is the type of one of more than 500 fields');
  const names = Array.from({ length: 20_000 }, (_, at) => String.fromCodePoint(0x1_0000 + at));
  const $defs = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  expect(extensionOf(person({ a: { $ref: `#/$defs/${names[0]}` } }, [], { $defs })).classes).toHaveLength(1);
});

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

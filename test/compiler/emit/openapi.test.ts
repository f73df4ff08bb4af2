import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import type { Definitions } from '../../../src/schema/program.ts';
import type { Type } from '../../../src/schema/type.ts';
import { ERROR_CODES } from '../../../src/schema/errors.ts';
import {
  alias,
  aliasRef,
  bool,
  check,
  checked,
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
  nothing,
  optional,
  programOf,
  string,
  union,
} from '../../support/definitions.ts';
import { openApiFaults, resolve } from './openapi-rules.ts';

const REF = '#/components/schemas/';

/** The members of an answer that report losses. */
const WARNINGS = {
  warnings: {
    type: 'array',
    items: { $ref: `${REF}SvcWarning` },
    description: 'What the value lacks; present if the request includes it.',
  },
  more_warnings: { type: 'integer', description: 'The number of losses that the list does not report, if any.' },
};

const shared: Partial<Definitions> = {
  classes: [
    classType('Skill', [field('name', string)]),
    classType(
      'Resume',
      [
        field('name', string, { documentation: 'Full name.', description: 'As on the card' }),
        field('email', optional(string)),
        field('skills', list(classRef('Skill')), { description: 'All of them' }),
        field('favourite', optional(classRef('Skill')), { documentation: 'The best one.' }),
        field('hidden', optional(string), { skip: true }),
      ],
      { documentation: 'A resume.' },
    ),
    classType('Node', [field('next', optional(classRef('Node')))]),
    classType('Guarded', [field('score', checked(float, 'positive'))], { constraints: [check('whole')] }),
    classType('Growing', [
      field('text', { ...string, stream: { withState: true } }),
      field('tags', { ...list(string), stream: { done: true } }),
      field('name', string, { streamNotNull: true }),
      field('labels', map(string, string)),
      field('sealed', classRef('Sealed')),
    ]),
    classType('Sealed', [field('a', int)], { streamDone: true }),
    classType('Empty', []),
    classType('Circle', [field('kind', literal('circle')), field('side', literal('left'))]),
    classType('Square', [field('side', literal('left')), field('kind', literal('square'))]),
    classType('Disc', [field('kind', literal('circle'))]),
    classType('SvcError', [field('a', string)]),
    classType('SkillPartial', [field('mine', string)]),
  ],
  enums: [
    enumType('Color', ['RED', '-HIDDEN']),
    { ...enumType('Never', []), documentation: 'No value.' },
    {
      ...enumType('Mood', []),
      values: [
        { name: 'UP', skip: false, description: 'good' },
        { name: 'DOWN', skip: false },
      ],
    },
  ],
  aliases: [alias('Json', union(string, nothing, list(aliasRef('Json')), map(string, aliasRef('Json'))))],
};

/** The document of one function `Do`. */
function documentOf(returns: Type, parameters: Readonly<Record<string, Type>> = {}): JsonObject {
  return programOf({ ...shared, functions: [functionType('Do', parameters, returns)] }).openapi;
}

function schema(document: JsonObject, name: string): unknown {
  return resolve(`${REF}${name}`, document);
}

function resultSchema(document: JsonObject): unknown {
  return resolve('#/paths/~1call~1Do/post/responses/200/content/application~1json/schema', document);
}

function partialSchema(document: JsonObject): unknown {
  return resolve(`${REF}DoStreamEvent/anyOf`, document) === undefined
    ? undefined
    : (schema(document, 'DoStreamEvent') as { anyOf: [{ properties: { partial_result: unknown } }] }).anyOf[0]
        .properties.partial_result;
}

const INT = { type: 'integer', format: 'int64' };
const BOUNDED_INT = { ...INT, minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

const NULL = { type: 'string', nullable: true, enum: [null] };

test.each<[string, Type, unknown]>([
  ['string', string, { type: 'string' }],
  ['int', int, INT],
  ['float', float, { type: 'number', format: 'double' }],
  ['bool', bool, { type: 'boolean' }],
  ['null', nothing, NULL],
  ['string literal', literal('a'), { type: 'string', enum: ['a'] }],
  ['int literal', literal(5), { type: 'integer', enum: [5] }],
  ['bool literal', literal(true), { type: 'boolean', enum: [true] }],
  ['list', list(int), { type: 'array', items: INT }],
  ['map', map(string, bool), { type: 'object', additionalProperties: { type: 'boolean' } }],
  [
    'map with enum keys',
    map(enumRef('Mood'), bool),
    {
      description: 'Keys: Mood (`UP`, `DOWN`).',
      type: 'object',
      properties: { UP: { type: 'boolean' }, DOWN: { type: 'boolean' } },
      additionalProperties: false,
    },
  ],
  [
    'map with literal keys',
    map(union(literal('a'), literal('b')), classRef('Skill')),
    {
      description: 'Keys: `"a" | "b"`.',
      type: 'object',
      properties: { a: { $ref: `${REF}Skill` }, b: { $ref: `${REF}Skill` } },
      additionalProperties: false,
    },
  ],
  [
    'union of classes with a literal tag',
    union(classRef('Circle'), classRef('Square')),
    {
      anyOf: [{ $ref: `${REF}Circle` }, { $ref: `${REF}Square` }],
      discriminator: { propertyName: 'kind', mapping: { circle: `${REF}Circle`, square: `${REF}Square` } },
    },
  ],
  [
    'union of classes with equal tags',
    union(classRef('Circle'), classRef('Disc')),
    { anyOf: [{ $ref: `${REF}Circle` }, { $ref: `${REF}Disc` }] },
  ],
  [
    'union of classes of which one has no tag',
    union(classRef('Circle'), classRef('Skill')),
    { anyOf: [{ $ref: `${REF}Circle` }, { $ref: `${REF}Skill` }] },
  ],
  ['optional', optional(string), { type: 'string', nullable: true }],
  ['optional class', optional(classRef('Skill')), { type: 'object', nullable: true, allOf: [{ $ref: `${REF}Skill` }] }],
  ['optional enum', optional(enumRef('Mood')), { type: 'string', nullable: true, allOf: [{ $ref: `${REF}Mood` }] }],
  [
    'optional literals',
    optional(union(literal('a'), literal('b'))),
    { type: 'string', enum: ['a', 'b', null], nullable: true },
  ],
  [
    'literals of two types',
    union(literal('a'), literal(1), literal('b')),
    {
      anyOf: [
        { type: 'string', enum: ['a', 'b'] },
        { type: 'integer', enum: [1] },
      ],
    },
  ],
  ['union', union(string, classRef('Skill')), { anyOf: [{ type: 'string' }, { $ref: `${REF}Skill` }] }],
  ['union with null', optional(union(string, int)), { anyOf: [{ type: 'string' }, INT, NULL] }],
  ['union of equal schemas', union(string, { ...string, stream: { done: true } }), { type: 'string' }],
  ['recursive alias', aliasRef('Json'), { $ref: `${REF}Json` }],
  ['image', media('image'), { $ref: `${REF}SvcImage` }],
  [
    'checked',
    checked(int, 'ok'),
    {
      type: 'object',
      properties: {
        value: INT,
        checks: { type: 'object', properties: { ok: { $ref: `${REF}SvcCheck` } }, required: ['ok'] },
      },
      required: ['value', 'checks'],
    },
  ],
])('the result schema of %s', (_name, type, expected) => {
  const document = documentOf(type);
  expect(resultSchema(document)).toEqual(expected);
  expect(openApiFaults(document)).toEqual([]);
});

test('every function has a call and a stream, every status has the shared error', () => {
  const document = documentOf(string, { a: int });
  for (const path of ['call', 'stream']) {
    const responses = resolve(`#/paths/~1${path}~1Do/post/responses`, document) as JsonObject;
    expect(Object.keys(responses).join(' ')).toBe('200 400 404 405 408 413 415 422 431 500 501 502 503 504');
    for (const [status, response] of Object.entries(responses).slice(1)) {
      const target = resolve((response as { $ref: string }).$ref, document);
      expect(target, status).toMatchObject({
        content: { 'application/json': { schema: { $ref: `${REF}SvcError2` } } },
      });
    }
  }
});

test('the server of the document is the root, or the path prefix of a gateway', () => {
  expect(programOf({ functions: [] }).openapi['servers']).toEqual([{ url: '/' }]);
  expect(programOf({ functions: [] }, { basePath: '/llm' }).openapi['servers']).toEqual([{ url: '/llm' }]);
});

test('every error has an example with the fields that all errors have', () => {
  const document = programOf({ functions: [] }, { apiKey: true }).openapi;
  const names = Object.keys(resolve('#/components/responses', document) as JsonObject);
  expect(names).toHaveLength(14);
  for (const name of names) {
    const path = `#/components/responses/${name}/content/application~1json/examples`;
    const examples = resolve(path, document) as Readonly<Record<string, unknown>>;
    expect(Object.keys(examples).length, name).toBeGreaterThan(0);
    for (const [code, example] of Object.entries(examples)) {
      expect(example).toMatchObject({
        value: { error: code, message: expect.any(String), request_id: expect.any(String) },
      });
    }
  }
});

test('every error code is in the description of a response', () => {
  const document = programOf({ functions: [] }, { apiKey: true, limits: true }).openapi;
  const descriptions = JSON.stringify(resolve('#/components/responses', document));
  expect(ERROR_CODES.length).toBeGreaterThan(20);
  expect(ERROR_CODES.filter((code) => !descriptions.includes(`\`${code}\``))).toEqual([]);
});

test('an enum that is only the key of a map is described, and not a component', () => {
  const document = documentOf(map(enumRef('Mood'), bool), { moods: map(enumRef('Mood'), bool) });
  expect(schema(document, 'Mood')).toBeUndefined();
});

test('the request has the parameters and the options, and nothing else', () => {
  const document = documentOf(string, { text: string, limit: optional(int), resume: classRef('Resume') });
  expect(schema(document, 'DoRequest')).toEqual({
    description: 'Arguments of Do.',
    type: 'object',
    properties: {
      text: { type: 'string' },
      limit: { ...BOUNDED_INT, nullable: true },
      resume: { $ref: `${REF}ResumeInput` },
      svc_options: { $ref: `${REF}SvcOptions` },
    },
    required: ['text', 'resume'],
    additionalProperties: false,
  });
  expect(schema(document, 'SvcOptions')).toMatchObject({
    properties: {
      client: {},
      client_registry: { $ref: `${REF}SvcClientRegistry` },
      env: {},
      tags: { additionalProperties: { type: 'string' } },
      route_key: { type: 'string', minLength: 1, maxLength: 256 },
    },
    additionalProperties: false,
  });
  expect(Object.keys((schema(document, 'SvcClientRegistry') as { properties: object }).properties)).toEqual([
    'primary',
    'fallback',
    'clients',
  ]);
});

test('a class as a result has all fields; as an argument, it can omit optional ones', () => {
  const document = documentOf(classRef('Resume'), { resume: classRef('Resume') });
  expect(schema(document, 'Resume')).toEqual({
    description: 'A resume.',
    type: 'object',
    properties: {
      name: { description: 'Full name.\n\nAs on the card', type: 'string' },
      email: { type: 'string', nullable: true },
      skills: { description: 'All of them', type: 'array', items: { $ref: `${REF}Skill` } },
      favourite: { description: 'The best one.', type: 'object', nullable: true, allOf: [{ $ref: `${REF}Skill` }] },
    },
    required: ['name', 'email', 'skills', 'favourite'],
  });
  expect(schema(document, 'ResumeInput')).toMatchObject({
    properties: { hidden: { type: 'string', nullable: true }, skills: { items: { $ref: `${REF}Skill` } } },
    required: ['name', 'skills'],
  });
});

test('a class with the same form as argument and result is one schema', () => {
  const document = documentOf(classRef('Skill'), { skill: classRef('Skill'), other: enumRef('Mood') });
  expect(schema(document, 'SkillInput')).toBeUndefined();
  expect(schema(document, 'MoodInput')).toBeUndefined();
  expect(schema(document, 'DoRequest')).toMatchObject({ properties: { skill: { $ref: `${REF}Skill` } } });
});

test('skipped enum values are accepted as arguments and never returned', () => {
  const document = documentOf(enumRef('Color'), { color: enumRef('Color') });
  expect(schema(document, 'Color')).toEqual({ type: 'string', enum: ['RED'] });
  expect(schema(document, 'ColorInput')).toEqual({ type: 'string', enum: ['RED', 'HIDDEN'] });
});

test('the description of an enum explains its values', () => {
  expect(schema(documentOf(enumRef('Mood')), 'Mood')).toMatchObject({
    description: '- `UP`: good',
    enum: ['UP', 'DOWN'],
  });
});

test('a partial has null for values that have not arrived, empty lists and maps, and wrappers with state', () => {
  const document = documentOf(classRef('Growing'));
  expect(partialSchema(document)).toEqual({ $ref: `${REF}GrowingPartial` });
  expect(schema(document, 'GrowingPartial')).toMatchObject({
    properties: {
      text: {
        type: 'object',
        properties: {
          value: { type: 'string', nullable: true },
          state: { type: 'string', enum: ['Pending', 'Incomplete', 'Complete'] },
        },
        required: ['value', 'state'],
      },
      tags: { type: 'array', nullable: true },
      name: { type: 'string' },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      sealed: { type: 'object', nullable: true, allOf: [{ $ref: `${REF}Sealed` }] },
    },
    required: ['text', 'tags', 'name', 'labels', 'sealed'],
  });
  expect(schema(document, 'Growing')).toMatchObject({ properties: { text: { type: 'string' } } });
});

test('checks of a class wrap every value of it; partials can omit them', () => {
  const document = documentOf(classRef('Guarded'), { x: classRef('Guarded') });
  expect(resultSchema(document)).toMatchObject({
    properties: { value: { $ref: `${REF}Guarded` }, checks: { required: ['whole'] } },
  });
  expect(partialSchema(document)).toMatchObject({
    properties: { value: { nullable: true, allOf: [{ $ref: `${REF}GuardedPartial` }] }, checks: { type: 'object' } },
  });
  expect(partialSchema(document)).not.toHaveProperty('properties.checks.required');
  expect(schema(document, 'GuardedInput')).toMatchObject({ properties: { score: { type: 'number' } } });
});

test('the definitions keep their names, and ours change', () => {
  const document = documentOf(list(classRef('Skill')), { a: classRef('SvcError'), b: classRef('SkillPartial') });
  expect(schema(document, 'SvcError')).toMatchObject({ properties: { a: { type: 'string' } } });
  expect(schema(document, 'SvcError2')).toMatchObject({ required: ['error', 'message', 'request_id'] });
  expect(schema(document, 'SkillPartial')).toMatchObject({ properties: { mine: {} } });
  expect(schema(document, 'SkillPartial2')).toMatchObject({ properties: { name: { nullable: true } } });
});

test('operation ids differ even when case and punctuation are ignored', () => {
  const functions = ['X', 'StreamX', 'Ping', 'Stream_X'].map((name) => functionType(name, {}));
  const document = programOf({ functions }).openapi;
  expect(openApiFaults(document)).toEqual([]);
  expect(resolve('#/paths/~1call~1X/post/operationId', document)).toBe('X');
});

test('documentation and titles reach the document', () => {
  const fn = functionType('Do', { text: string }, string, { documentation: 'Does it.\nWell.' });
  const document = programOf({ functions: [fn] }).openapi;
  expect(resolve('#/paths/~1call~1Do/post', document)).toMatchObject({
    summary: 'Does it.',
    description: 'Does it.\nWell.',
  });
});

test('the description names the other protocols of the server, with their paths', () => {
  const functions = [functionType('Do', {})];
  const doors = [{ name: "OpenAI's interface", path: '/v1' }];
  const description = (options: object) => resolve('#/info/description', programOf({ functions }, options).openapi);
  expect(description({ basePath: '/llm', doors })).toMatch(/through OpenAI's interface at `\/llm\/v1`\.$/u);
  expect(description({})).not.toContain('/v1');
});

test('with a key, the document has a security scheme and a 403, and probes stay open', () => {
  const open = programOf({ functions: [functionType('Do', {})] }).openapi;
  const closed = programOf({ functions: [functionType('Do', {})] }, { apiKey: true }).openapi;
  expect(JSON.stringify(open)).not.toContain('"403"');
  expect(closed).toMatchObject({
    security: [{ apiKey: [] }, { bearer: [] }],
    components: { securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-svc-api-key' } } },
  });
  expect(resolve('#/paths/~1call~1Do/post/responses/403/$ref', closed)).toBe('#/components/responses/Forbidden');
  expect(resolve('#/paths/~1livez/get/security', closed)).toEqual([]);
  expect(resolve('#/paths/~1_debug~1status/get/security', closed)).toBeUndefined();
  expect(openApiFaults(closed)).toEqual([]);
});

test('arguments state the bounds of an int; results have the digits of the reply', () => {
  const classes = [classType('Counted', [field('n', int)])];
  const functions = [functionType('Count', { x: int, ys: list(int), z: classRef('Counted') }, classRef('Counted'))];
  const { openapi } = programOf({ classes, functions });
  expect(openApiFaults(openapi)).toEqual([]);
  expect(resolve('#/components/schemas/CountRequest/properties/x', openapi)).toEqual(BOUNDED_INT);
  expect(resolve('#/components/schemas/CountRequest/properties/ys/items', openapi)).toEqual(BOUNDED_INT);
  expect(resolve('#/components/schemas/CountedInput/properties/n', openapi)).toEqual(BOUNDED_INT);
  expect(resolve('#/components/schemas/Counted/properties/n', openapi)).toEqual(INT);
});

test('the paths of feature beta exist only with it', () => {
  const functions = [functionType('Do', { text: string }, int)];
  const { openapi } = programOf({ functions }, { beta: true });
  expect(openApiFaults(openapi)).toEqual([]);
  expect(resolve('#/paths/~1render~1Do/post/operationId', openapi)).toBe('renderDo');
  const content = resolve('#/paths/~1parse~1Do/post/responses/200/content', openapi);
  const reported = {
    type: 'object',
    required: ['value'],
    properties: { value: INT, ...WARNINGS, explanation: { $ref: `${REF}SvcExplanation` } },
  };
  expect(content).toEqual({ 'application/json': { schema: { anyOf: [INT, reported] } } });
  expect(resolve('#/paths/~1render~1Do', programOf({ functions }).openapi)).toBeUndefined();
});

const META = ['usage', 'client', 'attempts', 'raw', 'reasoning', 'prompt', 'timing'];

test('streams and options state what the caller can learn about losses and the call', () => {
  const { openapi } = programOf({ functions: [functionType('Do', { text: string }, int)] });
  expect(openApiFaults(openapi)).toEqual([]);
  const events = resolve('#/components/schemas/DoStreamEvent/anyOf', openapi);
  expect(events).toContainEqual({ $ref: `${REF}SvcStreamReasoning` });
  expect(events).toContainEqual({
    type: 'object',
    required: ['final_result'],
    properties: { final_result: INT, ...WARNINGS, meta: { $ref: `${REF}SvcMeta` } },
  });
  for (const [name, parts] of [
    ['SvcOptions', ['warnings', ...META]],
    ['SvcReplyOptions', ['warnings']],
  ] as const) {
    const { openapi: beta } = programOf({ functions: [functionType('Do', { text: string }, int)] }, { beta: true });
    expect(resolve(`#/components/schemas/${name}/properties/include/items/enum`, beta)).toEqual(parts);
    expect(resolve(`#/components/schemas/${name}/properties/on_loss/enum`, beta)).toEqual(['accept', 'refuse']);
  }
  const facts = Object.keys(resolve('#/components/schemas/SvcMeta/properties', openapi) as object);
  expect(facts).toEqual([...META, 'cost']);
  expect(resolve('#/paths/~1call~1Do/post/responses/200/description', openapi)).toContain('{"result": value, "meta"');
  const header = '#/paths/~1call~1Do/post/responses/200/headers/x-svc-lossy/$ref';
  expect(resolve(header, openapi)).toBe('#/components/headers/Lossy');
});

test('the order of definitions does not change the document', () => {
  const functions = ['B', 'A', 'C'].map((name) => functionType(name, { x: classRef('Resume') }, classRef('Growing')));
  const reversed = {
    classes: shared.classes?.toReversed() ?? [],
    enums: shared.enums?.toReversed() ?? [],
    functions: functions.toReversed(),
  };
  const document = JSON.stringify(programOf({ ...shared, functions }).openapi);
  expect(JSON.stringify(programOf({ ...shared, ...reversed }).openapi)).toBe(document);
});

test('while a value grows, its tag can be null, so that a partial result has no discriminator', () => {
  const document = documentOf(union(classRef('Circle'), classRef('Square')));
  expect(JSON.stringify(partialSchema(document))).not.toContain('discriminator');
});

test('an error has one of the codes of the table, and a call describes its headers', () => {
  const document = documentOf(string);
  const { error } = (schema(document, 'SvcError2') as { properties: { error: { enum: string[] } } }).properties;
  expect(error.enum).toEqual(ERROR_CODES);
  const headers = resolve('#/paths/~1call~1Do/post/responses/200/headers', document);
  expect(Object.keys(headers as object).join(' ')).toBe(
    'x-request-id x-svc-client x-svc-model x-svc-attempts x-svc-input-tokens x-svc-output-tokens x-svc-cost x-svc-lossy x-svc-made-up server-timing x-svc-cache age idempotency-replayed',
  );
});

test('a chain of two thousand classes is emitted', () => {
  const classes = Array.from({ length: 2000 }, (_, at) =>
    classType(`C${at}`, at === 1999 ? [] : [field('next', classRef(`C${at + 1}`))]),
  );
  const program = programOf({ classes, functions: [functionType('Do', { x: classRef('C0') }, classRef('C0'))] });
  expect(schema(program.openapi, 'C1999')).toEqual({ type: 'object', properties: {} });
});

test('the rules that the other tests rely on find mistakes', () => {
  const broken = {
    paths: { '/a': { get: { operationId: 'x' }, post: { operationId: 'X' } } },
    components: {
      schemas: {
        A: { $ref: '#/components/schemas/B', description: 'd' },
        C: { type: ['string', 'null'], const: 5 },
        D: { type: 'string', enum: [null] },
        E: { nullable: true, anyOf: [{ type: 'string' }] },
        F: { type: 'object', properties: {}, required: ['a'] },
        G: { type: 'array' },
      },
    },
  };
  expect(openApiFaults(broken)).toHaveLength(10);
});

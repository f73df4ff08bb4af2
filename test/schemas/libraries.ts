/*
 * Typical schemas, as users of each library write them. `npm ci` installs the libraries in this folder, so the type checker does not
 * know them.
 */

// oxlint-disable-next-line typescript/no-explicit-any -- see above
type Package = any;

export interface SchemaLibrary {
  readonly name: string;
  /** The packages to import, in the order of the parameters of `write`. */
  readonly packages: readonly string[];
  /** Returns JSON Schemas by a name for each. */
  readonly write: (...packages: readonly Package[]) => Readonly<Record<string, unknown>>;
}

function zodSchemas(z: Package): Readonly<Record<string, Package>> {
  const Address = z.object({ street: z.string().min(1), zip: z.string().regex(/^\d{5}$/u) });
  const Tree = z.object({
    name: z.string(),
    get children() {
      return z.array(Tree);
    },
  });
  return {
    object: z.object({ name: z.string(), age: z.number().int().min(0).max(150), email: z.email().optional() }),
    nested: z.object({ home: Address, work: Address.nullable() }),
    enum: z.object({ level: z.enum(['low', 'high']), unit: z.literal(['kg', 'lb']) }),
    union: z.object({ value: z.union([z.string(), z.number(), z.boolean()]) }),
    discriminated: z.object({
      shape: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('circle'), radius: z.number().positive() }),
        z.object({ kind: z.literal('square'), side: z.number() }),
      ]),
    }),
    list: z.object({ tags: z.array(z.string()).min(1).max(5), points: z.array(z.array(z.number())) }),
    record: z.object({
      scores: z.record(z.string(), z.number()),
      flags: z.partialRecord(z.enum(['a', 'b']), z.boolean()),
    }),
    'record of an enum': z.object({ sides: z.record(z.enum(['left', 'right']), z.number()) }),
    recursive: Tree,
    intersection: z.object({ both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })) }),
    loose: z.looseObject({ id: z.string() }),
    strict: z.strictObject({ id: z.uuid(), url: z.url(), when: z.iso.datetime() }),
    defaults: z.object({ limit: z.number().int().default(10), q: z.string().describe('the query') }),
    names: z.object({ 'x-request-id': z.string(), function: z.string(), _id: z.string() }),
    tuple: z.object({ pair: z.tuple([z.string(), z.number()]) }),
    any: z.object({ data: z.any() }),
  };
}

function effectSchemas(s: Package): Readonly<Record<string, Package>> {
  const Address = s.Struct({ street: s.NonEmptyString, zip: s.String });
  return {
    object: s.Struct({ name: s.String, age: s.Int }),
    nested: s.Struct({ home: Address, work: s.NullOr(Address) }),
    optional: s.Struct({ name: s.optional(s.String), nick: s.NullOr(s.String) }),
    list: s.Struct({ tags: s.Array(s.String) }),
    boolean: s.Struct({ done: s.Boolean, none: s.Null }),
    names: s.Struct({ 'x-request-id': s.String, function: s.String, _id: s.String }),
    any: s.Struct({ data: s.Unknown }),
    number: s.Struct({ weight: s.Finite }),
    empty: s.Struct({ inner: s.Struct({}) }),
  };
}

export const LIBRARIES: readonly SchemaLibrary[] = [
  {
    name: 'zod: `z.toJSONSchema`',
    packages: ['zod'],
    write: ({ z }) => mapped(zodSchemas(z), (schema) => z.toJSONSchema(schema)),
  },
  {
    name: 'zod: `z.toJSONSchema` of inputs, for draft 7',
    packages: ['zod'],
    write: ({ z }) => mapped(zodSchemas(z), (schema) => z.toJSONSchema(schema, { io: 'input', target: 'draft-7' })),
  },
  {
    name: '`zod-to-json-schema`, with the API of zod 3',
    packages: ['zod-to-json-schema', 'zod/v3'],
    write: ({ zodToJsonSchema }, { z }) => mapped(zod3Schemas(z), (schema) => zodToJsonSchema(schema)),
  },
  {
    name: 'effect 3: `JSONSchema.make`',
    packages: ['effect'],
    write: ({ Schema, JSONSchema }) =>
      mapped({ ...effectSchemas(Schema), ...effect3Schemas(Schema) }, (schema) => JSONSchema.make(schema)),
  },
  {
    name: 'effect 4: `Schema.toJsonSchemaDocument`',
    packages: ['effect4'],
    write: ({ Schema }) =>
      mapped({ ...effectSchemas(Schema), ...effect4Schemas(Schema) }, (schema) => {
        const { schema: whole, definitions } = Schema.toJsonSchemaDocument(schema);
        return { ...whole, $defs: definitions };
      }),
  },
  { name: 'TypeBox', packages: ['typebox'], write: ({ Type }) => typeBoxSchemas(Type) },
  {
    name: 'valibot: `@valibot/to-json-schema`',
    packages: ['@valibot/to-json-schema', 'valibot'],
    write: ({ toJsonSchema }, v) => mapped(valibotSchemas(v), (schema) => toJsonSchema(schema)),
  },
  {
    name: 'arktype: `toJsonSchema`',
    packages: ['arktype'],
    write: ({ type }) => mapped(arkTypes(type), (schema) => schema.toJsonSchema()),
  },
];

function mapped(
  schemas: Readonly<Record<string, Package>>,
  write: (schema: Package) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, write(schema)]));
}

function zod3Schemas(z: Package): Readonly<Record<string, Package>> {
  const Address = z.object({ street: z.string().min(1), zip: z.string().regex(/^\d{5}$/u) });
  const Tree: Package = z.object({ name: z.string(), children: z.array(z.lazy(() => Tree)) });
  return {
    object: z.object({ name: z.string(), age: z.number().int().min(0).max(150), email: z.string().email().optional() }),
    'one schema twice': z.object({ home: Address, work: Address }),
    nullable: z.object({ home: Address.nullable(), nick: z.string().nullable() }),
    enum: z.object({ level: z.enum(['low', 'high']), unit: z.literal('kg') }),
    union: z.object({ value: z.union([z.string(), z.number(), z.boolean()]) }),
    discriminated: z.object({
      shape: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('circle'), radius: z.number().positive() }),
        z.object({ kind: z.literal('square'), side: z.number() }),
      ]),
    }),
    list: z.object({ tags: z.array(z.string()).min(1).max(5), points: z.array(z.array(z.number())) }),
    record: z.object({ scores: z.record(z.number()) }),
    'record of an enum': z.object({ sides: z.record(z.enum(['left', 'right']), z.number()) }),
    recursive: Tree,
    intersection: z.object({ both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })) }),
    loose: z.object({ id: z.string() }).passthrough(),
    strict: z.object({ id: z.string().uuid(), url: z.string().url(), when: z.string().datetime() }).strict(),
    defaults: z.object({ limit: z.number().int().default(10), q: z.string().describe('the query') }),
    names: z.object({ 'x-request-id': z.string(), function: z.string(), _id: z.string() }),
    tuple: z.object({ pair: z.tuple([z.string(), z.number()]) }),
    any: z.object({ data: z.any() }),
  };
}

function effect3Schemas(s: Package): Readonly<Record<string, Package>> {
  return {
    literals: s.Struct({ level: s.Literal('low', 'high') }),
    record: s.Struct({ scores: s.Record({ key: s.String, value: s.Number }) }),
    'record of literals': s.Struct({ sides: s.Record({ key: s.Literal('left', 'right'), value: s.Number }) }),
    union: s.Struct({ value: s.Union(s.String, s.Number, s.Boolean) }),
    tuple: s.Struct({ pair: s.Tuple(s.String, s.Number) }),
    bounds: s.Struct({ age: s.Int.pipe(s.between(0, 150)), code: s.String.pipe(s.pattern(/^[A-Z]+$/u)) }),
    described: s.Struct({ q: s.String.annotations({ description: 'the query' }) }),
    identified: s.Struct({ at: s.Struct({ x: s.Number }).annotations({ identifier: 'Point' }) }),
  };
}

function effect4Schemas(s: Package): Readonly<Record<string, Package>> {
  return {
    literals: s.Struct({ level: s.Literals(['low', 'high']) }),
    record: s.Struct({ scores: s.Record(s.String, s.Number) }),
    'record of literals': s.Struct({ sides: s.Record(s.Literals(['left', 'right']), s.Number) }),
    union: s.Struct({ value: s.Union([s.String, s.Number, s.Boolean]) }),
    tuple: s.Struct({ pair: s.Tuple([s.String, s.Number]) }),
    bounds: s.Struct({
      age: s.Int.check(s.isBetween({ minimum: 0, maximum: 150 })),
      code: s.String.check(s.isPattern(/^[A-Z]+$/u)),
    }),
    described: s.Struct({ q: s.String.annotate({ description: 'the query' }) }),
    identified: s.Struct({ at: s.Struct({ x: s.Number }).annotate({ identifier: 'Point' }) }),
  };
}

function typeBoxSchemas(t: Package): Readonly<Record<string, unknown>> {
  const Address = t.Object({ street: t.String({ minLength: 1 }), zip: t.String({ pattern: String.raw`^\d{5}$` }) });
  return {
    object: t.Object({ name: t.String(), age: t.Integer({ minimum: 0, maximum: 150 }), email: t.Optional(t.String()) }),
    nested: t.Object({ home: Address, work: t.Union([Address, t.Null()]) }),
    literals: t.Object({ level: t.Union([t.Literal('low'), t.Literal('high')]), unit: t.Literal('kg') }),
    enum: t.Object({ level: t.Enum(['low', 'high']) }),
    union: t.Object({ value: t.Union([t.String(), t.Number(), t.Boolean()]) }),
    list: t.Object({ tags: t.Array(t.String(), { minItems: 1, uniqueItems: true }) }),
    record: t.Object({ scores: t.Record(t.String(), t.Number()) }),
    'record of literals': t.Object({
      sides: t.Record(t.Union([t.Literal('left'), t.Literal('right')]), t.Number()),
    }),
    intersection: t.Object({ both: t.Intersect([t.Object({ a: t.String() }), t.Object({ b: t.Number() })]) }),
    partial: t.Partial(Address),
    closed: t.Object({ id: t.String({ format: 'uuid' }) }, { additionalProperties: false }),
    open: t.Object({ id: t.String() }, { additionalProperties: true }),
    names: t.Object({ 'x-request-id': t.String(), function: t.String(), _id: t.String() }),
    recursive: t.Cyclic({ Tree: t.Object({ name: t.String(), children: t.Array(t.Ref('Tree')) }) }, 'Tree'),
    tuple: t.Object({ pair: t.Tuple([t.String(), t.Number()]) }),
    any: t.Object({ data: t.Any() }),
  };
}

function valibotSchemas(v: Package): Readonly<Record<string, Package>> {
  const Address = v.object({ street: v.pipe(v.string(), v.minLength(1)), zip: v.pipe(v.string(), v.regex(/^\d{5}$/)) });
  const Tree: Package = v.object({ name: v.string(), children: v.array(v.lazy(() => Tree)) });
  return {
    object: v.object({
      name: v.string(),
      age: v.pipe(v.number(), v.integer(), v.minValue(0)),
      email: v.optional(v.string()),
    }),
    nested: v.object({ home: Address, work: v.nullable(Address) }),
    enum: v.object({ level: v.picklist(['low', 'high']), unit: v.literal('kg') }),
    union: v.object({ value: v.union([v.string(), v.number(), v.boolean()]) }),
    discriminated: v.object({
      shape: v.variant('kind', [
        v.object({ kind: v.literal('circle'), radius: v.number() }),
        v.object({ kind: v.literal('square'), side: v.number() }),
      ]),
    }),
    list: v.object({ tags: v.pipe(v.array(v.string()), v.minLength(1)) }),
    record: v.object({ scores: v.record(v.string(), v.number()) }),
    recursive: Tree,
    intersection: v.object({ both: v.intersect([v.object({ a: v.string() }), v.object({ b: v.number() })]) }),
    loose: v.looseObject({ id: v.string() }),
    strict: v.strictObject({ id: v.pipe(v.string(), v.uuid()), url: v.pipe(v.string(), v.url()) }),
    defaults: v.object({ limit: v.optional(v.number(), 10), q: v.pipe(v.string(), v.description('the query')) }),
    names: v.object({ 'x-request-id': v.string(), function: v.string(), _id: v.string() }),
    tuple: v.object({ pair: v.tuple([v.string(), v.number()]) }),
    any: v.object({ data: v.any() }),
  };
}

function arkTypes(type: Package): Readonly<Record<string, Package>> {
  return {
    object: type({ name: 'string', age: '0 <= number.integer <= 150', 'email?': 'string.email' }),
    nested: type({ home: { street: 'string > 0', zip: /^\d{5}$/u }, work: type({ street: 'string' }).or('null') }),
    literals: type({ level: "'low' | 'high'", unit: "'kg'" }),
    union: type({ value: 'string | number | boolean' }),
    discriminated: type({
      shape: type({ kind: "'circle'", radius: 'number' }).or({ kind: "'square'", side: 'number' }),
    }),
    list: type({ tags: '1 <= string[] <= 5', points: 'number[][]' }),
    record: type({ scores: 'Record<string, number>' }),
    'record of a pattern': type({ codes: { '[/^x-/]': 'number' } }),
    intersection: type({ a: 'string' }).and({ b: 'number' }),
    closed: type({ '+': 'reject', id: 'string.uuid' }),
    described: type({ q: type('string').describe('the query') }),
    defaults: type({ limit: 'number = 10' }),
    names: type({ 'x-request-id': 'string', function: 'string', _id: 'string' }),
    tuple: type({ pair: ['string', 'number'] }),
    any: type({ data: 'unknown' }),
  };
}

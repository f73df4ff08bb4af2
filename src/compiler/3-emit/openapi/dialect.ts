import { isJsonList, isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';

/** Null alone: OpenAPI 3.0 has no such type. */
const NULL: JsonObject = { type: 'string', nullable: true, enum: [null] };

/** What the dialect has to know about the class or enum behind a reference. */
export interface Referenced {
  readonly type: 'object' | 'string';
  /** The properties that always have one and the same string, with that string. */
  readonly tags: ReadonlyMap<string, string>;
}

/** Undefined for a recursive alias, whose schema has no single type. */
type Resolve = (reference: string) => Referenced | undefined;

/** The beginning of every reference to a component schema. */
export const REFERENCE = '#/components/schemas/';

/** A reference to a component schema. */
export function schemaRef(name: string): JsonObject {
  return { $ref: `${REFERENCE}${name}` };
}

/**
 * Writes a JSON Schema of `schema/json-schema.ts` in the dialect of OpenAPI 3.0.3: `nullable` instead of a null type,
 * `allOf` around a reference that has a description, a `discriminator` for classes with a literal tag, and no empty `enum`.
 */
export function openApiSchema(schema: JsonObject, resolve: Resolve): JsonObject {
  const { $ref: reference, anyOf: members, enum: choices, ...others } = schema;
  const rest = { ...others, ...enumeration(choices) };
  if (typeof reference === 'string') return withReference({ $ref: reference }, rest);
  if (isJsonList(members))
    return union(
      members.filter((each) => isJsonObject(each)),
      rest,
      resolve,
    );
  if (others['type'] === 'null') return { ...rest, ...NULL };
  const { properties, items, additionalProperties } = others;
  return {
    ...rest,
    ...(isJsonObject(properties) && { properties: schemasByName(properties, resolve) }),
    ...(isJsonObject(items) && { items: openApiSchema(items, resolve) }),
    ...(isJsonObject(additionalProperties) && { additionalProperties: openApiSchema(additionalProperties, resolve) }),
  };
}

/** OpenAPI 3.0 forbids an empty enum: no string fits these bounds either. */
function enumeration(choices: JsonValue | undefined): JsonObject {
  if (!isJsonList(choices)) return {};
  return choices.length === 0 ? { minLength: 1, maxLength: 0 } : { enum: choices };
}

function schemasByName(schemas: JsonObject, resolve: Resolve): JsonObject {
  const entries = Object.entries(schemas).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]));
  return Object.fromEntries(entries.map(([name, schema]) => [name, openApiSchema(schema, resolve)]));
}

/** OpenAPI 3.0 ignores keys beside `$ref`. */
function withReference(reference: JsonObject, rest: JsonObject): JsonObject {
  return Object.keys(rest).length === 0 ? reference : { ...rest, allOf: [reference] };
}

function union(members: readonly JsonObject[], rest: JsonObject, resolve: Resolve): JsonObject {
  const others = members.filter(({ type }) => type !== 'null').map((member) => openApiSchema(member, resolve));
  const [only] = others;
  if (others.length === members.length) return { ...rest, anyOf: others, ...discriminator(others, resolve) };
  return others.length === 1 && only !== undefined
    ? { ...nullable(only, resolve), ...rest }
    : { ...rest, anyOf: [...others, NULL] };
}

/** Names the property that distinguishes the members of a union of classes, if each has its own string there. */
function discriminator(members: readonly JsonObject[], resolve: Resolve): JsonObject {
  const references = members.map(({ $ref: reference }) => reference);
  if (!references.every((reference) => typeof reference === 'string')) return {};
  const tagged = references.map((reference) => ({ reference, tags: resolve(reference)?.tags }));
  for (const propertyName of tagged[0]?.tags?.keys() ?? []) {
    const entries = tagged.map(({ reference, tags }) => [tags?.get(propertyName), reference] as const);
    const mapping = Object.fromEntries(entries);
    if (entries.every(([tag]) => tag !== undefined) && Object.keys(mapping).length === members.length)
      return { discriminator: { propertyName, mapping } };
  }
  return {};
}

/**
 * The schema with null allowed. `nullable` counts only beside `type` (OpenAPI 3.0.3), so a reference needs the type of
 * the schema that it names; without a single type, null is one more choice.
 */
function nullable(schema: JsonObject, resolve: Resolve): JsonObject {
  const { $ref: reference, anyOf: members, enum: choices, type } = schema;
  if (schema['nullable'] === true) return schema;
  if (typeof reference === 'string') {
    const referenced = resolve(reference);
    if (referenced === undefined) return { anyOf: [schema, NULL] };
    return { type: referenced.type, nullable: true, allOf: [schema] };
  }
  if (isJsonList(members)) return { ...schema, anyOf: members.includes(NULL) ? members : [...members, NULL] };
  if (type === undefined) return { anyOf: [schema, NULL] };
  return { ...schema, nullable: true, ...(isJsonList(choices) && { enum: [...choices, null] }) };
}

/**
 * The schema of a recursive alias in which lists that lead straight back to an alias are lists of anything. Client
 * generators write `type Tree = string | Tree[]` as a property with that type, and TypeScript refuses a property whose
 * type names itself through lists and unions alone (TS2502): then nothing of the generated file compiles. Objects and
 * maps in between cause no error.
 */
export function openLists(schema: JsonObject, aliasReferences: ReadonlySet<string>): JsonObject {
  const { anyOf: members, items } = schema;
  if (isJsonList(members)) {
    return { ...schema, anyOf: members.map((one) => (isJsonObject(one) ? openLists(one, aliasReferences) : one)) };
  }
  if (items === undefined || !leadsToAlias(items, aliasReferences)) return schema;
  return { ...schema, items: {} };
}

function leadsToAlias(schema: JsonValue, aliasReferences: ReadonlySet<string>): boolean {
  if (!isJsonObject(schema)) return false;
  const { $ref: reference, anyOf: members = [], allOf: parts = [], items = null } = schema;
  if (typeof reference === 'string') return aliasReferences.has(reference);
  return [members, parts, [items]].flat().some((one) => leadsToAlias(one, aliasReferences));
}

/**
 * Allocates names that differ from one another even without case and punctuation: generators turn
 * `Foo_stream`, `fooStream` and `FooStream` into one identifier.
 */
export class NameAllocator {
  readonly #taken = new Set<string>();

  /** Reserves a name as it is; for names that are already distinct in the definitions. */
  reserve(name: string): void {
    this.#taken.add(folded(name));
  }

  /** The name, or the name with the first number from 2 that makes it unique. */
  allocate(name: string): string {
    let candidate = name;
    for (let number = 2; this.#taken.has(folded(candidate)); number += 1) candidate = `${name}${number}`;
    this.reserve(candidate);
    return candidate;
  }
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/gu, '');
}

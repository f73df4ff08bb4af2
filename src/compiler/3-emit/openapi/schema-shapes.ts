import { canonicalJson } from '../../../base/json.ts';
import type { JsonObject, JsonValue } from '../../../base/json.ts';

/** A reference to a component schema. */
export function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Null alone: OpenAPI 3.0 has no type of that name. */
export const NULL: JsonObject = { type: 'string', nullable: true, enum: [null] };

/**
 * The schema with null allowed. `nullable` counts only beside `type` (OpenAPI 3.0.3), so a reference needs the type of
 * what it names; where there is no single type, null is one more choice.
 */
export function nullable(schema: JsonObject, referencedType?: 'object' | 'string'): JsonObject {
  if ('$ref' in schema) {
    return referencedType === undefined
      ? { anyOf: [schema, NULL] }
      : { type: referencedType, nullable: true, allOf: [schema] };
  }
  const { anyOf: members, enum: choices } = schema;
  if (schema['nullable'] === true) return schema;
  if (Array.isArray(members)) return { ...schema, anyOf: [...members.filter((member) => member !== NULL), NULL] };
  return Array.isArray(choices)
    ? { ...schema, nullable: true, enum: [...choices, null] }
    : { ...schema, nullable: true };
}

/** The schema with a description; a reference goes through `allOf`, since what stands beside `$ref` is ignored. */
export function described(schema: JsonObject, ...texts: ReadonlyArray<string | undefined>): JsonObject {
  const description = joined(texts);
  if (description === undefined) return schema;
  return '$ref' in schema ? { description, allOf: [schema] } : { description, ...schema };
}

/** Texts with an empty line between, each once; undefined when there is none. */
export function joined(texts: ReadonlyArray<string | undefined>): string | undefined {
  const distinct = new Set(texts.filter((text) => text !== undefined && text !== ''));
  return distinct.size === 0 ? undefined : [...distinct].join('\n\n');
}

/** Any of the schemas: equal ones once, and no union around a single one. */
export function anyOf(schemas: readonly JsonObject[]): JsonObject {
  const distinct = [...new Map(schemas.map((schema) => [canonicalJson(schema), schema])).values()];
  const [only] = distinct;
  return distinct.length === 1 && only !== undefined ? only : { anyOf: distinct };
}

/** An object with exactly these properties known, all of them required unless told otherwise. */
export function objectSchema(
  properties: Readonly<Record<string, JsonValue>>,
  required: readonly string[] = Object.keys(properties),
): JsonObject {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** Values of one JSON type, as an enum. */
export function choice(values: ReadonlyArray<string | number | boolean>): JsonObject {
  return { type: choiceType(values[0]), enum: values };
}

function choiceType(value: unknown): string {
  if (typeof value === 'number') return 'integer';
  return typeof value === 'boolean' ? 'boolean' : 'string';
}

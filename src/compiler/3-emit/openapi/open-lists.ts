import type { JsonObject, JsonValue } from '../../../base/json.ts';

/**
 * The schema of a recursive alias in which lists that lead straight back to an alias are lists of anything. Client
 * generators write `type Tree = string | Tree[]` as a property with that type, and TypeScript refuses a property whose
 * type names itself through lists and unions alone (TS2502): then nothing of the generated file compiles. Objects and
 * maps in between are no problem.
 */
export function openLists(schema: JsonObject, aliasReferences: ReadonlySet<string>): JsonObject {
  const { anyOf: members, items } = schema;
  if (Array.isArray(members)) {
    return { ...schema, anyOf: members.map((one) => (isObject(one) ? openLists(one, aliasReferences) : one)) };
  }
  if (items === undefined || !leadsToAlias(items, aliasReferences)) return schema;
  return { ...schema, items: {} };
}

function leadsToAlias(schema: JsonValue, aliasReferences: ReadonlySet<string>): boolean {
  if (!isObject(schema)) return false;
  const { $ref: reference, anyOf: members = [], allOf: parts = [], items = null } = schema;
  if (typeof reference === 'string') return aliasReferences.has(reference);
  return [members, parts, [items]].flat().some((one) => leadsToAlias(one, aliasReferences));
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

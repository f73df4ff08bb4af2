import { isJsonObject, ownValue } from '../base/json.ts';
import type { DefinitionIndex } from './program.ts';
import { namesIn, partsOf, reachedFrom, withInside } from './type-graph.ts';
import type { FieldType, Type, UnionType } from './type.ts';

/**
 * The members of a union that a value of this JSON type, with these literal fields, can belong to. If one is left for
 * an object or a list, no other member can fit; among several, only their validators can decide.
 */
export function possibleMembers(union: UnionType, value: unknown, index: DefinitionIndex): readonly Type[] {
  return union.members.filter((member) => isPossible(member, value, index));
}

function isPossible(type: Type, value: unknown, index: DefinitionIndex): boolean {
  switch (type.kind) {
    case 'list':
      return Array.isArray(value);
    case 'map':
    case 'media':
      return isJsonObject(value);
    case 'class':
      return isJsonObject(value) && tagsAgree(index.classes.get(type.name)?.fields ?? [], value);
    case 'union':
      return type.members.some((member) => isPossible(member, value, index));
    case 'alias': {
      const target = index.aliases.get(type.name)?.type;
      return target !== undefined && isPossible(target, value, index);
    }
    default:
      return typeof value !== 'object' || value === null;
  }
}

function tagsAgree(fields: readonly FieldType[], value: Readonly<Record<string, unknown>>): boolean {
  return fields.every(({ name, type }) => type.kind !== 'literal' || ownValue(value, name) === type.value);
}

/** Names and values of the literal fields of a class, which distinguish the members of tagged unions; none for other types. */
export function literalFields(
  type: Type,
  index: DefinitionIndex,
): ReadonlyArray<readonly [string, string | number | boolean]> {
  const fields = type.kind === 'class' ? (index.classes.get(type.name)?.fields ?? []) : [];
  return fields.flatMap((field) => (field.type.kind === 'literal' ? [[field.name, field.type.value] as const] : []));
}

/**
 * The unions that lead back to themselves and have several possible members for one value, together with these members:
 * in `class A { next A | B | null }`, `class B { next A | B | null }`, the union, A and B. Trying one member after the
 * other costs time exponential in the depth of the value, unless answers are remembered.
 */
export function ambiguousRecursiveTypes(index: DefinitionIndex): readonly Type[] {
  return [...index.classes.keys(), ...index.aliases.keys()].flatMap((name) =>
    partsOf(name, index)
      .flatMap(withInside)
      .filter((type) => type.kind === 'union')
      .flatMap((union) => {
        const members = flatMembers(union, index);
        if (!isAmbiguous(members, index)) return [];
        // Last, because the search takes long among thousands of classes.
        return reachedFrom(members.flatMap(namesIn), index).has(name) ? [union, ...members] : [];
      }),
  );
}

/** The members that are objects or lists, with aliases replaced by their targets. */
export function flatMembers(union: UnionType, index: DefinitionIndex, seen = new Set<string>()): readonly Type[] {
  return union.members.flatMap((member) => {
    if (member.kind === 'union') return flatMembers(member, index, seen);
    if (member.kind !== 'alias') return ['class', 'map', 'media', 'list'].includes(member.kind) ? [member] : [];
    const target = index.aliases.get(member.name)?.type;
    if (target === undefined || seen.has(member.name)) return [];
    seen.add(member.name);
    return flatMembers({ kind: 'union', members: [target] }, index, seen);
  });
}

/** Several lists, or several objects without a literal field that has another value in each of them. */
function isAmbiguous(members: readonly Type[], index: DefinitionIndex): boolean {
  const objects = members.filter((member) => member.kind !== 'list');
  if (members.length - objects.length > 1) return true;
  const tags = objects.map((member) => new Map(literalFields(member, index)));
  const distinct = [...(tags[0]?.keys() ?? [])].some((name) => {
    const values = tags.map((tag) => tag.get(name));
    return !values.includes(undefined) && new Set(values).size === values.length;
  });
  return objects.length > 1 && !distinct;
}

import { isJsonObject, ownValue, type JsonObject, type JsonValue } from '../../base/json.ts';
import type {
  PlaygroundClass,
  PlaygroundField,
  PlaygroundAlias,
  PlaygroundDocument,
  PlaygroundEnum,
} from '../../schema/playground-document.ts';
import type { Type, UnionType } from '../../schema/type.ts';
import { pathStepText } from '../../base/value-path.ts';

/** A class that contains itself without an optional field has no finite value. */
const DEEPEST = 6;

/** The arguments with which a form begins, or the fields of a class: everything that is required has an empty value. */
export function initialArguments(fields: readonly PlaygroundField[], types: Types, depth = 0): JsonObject {
  const required = fields.filter(({ type }) => !isOptional(type, types));
  return Object.fromEntries(required.map(({ name, type }) => [name, initialValue(type, types, depth)]));
}

/** An empty value of a type: of a union, that of the first member that is not null. */
export function initialValue(type: Type, types: Types, depth = 0): JsonValue {
  if (depth > DEEPEST) return null;
  switch (type.kind) {
    case 'string':
      return '';
    case 'int':
    case 'float':
      return 0;
    case 'bool':
      return false;
    case 'null':
      return null;
    case 'literal':
      return type.value;
    case 'enum':
      return types.enums.get(type.name)?.values[0]?.name ?? '';
    case 'media':
      return { url: '' };
    case 'list':
      return [];
    case 'map':
      return {};
    case 'class':
      return initialArguments(types.classes.get(type.name)?.fields ?? [], types, depth + 1);
    case 'alias':
      return initialValue(targetOf(type, types), types, depth + 1);
    case 'union': {
      const [first] = presentMembers(type);
      return first === undefined ? null : initialValue(first, types, depth + 1);
    }
  }
}

/**
 * True if a form for the type can show the value. It looks at a value only as deep as it takes to tell members of a union
 * apart: the server checks the arguments.
 */
export function fits(type: Type, value: JsonValue, types: Types): boolean {
  switch (type.kind) {
    case 'string':
      return typeof value === 'string';
    case 'int':
      return Number.isInteger(value);
    case 'float':
      return typeof value === 'number';
    case 'bool':
      return typeof value === 'boolean';
    case 'null':
      return value === null;
    case 'literal':
      return value === type.value;
    case 'enum':
      return types.enums.get(type.name)?.values.some(({ name }) => name === value) === true;
    case 'media':
      return isJsonObject(value) && ('url' in value || 'base64' in value);
    case 'list':
      return Array.isArray(value) && value.every((item) => fits(type.element, item, types));
    case 'map':
      return isJsonObject(value) && Object.values(value).every((each) => fits(type.value, each, types));
    case 'class':
      return isJsonObject(value) && fitsClass(types.classes.get(type.name), value, types);
    case 'alias':
      return fits(targetOf(type, types), value, types);
    case 'union':
      return type.members.some((member) => fits(member, value, types));
  }
}

function fitsClass(type: PlaygroundClass | undefined, value: JsonObject, types: Types): boolean {
  return (type?.fields ?? []).every(({ name, type: fieldType }) => {
    const field = ownValue(value, name);
    return field === undefined ? isOptional(fieldType, types) : fits(fieldType, field, types);
  });
}

/** The index of the member of a union to which a value belongs; -1 if it belongs to none. */
export function unionMemberOf(members: readonly Type[], value: JsonValue, types: Types): number {
  const exact = members.findIndex((member) => fits(member, value, types));
  if (exact >= 0) return exact;
  return members.findIndex((member) => kindMatches(targetOf(member, types), value, types));
}

/** A value that a user is editing can lack fields: its literals and its kind still show what it is meant to be. */
function kindMatches(type: Type, value: JsonValue, types: Types): boolean {
  if (type.kind === 'list') return Array.isArray(value);
  if (type.kind === 'map') return isJsonObject(value);
  if (type.kind === 'string') return typeof value === 'string';
  if (type.kind === 'int' || type.kind === 'float') return typeof value === 'number';
  if (type.kind !== 'class' || !isJsonObject(value)) return false;
  const literals = (types.classes.get(type.name)?.fields ?? []).flatMap(({ name, type: fieldType }) =>
    fieldType.kind === 'literal' ? [{ name, value: fieldType.value }] : [],
  );
  return literals.every((literal) => ownValue(value, literal.name) === literal.value);
}

/** Replaces the member of an object, or removes it if the value is undefined; the order of the others stays. */
export function withMember(object: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  const entries = Object.entries(object).filter(([key]) => key !== name || value !== undefined);
  if (value === undefined) return Object.fromEntries(entries);
  if (!Object.hasOwn(object, name)) return Object.fromEntries([...entries, [name, value]]);
  return Object.fromEntries(entries.map(([key, old]) => [key, key === name ? value : old]));
}

/** The path of a member, in the form in which the server names it. */
export function childPath(parent: string, step: string | number): string {
  return `${parent}${pathStepText(step, parent === '')}`;
}

export interface Types {
  readonly classes: ReadonlyMap<string, PlaygroundClass>;
  readonly enums: ReadonlyMap<string, PlaygroundEnum>;
  readonly aliases: ReadonlyMap<string, PlaygroundAlias>;
}

export function typesOf({ classes, enums, aliases }: PlaygroundDocument): Types {
  return { classes: byName(classes), enums: byName(enums), aliases: byName(aliases) };
}

function byName<T extends { readonly name: string }>(list: readonly T[]): ReadonlyMap<string, T> {
  return new Map(list.map((each) => [each.name, each]));
}

/** True for the type of a parameter or field that can be absent: null is one of its values. */
export function isOptional(type: Type, types: Types): boolean {
  const target = targetOf(type, types);
  return target.kind === 'null' || (target.kind === 'union' && target.members.some((one) => isOptional(one, types)));
}

/** The type behind recursive aliases; null for an alias of itself. */
export function targetOf(type: Type, types: Types): Type {
  const seen = new Set<string>();
  let at = type;
  while (at.kind === 'alias') {
    const next = seen.has(at.name) ? undefined : types.aliases.get(at.name)?.type;
    seen.add(at.name);
    at = next ?? { kind: 'null' };
  }
  return at;
}

export function presentMembers(union: UnionType): readonly Type[] {
  return union.members.filter((member) => member.kind !== 'null');
}

import type { DefinitionIndex, FunctionType } from './program.ts';
import type { AliasType, Type } from './type.ts';

/** The types written inside a type; empty for a type that only names another one. */
export function insideOf(type: Type): readonly Type[] {
  if (type.kind === 'list') return [type.element];
  if (type.kind === 'map') return [type.key, type.value];
  return type.kind === 'union' ? type.members : [];
}

/** The type and all types written inside it, at any depth. */
export function withInside(type: Type): readonly Type[] {
  const found = [type];
  for (const one of found) found.push(...insideOf(one));
  return found;
}

/** Names of the classes, enums and recursive aliases that a type mentions. */
export function namesIn(type: Type): readonly string[] {
  const names: string[] = [];
  for (const one of withInside(type)) {
    if (one.kind === 'class' || one.kind === 'enum' || one.kind === 'alias') names.push(one.name);
  }
  return names;
}

/** The types of the fields of a class, or the type of a recursive alias. */
export function partsOf(name: string, index: DefinitionIndex): readonly Type[] {
  const alias = index.aliases.get(name);
  if (alias !== undefined) return [alias.type];
  return index.classes.get(name)?.fields.map((field) => field.type) ?? [];
}

/** The names, and all names that they lead to. */
export function reachedFrom(names: readonly string[], index: DefinitionIndex): ReadonlySet<string> {
  const reached = new Set(names);
  for (const name of reached) {
    for (const next of partsOf(name, index).flatMap(namesIn)) reached.add(next);
  }
  return reached;
}

/** The classes, enums and aliases for which `isWanted` holds, and all from which one of them is reached. */
export function leadingTo(isWanted: (name: string) => boolean, index: DefinitionIndex): ReadonlySet<string> {
  const users = usersByName(index);
  const names = [...index.enums.keys(), ...index.classes.keys(), ...index.aliases.keys()];
  const found = new Set(names.filter(isWanted));
  for (const name of found) for (const user of users.get(name) ?? []) found.add(user);
  return found;
}

/** For each name, the classes and aliases that mention it. */
function usersByName(index: DefinitionIndex): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  for (const user of [...index.classes.keys(), ...index.aliases.keys()]) {
    for (const name of new Set(partsOf(user, index).flatMap(namesIn))) {
      const known = users.get(name);
      if (known === undefined) users.set(name, [user]);
      else known.push(user);
    }
  }
  return users;
}

/** Reports whether the arguments of a function can contain media, at any depth. */
export function takesMedia(fn: FunctionType, index: DefinitionIndex): boolean {
  const own = fn.parameters.map((parameter) => parameter.type);
  return allTypes(own, index).some((type) => type.kind === 'media');
}

/** Reports whether partials of the type have wrappers of `@stream.with_state`, at any depth. */
export function showsState(type: Type, index: DefinitionIndex): boolean {
  return allTypes([type], index).some(({ stream }) => stream?.withState === true);
}

/** The types and all types that they lead to. */
function allTypes(own: readonly Type[], index: DefinitionIndex): readonly Type[] {
  const reached = reachedFrom(own.flatMap(namesIn), index);
  return [...own, ...[...reached].flatMap((name) => partsOf(name, index))].flatMap(withInside);
}

/**
 * Reports whether null is a value of the type, which makes a parameter or field of this type optional. Each recursive
 * alias is followed once.
 */
export function acceptsNull(type: Type, aliases: ReadonlyMap<string, AliasType>): boolean {
  return accepts(type, aliases, new Set());
}

function accepts(type: Type, aliases: ReadonlyMap<string, AliasType>, seen: Set<string>): boolean {
  if (type.kind === 'null') return true;
  if (type.kind === 'union') return type.members.some((member) => accepts(member, aliases, seen));
  if (type.kind !== 'alias' || seen.has(type.name)) return false;
  seen.add(type.name);
  const alias = aliases.get(type.name);
  return alias !== undefined && accepts(alias.type, aliases, seen);
}

/**
 * Returns the type in the syntax of definition files, without attributes: `(int | string)[]`, `map<string, Resume>?`.
 */
export function typeText(type: Type): string {
  switch (type.kind) {
    case 'class':
    case 'enum':
    case 'alias':
      return type.name;
    case 'media':
      return type.media;
    case 'literal':
      return JSON.stringify(type.value);
    case 'list':
      return `${elementText(type.element)}[]`;
    case 'map':
      return `map<${typeText(type.key)}, ${typeText(type.value)}>`;
    case 'union':
      return unionText(type.members);
    case 'string':
    case 'int':
    case 'float':
    case 'bool':
    case 'null':
      return type.kind;
  }
}

function unionText(members: readonly Type[]): string {
  const [first, second] = members;
  if (members.length === 2 && first !== undefined && second?.kind === 'null') return `${elementText(first)}?`;
  return members.map(typeText).join(' | ');
}

function elementText(type: Type): string {
  return type.kind === 'union' ? `(${typeText(type)})` : typeText(type);
}

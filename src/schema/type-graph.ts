import type { DefinitionIndex } from './definition-index.ts';
import type { Type } from './type.ts';

/** The types written inside a type; nothing for those that only name another one. */
function insideOf(type: Type): readonly Type[] {
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

/** The types that a class or recursive alias is made of. */
export function partsOf(name: string, index: DefinitionIndex): readonly Type[] {
  const alias = index.aliases.get(name);
  if (alias !== undefined) return [alias.type];
  return index.classes.get(name)?.fields.map((field) => field.type) ?? [];
}

/** The names and all that they lead to. */
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

/** By name: the classes and aliases that mention it. */
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

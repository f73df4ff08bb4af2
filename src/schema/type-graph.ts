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

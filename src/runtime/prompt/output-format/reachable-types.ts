import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { AliasType, ClassType, EnumType, Type } from '../../../schema/type.ts';

/** The definitions that a type refers to, directly or not. */
export interface ReachableTypes {
  readonly classes: readonly ClassType[];
  readonly enums: readonly EnumType[];
  readonly aliases: readonly AliasType[];
  /** Classes that can contain themselves. */
  readonly recursive: ReadonlySet<string>;
}

/**
 * Collects the definitions that the output can consist of. The order is that of a stack, so the last field comes first: existing
 * prompts were tuned with definitions in this order.
 */
export function reachableTypes(target: Type, index: DefinitionIndex): ReachableTypes {
  const classes = new Map<string, ClassType>();
  const enums = new Map<string, EnumType>();
  const aliases = new Map<string, AliasType>();
  const stack: Type[] = [target];
  for (let type = stack.pop(); type !== undefined; type = stack.pop()) {
    if (type.kind === 'enum') addOnce(enums, index.enums.get(type.name));
    else if (type.kind === 'class') {
      const found = addOnce(classes, index.classes.get(type.name));
      if (found !== undefined) stack.push(...visibleFieldTypes(found));
    } else if (type.kind === 'alias') {
      const found = addOnce(aliases, index.aliases.get(type.name));
      if (found !== undefined) stack.push(found.type);
    } else stack.push(...partsOf(type));
  }
  const all = { classes: [...classes.values()], enums: [...enums.values()], aliases: [...aliases.values()] };
  return { ...all, recursive: recursiveClasses(all.classes, index) };
}

function addOnce<T extends { readonly name: string }>(known: Map<string, T>, item: T | undefined): T | undefined {
  if (item === undefined || known.has(item.name)) return undefined;
  known.set(item.name, item);
  return item;
}

function visibleFieldTypes(type: ClassType): readonly Type[] {
  return type.fields.filter((field) => !field.skip).map((field) => field.type);
}

function partsOf(type: Type): readonly Type[] {
  if (type.kind === 'list') return [type.element];
  if (type.kind === 'map') return [type.key, type.value];
  return type.kind === 'union' ? type.members : [];
}

/** A class is recursive when its own fields can lead back to it, also through aliases. */
function recursiveClasses(classes: readonly ClassType[], index: DefinitionIndex): ReadonlySet<string> {
  const names = new Map(classes.map((type) => [type.name, namedClasses(visibleFieldTypes(type), index)]));
  const recursive = new Set<string>();
  for (const { name } of classes) if (reaches(name, names)) recursive.add(name);
  return recursive;
}

function namedClasses(types: readonly Type[], index: DefinitionIndex): readonly string[] {
  const names: string[] = [];
  const seen = new Set<string>();
  const stack = [...types];
  for (let type = stack.pop(); type !== undefined; type = stack.pop()) {
    if (type.kind === 'class') names.push(type.name);
    else if (type.kind === 'alias') {
      const alias = seen.has(type.name) ? undefined : index.aliases.get(type.name);
      seen.add(type.name);
      if (alias !== undefined) stack.push(alias.type);
    } else stack.push(...partsOf(type));
  }
  return names;
}

function reaches(start: string, edges: ReadonlyMap<string, readonly string[]>): boolean {
  const seen = new Set<string>();
  const stack = [...(edges.get(start) ?? [])];
  for (let name = stack.pop(); name !== undefined; name = stack.pop()) {
    if (name === start) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    stack.push(...(edges.get(name) ?? []));
  }
  return false;
}

import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { AliasType, ClassType, EnumType, Type } from '../../../schema/type.ts';
import { recursiveGroups } from './recursive-groups.ts';

/** The definitions that a type refers to, directly or not. */
export interface ReachableTypes {
  readonly classes: readonly ClassType[];
  /** The classes that can contain themselves. */
  readonly recursive: readonly ClassType[];
  readonly enums: readonly EnumType[];
  readonly aliases: readonly AliasType[];
}

/**
 * Collects the definitions that the output can consist of. The order is that of a stack, so the last field comes first, except
 * that a recursive class or alias comes with the others of its group: existing prompts were tuned with definitions in this order.
 */
export function reachableTypes(target: Type, index: DefinitionIndex): ReachableTypes {
  const search = new Search(index);
  search.visit(target);
  const { classes, recursive, enums, aliases } = search;
  return { classes: [...classes], recursive: [...recursive], enums: [...enums], aliases: [...aliases] };
}

class Search {
  readonly classes = new Set<ClassType>();
  readonly recursive = new Set<ClassType>();
  readonly enums = new Set<EnumType>();
  readonly aliases = new Set<AliasType>();
  readonly #index: DefinitionIndex;
  readonly #classGroups: ReadonlyMap<string, readonly string[]>;
  readonly #aliasGroups: ReadonlyMap<string, readonly string[]>;
  readonly #stack: Type[] = [];

  constructor(index: DefinitionIndex) {
    this.#index = index;
    this.#classGroups = recursiveGroups(classEdges(index));
    this.#aliasGroups = recursiveGroups(aliasEdges(index));
  }

  visit(target: Type): void {
    this.#stack.push(target);
    for (let type = this.#stack.pop(); type !== undefined; type = this.#stack.pop()) {
      if (type.kind === 'enum') this.#addEnum(type.name);
      else if (type.kind === 'class') this.#addClass(type.name);
      else if (type.kind === 'alias') this.#addAliases(type.name);
      else this.#stack.push(...partsOf(type));
    }
  }

  #addEnum(name: string): void {
    const found = this.#index.enums.get(name);
    if (found !== undefined) this.enums.add(found);
  }

  #addClass(name: string): void {
    const found = this.#index.classes.get(name);
    if (found === undefined || this.classes.has(found)) return;
    this.classes.add(found);
    for (const other of this.#classGroups.get(name) ?? []) {
      const type = this.#index.classes.get(other);
      if (type !== undefined) this.recursive.add(type);
    }
    this.#stack.push(...visibleFieldTypes(found));
  }

  #addAliases(name: string): void {
    for (const other of this.#aliasGroups.get(name) ?? [name]) {
      const found = this.#index.aliases.get(other);
      if (found === undefined || this.aliases.has(found)) continue;
      this.aliases.add(found);
      this.#stack.push(found.type);
    }
  }
}

function classEdges(index: DefinitionIndex): ReadonlyMap<string, readonly string[]> {
  const classes = [...index.classes.values()];
  return new Map(classes.map((type) => [type.name, namesIn(visibleFieldTypes(type), 'class', index)]));
}

function aliasEdges(index: DefinitionIndex): ReadonlyMap<string, readonly string[]> {
  const aliases = [...index.aliases.values()];
  return new Map(aliases.map(({ name, type }) => [name, namesIn([type], 'alias', index)]));
}

/** Returns the classes or aliases that the types mention; classes also through aliases. */
function namesIn(types: readonly Type[], kind: 'class' | 'alias', index: DefinitionIndex): readonly string[] {
  const names = new Set<string>();
  const seen = new Set<string>();
  const stack = [...types];
  for (let type = stack.pop(); type !== undefined; type = stack.pop()) {
    if (type.kind === kind) names.add(type.name);
    else if (type.kind === 'alias') {
      const alias = seen.has(type.name) ? undefined : index.aliases.get(type.name);
      seen.add(type.name);
      if (alias !== undefined) stack.push(alias.type);
    } else stack.push(...partsOf(type));
  }
  return [...names];
}

function visibleFieldTypes(type: ClassType): readonly Type[] {
  return type.fields.filter((field) => !field.skip).map((field) => field.type);
}

function partsOf(type: Type): readonly Type[] {
  if (type.kind === 'list') return [type.element];
  if (type.kind === 'map') return [type.key, type.value];
  return type.kind === 'union' ? type.members : [];
}

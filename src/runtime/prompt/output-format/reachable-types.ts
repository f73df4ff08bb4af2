import { groupsInSearchOrder } from '../../../base/strongly-connected.ts';
import type { DefinitionIndex } from '../../../schema/program.ts';
import { insideOf } from '../../../schema/type-graph.ts';
import type { AliasType, ClassType, EnumType, Type } from '../../../schema/type.ts';

/** The definitions that a type refers to, directly or not. */
export interface ReachableTypes {
  readonly classes: readonly ClassType[];
  /** The classes that can contain themselves. */
  readonly recursive: readonly ClassType[];
  readonly enums: readonly EnumType[];
  readonly aliases: readonly AliasType[];
}

/** All definitions, and the groups of those that contain themselves, which the output formats of all functions share. */
export class OutputDefinitions {
  readonly index: DefinitionIndex;
  #classGroups: ReadonlyMap<string, readonly string[]> | undefined;
  #aliasGroups: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(index: DefinitionIndex) {
    this.index = index;
  }

  get classGroups(): ReadonlyMap<string, readonly string[]> {
    return (this.#classGroups ??= recursiveGroups(classEdges(this.index)));
  }

  get aliasGroups(): ReadonlyMap<string, readonly string[]> {
    return (this.#aliasGroups ??= recursiveGroups(aliasEdges(this.index)));
  }
}

/**
 * Collects the definitions that the output can consist of. The order is that of a stack, so the last field comes first, except
 * that a recursive class or alias comes with the others of its group: existing prompts were tuned with definitions in this order.
 */
export function reachableTypes(target: Type, definitions: OutputDefinitions): ReachableTypes {
  const search = new Search(definitions);
  search.visit(target);
  const { classes, recursive, enums, aliases } = search;
  return { classes: [...classes], recursive: [...recursive], enums: [...enums], aliases: [...aliases] };
}

class Search {
  readonly classes = new Set<ClassType>();
  readonly recursive = new Set<ClassType>();
  readonly enums = new Set<EnumType>();
  readonly aliases = new Set<AliasType>();
  readonly #definitions: OutputDefinitions;
  readonly #index: DefinitionIndex;
  readonly #stack: Type[] = [];

  constructor(definitions: OutputDefinitions) {
    this.#definitions = definitions;
    this.#index = definitions.index;
  }

  visit(target: Type): void {
    this.#stack.push(target);
    for (let type = this.#stack.pop(); type !== undefined; type = this.#stack.pop()) {
      if (type.kind === 'enum') this.#addEnum(type.name);
      else if (type.kind === 'class') this.#addClass(type.name);
      else if (type.kind === 'alias') this.#addAliases(type.name);
      else this.#stack.push(...insideOf(type));
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
    for (const other of this.#definitions.classGroups.get(name) ?? []) {
      const type = this.#index.classes.get(other);
      if (type !== undefined) this.recursive.add(type);
    }
    this.#stack.push(...visibleFieldTypes(found));
  }

  #addAliases(name: string): void {
    for (const other of this.#definitions.aliasGroups.get(name) ?? [name]) {
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
    } else stack.push(...insideOf(type));
  }
  return [...names];
}

function visibleFieldTypes(type: ClassType): readonly Type[] {
  return type.fields.filter((field) => !field.skip).map((field) => field.type);
}

/**
 * Finds the names that lead back to themselves, each with its group: the names that it leads to and that lead back to it.
 * `edges` maps every name, in the order of declaration, to the names that it mentions.
 *
 * Existing prompts were tuned with this order within a group: a depth-first search visits the names, and those that each
 * name mentions, in the order of declaration. A group lists its names in the order of the search, rotated so that the one
 * declared first comes first.
 */
export function recursiveGroups(edges: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const positions = new Map([...edges.keys()].map((name, position) => [name, position]));
  const place = (name: string): number => positions.get(name) ?? Infinity;
  const declared = (name: string): readonly string[] =>
    (edges.get(name) ?? []).filter((other) => edges.has(other)).toSorted((a, b) => place(a) - place(b));
  const groups = groupsInSearchOrder([...edges.keys()], declared).map((names) => {
    const first = names.indexOf(names.reduce((a, b) => (place(b) < place(a) ? b : a)));
    return [...names.slice(first), ...names.slice(0, first)];
  });
  return new Map(groups.flatMap((group) => group.map((name) => [name, group] as const)));
}

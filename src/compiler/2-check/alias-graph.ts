import type { AliasNode, TypeNode } from '../1-parse/syntax-nodes.ts';
import type { DefinitionScope } from './scope.ts';
import { dependenciesFirst, stronglyConnected } from './strongly-connected.ts';

/** Which aliases reach themselves, and which of those do so without a list or a map in between. */
export class AliasGraph {
  /** Aliases that stay in the program by name; all others are replaced by what they stand for. */
  readonly recursive: ReadonlySet<string>;
  /** Groups of aliases that stand for nothing but each other. */
  readonly endless: readonly (readonly AliasNode[])[];
  /** All aliases, each after those that it uses. */
  readonly usedFirst: readonly string[];

  constructor(scope: DefinitionScope) {
    const names = [...scope.aliases.keys()];
    const edges = (through: boolean) => (name: string) => {
      const alias = scope.aliases.get(name);
      return alias === undefined ? [] : referencedNames(alias.type, through).filter((to) => scope.aliases.has(to));
    };
    this.recursive = new Set(stronglyConnected(names, edges(true)).flat());
    this.usedFirst = dependenciesFirst(names, edges(true));
    this.endless = stronglyConnected(names, edges(false)).map((group) =>
      group.flatMap((name) => scope.aliases.get(name) ?? []),
    );
  }
}

/** Names of definitions in a type; `throughContainers`: also those inside of lists and maps. */
export function referencedNames(type: TypeNode, throughContainers: boolean): readonly string[] {
  switch (type.kind) {
    case 'name':
      return [type.name];
    case 'list':
      return throughContainers ? referencedNames(type.element, true) : [];
    case 'map':
      return throughContainers ? [...referencedNames(type.key, true), ...referencedNames(type.value, true)] : [];
    case 'optional':
      return referencedNames(type.type, throughContainers);
    case 'union':
    case 'tuple':
      return type.members.flatMap((member) => referencedNames(member, throughContainers));
    case 'literal':
    case 'broken':
      return [];
  }
}

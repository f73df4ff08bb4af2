import type { TypeNode } from '../../1-parse/syntax-nodes.ts';
import type { AliasGraph, Rule } from '../check-context.ts';
import type { DefinitionScope } from '../scope.ts';

/**
 * The key of a map is `string`, an enum, a literal string, or a union of literal strings, because keys of JSON objects
 * are strings. svc reads numbers and booleans as strings, with a warning.
 */
export const mapKeys: Rule = ({ types, scope, aliases, report }) => {
  for (const type of types) {
    if (type.kind !== 'map' || isKey(type.key, scope, aliases)) continue;
    const { key } = type;
    if (key.kind === 'name' && SCALARS.has(key.name)) report('check/map-key-text', key.span, { name: key.name });
    else report('check/map-key', key.span, {});
  }
};

const SCALARS = new Set(['int', 'float', 'bool']);

function isKey(type: TypeNode, scope: DefinitionScope, aliases: AliasGraph): boolean {
  switch (type.kind) {
    case 'name': {
      const alias = aliases.named(type);
      if (alias !== undefined) return isKey(alias.type, scope, aliases);
      // Another rule reports unknown types.
      return type.name === 'string' || scope.enums.has(type.name) || isUnknown(type.name, scope);
    }
    case 'literal':
      return typeof type.value === 'string';
    case 'union':
      return type.members.every((member) => isKey(member, scope, aliases));
    default:
      return type.kind === 'broken';
  }
}

function isUnknown(name: string, scope: DefinitionScope): boolean {
  return !scope.hasType(name) && /^[A-Z]/.test(name);
}

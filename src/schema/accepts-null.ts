import type { AliasType, Type } from './type.ts';

/**
 * True when null is a value of the type, which makes a parameter or field of it optional. Recursive aliases are
 * followed once each.
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

import type { TypeNode } from '../../1-parse/syntax-nodes.ts';
import type { AliasGraph, Rule } from '../check-context.ts';
import type { DefinitionScope } from '../scope.ts';
import { stronglyConnected } from '../../../base/strongly-connected.ts';

/** A class does not require a value of itself, directly or through other classes: such a value would never end. */
export const classCycles: Rule = ({ scope, aliases, reportCycle }) => {
  const required = (name: string): readonly string[] =>
    (scope.classes.get(name)?.fields ?? []).flatMap((field) =>
      field.type === undefined ? [] : requiredClasses(field.type, scope, aliases),
    );
  for (const group of stronglyConnected([...scope.classes.keys()], required)) {
    const nodes = group.flatMap((name) => scope.classes.get(name) ?? []);
    reportCycle('check/class-cycle', nodes);
  }
};

/**
 * Returns the classes that every value of a type must contain. A union requires the classes that all of its members
 * require.
 */
function requiredClasses(type: TypeNode, scope: DefinitionScope, aliases: AliasGraph): readonly string[] {
  if (type.kind === 'union') {
    const members = type.members.map((member) => requiredClasses(member, scope, aliases));
    return (members[0] ?? []).filter((name) => members.every((member) => member.includes(name)));
  }
  if (type.kind !== 'name') return [];
  if (scope.classes.has(type.name)) return [type.name];
  const alias = aliases.named(type);
  return alias === undefined ? [] : requiredClasses(alias.type, scope, aliases);
}

/** An alias refers to itself only inside a list or a map: otherwise it has no value. */
export const aliasCycles: Rule = ({ aliases, reportCycle }) => {
  for (const group of aliases.endless) reportCycle('check/alias-cycle', group);
};

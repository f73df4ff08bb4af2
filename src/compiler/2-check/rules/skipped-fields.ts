import type { TypeNode } from '../../1-parse/syntax-nodes.ts';
import { hasAttribute } from '../node-values.ts';
import type { AliasGraph, Rule } from '../check-context.ts';

/** A skipped field is optional, because a model never fills it. */
export const skippedFields: Rule = ({ scope, aliases, report }) => {
  for (const node of scope.classes.values()) {
    for (const field of node.fields) {
      if (field.type === undefined || !hasAttribute(field.attributes, 'skip')) continue;
      if (isOptional(field.type, aliases)) continue;
      report('check/skip-required', field.name.span, { name: field.name.text });
    }
  }
};

function isOptional(type: TypeNode, aliases: AliasGraph): boolean {
  if (type.kind === 'optional' || type.kind === 'broken') return true;
  if (type.kind === 'union') return type.members.some((member) => isOptional(member, aliases));
  const alias = aliases.named(type);
  return alias === undefined ? type.kind === 'name' && type.name === 'null' : isOptional(alias.type, aliases);
}

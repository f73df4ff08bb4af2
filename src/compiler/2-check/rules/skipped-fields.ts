import type { TypeNode } from '../../1-parse/syntax-nodes.ts';
import { hasAttribute } from '../node-values.ts';
import type { Rule } from '../check-context.ts';
import type { DefinitionScope } from '../scope.ts';

/** A skipped field is optional, because a model never fills it. */
export const skippedFields: Rule = ({ scope, aliases, report }) => {
  for (const node of scope.classes.values()) {
    for (const field of node.fields) {
      if (field.type === undefined || !hasAttribute(field.attributes, 'skip')) continue;
      if (isOptional(field.type, scope, aliases.recursive)) continue;
      report('check/skip-required', field.name.span, { name: field.name.text });
    }
  }
};

function isOptional(type: TypeNode, scope: DefinitionScope, recursive: ReadonlySet<string>): boolean {
  if (type.kind === 'optional' || type.kind === 'broken') return true;
  if (type.kind === 'union') return type.members.some((member) => isOptional(member, scope, recursive));
  if (type.kind !== 'name') return false;
  const alias = scope.aliases.get(type.name);
  if (alias === undefined || recursive.has(type.name)) return type.name === 'null';
  return isOptional(alias.type, scope, recursive);
}

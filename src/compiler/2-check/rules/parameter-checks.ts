import type { AttributeNode, TypeNode } from '../../1-parse/syntax-nodes.ts';
import type { Rule } from '../check-context.ts';
import type { Scope } from '../scope.ts';
import { walkType } from '../walk-types.ts';

/** The outcome of a @check is part of a result; an argument has nowhere to show it. @assert is enforced on arguments. */
export const parameterChecks: Rule = ({ scope, aliases, report }) => {
  for (const node of scope.functions.values()) {
    for (const parameter of node.parameters) {
      if (parameter.type === undefined) continue;
      const attributes = [...parameter.attributes, ...attributesWithin(parameter.type, scope, aliases.recursive)];
      const check = attributes.find((attribute) => attribute.name === 'check');
      if (check === undefined) continue;
      const related = [{ span: check.span, message: 'the check' }];
      report('check/parameter-check', parameter.name.span, { name: parameter.name.text }, related);
    }
  }
};

/** Attributes of a type, of all types inside of it, and of the aliases it uses; not those of classes. */
function attributesWithin(root: TypeNode, scope: Scope, recursive: ReadonlySet<string>): readonly AttributeNode[] {
  const attributes: AttributeNode[] = [];
  walkType(root, (type) => {
    attributes.push(...type.attributes);
    const alias = type.kind === 'name' ? scope.aliases.get(type.name) : undefined;
    if (alias === undefined) return;
    attributes.push(...alias.attributes);
    if (!recursive.has(alias.name.text)) attributes.push(...attributesWithin(alias.type, scope, recursive));
  });
  return attributes;
}

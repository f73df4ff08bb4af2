import type { AttributeNode, NameNode } from '../../1-parse/syntax-nodes.ts';
import { attributeString, hasAttribute, eachDuplicate } from '../node-values.ts';
import type { CheckContext, Rule } from '../check-context.ts';

interface Member {
  readonly name: NameNode;
  readonly attributes: readonly AttributeNode[];
}

/**
 * Members of a class or enum have different aliases: the model sees only the alias, so a reply could not distinguish
 * them.
 */
export const aliasCollisions: Rule = (context) => {
  for (const node of context.scope.classes.values()) reportCollisions(context, node.fields);
  for (const node of context.scope.enums.values()) reportCollisions(context, node.values);
};

function reportCollisions({ report, options }: CheckContext, members: readonly Member[]): void {
  const aliasOf = ({ name, attributes }: Member): string =>
    attributeString(attributes, 'alias', options.variables) ?? name.text;
  const visible = members.filter(({ attributes }) => !hasAttribute(attributes, 'skip'));
  eachDuplicate(visible, aliasOf, (member, { name: first }) => {
    const { name } = member;
    // Members with the same name have their own diagnostic.
    if (first.text === name.text) return;
    const names = { alias: aliasOf(member), first: first.text, second: name.text };
    report('check/alias-collision', name.span, names, [{ span: first.span, message: 'the first one' }]);
  });
}

import type { AttributeNode, NameNode } from '../../1-parse/syntax-nodes.ts';
import { attributeText, hasAttribute } from '../build/text-of.ts';
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
  const seen = new Map<string, Member>();
  for (const member of members) {
    if (hasAttribute(member.attributes, 'skip')) continue;
    const alias = attributeText(member.attributes, 'alias', options.variables) ?? member.name.text;
    const first = seen.get(alias);
    if (first === undefined) seen.set(alias, member);
    else if (first.name.text !== member.name.text) {
      const names = { alias, first: first.name.text, second: member.name.text };
      report('check/alias-collision', member.name.span, names, [{ span: first.name.span, message: 'the first one' }]);
    }
  }
}

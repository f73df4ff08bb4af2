import type { AttributeNode } from '../../1-parse/syntax-nodes.ts';
import { attributeText } from '../build/text-of.ts';
import type { CheckContext, Rule } from '../check-context.ts';

const TEXTS = new Set(['alias', 'description']);
const PLAIN = new Set(['skip', 'dynamic', 'stream.done', 'stream.not_null', 'stream.with_state']);

/** `@alias` and `@description` take one text, the switches take nothing; constraints have a law of their own. */
export const attributeArguments: Rule = (context) => {
  for (const { attributes } of context.attributeSites) {
    for (const attribute of attributes) {
      if (TEXTS.has(attribute.name)) checkText(context, attribute);
      else if (PLAIN.has(attribute.name) && attribute.arguments.length > 0) {
        context.report('check/attribute-arguments', attribute.span, {
          name: written(attribute),
          expected: 'no argument',
        });
      }
    }
  }
};

function checkText({ options, report }: CheckContext, node: AttributeNode): void {
  const [value] = node.arguments;
  if (value?.kind === 'broken') return;
  const text = attributeText([node], node.name, options.variables);
  if (value?.kind === 'env' && text === undefined) {
    report('check/attribute-env', value.span, { name: written(node), variable: value.variable });
    return;
  }
  if (text === undefined || node.arguments.length !== 1) {
    report('check/attribute-arguments', node.span, { name: written(node), expected: 'one text' });
  } else if (node.name === 'alias' && text.trim() === '') report('check/empty-alias', node.span, {});
  else if (value?.kind === 'string' && !value.quoted && /^[\u2018-\u201F]/u.test(text)) {
    report('check/curly-quotes', value.span, {});
  }
}

function written(node: AttributeNode): string {
  return `${node.block ? '@@' : '@'}${node.name}`;
}

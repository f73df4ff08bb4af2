import type { AttributeNode } from '../../1-parse/syntax-nodes.ts';
import { attributeString } from '../node-values.ts';
import type { CheckContext, Rule } from '../check-context.ts';

const WITH_STRING = new Set(['alias', 'description']);
const NOT_STRINGS = new Set(['number', 'boolean', 'null']);
const WITHOUT_ARGUMENTS = new Set(['skip', 'dynamic', 'stream.done', 'stream.not_null', 'stream.with_state']);

/**
 * `@alias` and `@description` take one string, and other attributes take no arguments; constraints have their own rule. svc reads a
 * number, a bool or null as a string, which BAML refuses, so it is a warning.
 */
export const attributeArguments: Rule = (context) => {
  for (const { attributes } of context.attributeSites) {
    for (const attribute of attributes) {
      if (WITH_STRING.has(attribute.name)) checkString(context, attribute);
      else if (WITHOUT_ARGUMENTS.has(attribute.name) && attribute.arguments.length > 0) {
        context.report('check/attribute-arguments', attribute.span, {
          name: spelledName(attribute),
          expected: 'no argument',
        });
      }
    }
  }
};

function checkString({ options, report }: CheckContext, node: AttributeNode): void {
  const [value] = node.arguments;
  if (value?.kind === 'broken') return;
  const text = attributeString([node], node.name, options.variables);
  if (value?.kind === 'env' && text === undefined) {
    report('check/attribute-env', value.span, { name: spelledName(node), variable: value.variable });
    return;
  }
  if (text === undefined || node.arguments.length !== 1) {
    report('check/attribute-arguments', node.span, { name: spelledName(node), expected: 'one string' });
  } else if (node.name === 'alias' && text.trim() === '') report('check/empty-alias', node.span, {});
  else if (value?.kind === 'string' && !value.quoted && /^[\u2018-\u201F]/u.test(text)) {
    report('check/curly-quotes', value.span, {});
  } else if (value !== undefined && NOT_STRINGS.has(value.kind)) {
    report('check/attribute-not-string', value.span, { name: spelledName(node), text });
  }
}

function spelledName(node: AttributeNode): string {
  return `${node.block ? '@@' : '@'}${node.name}`;
}

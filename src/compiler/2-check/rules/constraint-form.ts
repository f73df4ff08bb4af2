import type { AttributeNode } from '../../1-parse/syntax-nodes.ts';
import { expressionOf } from '../build/build-constraints.ts';
import type { CheckContext, Rule } from '../check-context.ts';

const LABEL = /^[A-Za-z_]\w*$/;

/** A constraint is an optional label (a must for @check, which reports by it) and one expression. */
export const constraintForm: Rule = (context) => {
  for (const { attributes } of context.attributeSites) {
    for (const node of attributes) {
      if (node.name === 'assert' || node.name === 'check') checkForm(context, node);
    }
  }
};

function checkForm({ report }: CheckContext, node: AttributeNode): void {
  const name = `${node.block ? '@@' : '@'}${node.name}`;
  const [first] = node.arguments;
  if (node.arguments.some((argument) => argument.kind === 'broken')) return;
  if (expressionOf(node) === undefined) report('check/constraint-expression', node.span, { name });
  else if (node.arguments.length > 2 || (node.arguments.length === 2 && first?.kind !== 'string')) {
    report('check/attribute-arguments', node.span, { name, expected: 'a label and one expression' });
  } else if (node.name === 'check' && first?.kind === 'expression') report('check/constraint-label', node.span, {});
  else if (first?.kind === 'string' && (first.quoted || !LABEL.test(first.value))) {
    report('check/constraint-quoted-label', first.span, { name: first.value });
  }
}

import type { AttributeNode } from '../../1-parse/syntax-nodes.ts';
import { labelOf } from '../build/build-constraints.ts';
import type { CheckContext, Rule } from '../check-context.ts';

/** An attribute stands once in a place; only constraints may be many, and then checks have different labels. */
export const uniqueAttributes: Rule = (context) => {
  for (const { attributes } of context.attributeSites) {
    const checks = attributes.filter((node) => node.name === 'check' && labelOf(node) !== undefined);
    const others = attributes.filter((node) => !isConstraint(node));
    reportRepeated(context, 'check/duplicate-attribute', others, (node) => node.name);
    reportRepeated(context, 'check/duplicate-label', checks, (node) => labelOf(node) ?? '');
  }
};

function isConstraint(node: AttributeNode): boolean {
  return node.name === 'assert' || node.name === 'check';
}

function reportRepeated(
  { report }: CheckContext,
  code: 'check/duplicate-attribute' | 'check/duplicate-label',
  nodes: readonly AttributeNode[],
  nameOf: (node: AttributeNode) => string,
): void {
  const seen = new Map<string, AttributeNode>();
  for (const node of nodes) {
    const name = nameOf(node);
    const first = seen.get(name);
    if (first === undefined) seen.set(name, node);
    else report(code, node.span, { name }, [{ span: first.span, message: 'the first one' }]);
  }
}

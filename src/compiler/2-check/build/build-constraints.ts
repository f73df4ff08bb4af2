import type { Constraint } from '../../../schema/constraint.ts';
import type { AttributeNode, ExpressionNode } from '../../1-parse/syntax-nodes.ts';
import { constraintSource } from '../template-reader.ts';
import type { TemplateReader } from '../template-reader.ts';

/** `@assert(label?, {{ … }})` and `@check(label, {{ … }})`, in the order in which they are written. */
export function buildConstraints(nodes: readonly AttributeNode[], templates: TemplateReader): readonly Constraint[] {
  return nodes.flatMap((node) => buildConstraint(node, templates) ?? []);
}

/** The label of a constraint, when it has one. */
export function labelOf(node: AttributeNode): string | undefined {
  const first = node.arguments[0];
  return first?.kind === 'string' ? first.value : undefined;
}

export function expressionOf(node: AttributeNode): ExpressionNode | undefined {
  return node.arguments.find((argument) => argument.kind === 'expression');
}

function buildConstraint(node: AttributeNode, templates: TemplateReader): Constraint | undefined {
  if (node.name !== 'assert' && node.name !== 'check') return undefined;
  const expressionNode = expressionOf(node);
  const expression = expressionNode && templates.expression(expressionNode);
  if (expressionNode === undefined || expression === undefined) return undefined;
  const label = labelOf(node);
  const source = constraintSource(expressionNode).text.trim();
  return { level: node.name, ...(label !== undefined && { label }), source, expression };
}

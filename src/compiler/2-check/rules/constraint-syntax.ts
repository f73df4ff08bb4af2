import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { AttributeNode, TypeNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { isConstraint } from '../node-values.ts';
import { expressionOf } from '../template-reader.ts';
import { walkType } from '../walk-types.ts';

/**
 * The expression of a constraint is valid. svc evaluates the constraints of the types that a function takes or returns,
 * directly or inside other types; for any other constraint, a mistake is only a warning. It is also one in a test, as all
 * mistakes in tests are.
 */
export const constraintSyntax: Rule = (context) => {
  const evaluated = evaluatedAttributes(context);
  for (const { place, attributes } of context.attributeSites) {
    for (const attribute of attributes) {
      const problems = problemsOf(context, attribute);
      const counts = place === 'test' || evaluated.has(attribute);
      context.diagnostics.push(...(counts ? problems : problems.map(unevaluated)));
    }
  }
};

function problemsOf({ templates }: CheckContext, attribute: AttributeNode): readonly Diagnostic[] {
  if (!isConstraint(attribute)) return [];
  const expression = expressionOf(attribute);
  return expression === undefined ? [] : templates.expression(expression).diagnostics;
}

const UNEVALUATED = 'This is only a warning because no function takes or returns the type.';

function unevaluated(problem: Diagnostic): Diagnostic {
  return { ...problem, severity: 'warning', help: [problem.help ?? [], UNEVALUATED].flat().join(' ') };
}

/** Returns the attributes of all types that functions take and return, and of the types inside these. */
function evaluatedAttributes({ scope }: CheckContext): ReadonlySet<AttributeNode> {
  const found = new Set<AttributeNode>();
  const seen = new Set<string>();
  const waiting: TypeNode[] = [];
  const add = (type: TypeNode | undefined, attributes: readonly AttributeNode[]): void => {
    for (const attribute of attributes) found.add(attribute);
    if (type !== undefined) waiting.push(type);
  };
  for (const node of scope.functions.values()) {
    for (const { type, attributes } of node.parameters) add(type, attributes);
    add(node.returns, node.returnAttributes);
  }
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    walkType(type, (inner) => {
      add(undefined, inner.attributes);
      if (inner.kind !== 'name' || seen.has(inner.name)) return;
      seen.add(inner.name);
      const block = scope.classes.get(inner.name) ?? scope.enums.get(inner.name);
      const alias = scope.aliases.get(inner.name);
      add(alias?.type, [...(block?.attributes ?? []), ...(alias?.attributes ?? [])]);
      for (const field of scope.classes.get(inner.name)?.fields ?? []) add(field.type, field.attributes);
    });
  }
  return found;
}

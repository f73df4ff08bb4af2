import type { AliasNode, AttributeNode, TypeNode } from '../../1-parse/syntax-nodes.ts';
import { labelOf } from '../build/build-constraints.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { walkType } from '../walk-types.ts';

/**
 * The results of all checks of a value stand together, by label: those of its class or alias, and those of the field or
 * type that uses it. A label that both have shows one result and hides the other.
 */
export const repeatedLabels: Rule = (context) => {
  for (const { type, attributes } of context.typeSites) {
    walkType(type, (inner) => {
      const own = inner === type ? [...inner.attributes, ...attributes] : inner.attributes;
      if (own.length > 0) reportRepeated(context, own, inner);
    });
  }
};

function reportRepeated(context: CheckContext, own: readonly AttributeNode[], type: TypeNode): void {
  const inherited = new Map(checksBelow(context, type).map((node) => [labelOf(node), node]));
  for (const node of own.filter(isCheck)) {
    const first = inherited.get(labelOf(node));
    if (first === undefined || first === node) continue;
    const related = [{ span: first.span, message: 'the check of the type' }];
    context.report('check/repeated-label', node.span, { name: labelOf(node) ?? '' }, related);
  }
}

/** Checks that a value of the type has because of what the type is: of the class or enum, and of aliases on the way. */
function checksBelow({ scope, aliases }: CheckContext, type: TypeNode): readonly AttributeNode[] {
  const found: AttributeNode[] = [];
  for (let next: TypeNode | undefined = type; next !== undefined;) {
    if (next !== type) found.push(...next.attributes);
    const name: string | undefined = next.kind === 'name' ? next.name : undefined;
    const inner: TypeNode | undefined = next.kind === 'optional' ? next.type : undefined;
    const alias: AliasNode | undefined =
      name === undefined || aliases.recursive.has(name) ? undefined : scope.aliases.get(name);
    const block = alias ?? scope.classes.get(name ?? '') ?? scope.enums.get(name ?? '');
    found.push(...(block?.attributes ?? []));
    next = inner ?? alias?.type;
  }
  return found.filter(isCheck);
}

function isCheck(node: AttributeNode): boolean {
  return node.name === 'check' && labelOf(node) !== undefined;
}

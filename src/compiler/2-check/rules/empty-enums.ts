import { hasAttribute } from '../build/text-of.ts';
import type { Rule } from '../check-context.ts';

/** An enum without values, or with skipped ones only, is a question without an answer. */
export const emptyEnums: Rule = ({ scope, report }) => {
  for (const node of scope.enums.values()) {
    const isOpen = hasAttribute(node.attributes, 'dynamic') || node.broken === true;
    if (isOpen || node.values.some((value) => !hasAttribute(value.attributes, 'skip'))) continue;
    report('check/empty-enum', node.name.span, { name: node.name.text });
  }
};

import type { TemplateWalker } from '../templates/template-walker.ts';
import type { EnumType } from '../../../schema/type.ts';
import type { Expression } from '../../../schema/template.ts';
import { alternatives } from '../templates/static-value.ts';

/**
 * An enum equals only the names of its values. A comparison with any other string, such as an alias, is never true, so it
 * is a warning.
 */
export function enumComparisonRule(expression: Expression, context: TemplateWalker): void {
  if (expression.kind !== 'binary') return;
  const { operator, left, right } = expression;
  if (operator === '==' || operator === '!=') {
    compare(left, right, context);
    compare(right, left, context);
  } else if ((operator === 'in' || operator === 'not in') && right.kind === 'list') {
    for (const item of right.items) compare(left, item, context);
  }
}

function compare(side: Expression, other: Expression, context: TemplateWalker): void {
  if (other.kind !== 'string') return;
  const type = enumOf(side, context);
  if (type === undefined || type.dynamic || type.values.some((value) => value.name === other.value)) return;
  const aliased = type.values.find((value) => value.alias === other.value);
  if (aliased !== undefined) {
    context.report('template/enum-alias', other, { name: `${type.name}.${aliased.name}`, alias: other.value });
    return;
  }
  const names = type.values.map((value) => value.name);
  context.report('template/unknown-enum-value', other, { owner: type.name, name: other.value, names });
}

/** Returns the enum of an expression that can only be a value of it, or null. */
function enumOf(expression: Expression, context: TemplateWalker): EnumType | undefined {
  const value = context.valueOf(expression);
  if (value.kind !== 'typed') return undefined;
  const [only, ...others] = alternatives(value.type, context.definitions);
  return only?.kind === 'enum' && others.length === 0 ? context.definitions.enums.get(only.name) : undefined;
}

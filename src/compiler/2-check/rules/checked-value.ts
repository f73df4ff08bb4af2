import type { TemplateWalker } from '../templates/template-walker.ts';
import type { DefinitionIndex } from '../../../schema/program.ts';
import type { Constraint } from '../../../schema/constraint.ts';
import type { Expression } from '../../../schema/template.ts';
import type { Type } from '../../../schema/type.ts';
import { alternatives } from '../templates/static-value.ts';

/**
 * In the result of a call, a value with checks is an object with `value` and `checks`. The conditions of a test see the value
 * alone, so these members do not exist there.
 */
export function checkedValueRule(expression: Expression, context: TemplateWalker): void {
  if (expression.kind !== 'attribute' || (expression.name !== 'value' && expression.name !== 'checks')) return;
  const { name } = expression;
  const value = context.valueOf(expression.object);
  if (value.kind !== 'typed') return;
  const types = alternatives(value.type, context.definitions);
  const checked = [value.type, ...types].some((type) => hasChecks(type, context.definitions));
  if (!checked || types.some((type) => hasField(type, name, context.definitions))) return;
  context.report('template/member-of-checked', expression, { name });
}

function hasChecks(type: Type, { classes, enums }: DefinitionIndex): boolean {
  const declared =
    type.kind === 'class'
      ? classes.get(type.name)?.constraints
      : type.kind === 'enum'
        ? enums.get(type.name)?.constraints
        : undefined;
  return [...(type.constraints ?? []), ...(declared ?? [])].some(({ level }: Constraint) => level === 'check');
}

function hasField(type: Type, name: string, { classes }: DefinitionIndex): boolean {
  return type.kind === 'class' && classes.get(type.name)?.fields.some((field) => field.name === name) === true;
}

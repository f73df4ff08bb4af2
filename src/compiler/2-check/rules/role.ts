import type { TemplateWalker } from '../templates/template-walker.ts';
import { CALLS_FAIL } from '../../../diagnostics/catalogue/template.ts';
import type { Expression } from '../../../schema/template.ts';
import { alternatives, type StaticValue } from '../templates/static-value.ts';

/** The role of `_.role(…)` and `_.chat(…)` is a string or a value of an enum. With any other value, rendering fails. */
export function roleRule(expression: Expression, context: TemplateWalker): void {
  if (expression.kind !== 'call' || expression.callee.kind !== 'attribute') return;
  const { callee, args } = expression;
  if (context.valueOf(callee.object).kind !== 'chat') return;
  const role = args.positional[0] ?? args.named.find(({ name }) => name === 'role')?.value;
  if (role === undefined || (!NOT_ROLES.has(role.kind) && canBeRole(context.valueOf(role), context))) return;
  context.report('template/wrong-value', role, {
    message: `The role must be a string or a value of an enum: ${CALLS_FAIL}.`,
    help: 'Write `_.role("user")`.',
  });
}

const NOT_ROLES: ReadonlySet<Expression['kind']> = new Set(['integer', 'float', 'boolean', 'none', 'list', 'map']);

function canBeRole(value: StaticValue, { definitions }: TemplateWalker): boolean {
  if (value.kind !== 'typed') return true;
  return alternatives(value.type, definitions).some(
    (type) =>
      type.kind === 'string' || type.kind === 'enum' || (type.kind === 'literal' && typeof type.value === 'string'),
  );
}

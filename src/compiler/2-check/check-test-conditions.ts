import { memberOfChecked } from '../../diagnostics/catalogue/template.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Constraint } from '../../schema/constraint.ts';
import { type DefinitionIndex, indexDefinitions } from '../../schema/definition-index.ts';
import type { FunctionType } from '../../schema/function.ts';
import type { Definitions } from '../../schema/program.ts';
import type { Expression } from '../../schema/template.ts';
import type { TestType } from '../../schema/test.ts';
import type { Type } from '../../schema/type.ts';
import type { CheckContext } from './check-context.ts';
import { checkCondition, distinct } from './check-templates.ts';
import { alternatives, ANY, object, type StaticValue, typed } from './template-rules/static-value.ts';
import type { RuleContext } from './template-rules/template-rule.ts';

/**
 * Applies the rules for expressions to the conditions of every test, for each of its functions. A test that extends types
 * can name fields that the definitions do not have.
 */
export function checkTestConditions(context: CheckContext, definitions: Definitions, tests: readonly TestType[]): void {
  const index = indexDefinitions(definitions);
  const found: Diagnostic[] = [];
  for (const test of tests.filter(({ buildsTypes }) => !buildsTypes)) {
    for (const name of test.functions) {
      const fn = index.functions.get(name);
      // A function without a readable return type has its own diagnostic.
      if (fn === undefined || context.scope.functions.get(name)?.returns === undefined) continue;
      for (const [at, { expression }] of test.constraints.entries()) {
        const place = { definitions: index, file: test.span.file };
        found.push(...checkCondition(expression, place, namesBefore(test, at, fn), [checkedValueRule]));
      }
    }
  }
  context.diagnostics.push(...distinct(found));
}

/** The names in the scope of a condition: `_.checks` has the checks before it. */
function namesBefore(test: TestType, at: number, fn: FunctionType): ReadonlyMap<string, StaticValue> {
  const labels = test.constraints
    .slice(0, at)
    .flatMap(({ level, label }) => (level === 'check' && label !== undefined ? [label] : []));
  const checks = object('_.checks', Object.fromEntries(labels.map((label) => [label, ANY])));
  return new Map<string, StaticValue>([
    ...fn.parameters.map(({ name, type }) => [name, typed(type)] as const),
    ['this', typed(fn.returns)],
    ['_', object('_', { result: typed(fn.returns), checks, latency_ms: ANY })],
  ]);
}

/**
 * In the result of a call, a value with checks is an object with `value` and `checks`. The conditions of a test see the value
 * alone, so these members do not exist there.
 */
function checkedValueRule(expression: Expression, context: RuleContext): void {
  if (expression.kind !== 'attribute' || (expression.name !== 'value' && expression.name !== 'checks')) return;
  const { name } = expression;
  const value = context.valueOf(expression.object);
  if (value.kind !== 'typed') return;
  const types = alternatives(value.type, context.definitions);
  const checked = [value.type, ...types].some((type) => hasChecks(type, context.definitions));
  if (!checked || types.some((type) => hasField(type, name, context.definitions))) return;
  context.report(memberOfChecked(context.span(expression), name));
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

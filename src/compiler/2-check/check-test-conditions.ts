import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { indexDefinitions, type FunctionType, type Definitions, type TestType } from '../../schema/program.ts';
import type { CheckContext } from './check-context.ts';
import { checkCondition, distinct } from './check-templates.ts';
import { checkedValueRule } from './template-rules/checked-value-rule.ts';
import { ANY, object, typed, type StaticValue } from './template-rules/static-value.ts';

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

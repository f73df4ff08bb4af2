import { unknownTest } from '../../../diagnostics/catalogue/template.ts';
import { isTestName, TESTS } from '../../../schema/template-vocabulary.ts';
import type { Expression } from '../../../schema/template.ts';
import { reportArguments } from './fit-arguments.ts';
import type { RuleContext } from './template-rule.ts';

/** A test has to exist and to get the arguments that it takes: anything else fails for certain. */
export function unknownTestRule(expression: Expression, context: RuleContext): void {
  if (expression.kind !== 'test') return;
  const { name } = expression;
  if (isTestName(name)) reportArguments({ what: `test "${name}"`, parameters: TESTS[name], ...expression }, context);
  else context.report(unknownTest(context.span(expression), name, Object.keys(TESTS)));
}

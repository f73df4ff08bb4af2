import {
  unknownFilter,
  unknownFunction,
  unknownTest,
  unknownVariable,
} from '../../../diagnostics/catalogue/template.ts';
import { FILTERS, FUNCTIONS, isFilterName, isTestName, TESTS } from '../../../schema/template-vocabulary.ts';
import type { Expression, FilterCall } from '../../../schema/template.ts';
import { reportArguments } from './call-arguments-rule.ts';
import type { RuleContext } from './template-rule.ts';

/** A filter must exist, and its arguments must match. Otherwise, rendering fails. */
export function unknownFilterRule(filter: FilterCall, context: RuleContext): void {
  const { name } = filter;
  // A missing name is a syntax error, which has its own diagnostic.
  if (name === '') return;
  if (!isFilterName(name)) {
    context.report(unknownFilter(context.span(filter), name, Object.keys(FILTERS)));
    return;
  }
  const parameters = name === 'format' ? formatParameters(filter) : FILTERS[name];
  reportArguments({ what: `filter "${name}"`, parameters, ...filter }, context);
  const [inner] = filter.args.positional;
  if (name === 'map' && inner?.kind === 'string' && !isFilterName(inner.value)) {
    context.report(unknownFilter(context.span(inner), inner.value, Object.keys(FILTERS)));
  }
}

/** `format=` is another name for `type=`. One of them is required. */
function formatParameters({ args }: FilterCall): readonly string[] {
  const [type, ...others] = FILTERS.format;
  return args.named.some((entry) => entry.name === 'format') ? FILTERS.format : [type.replace('?', ''), ...others];
}

/** A test must exist, and its arguments must match. Otherwise, rendering fails. */
export function unknownTestRule(expression: Expression, context: RuleContext): void {
  if (expression.kind !== 'test') return;
  const { name } = expression;
  if (isTestName(name)) reportArguments({ what: `test "${name}"`, parameters: TESTS[name], ...expression }, context);
  else context.report(unknownTest(context.span(expression), name, Object.keys(TESTS)));
}

/** A name must be declared. An unknown variable prints nothing; with an unknown function, rendering fails. */
export function unknownVariableRule(expression: Expression, context: RuleContext): void {
  if (expression.kind === 'call' && expression.callee.kind === 'name') {
    const { callee } = expression;
    if (context.valueOf(callee).kind !== 'missing') return;
    const names = [...Object.keys(FUNCTIONS), ...context.definitions.templateStrings.keys()];
    context.report(unknownFunction(context.span(callee), callee.name, names));
  } else if (expression.kind === 'name' && context.valueOf(expression).kind === 'missing') {
    context.report(unknownVariable(context.span(expression), expression.name, context.visibleNames()));
  }
}

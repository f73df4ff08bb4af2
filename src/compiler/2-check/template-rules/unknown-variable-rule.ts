import { unknownFunction, unknownVariable } from '../../../diagnostics/catalogue/template.ts';
import { FUNCTIONS } from '../../../schema/template-vocabulary.ts';
import type { Expression } from '../../../schema/template.ts';
import type { RuleContext } from './template-rule.ts';

/**
 * A name has to stand for something. An unknown one prints nothing, which is rarely meant: a warning. Calling one fails
 * for certain: an error.
 */
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

import { debugCall } from '../../../diagnostics/catalogue/template.ts';
import type { Expression } from '../../../schema/template.ts';
import type { RuleContext } from './template-rule.ts';

/** `debug()` of other tools prints the variables of a template. Here it prints nothing, since prompts go to a model: a warning. */
export function debugCallRule(expression: Expression, context: RuleContext): void {
  if (expression.kind !== 'call') return;
  const callee = context.valueOf(expression.callee);
  if (callee.kind === 'function' && callee.name === 'debug') context.report(debugCall(context.span(expression)));
}

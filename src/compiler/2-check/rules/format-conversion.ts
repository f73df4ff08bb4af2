import { formatConversion, printfFormat } from '../../../diagnostics/catalogue/template.ts';
import type { Expression, FilterCall } from '../../../schema/template.ts';
import type { RuleContext } from '../templates/template-rule.ts';

/** A field with a conversion, such as `{!r}`, or two braces that stand for one. */
const FIELD = /\{\{|\}\}|\{[^{}!:]*(![^{}:]*)(?::[^{}]*)?\}/gu;

/** `"…".format(…)` has no conversions. With one, rendering fails. */
export function formatConversionRule(expression: Expression, context: RuleContext): void {
  if (expression.kind !== 'call' || expression.callee.kind !== 'attribute') return;
  const { object, name } = expression.callee;
  if (name !== 'format' || object.kind !== 'string') return;
  for (const [, conversion] of object.value.matchAll(FIELD)) {
    if (conversion === undefined) continue;
    context.report(formatConversion(context.span(object), conversion));
    return;
  }
}

/** Reports arguments by position, as in `"%s"|format(x)`, the printf style of Jinja, and returns whether there are any. */
export function isPrintfFormat({ name, args, start, end }: FilterCall, context: RuleContext): boolean {
  if (name !== 'format' || args.positional.length === 0) return false;
  context.report(printfFormat(context.span({ start, end })));
  return true;
}

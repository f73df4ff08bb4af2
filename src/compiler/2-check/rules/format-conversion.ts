import type { TemplateWalker } from '../templates/template-walker.ts';
import { CALLS_FAIL } from '../../../diagnostics/catalogue/template.ts';
import type { Expression, FilterCall } from '../../../schema/template.ts';

/** A field with a conversion, such as `{!r}`, or two braces that stand for one. */
const FIELD = /\{\{|\}\}|\{[^{}!:]*(![^{}:]*)(?::[^{}]*)?\}/gu;

/** `"…".format(…)` has no conversions. With one, rendering fails. */
export function formatConversionRule(expression: Expression, context: TemplateWalker): void {
  if (expression.kind !== 'call' || expression.callee.kind !== 'attribute') return;
  const { object, name } = expression.callee;
  if (name !== 'format' || object.kind !== 'string') return;
  for (const [, conversion] of object.value.matchAll(FIELD)) {
    if (conversion === undefined) continue;
    context.report('template/wrong-value', object, {
      message: `The format contains the conversion "${conversion}", which svc does not support: ${CALLS_FAIL}.`,
      help: 'Remove it: `"{}".format(value)` writes the value.',
    });
    return;
  }
}

/** Reports arguments by position, as in `"%s"|format(x)`, the printf style of Jinja, and returns whether there are any. */
export function isPrintfFormat(filter: FilterCall, context: TemplateWalker): boolean {
  if (filter.name !== 'format' || filter.args.positional.length === 0) return false;
  context.report('template/wrong-arguments', filter, {
    message: `The filter "format" takes only named arguments, and does not support the printf style: ${CALLS_FAIL}.`,
    help: 'Write `"{}".format(value)`, or `value|format(type="json")`; the type can also be "yaml" or "toon".',
  });
  return true;
}

import type { TemplateWalker } from '../templates/template-walker.ts';
import { didYouMean } from '../../../base/suggestion.ts';
import type { Arguments, Expression } from '../../../schema/template.ts';

interface Option {
  readonly name: string;
  readonly known: readonly string[];
  readonly anyCase: boolean;
}

const MAP_STYLE: Option = { name: 'map_style', known: ['angle', 'object'], anyCase: false };
const FORMATS = ['type', 'format'].map((name): Option => ({ name, known: ['json', 'yaml', 'toon'], anyCase: true }));

/**
 * Literal arguments of `ctx.output_format` and of the filter `format` must be among the known values. With any other
 * value, rendering fails.
 */
export function literalArgumentsRule(expression: Expression, context: TemplateWalker): void {
  if (expression.kind === 'filter' && expression.filter.name === 'format') {
    for (const option of FORMATS) checkOneOf(option, expression.filter.args, context);
  }
  if (expression.kind !== 'call' || context.valueOf(expression.callee).kind !== 'output-format') return;
  checkOneOf(MAP_STYLE, expression.args, context);
  checkClasses(named(expression.args, 'hoist_classes'), context);
}

function named(args: Arguments, name: string): Expression | undefined {
  return args.named.find((entry) => entry.name === name)?.value;
}

function checkOneOf({ name, known, anyCase }: Option, args: Arguments, context: TemplateWalker): void {
  const value = named(args, name);
  if (value?.kind !== 'string' || known.includes(anyCase ? value.value.toLowerCase() : value.value)) return;
  const expected = known.map((each) => `"${each}"`).join(', ');
  context.report('template/wrong-value', value, { message: `"${name}" must be one of ${expected}.`, help: '' });
}

function checkClasses(value: Expression | undefined, context: TemplateWalker): void {
  if (value?.kind === 'string' && value.value !== 'auto') {
    const message = '"hoist_classes" must be true, false, "auto" or a list.';
    context.report('template/wrong-value', value, { message, help: 'Write `["Name"]`.' });
  }
  if (value?.kind !== 'list') return;
  const { classes } = context.definitions;
  for (const item of value.items) {
    if (item.kind !== 'string' || classes.has(item.value)) continue;
    const message = `There is no class "${item.value}".`;
    context.report('template/wrong-value', item, { message, help: didYouMean(item.value, classes.keys()) });
  }
}

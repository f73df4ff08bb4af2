import type { TemplateWalker } from '../templates/template-walker.ts';
import { didYouMean } from '../../../base/suggestion.ts';
import type { UndefinedEffect } from '../../../diagnostics/catalogue/template.ts';
import {
  FILTERS,
  FUNCTIONS,
  isFilterName,
  isTestName,
  TESTS,
  type FilterName,
} from '../../../schema/template-vocabulary.ts';
import type { Expression, FilterCall } from '../../../schema/template.ts';
import { reportArguments } from './call-arguments.ts';
import { isPrintfFormat } from './format-conversion.ts';
import { undefinedEffect } from '../templates/static-value.ts';

/** A filter must exist, and its arguments must match. Otherwise, rendering fails. */
export function unknownFilterRule(filter: FilterCall, context: TemplateWalker): void {
  const { name } = filter;
  // A missing name is a syntax error, which has its own diagnostic.
  if (name === '') return;
  if (!isFilterName(name)) {
    reportFilter(name, filter, context);
    return;
  }
  if (isPrintfFormat(filter, context)) return;
  const parameters = name === 'format' ? formatParameters(filter) : FILTERS[name];
  reportArguments({ what: `filter "${name}"`, parameters, ...filter }, context);
  const [inner] = filter.args.positional;
  if (name === 'map' && inner?.kind === 'string' && !isFilterName(inner.value)) {
    reportFilter(inner.value, inner, context);
  }
}

/** Filters under the names of other template languages and of methods. */
const OTHER_NAMES: ReadonlyMap<string, FilterName> = new Map([
  ['downcase', 'lower'],
  ['lowercase', 'lower'],
  ['tolower', 'lower'],
  ['upcase', 'upper'],
  ['uppercase', 'upper'],
  ['toupper', 'upper'],
  ['len', 'length'],
  ['size', 'length'],
  ['json', 'tojson'],
  ['stringify', 'tojson'],
  ['str', 'string'],
  ['strip', 'trim'],
]);

function reportFilter(name: string, at: FilterCall | Expression, context: TemplateWalker): void {
  const known = OTHER_NAMES.get(name.toLowerCase().replaceAll(/[_-]/gu, ''));
  const help = known && `Write "${known}".`;
  context.report('template/unknown-filter', at, { name, names: Object.keys(FILTERS), help });
}

/** `format=` is another name for `type=`. One of them is required. */
function formatParameters({ args }: FilterCall): readonly string[] {
  const [type, ...others] = FILTERS.format;
  return args.named.some((entry) => entry.name === 'format') ? FILTERS.format : [type.replace('?', ''), ...others];
}

/** A test must exist, and its arguments must match. Otherwise, rendering fails. */
export function unknownTestRule(expression: Expression, context: TemplateWalker): void {
  if (expression.kind !== 'test') return;
  const { name } = expression;
  if (isTestName(name)) reportArguments({ what: `test "${name}"`, parameters: TESTS[name], ...expression }, context);
  else {
    const testNull = expression.negated ? presenceTest : absenceTest;
    const help = NULL.test(name) ? testNull(nameOf(expression.input)) : undefined;
    context.report('template/unknown-test', expression, { name, names: Object.keys(TESTS), help });
  }
}

/** A name must be declared. An unknown variable is undefined; with an unknown function, rendering fails. */
export function unknownVariableRule(expression: Expression, context: TemplateWalker): void {
  if (expression.kind === 'call' && expression.callee.kind === 'name') {
    const { callee } = expression;
    if (context.valueOf(callee).kind !== 'missing') return;
    const names = [...Object.keys(FUNCTIONS), ...context.definitions.templateStrings.keys()];
    context.report('template/unknown-function', callee, { name: callee.name, names });
  } else if (expression.kind === 'name' && context.valueOf(expression).kind === 'missing') {
    reportVariable(expression, expression.name, context);
  }
}

function reportVariable(expression: Expression, name: string, context: TemplateWalker): void {
  const effect = undefinedEffect(expression, context.place());
  const names = [...context.visibleNames()];
  const help = NULL.test(name)
    ? nullHelp(expression, effect, context)
    : (roleHelp(name, context) ?? conditionHelp(name, names, context));
  context.report('template/unknown-variable', expression, { name, names, effect, help });
}

/** `_.role(user)`, without quotes. */
function roleHelp(name: string, context: TemplateWalker): string | undefined {
  const outer = context.place().ancestors.at(-1);
  const object = outer?.kind === 'call' && outer.callee.kind === 'attribute' ? outer.callee.object : undefined;
  if (object === undefined || context.valueOf(object).kind !== 'chat') return undefined;
  return `Write "${name}" in quotes.`;
}

/** The value of a condition has one name. */
function conditionHelp(name: string, names: readonly string[], context: TemplateWalker): string | undefined {
  if (!context.isCondition) return undefined;
  return didYouMean(name, names) || 'In a condition, "this" is the value.';
}

/** Names of the null of other languages. */
const NULL = /^(?:null|nil|undefined|none)$/iu;

/** The value in a comparison can be undefined, an omitted argument, which is not equal to `none`. */
function nullHelp(expression: Expression, effect: UndefinedEffect, context: TemplateWalker): string {
  const outer = context.place().ancestors.at(-1);
  if (outer?.kind !== 'binary' || (outer.operator !== '==' && outer.operator !== '!=')) {
    return effect === 'prints-nothing' ? 'Write `""`: "none" would print "null".' : 'Write "none".';
  }
  const name = nameOf(outer.left === expression ? outer.right : outer.left);
  return outer.operator === '==' ? absenceTest(name) : presenceTest(name);
}

/** Returns the text of `name` and `name.field`, or `x` for any other expression. */
function nameOf(expression: Expression): string {
  if (expression.kind === 'attribute') return `${nameOf(expression.object)}.${expression.name}`;
  return expression.kind === 'name' ? expression.name : 'x';
}

function presenceTest(name: string): string {
  return `Write "${name} is defined and ${name} is not none", or only "${name}" if an empty value counts as missing.`;
}

function absenceTest(name: string): string {
  return `Write "${name} is undefined or ${name} is none", or only "not ${name}" if an empty value counts as missing.`;
}

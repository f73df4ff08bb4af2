import { unusedParameter } from '../../../diagnostics/catalogue/template.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { Expression, Template } from '../../../schema/template.ts';
import { callArgumentsRule } from './call-arguments-rule.ts';
import { debugCallRule } from './debug-call-rule.ts';
import { enumComparisonRule } from './enum-comparison-rule.ts';
import { literalArgumentsRule } from './literal-arguments-rule.ts';
import { namesIn } from './names-in.ts';
import { outputFormatRule } from './output-format-rule.ts';
import { CONTEXT, type StaticValue, typed } from './static-value.ts';
import type { TemplateRule } from './template-rule.ts';
import type { ConstraintScope, TemplateScope } from './template-scope.ts';
import { TemplateWalker } from './template-walker.ts';
import { unknownFieldRule } from './unknown-field-rule.ts';
import { unknownFilterRule } from './unknown-filter-rule.ts';
import { unknownMethodRule } from './unknown-method-rule.ts';
import { unknownTestRule } from './unknown-test-rule.ts';
import { unknownVariableRule } from './unknown-variable-rule.ts';

const EXPRESSION_RULES: readonly TemplateRule[] = [
  unknownVariableRule,
  unknownFieldRule,
  unknownMethodRule,
  unknownTestRule,
  callArgumentsRule,
  debugCallRule,
  literalArgumentsRule,
  enumComparisonRule,
];
const RULES = { expression: EXPRESSION_RULES, filter: unknownFilterRule };

/** Checks a prompt or template_string against what it may refer to. Errors are what fails for certain when it is rendered. */
export function checkTemplate(template: Template, scope: TemplateScope): readonly Diagnostic[] {
  const names = new Map<string, StaticValue>([
    ['ctx', CONTEXT],
    ['_', { kind: 'chat' }],
    ...scope.parameters.map(({ name, type }): [string, StaticValue] => [name, typed(type)]),
  ]);
  const walker = new TemplateWalker({ file: template.file, definitions: scope.definitions }, names, RULES);
  walker.body(template.body);
  return [...walker.diagnostics, ...unusedParameters(template, scope), ...outputFormatRule(template, scope)];
}

/** Checks the expression of an `@assert` or `@check`. */
export function checkConstraint(expression: Expression, scope: ConstraintScope): readonly Diagnostic[] {
  const names = new Map<string, StaticValue>([['this', typed(scope.subject)]]);
  const walker = new TemplateWalker(scope, names, RULES);
  walker.expression(expression);
  return walker.diagnostics;
}

/** A parameter that the prompt does not use is a cost to every caller: a warning. */
function unusedParameters(template: Template, scope: TemplateScope): readonly Diagnostic[] {
  const { read } = namesIn(template.body);
  const passedOn = namesReadByTemplateStrings(read, scope);
  return scope.parameters
    .filter(({ name }) => !read.has(name) && !passedOn.has(name))
    .map(({ name }) => {
      const span = scope.parameterSpans?.get(name) ?? scope.declaration;
      return unusedParameter(span, name, mistakenUse(template, name));
    });
}

/** `{name}`, `${name}` or `$name` in the text, as other languages put a value into a text. */
function mistakenUse(template: Template, name: string): string | undefined {
  const pattern = new RegExp(`\\$?\\{ ?${name} ?\\}|\\$${name}\\b`, 'u');
  for (const statement of template.body) {
    const found = statement.kind === 'text' ? pattern.exec(statement.text) : null;
    if (found !== null) return found[0];
  }
  return undefined;
}

/** A template_string sees the arguments of the function that uses it. */
function namesReadByTemplateStrings(names: ReadonlySet<string>, { definitions }: TemplateScope): ReadonlySet<string> {
  const read = new Set<string>();
  const stack = [...names];
  const seen = new Set<string>();
  for (let name = stack.pop(); name !== undefined; name = stack.pop()) {
    const used = seen.has(name) ? undefined : definitions.templateStrings.get(name);
    seen.add(name);
    if (used === undefined) continue;
    for (const inner of namesIn(used.template.body).read) {
      read.add(inner);
      stack.push(inner);
    }
  }
  return read;
}

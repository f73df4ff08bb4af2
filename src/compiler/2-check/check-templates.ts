import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Span } from '../../diagnostics/span.ts';
import type { DefinitionIndex, FunctionType, TemplateStringType, Definitions } from '../../schema/program.ts';
import { isAlwaysStructured, type StructuredClient } from '../../schema/structured-output.ts';
import type { Expression, Template } from '../../schema/template.ts';
import type { Type } from '../../schema/type.ts';
import type { FunctionNode, TemplateStringNode } from '../1-parse/syntax-nodes.ts';
import { entryValue } from './node-values.ts';
import type { CheckContext } from './check-context.ts';
import { unusedParameter } from '../../diagnostics/catalogue/template.ts';
import { callArgumentsRule, debugCallRule } from './template-rules/call-arguments-rule.ts';
import { enumComparisonRule } from './template-rules/enum-comparison-rule.ts';
import { literalArgumentsRule } from './template-rules/literal-arguments-rule.ts';
import { formatConversionRule } from './template-rules/format-rule.ts';
import { roleRule } from './template-rules/role-rule.ts';
import { unpackingRule } from './template-rules/unpacking-rule.ts';
import { plainTextUse } from './template-rules/plain-text-use.ts';
import { reachedNames } from './template-rules/reached-names.ts';
import { outputFormatRule } from './template-rules/output-format-rule.ts';
import { CONTEXT, typed, type StaticValue } from './template-rules/static-value.ts';
import type { ConstraintScope, TemplateRule, TemplateScope } from './template-rules/template-rule.ts';
import { TemplateWalker } from './template-rules/template-walker.ts';
import { unknownFieldRule } from './template-rules/unknown-field-rule.ts';
import { unknownFilterRule, unknownTestRule, unknownVariableRule } from './template-rules/unknown-names-rule.ts';
import { unknownMethodRule } from './template-rules/unknown-method-rule.ts';

interface Indexed {
  readonly index: DefinitionIndex;
  /** The clients of each function. */
  readonly clientsOf: ReadonlyMap<string, readonly StructuredClient[]>;
}

/** Applies the rules for templates to every prompt, template_string and constraint. */
export function checkTemplates(context: CheckContext, definitions: Definitions, { index, clientsOf }: Indexed): void {
  const { scope } = context;
  const found: Diagnostic[] = [];
  for (const fn of definitions.functions) {
    const node = scope.functions.get(fn.name);
    // A function without a prompt has its own diagnostic.
    if (node === undefined || entryValue(node.entries, 'prompt')?.kind !== 'raw-string') continue;
    const returns =
      node.returns === undefined || isAlwaysStructured(clientsOf.get(fn.name) ?? []) ? {} : { returns: fn.returns };
    found.push(...problemsOf(context, fn.prompt, { ...scopeOf(node, fn, index), ...returns }));
  }
  for (const text of definitions.templateStrings) {
    const node = scope.templateStrings.get(text.name);
    if (node !== undefined) found.push(...problemsOf(context, text.template, scopeOf(node, text, index)));
  }
  found.push(...new ConstraintWalk(context, index).run(definitions));
  context.diagnostics.push(...distinct(found));
}

/** Codes for missing parts, reported only if the whole template is readable. */
const MISSING_PARTS = new Set(['template/unused-parameter', 'template/no-output-format']);

function problemsOf(
  { templates }: CheckContext,
  template: Template,
  scope: Parameters<typeof checkTemplate>[1],
): readonly Diagnostic[] {
  const problems = checkTemplate(template, scope);
  return templates.isReadable(template) ? problems : problems.filter(({ code }) => !MISSING_PARTS.has(code));
}

function scopeOf(
  node: FunctionNode | TemplateStringNode,
  { parameters }: FunctionType | TemplateStringType,
  definitions: DefinitionIndex,
): Parameters<typeof checkTemplate>[1] {
  const parameterSpans = new Map<string, Span>(node.parameters.map(({ name }) => [name.text, name.span]));
  return { definitions, parameters, declaration: node.name.span, parameterSpans };
}

/** Checks every constraint in the definitions against its type. */
class ConstraintWalk {
  readonly #context: CheckContext;
  readonly #definitions: DefinitionIndex;
  readonly #found: Diagnostic[] = [];

  constructor(context: CheckContext, definitions: DefinitionIndex) {
    this.#context = context;
    this.#definitions = definitions;
  }

  run({ classes, enums, aliases, functions }: Definitions): readonly Diagnostic[] {
    for (const type of classes) {
      const file = this.#fileOf(this.#context.scope.classes.get(type.name));
      this.#constraints({ kind: 'class', name: type.name, constraints: type.constraints }, file);
      for (const field of type.fields) this.#type(field.type, file);
    }
    for (const { name, constraints = [] } of enums) {
      this.#constraints({ kind: 'enum', name, constraints }, this.#fileOf(this.#context.scope.enums.get(name)));
    }
    for (const alias of aliases) this.#type(alias.type, this.#fileOf(this.#context.scope.aliases.get(alias.name)));
    for (const fn of functions) {
      const file = this.#fileOf(this.#context.scope.functions.get(fn.name));
      for (const type of [...fn.parameters.map((parameter) => parameter.type), fn.returns]) this.#type(type, file);
    }
    return this.#found;
  }

  #type(type: Type, file: string): void {
    this.#constraints(type, file);
    if (type.kind === 'list') this.#type(type.element, file);
    if (type.kind === 'map') for (const part of [type.key, type.value]) this.#type(part, file);
    if (type.kind === 'union') for (const member of type.members) this.#type(member, file);
  }

  #constraints(subject: Type, file: string): void {
    for (const { expression } of subject.constraints ?? []) {
      const declared = this.#context.templates.fileOf(expression) ?? file;
      this.#found.push(...checkConstraint(expression, { definitions: this.#definitions, file: declared, subject }));
    }
  }

  #fileOf(node: { readonly span: Span } | undefined): string {
    return node?.span.file ?? '';
  }
}

/** Drops duplicates: a walk visits a constraint at each use. */
export function distinct(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...new Map(diagnostics.map((diagnostic) => [placeOf(diagnostic), diagnostic])).values()];
}

function placeOf({ code, span }: Diagnostic): string {
  return `${code} ${span.file} ${span.start} ${span.end}`;
}

const EXPRESSION_RULES: readonly TemplateRule[] = [
  unknownVariableRule,
  unknownFieldRule,
  unknownMethodRule,
  unknownTestRule,
  callArgumentsRule,
  debugCallRule,
  roleRule,
  formatConversionRule,
  literalArgumentsRule,
  enumComparisonRule,
];
const RULES = { expression: EXPRESSION_RULES, filter: unknownFilterRule, assignment: unpackingRule };

/**
 * Checks a prompt or template_string against the names in scope. Errors are problems that certainly fail a rendering.
 */
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
function checkConstraint(expression: Expression, scope: ConstraintScope): readonly Diagnostic[] {
  return checkCondition(expression, scope, new Map([['this', typed(scope.subject)]]));
}

/** Checks an expression against the names in its scope. */
export function checkCondition(
  expression: Expression,
  place: Pick<ConstraintScope, 'definitions' | 'file'>,
  names: ReadonlyMap<string, StaticValue>,
  rules: readonly TemplateRule[] = [],
): readonly Diagnostic[] {
  const walker = new TemplateWalker(place, new Map(names), { ...RULES, expression: [...EXPRESSION_RULES, ...rules] });
  walker.expression(expression);
  return walker.diagnostics;
}

/** Warns about a parameter that the prompt does not use: every caller has to send it for nothing. */
function unusedParameters(template: Template, scope: TemplateScope): readonly Diagnostic[] {
  const { read } = reachedNames(template, scope.definitions);
  return scope.parameters
    .filter(({ name }) => !read.has(name))
    .map(({ name }) => {
      const span = scope.parameterSpans?.get(name) ?? scope.declaration;
      return unusedParameter(span, name, plainTextUse(template, otherUse(name)));
    });
}

/** `{name}`, `${name}` or `$name`, the interpolation of other languages. */
function otherUse(name: string): RegExp {
  return new RegExp(`\\$?\\{ ?${name} ?\\}|\\$${name}\\b`, 'u');
}

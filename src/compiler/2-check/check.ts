import { withInside } from '../../schema/type-graph.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import {
  type Definitions,
  type TestType,
  indexDefinitions,
  type DefinitionIndex,
  type FunctionType,
  type ParameterType,
  type TemplateStringType,
} from '../../schema/program.ts';
import type { DocumentNode, FunctionNode, TemplateStringNode } from '../1-parse/syntax-nodes.ts';
import type { CompileOptions } from '../compile-options.ts';
import { lenient } from '../1-parse/parse.ts';
import { CheckContext } from './check-context.ts';
import { structuredClients, isAlwaysStructured, type StructuredClient } from '../../schema/structured-output.ts';
import { buildDefinitions, buildTest } from './build-definitions.ts';
import { rolesOf } from './rules/roles.ts';
import { RULES } from './rules.ts';
import type { Span } from '../../diagnostics/span.ts';
import type { Expression, Template } from '../../schema/template.ts';
import type { Type } from '../../schema/type.ts';
import { entryValue } from './node-values.ts';
import { CONTEXT, typed, type StaticValue, ANY, object, type TemplateScope } from './templates/static-value.ts';
import { TemplateWalker, type TemplateRule } from './templates/template-walker.ts';

export interface Checked {
  readonly diagnostics: readonly Diagnostic[];
  /** Valid only if no diagnostic is an error; absent if a type is too large to build. */
  readonly definitions?: Definitions;
  /** The `test` blocks, in the order of files and lines. */
  readonly tests: readonly TestType[];
}

/** The result of the checker with its own view of the definitions, for a reader of the syntax. */
export interface Analysis extends Checked {
  readonly context: CheckContext;
}

/** Applies every rule to the definitions of all files together, and resolves names and types. Never throws. */
export function check(documents: readonly DocumentNode[], options: CompileOptions): Analysis {
  const context = new CheckContext(documents, options);
  for (const rule of RULES.size) rule(context);
  if (context.diagnostics.length > 0)
    return { context, diagnostics: lenient(context.diagnostics, documents), tests: [] };
  for (const rule of RULES.definitions) rule(context);
  const definitions = buildDefinitions(context);
  const built = context.scope.tests.map((node) => buildTest(node, context));
  const index = indexDefinitions(definitions);
  const clientsOf = new Map(definitions.functions.map((fn) => [fn.name, structuredClients(fn, index)]));
  checkTemplates(context, index, clientsOf);
  for (const rule of RULES.clients) rule(context, index, clientsOf);
  checkTestConditions(context, index, built);
  const diagnostics = [...context.diagnostics, ...context.templates.diagnostics];
  return { context, definitions, tests: built, diagnostics: lenient(diagnostics, documents) };
}

/** Applies the rules for templates to every prompt, template_string and constraint. */
function checkTemplates(
  context: CheckContext,
  index: DefinitionIndex,
  clientsOf: ReadonlyMap<string, readonly StructuredClient[]>,
): void {
  const { scope } = context;
  const found: Diagnostic[] = [];
  for (const fn of index.functions.values()) {
    const node = scope.functions.get(fn.name);
    // A function without a prompt has its own diagnostic.
    if (node === undefined || entryValue(node.entries, 'prompt')?.kind !== 'raw-string') continue;
    const clients = clientsOf.get(fn.name) ?? [];
    const returns = node.returns === undefined || isAlwaysStructured(clients) ? {} : { returns: fn.returns };
    const roles = rolesOf(
      clients.map(({ client }) => client),
      index,
    );
    found.push(...problemsOf(context, fn.prompt, { ...scopeOf(node, fn, index), roles, ...returns }));
  }
  // Any function can use a template_string, directly or through another one.
  const roles = rolesOf(
    [...clientsOf.values()].flat().map(({ client }) => client),
    index,
  );
  for (const text of index.templateStrings.values()) {
    const node = scope.templateStrings.get(text.name);
    if (node !== undefined) found.push(...problemsOf(context, text.template, { ...scopeOf(node, text, index), roles }));
  }
  found.push(...constraintProblems(context, index));
  context.diagnostics.push(...distinct(found));
}

/** Codes for missing parts, and for values, which unreadable parts change: reported only if the whole template is readable. */
const OF_WHOLE_TEMPLATES = new Set([
  'template/unused-parameter',
  'template/no-output-format',
  'template/wrong-operand',
  'template/missing-operand',
]);

function problemsOf(
  { templates }: CheckContext,
  template: Template,
  scope: Parameters<typeof checkTemplate>[1],
): readonly Diagnostic[] {
  const problems = checkTemplate(template, scope);
  return templates.isReadable(template) ? problems : problems.filter(({ code }) => !OF_WHOLE_TEMPLATES.has(code));
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
function constraintProblems({ templates }: CheckContext, definitions: DefinitionIndex): readonly Diagnostic[] {
  return everyType(definitions).flatMap((subject) =>
    (subject.constraints ?? []).flatMap(({ expression }) => {
      const place = { definitions, file: templates.fileOf(expression) };
      return checkCondition(expression, place, new Map([['this', typed(subject)]]));
    }),
  );
}

/** Every type in the definitions, with the types inside it, each with its constraints. */
export function everyType({ classes, enums, aliases, functions }: DefinitionIndex): readonly Type[] {
  const types: readonly Type[] = [
    ...[...classes.values()].flatMap(({ name, constraints, fields }): readonly Type[] => [
      { kind: 'class', name, constraints },
      ...fields.map(({ type }) => type),
    ]),
    ...[...enums.values()].map(({ name, constraints = [] }): Type => ({ kind: 'enum', name, constraints })),
    ...[...aliases.values()].map(({ type }) => type),
    ...[...functions.values()].flatMap(({ parameters, returns }) => [...parameters.map(({ type }) => type), returns]),
  ];
  return types.flatMap(withInside);
}

/** Drops duplicates: a walk visits a constraint at each use. */
function distinct(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...new Map(diagnostics.map((diagnostic) => [placeOf(diagnostic), diagnostic])).values()];
}

function placeOf({ code, span }: Diagnostic): string {
  return `${code} ${span.file} ${span.start} ${span.end}`;
}

/**
 * Checks a prompt or template_string against the names in scope. Errors are problems that certainly fail a rendering.
 */
export function checkTemplate(template: Template, scope: TemplateScope): readonly Diagnostic[] {
  const names = namesOfTemplate(scope.parameters);
  const walker = new TemplateWalker(
    { file: template.file, definitions: scope.definitions, roles: scope.roles },
    names,
    RULES,
  );
  walker.body(template.body);
  return [...walker.diagnostics, ...RULES.templates.flatMap((rule) => rule(template, scope))];
}

/** The names in the scope of a prompt or template_string. */
export function namesOfTemplate(parameters: readonly ParameterType[]): Map<string, StaticValue> {
  return new Map<string, StaticValue>([
    ['ctx', CONTEXT],
    ['_', { kind: 'chat' }],
    ...parameters.map(({ name, type }): [string, StaticValue] => [name, typed(type)]),
  ]);
}

/** Checks an expression against the names in its scope. */
function checkCondition(
  expression: Expression,
  place: { readonly definitions: DefinitionIndex; readonly file: string },
  names: ReadonlyMap<string, StaticValue>,
  rules: readonly TemplateRule[] = [],
): readonly Diagnostic[] {
  const walker = new TemplateWalker({ ...place, isCondition: true }, new Map(names), {
    ...RULES,
    expressions: [...RULES.expressions, ...rules],
  });
  walker.expression(expression);
  return walker.diagnostics;
}

/**
 * Applies the rules for expressions to the conditions of every test, for each of its functions. A test that extends types
 * can name fields that the definitions do not have.
 */
function checkTestConditions(context: CheckContext, index: DefinitionIndex, tests: readonly TestType[]): void {
  const found: Diagnostic[] = [];
  for (const test of tests.filter(({ buildsTypes }) => !buildsTypes)) {
    for (const name of test.functions) {
      const fn = index.functions.get(name);
      // A function without a readable return type has its own diagnostic.
      if (fn === undefined || context.scope.functions.get(name)?.returns === undefined) continue;
      for (const [at, { expression }] of test.constraints.entries()) {
        const place = { definitions: index, file: test.span.file };
        found.push(...checkCondition(expression, place, namesOfCondition(test, at, fn), RULES.conditions));
      }
    }
  }
  context.diagnostics.push(...distinct(found));
}

/** The names in the scope of a condition: `_.checks` has the checks before it. */
export function namesOfCondition(test: TestType, at: number, fn: FunctionType): Map<string, StaticValue> {
  const labels = test.constraints
    .slice(0, at)
    .flatMap(({ level, label }) => (level === 'check' && label !== undefined ? [label] : []));
  const checks = object('_.checks', Object.fromEntries(labels.map((label) => [label, ANY])));
  return new Map<string, StaticValue>([
    ...fn.parameters.map(({ name, type }) => [name, typed(type)] as const),
    ['this', typed(fn.returns)],
    ['_', object('_', { result: typed(fn.returns), checks, latency_ms: ANY })],
  ]);
}

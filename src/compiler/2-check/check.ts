import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import {
  type Definitions,
  type TestType,
  indexDefinitions,
  type DefinitionIndex,
  type FunctionType,
  type TemplateStringType,
} from '../../schema/program.ts';
import type { DocumentNode, FunctionNode, TemplateStringNode } from '../1-parse/syntax-nodes.ts';
import type { CompileOptions } from '../compile-options.ts';
import { lenient } from '../1-parse/parse.ts';
import { CheckContext } from './check-context.ts';
import { structuredClients, isAlwaysStructured, type StructuredClient } from '../../schema/structured-output.ts';
import { buildDefinitions, buildTest } from './build-definitions.ts';
import { RULES } from './rules.ts';
import type { Span } from '../../diagnostics/span.ts';
import type { Expression, Template } from '../../schema/template.ts';
import type { Type } from '../../schema/type.ts';
import { entryValue } from './node-values.ts';
import {
  CONTEXT,
  typed,
  type StaticValue,
  ANY,
  object,
  type ConstraintScope,
  type TemplateRule,
  type TemplateScope,
} from './templates/template-rule.ts';
import { TemplateWalker } from './templates/template-walker.ts';

interface Checked {
  readonly diagnostics: readonly Diagnostic[];
  /** Valid only if no diagnostic is an error; absent if a type is too large to build. */
  readonly definitions?: Definitions;
  /** The `test` blocks, in the order of files and lines. */
  readonly tests: readonly TestType[];
}

/** Applies every rule to the definitions of all files together, and resolves names and types. Never throws. */
export function check(documents: readonly DocumentNode[], options: CompileOptions): Checked {
  const context = new CheckContext(documents, options);
  for (const rule of RULES.size) rule(context);
  if (context.diagnostics.length > 0) return { diagnostics: lenient(context.diagnostics, documents), tests: [] };
  for (const rule of RULES.definitions) rule(context);
  const definitions = buildDefinitions(context);
  const built = context.scope.tests.map((node) => buildTest(node, context));
  const index = indexDefinitions(definitions);
  const clientsOf = new Map(definitions.functions.map((fn) => [fn.name, structuredClients(fn, index)]));
  checkTemplates(context, definitions, { index, clientsOf });
  for (const rule of RULES.clients) rule(context, index, clientsOf);
  checkTestConditions(context, definitions, built);
  const diagnostics = [...context.diagnostics, ...context.templates.diagnostics];
  return { definitions, tests: built, diagnostics: lenient(diagnostics, documents) };
}

interface Indexed {
  readonly index: DefinitionIndex;
  /** The clients of each function. */
  readonly clientsOf: ReadonlyMap<string, readonly StructuredClient[]>;
}

/** Applies the rules for templates to every prompt, template_string and constraint. */
function checkTemplates(context: CheckContext, definitions: Definitions, { index, clientsOf }: Indexed): void {
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
  const names = new Map<string, StaticValue>([
    ['ctx', CONTEXT],
    ['_', { kind: 'chat' }],
    ...scope.parameters.map(({ name, type }): [string, StaticValue] => [name, typed(type)]),
  ]);
  const walker = new TemplateWalker({ file: template.file, definitions: scope.definitions }, names, RULES);
  walker.body(template.body);
  return [...walker.diagnostics, ...RULES.templates.flatMap((rule) => rule(template, scope))];
}

/** Checks the expression of an `@assert` or `@check`. */
function checkConstraint(expression: Expression, scope: ConstraintScope): readonly Diagnostic[] {
  return checkCondition(expression, scope, new Map([['this', typed(scope.subject)]]));
}

/** Checks an expression against the names in its scope. */
function checkCondition(
  expression: Expression,
  place: Pick<ConstraintScope, 'definitions' | 'file'>,
  names: ReadonlyMap<string, StaticValue>,
  rules: readonly TemplateRule[] = [],
): readonly Diagnostic[] {
  const walker = new TemplateWalker(place, new Map(names), { ...RULES, expressions: [...RULES.expressions, ...rules] });
  walker.expression(expression);
  return walker.diagnostics;
}

/**
 * Applies the rules for expressions to the conditions of every test, for each of its functions. A test that extends types
 * can name fields that the definitions do not have.
 */
function checkTestConditions(context: CheckContext, definitions: Definitions, tests: readonly TestType[]): void {
  const index = indexDefinitions(definitions);
  const found: Diagnostic[] = [];
  for (const test of tests.filter(({ buildsTypes }) => !buildsTypes)) {
    for (const name of test.functions) {
      const fn = index.functions.get(name);
      // A function without a readable return type has its own diagnostic.
      if (fn === undefined || context.scope.functions.get(name)?.returns === undefined) continue;
      for (const [at, { expression }] of test.constraints.entries()) {
        const place = { definitions: index, file: test.span.file };
        found.push(...checkCondition(expression, place, namesBefore(test, at, fn), RULES.conditions));
      }
    }
  }
  context.diagnostics.push(...distinct(found));
}

/** The names in the scope of a condition: `_.checks` has the checks before it. */
function namesBefore(test: TestType, at: number, fn: FunctionType): ReadonlyMap<string, StaticValue> {
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

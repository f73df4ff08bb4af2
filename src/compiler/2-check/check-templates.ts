import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Span } from '../../diagnostics/span.ts';
import { indexDefinitions, type DefinitionIndex } from '../../schema/definition-index.ts';
import type { FunctionType, TemplateStringType } from '../../schema/function.ts';
import type { Definitions } from '../../schema/program.ts';
import type { Template } from '../../schema/template.ts';
import type { Type } from '../../schema/type.ts';
import type { FunctionNode, TemplateStringNode } from '../1-parse/syntax-nodes.ts';
import { valueOf } from './build/text-of.ts';
import type { CheckContext } from './check-context.ts';
import { checkConstraint, checkTemplate } from './template-rules/check-template.ts';

/** Applies the laws of templates to every prompt, template_string and constraint. */
export function checkTemplates(context: CheckContext, definitions: Definitions): void {
  const { scope } = context;
  const index = indexDefinitions(definitions);
  const found: Diagnostic[] = [];
  for (const fn of definitions.functions) {
    const node = scope.functions.get(fn.name);
    // Without a prompt there is nothing to check; that has its own diagnostic.
    if (node === undefined || valueOf(node.entries, 'prompt')?.kind !== 'raw-string') continue;
    const returns = node.returns === undefined ? {} : { returns: fn.returns };
    found.push(...problemsOf(context, fn.prompt, { ...scopeOf(node, fn, index), ...returns }));
  }
  for (const text of definitions.templateStrings) {
    const node = scope.templateStrings.get(text.name);
    if (node !== undefined) found.push(...problemsOf(context, text.template, scopeOf(node, text, index)));
  }
  found.push(...new ConstraintWalk(context, index).run(definitions));
  context.diagnostics.push(...distinct(found));
}

/** What a template lacks is told only when all of it could be read. */
const LACKS = new Set(['template/unused-parameter', 'template/no-output-format']);

function problemsOf(
  { templates }: CheckContext,
  template: Template,
  scope: Parameters<typeof checkTemplate>[1],
): readonly Diagnostic[] {
  const problems = checkTemplate(template, scope);
  return templates.isReadable(template) ? problems : problems.filter(({ code }) => !LACKS.has(code));
}

function scopeOf(
  node: FunctionNode | TemplateStringNode,
  { parameters }: FunctionType | TemplateStringType,
  definitions: DefinitionIndex,
): Parameters<typeof checkTemplate>[1] {
  const parameterSpans = new Map<string, Span>(node.parameters.map(({ name }) => [name.text, name.span]));
  return { definitions, parameters, declaration: node.name.span, parameterSpans };
}

/** Finds every constraint in the definitions, with the type that it is about. */
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

/** A constraint of an alias is met at each use, but its problems are told once. */
function distinct(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...new Map(diagnostics.map((diagnostic) => [placeOf(diagnostic), diagnostic])).values()];
}

function placeOf({ code, span }: Diagnostic): string {
  return `${code} ${span.file} ${span.start} ${span.end}`;
}

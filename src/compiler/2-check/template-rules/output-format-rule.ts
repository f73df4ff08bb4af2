import { missingOutputFormat } from '../../../diagnostics/catalogue/template.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { Statement, Template } from '../../../schema/template.ts';
import type { Type } from '../../../schema/type.ts';
import { namesInTemplate } from './names-in.ts';
import type { TemplateScope } from './template-rule.ts';

/**
 * The prompt of a function with a structured return type must contain `ctx.output_format`, directly or in a
 * template_string that it uses. A prompt without it is a warning, because the model has to guess the format.
 */
export function outputFormatRule(template: Template, scope: TemplateScope): readonly Diagnostic[] {
  const { returns, definitions, declaration } = scope;
  if (returns === undefined || !isStructured(returns)) return [];
  return mentionsOutputFormat(template, definitions) ? [] : [missingOutputFormat(declaration)];
}

function isStructured(type: Type): boolean {
  if (type.kind === 'union') return type.members.some(isStructured);
  // The placeholder for an unresolved type, which can be any type.
  if (type.kind === 'alias' && type.name === '') return false;
  return ['class', 'enum', 'list', 'map', 'alias'].includes(type.kind);
}

/** A use of `ctx` as a whole counts, because the prompt can pass it on. */
function mentionsOutputFormat(template: Template, definitions: DefinitionIndex): boolean {
  const seen = new Set<string>();
  const stack: (readonly Statement[])[] = [template.body];
  for (let body = stack.pop(); body !== undefined; body = stack.pop()) {
    const names = namesInTemplate(body);
    if (names.attributes.has('output_format') || names.bare.has('ctx')) return true;
    for (const name of names.read) {
      const used = seen.has(name) ? undefined : definitions.templateStrings.get(name);
      seen.add(name);
      if (used !== undefined) stack.push(used.template.body);
    }
  }
  return false;
}

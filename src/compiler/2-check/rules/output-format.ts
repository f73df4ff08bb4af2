import { templateDiagnostic } from '../../../diagnostics/catalogue/template.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { Template } from '../../../schema/template.ts';
import type { Type } from '../../../schema/type.ts';
import { plainTextUse, reachedNames } from '../templates/template-walker.ts';
import type { TemplateScope } from '../templates/static-value.ts';

/**
 * The prompt of a function with a structured return type must contain `ctx.output_format`, directly or in a
 * template_string that it uses, unless every client of the function sends the type as a schema. A prompt without it is a
 * warning, because the model has to guess the format.
 */
export function outputFormatRule(template: Template, scope: TemplateScope): readonly Diagnostic[] {
  const { returns, definitions, declaration } = scope;
  if (returns === undefined || !isStructured(returns)) return [];
  const { attributes, bare } = reachedNames(template, definitions);
  // A use of `ctx` as a whole counts, because the prompt can pass it on.
  return attributes.has('output_format') || bare.has('ctx')
    ? []
    : [templateDiagnostic('template/no-output-format', declaration, { mistaken: plainTextUse(template, OTHER_USE) })];
}

/** `{ctx.output_format}` or `${ctx.output_format}`, the interpolation of other languages. */
const OTHER_USE = /\$?\{ ?ctx\.output_format ?\}/u;

function isStructured(type: Type): boolean {
  if (type.kind === 'union') return type.members.some(isStructured);
  // The placeholder for an unresolved type, which can be any type.
  if (type.kind === 'alias' && type.name === '') return false;
  return ['class', 'enum', 'list', 'map', 'alias'].includes(type.kind);
}

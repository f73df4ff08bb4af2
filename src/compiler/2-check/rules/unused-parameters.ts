import { templateDiagnostic } from '../../../diagnostics/catalogue/template.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { Template } from '../../../schema/template.ts';
import { plainTextUse, reachedNames } from '../templates/template-walker.ts';
import type { TemplateScope } from '../templates/static-value.ts';

/** Warns about a parameter that the prompt does not use: every caller has to send it for nothing. */
export function unusedParameters(template: Template, scope: TemplateScope): readonly Diagnostic[] {
  const { read } = reachedNames(template, scope.definitions);
  return scope.parameters
    .filter(({ name }) => !read.has(name))
    .map(({ name }) => {
      const span = scope.parameterSpans?.get(name) ?? scope.declaration;
      return templateDiagnostic('template/unused-parameter', span, {
        name,
        mistaken: plainTextUse(template, otherUse(name)),
      });
    });
}

/** `{name}`, `${name}` or `$name`, the interpolation of other languages. */
function otherUse(name: string): RegExp {
  return new RegExp(`\\$?\\{ ?${name} ?\\}|\\$${name}\\b`, 'u');
}

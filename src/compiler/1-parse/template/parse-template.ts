import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { Expression, Template } from '../../../schema/template.ts';
import type { TemplateSource } from '../template-source.ts';
import { ExpressionParser } from './expression-parser.ts';
import { ParseContext } from './parse-context.ts';
import { splitTemplate } from './split-template.ts';
import { StatementParser } from './statement-parser.ts';
import { TokenReader } from './token-reader.ts';
import { tokenizeExpression } from './tokenize-expression.ts';

/**
 * Parses a prompt or the body of a template_string. The template is always there, without the tags that have errors;
 * every tag with an error has one diagnostic. Linear in the text; nesting is bounded by a diagnostic.
 */
export function parseTemplate(source: TemplateSource): {
  readonly template: Template;
  readonly diagnostics: readonly Diagnostic[];
} {
  const context = new ParseContext(source);
  const body = new StatementParser(context, splitTemplate(context)).parse();
  return { template: { file: source.file, body }, diagnostics: context.diagnostics };
}

/** Parses what stands between the braces of `@assert(…, {{ here }})`. No expression when there is an error. */
export function parseExpression(source: TemplateSource): {
  readonly expression?: Expression;
  readonly diagnostics: readonly Diagnostic[];
} {
  const context = new ParseContext(source);
  const { tokens, sound } = tokenizeExpression(context, 0);
  if (!sound) return { diagnostics: context.diagnostics };
  const reader = new TokenReader(context, tokens);
  const expression = new ExpressionParser(reader).parse();
  reader.expectEnd();
  return reader.failed ? { diagnostics: context.diagnostics } : { expression, diagnostics: context.diagnostics };
}

import type { Diagnostic } from '../diagnostic.ts';
import type { Span } from '../span.ts';

// Syntax: an error each, the template cannot be rendered.

export function unclosedTag(span: Span, opener: string, closer: string): Diagnostic {
  return problem('unclosed-tag', span, `"${opener}" is never closed.`, `Close it with "${closer}".`);
}

export function unclosedString(span: Span): Diagnostic {
  return problem('unclosed-string', span, 'The string is never closed.', 'End it with the quote it begins with.');
}

export function unexpectedCharacter(span: Span, character: string): Diagnostic {
  return problem(
    'unexpected-character',
    span,
    `"${character}" means nothing in an expression.`,
    'Put text in quotes, or remove the character.',
  );
}

export function unexpectedToken(span: Span, expected: string, found: string): Diagnostic {
  return problem('unexpected-token', span, `Expected ${expected}, found ${found}.`);
}

export function badNumber(span: Span, text: string): Diagnostic {
  return problem('bad-number', span, `"${text}" is no number.`, 'Write numbers as 12, 1.5 or 1e3.');
}

export function unknownStatement(span: Span, name: string, help: string): Diagnostic {
  return problem('unknown-statement', span, `"${name}" is no statement of the template language.`, help);
}

export function unclosedBlock(span: Span, name: string): Diagnostic {
  return problem('unclosed-block', span, `"{% ${name} %}" has no end.`, `Add "{% end${name} %}".`);
}

export function unexpectedEnd(span: Span, name: string, open: string | undefined): Diagnostic {
  const help =
    open === undefined ? 'Remove it; no block is open here.' : `The open block ends with "{% end${open} %}".`;
  return problem('unexpected-end', span, `"{% ${name} %}" does not belong here.`, help);
}

export function tooDeep(span: Span): Diagnostic {
  return problem(
    'too-deep',
    span,
    'The template is nested too deeply.',
    'Split it with "{% set %}", "{% macro %}" or a template_string.',
  );
}

export function positionalAfterNamed(span: Span): Diagnostic {
  return problem(
    'positional-after-named',
    span,
    'An argument without a name follows one with a name.',
    'Put the arguments without names first.',
  );
}

export function reservedName(span: Span, name: string): Diagnostic {
  return problem('reserved-name', span, `"${name}" cannot be assigned to.`, 'Choose another name.');
}

function problem(code: string, span: Span, message: string, help?: string): Diagnostic {
  const base = { code: `template/${code}`, severity: 'error', message, span } as const;
  return help === undefined ? base : { ...base, help };
}

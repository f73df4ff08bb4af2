import { didYouMean } from '../../base/suggestion.ts';
import type { Diagnostic } from '../diagnostic.ts';
import type { Span } from '../span.ts';

// Syntax: all of these are errors, since svc cannot render the template.

export function unclosedTag(span: Span, opener: string, closer: string): Diagnostic {
  return problem('unclosed-tag', span, `"${opener}" is never closed.`, `Close it with "${closer}".`);
}

export function unclosedString(span: Span): Diagnostic {
  return problem('unclosed-string', span, 'The string is never closed.', 'End it with the quote it begins with.');
}

export function badEscape(span: Span, text: string): Diagnostic {
  return problem('bad-escape', span, `"${text}" is not an escape sequence.`, 'Write a backslash as "\\\\".');
}

/** The intention of users who know other languages. */
const HABITS: ReadonlyMap<string, string> = new Map([
  ['&', 'Write "and".'],
  ['!', 'Write "not".'],
  ['?', 'Write "value if condition else other".'],
]);

export function unexpectedCharacter(span: Span, character: string): Diagnostic {
  const help = HABITS.get(character) ?? 'Put text in quotes, or remove the character.';
  return problem('unexpected-character', span, `"${character}" has no meaning in an expression.`, help);
}

export function unexpectedToken(
  span: Span,
  { expected, found, help }: { readonly expected: string; readonly found: string; readonly help: string | undefined },
): Diagnostic {
  return problem('unexpected-token', span, `Expected ${expected}, found ${found}.`, help);
}

export function badNumber(span: Span, text: string): Diagnostic {
  return problem('bad-number', span, `"${text}" is not a number.`, 'Write numbers as 12, 1.5 or 1e3.');
}

export function inexactInteger(span: Span, text: string): Diagnostic {
  const help = 'Write it in quotes, as a string. Only integers up to 9007199254740992 are always exact.';
  return problem('inexact-integer', span, `svc cannot represent the number ${text} exactly.`, help);
}

export function unknownStatement(span: Span, name: string, help: string): Diagnostic {
  return problem('unknown-statement', span, `"${name}" is not a statement of the template language.`, help);
}

export function unclosedBlock(span: Span, name: string): Diagnostic {
  return problem('unclosed-block', span, `"{% ${name} %}" has no end.`, `Add "{% end${name} %}".`);
}

export function unexpectedEnd(span: Span, name: string, open: string | undefined): Diagnostic {
  const help =
    open === undefined ? 'Remove it; no block is open here.' : `The open block ends with "{% end${open} %}".`;
  return problem('unexpected-end', span, `"{% ${name} %}" does not belong here.`, help);
}

export function templateTooDeep(span: Span): Diagnostic {
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
  return problem('reserved-name', span, `You cannot assign to "${name}".`, 'Choose another name.');
}

// Names and arguments: warnings, because svc can serve all other calls. Those that reach the place fail, or print nothing
// there.

const CALLS_FAIL = 'calls that reach it fail';

/** The effect of an undefined value in its place. */
export type UndefinedEffect = 'fails' | 'prints-nothing' | 'undefined';

function withEffect(message: string, effect: UndefinedEffect): string {
  switch (effect) {
    case 'fails':
      return `${message}: ${CALLS_FAIL}.`;
    case 'prints-nothing':
      return `${message}, so nothing is printed.`;
    case 'undefined':
      return `${message}, so the value is undefined.`;
  }
}

/** Built-in values, and values that prompts do not have, by the names that users write for them. */
const BUILT_INS: ReadonlyMap<string, string> = new Map([
  ['role', 'Write `{{ _.role("user") }}`.'],
  ['chat', 'Write `{{ _.role("user") }}`.'],
  ['output_format', 'Write `ctx.output_format`.'],
  ['output_schema', 'Write `ctx.output_format`.'],
  ['format_instructions', 'Write `ctx.output_format`.'],
  ['client', 'Write `ctx.client`.'],
  ['tags', 'Write `ctx.tags`.'],
  ['env', 'Prompts cannot read environment variables: pass the value as a parameter.'],
]);

/** Functions of Python, by name. */
const PYTHON_FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['len', 'Write `value|length`.'],
  ['str', 'Write `value|string`.'],
  ['int', 'Write `value|int`.'],
  ['float', 'Write `value|float`.'],
  ['sorted', 'Write `value|sort`.'],
  ['sum', 'Write `value|sum`.'],
  ['min', 'Write `value|min`.'],
  ['max', 'Write `value|max`.'],
  ['enumerate', 'Inside the loop, `loop.index0` is the index.'],
]);

interface UnknownName {
  readonly name: string;
  readonly names: Iterable<string>;
  /** How to correct it, if that is known. */
  readonly help: string | undefined;
}

export function unknownVariable(
  span: Span,
  { name, names, effect, help }: UnknownName & { readonly effect: UndefinedEffect },
): Diagnostic {
  const advice = help ?? BUILT_INS.get(name) ?? didYouMean(name, names);
  return warning('unknown-variable', span, withEffect(`There is no variable "${name}"`, effect), advice);
}

export function unknownFunction(span: Span, name: string, names: Iterable<string>): Diagnostic {
  const message = `There is no function or template_string "${name}": ${CALLS_FAIL}.`;
  const help = PYTHON_FUNCTIONS.get(name) ?? BUILT_INS.get(name) ?? didYouMean(name, names);
  return warning('unknown-function', span, message, help);
}

export function unknownFilter(span: Span, name: string, names: Iterable<string>): Diagnostic {
  return warning('unknown-filter', span, `There is no filter "${name}": ${CALLS_FAIL}.`, didYouMean(name, names));
}

export function unknownTest(span: Span, { name, names, help }: UnknownName): Diagnostic {
  const message = `There is no test "${name}": ${CALLS_FAIL}.`;
  return warning('unknown-test', span, message, help ?? didYouMean(name, names));
}

export function unknownMethod(span: Span, name: string, names: Iterable<string>): Diagnostic {
  const message = `The value has no method "${name}": ${CALLS_FAIL}.`;
  return warning('unknown-method', span, message, didYouMean(name, names));
}

export function wrongArguments(span: Span, what: string, reason: string): Diagnostic {
  const message = `The arguments of ${what} are wrong: ${reason}.`;
  return warning('wrong-arguments', span, message, 'Calls that reach this place fail until you correct them.');
}

export function wrongValue(span: Span, message: string, help: string): Diagnostic {
  return warning('wrong-value', span, message, help);
}

export function wrongRole(span: Span): Diagnostic {
  const message = `The role must be a string or a value of an enum: ${CALLS_FAIL}.`;
  return warning('wrong-value', span, message, 'Write `_.role("user")`.');
}

export function notUnpackable(span: Span, isMap: boolean): Diagnostic {
  const message = `${isMap ? 'A loop over a map visits its keys, and a key' : 'A string, number, bool or enum value'} cannot be unpacked into several names: ${CALLS_FAIL}.`;
  const help = isMap ? 'Add `|items` to loop over the keys with their values.' : 'Write one name instead of several.';
  return warning('wrong-value', span, message, help);
}

export function formatConversion(span: Span, conversion: string): Diagnostic {
  const message = `The format contains the conversion "${conversion}", which svc does not support: ${CALLS_FAIL}.`;
  return warning('wrong-value', span, message, 'Remove it: `"{}".format(value)` writes the value.');
}

export function printfFormat(span: Span): Diagnostic {
  const message = `The filter "format" takes only named arguments, and does not support the printf style: ${CALLS_FAIL}.`;
  const help = 'Write `"{}".format(value)`, or `value|format(type="json")`; the type can also be "yaml" or "toon".';
  return warning('wrong-arguments', span, message, help);
}

export function missingArgument(span: Span, callee: string, name: string): Diagnostic {
  const message = `"${callee}" is used without its argument "${name}".`;
  return warning('missing-argument', span, message, 'Pass a value; otherwise nothing is printed for it.');
}

export function debugCall(span: Span): Diagnostic {
  return warning(
    'debug-call',
    span,
    '"debug()" prints nothing here.',
    'Remove it; print a value with "{{ value|pprint }}".',
  );
}

export function unknownField(
  span: Span,
  field: {
    readonly owner: string;
    readonly name: string;
    readonly names: readonly string[];
    readonly effect: UndefinedEffect;
  },
): Diagnostic {
  const message = withEffect(`There is no "${field.name}" in ${field.owner}`, field.effect);
  const builtIn = field.owner === '"ctx"' ? BUILT_INS.get(field.name) : undefined;
  return warning('unknown-field', span, message, builtIn ?? didYouMean(field.name, field.names));
}

/** `member`: `value` or `checks`. */
export function memberOfChecked(span: Span, member: string): Diagnostic {
  const message = `In a test, a condition reads the bare value, which has no "${member}".`;
  const help =
    member === 'value' ? 'Remove ".value".' : 'Write the condition itself; svc test also lists the checks that fail.';
  return warning('member-of-checked', span, message, help);
}

export function unknownEnumValue(
  span: Span,
  { enumName, value, names }: { readonly enumName: string; readonly value: string; readonly names: readonly string[] },
): Diagnostic {
  const help = didYouMean(value, names) || `Its values are ${names.map((name) => `"${name}"`).join(', ')}.`;
  return warning('unknown-enum-value', span, `The enum "${enumName}" has no value "${value}".`, help);
}

export function enumComparedWithAlias(span: Span, realName: string, alias: string): Diagnostic {
  const message = `"${alias}" is an alias: the comparison is never true.`;
  return warning('enum-alias', span, message, `Compare with "${realName}".`);
}

/** `mistaken`: the form in which the prompt's text mentions it, as in other languages. */
export function unusedParameter(span: Span, name: string, mistaken: string | undefined): Diagnostic {
  const help =
    mistaken === undefined
      ? 'Use it in the prompt or remove it.'
      : `In the prompt "${mistaken}" is plain text: write "{{ ${name} }}".`;
  return warning('unused-parameter', span, `The parameter "${name}" is never used.`, help);
}

/** `mistaken`: as in `unusedParameter`. */
export function missingOutputFormat(span: Span, mistaken: string | undefined): Diagnostic {
  return warning(
    'no-output-format',
    span,
    'The prompt does not tell the model which format to answer in.',
    mistaken === undefined
      ? 'Add "{{ ctx.output_format }}" to it.'
      : `In the prompt "${mistaken}" is plain text: write "{{ ctx.output_format }}".`,
  );
}

function warning(code: string, span: Span, message: string, help: string): Diagnostic {
  return { ...problem(code, span, message, help), severity: 'warning' };
}

function problem(code: string, span: Span, message: string, help = ''): Diagnostic {
  const base = { code: `template/${code}`, severity: 'error', message, span } as const;
  return help === '' ? base : { ...base, help };
}

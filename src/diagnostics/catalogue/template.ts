import { didYouMean } from '../../base/suggestion.ts';
import { error, factoryOf, warning, type Named, type Text } from './entry.ts';

interface Unknown extends Named {
  /** The names to suggest. */
  readonly names: Iterable<string>;
  /** How to correct it, if that is known. */
  readonly help?: string | undefined;
}
/** The effect of an undefined value in its place. */
export type UndefinedEffect = 'fails' | 'prints-nothing' | 'undefined';
interface Undefined extends Unknown {
  readonly effect: UndefinedEffect;
}
interface Mistaken {
  /** The form in which the text of the prompt mentions it, as in other languages. */
  readonly mistaken: string | undefined;
}

/** The rules word these problems, which each have another cause. */
interface Stated {
  readonly message: string;
  readonly help: string;
}

/** The intention of users who know other languages. */
const HABITS: ReadonlyMap<string, string> = new Map([
  ['&', 'Write "and".'],
  ['&&', 'Write "and".'],
  ['||', 'Write "or".'],
  ['!', 'Write "not".'],
  ['?', 'Write "value if condition else other".'],
  ['#', 'Write "{% if x %}" or "{% for x in items %}" for a block, and "{# … #}" for a comment.'],
]);

/** All of these are errors, since svc cannot render the template. */
const SYNTAX = {
  'template/unclosed-tag': error<{ readonly opener: string; readonly closer: string }>(
    (p) => `"${p.opener}" is never closed.`,
    (p) => `Close it with "${p.closer}".`,
  ),
  'template/unclosed-string': error('The string is never closed.', 'End it with the quote it begins with.'),
  'template/bad-escape': error<Text>((p) => `"${p.text}" is not an escape sequence.`, 'Write a backslash as "\\\\".'),
  'template/unexpected-character': error<Text>(
    (p) => `"${p.text}" has no meaning in an expression.`,
    (p) => HABITS.get(p.text) ?? 'Put text in quotes, or remove the character.',
  ),
  'template/unexpected-token': error<{ readonly expected: string; readonly found: string; readonly help: string }>(
    (p) => `Expected ${p.expected}, found ${p.found}.`,
    (p) => p.help,
  ),
  'template/bad-number': error<Text>((p) => `"${p.text}" is not a number.`, 'Write numbers as 12, 1.5 or 1e3.'),
  'template/inexact-integer': error<Text>(
    (p) => `svc cannot represent the number ${p.text} exactly.`,
    'Write it in quotes, as a string. Only integers up to 9007199254740992 are always exact.',
  ),
  'template/unknown-statement': error<Named & { readonly help: string }>(
    (p) => `"${p.name}" is not a statement of the template language.`,
    (p) => p.help,
  ),
  'template/unclosed-block': error<Named>(
    (p) => `"{% ${p.name} %}" has no end.`,
    (p) => `Add "{% end${p.name} %}".`,
  ),
  'template/unexpected-end': error<Named & { readonly open: string | undefined }>(
    (p) => `"{% ${p.name} %}" does not belong here.`,
    (p) =>
      p.open === undefined ? 'Remove it; no block is open here.' : `The open block ends with "{% end${p.open} %}".`,
  ),
  'template/too-deep': error(
    'The template is nested too deeply.',
    'Split it with "{% set %}", "{% macro %}" or a template_string.',
  ),
  'template/positional-after-named': error(
    'An argument without a name follows one with a name.',
    'Put the arguments without names first.',
  ),
  'template/reserved-name': error<Named>((p) => `You cannot assign to "${p.name}".`, 'Choose another name.'),
};

export const CALLS_FAIL = 'calls that reach it fail';

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
  ['loop', 'Only a "{% for %}" has it.'],
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

/** Methods of JavaScript, in lower case. */
const JAVASCRIPT_METHODS: ReadonlyMap<string, string> = new Map([
  ['touppercase', 'Write `value|upper`.'],
  ['tolowercase', 'Write `value|lower`.'],
  ['trim', 'Write `value|trim`.'],
  ['tostring', 'Write `value|string`.'],
  ['tofixed', 'Write `value|round(2)`.'],
  ['includes', 'Write `item in value`.'],
  ['join', 'Write `value|join(", ")`.'],
  ['map', 'Write `value|map(attribute="name")`.'],
  ['slice', 'Write `value[1:3]`.'],
]);

function nearest({ name, names, help }: Unknown): string {
  return help ?? didYouMean(name, names);
}

/** Warnings, because svc can serve all other calls: those that reach the place fail, or print nothing there. */
const NAMES_AND_ARGUMENTS = {
  'template/unknown-variable': warning<Undefined>(
    (p) => withEffect(`There is no variable "${p.name}"`, p.effect),
    (p) => p.help ?? BUILT_INS.get(p.name) ?? (nearest(p) || 'Declare it as a parameter, or with "{% set %}".'),
  ),
  'template/unknown-function': warning<Unknown>(
    (p) => `There is no function or template_string "${p.name}": ${CALLS_FAIL}.`,
    (p) => PYTHON_FUNCTIONS.get(p.name) ?? BUILT_INS.get(p.name) ?? nearest(p),
  ),
  'template/unknown-filter': warning<Unknown>((p) => `There is no filter "${p.name}": ${CALLS_FAIL}.`, nearest),
  'template/unknown-test': warning<Unknown>((p) => `There is no test "${p.name}": ${CALLS_FAIL}.`, nearest),
  'template/unknown-method': warning<Unknown>(
    (p) => `The value has no method "${p.name}": ${CALLS_FAIL}.`,
    (p) => JAVASCRIPT_METHODS.get(p.name.toLowerCase()) ?? (nearest(p) || 'Use a filter, such as `value|upper`.'),
  ),
  'template/unknown-role': warning<Named & { readonly roles: readonly string[] }>(
    (p) => `No client of this prompt allows the role "${p.name}", so the text after it gets the default role.`,
    (p) =>
      didYouMean(p.name, p.roles) ||
      `Use one of the roles ${p.roles.map((role) => `"${role}"`).join(', ')}, or add "${p.name}" to \`allowed_roles\` of the client.`,
  ),
  'template/unknown-field': warning<Undefined & { readonly owner: string }>(
    (p) => withEffect(`There is no "${p.name}" in ${p.owner}`, p.effect),
    (p) => (p.owner === '"ctx"' ? BUILT_INS.get(p.name) : undefined) ?? nearest(p),
  ),
  'template/unknown-enum-value': warning<Unknown & { readonly owner: string }>(
    (p) => `The enum "${p.owner}" has no value "${p.name}".`,
    (p) => nearest(p) || `Its values are ${[...p.names].map((name) => `"${name}"`).join(', ')}.`,
  ),
  'template/wrong-arguments': warning<Stated>(
    (p) => p.message,
    (p) => p.help,
  ),
  'template/wrong-value': warning<Stated>(
    (p) => p.message,
    (p) => p.help,
  ),
  'template/wrong-operand': warning<Stated>(
    (p) => p.message,
    (p) => p.help,
  ),
  /** `missing`: `omitted`, `null` or both. */
  'template/missing-operand': warning<
    Named & { readonly subject: string; readonly missing: string; readonly fallback: string | undefined }
  >(
    (p) => `${p.subject} fails if "${p.name}" is ${p.missing}.`,
    (p) =>
      `Write \`{% if ${p.name} %}\` around it${p.fallback === undefined ? '' : `, or \`(${p.name} or ${p.fallback})\` instead of it`}.`,
  ),
  'template/missing-argument': warning<Named & { readonly callee: string }>(
    (p) => `"${p.callee}" is used without its argument "${p.name}".`,
    'Pass a value; otherwise nothing is printed for it.',
  ),
  'template/debug-call': warning(
    '"debug()" prints nothing here.',
    'Remove it; print a value with "{{ value|pprint }}".',
  ),
  /** `name`: `value` or `checks`. */
  'template/member-of-checked': warning<Named>(
    (p) => `In a test, a condition reads the bare value, which has no "${p.name}".`,
    (p) =>
      p.name === 'value' ? 'Remove ".value".' : 'Write the condition itself; svc test also lists the checks that fail.',
  ),
  'template/enum-alias': warning<Named & { readonly alias: string }>(
    (p) => `"${p.alias}" is an alias: the comparison is never true.`,
    (p) => `Compare with "${p.name}".`,
  ),
  'template/unused-parameter': warning<Named & Mistaken>(
    (p) => `The parameter "${p.name}" is never used.`,
    (p) =>
      p.mistaken === undefined
        ? 'Use it in the prompt or remove it.'
        : `In the prompt "${p.mistaken}" is plain text: write "{{ ${p.name} }}".`,
  ),
  'template/no-output-format': warning<Mistaken>('The prompt does not tell the model which format to answer in.', (p) =>
    p.mistaken === undefined
      ? 'Add "{{ ctx.output_format }}" to it.'
      : `In the prompt "${p.mistaken}" is plain text: write "{{ ctx.output_format }}".`,
  ),
};

const ENTRIES = { ...SYNTAX, ...NAMES_AND_ARGUMENTS };

export const templateDiagnostic = factoryOf(ENTRIES);
export const TEMPLATE_CODES: readonly string[] = Object.keys(ENTRIES);

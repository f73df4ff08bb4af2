import { error, factoryOf, warning, type Named, type Text } from './entry.ts';

interface Found {
  readonly expected: string;
  readonly found: string;
  /** How to correct it, if that is known. */
  readonly advice?: string;
}

/** For the mark of required types in GraphQL. */
export const NO_REQUIRED_MARK = 'Remove it: every type that does not end in "?" is required.';

/** Advice for characters without a meaning. */
const STRAY_HABITS: ReadonlyMap<string, string> = new Map([
  ['!', NO_REQUIRED_MARK],
  ['@', 'Write the name of an attribute directly after it, or remove it.'],
]);

/** Every problem with the syntax of a definition file. */
const ENTRIES = {
  'parse/unexpected-token': error<Found>(
    (p) => `Expected ${p.expected}, found ${p.found}.`,
    (p) => p.advice ?? '',
  ),
  'parse/unclosed-bracket': error<Text & { readonly owner: string; readonly closer: string }>(
    (p) => (p.owner === '' ? `This "${p.text}" is never closed.` : `The "${p.text}" of ${p.owner} is never closed.`),
    (p) => `Add "${p.closer}" where it ends.`,
  ),
  'parse/later-language': error(
    'This file is in the language of BAML v1, which svc does not read.',
    'svc reads the language of BAML v0: write fields as `name Type`, clients as `client<llm> Name { provider … options { … } }`, and prompts as `#"…"#`.',
  ),
  'parse/missing-brace': error<Named>(
    (p) => `The block of "${p.name}" does not begin with "{".`,
    (p) => `Write \`${p.name} {\`.`,
  ),
  'parse/unmatched-bracket': error<Text>(
    (p) => `This "${p.text}" closes nothing.`,
    'Remove it, or add the opening bracket that it belongs to.',
  ),
  'parse/unterminated-string': error(
    'This string has no closing quote.',
    'Close it with `"`. A quote inside a string is written `\\"`.',
  ),
  'parse/unterminated-raw-string': error<Text>(
    (p) => `This raw string has no closing ${p.text}.`,
    (p) => `End it with ${p.text}: a quote and as many "#" as it begins with.`,
  ),
  'parse/unterminated-expression': error('This expression has no closing "}}".', 'End the expression with `}}`.'),
  'parse/invalid-character': error<Text>(
    (p) => `"${p.text}" has no meaning here.`,
    (p) => STRAY_HABITS.get(p.text) ?? 'Remove it.',
  ),
  'parse/invalid-name': error<Named & { readonly reason: string }>(
    (p) => `"${p.name}" is not a valid name: ${p.reason}.`,
    'A name begins with an ASCII letter and continues with letters, digits and "_".',
  ),
  /** `variable`: the environment variable that the value names in another language. */
  'parse/unquoted-value': error<Text & { readonly expression?: boolean; readonly variable?: string | undefined }>(
    (p) => {
      if (p.expression !== true) return `This value contains "${p.text}", so it must be in quotes.`;
      return p.text === '{'
        ? 'A comma is missing between the label and the expression.'
        : `This expression contains "${p.text}", so it must be in "{{ }}".`;
    },
    (p) => {
      if (p.expression === true) return 'Write `@assert({{ … }})` or `@check(label, {{ … }})`.';
      if (p.variable !== undefined) return `Write \`env.${p.variable}\` for the environment variable.`;
      return 'Write it as "…", or as #"…"# if it contains quotes.';
    },
  ),
  'parse/call-as-value': warning<Named>(
    (p) => `svc does not call "${p.name}" here.`,
    'The test cannot run, and is not an example in the OpenAPI document. Write the text itself.',
  ),
  'parse/invalid-number': error<Text>(
    (p) => `"${p.text}" is neither a number nor a string.`,
    'Numbers look like 5, -3 or 0.25. Put anything else that begins with a digit in quotes.',
  ),
  'parse/nesting-too-deep': error<{ readonly limit: number }>(
    (p) => `Brackets are nested more than ${p.limit} deep here.`,
    'Give the inner part its own name, as a class or a type.',
  ),
  'parse/unknown-declaration': error<Named & { readonly suggestion: string }>(
    (p) => `No definition begins with "${p.name}".`,
    (p) =>
      p.suggestion === ''
        ? 'A file holds class, enum, type, function, client, retry_policy, generator, test and template_string blocks.'
        : p.suggestion,
  ),
  'parse/unsupported-comment': error<Text>(
    (p) => `Comments do not begin with "${p.text}".`,
    'Write `// …` for a line, `/// …` for documentation, `{// … //}` for a block.',
  ),
  'parse/colon-after-name': error<Named>(
    (p) => `There must be no colon between the field "${p.name}" and its type.`,
    (p) => `Write \`${p.name} Type\`.`,
  ),
  'parse/attribute-place': error<Named & { readonly isFirst: boolean }>(
    (p) =>
      p.isFirst
        ? `"@${p.name}" is above the field or value that it belongs to.`
        : `An empty line separates "@${p.name}" from what it belongs to.`,
    'Write attributes after the type or the enum value, on its line or on the lines directly below it.',
  ),
  'parse/attribute-parentheses': error<Named & Text>(
    (p) => `The argument of "${p.name}" is not in parentheses.`,
    (p) => `Write \`${p.name}(${p.text})\`.`,
  ),
  'parse/separator-in-block': error<Text>(
    (p) => `Members of a block are not separated by "${p.text}".`,
    'Write one member per line, without a separator.',
  ),
  'parse/missing-type': error<Named & { readonly what: string }>(
    (p) => `The ${p.what} "${p.name}" has no type.`,
    (p) =>
      p.what === 'parameter' ? `Write \`${p.name}: string\`, for example.` : `Write \`${p.name} string\`, for example.`,
  ),
  'parse/missing-colon': error<Named>(
    (p) => `A colon is missing between the parameter "${p.name}" and its type.`,
    (p) => `Write \`${p.name}: Type\`.`,
  ),
  'parse/single-quotes': error('Single quotes do not make a string.', 'Use double quotes.'),
  'parse/curly-quotes': error('Curly quotes do not make a string.', 'Use straight double quotes, `"…"` or `#"…"#`.'),
  'parse/triple-quotes': error('Three quotes do not begin a string.', 'Write a string of several lines as #"…"#.'),
  'parse/missing-parameters': error<Named>(
    (p) => `The function "${p.name}" has no parameter list.`,
    (p) => `Write \`function ${p.name}() -> Type { … }\` if it takes no parameters.`,
  ),
  'parse/older-function': error<Named & { readonly form: string }>(
    (p) => `The function "${p.name}" is in the syntax of an older version of the language.`,
    (p) => `In the current syntax:\n${p.form}`,
  ),
  'parse/older-implementation': error<Named>(
    (p) =>
      `"impl" belongs to an older version of the language: the block of the function "${p.name}" now contains its client and prompt.`,
    (p) => `Write \`function ${p.name}(…) -> … { client … prompt #"…"# }\`, with the client and prompt of this block.`,
  ),
  'parse/client-in-function': error<Named & { readonly isDefinition: boolean }>(
    (p) =>
      p.isDefinition
        ? `The client "${p.name}" is declared inside a function.`
        : '`client<llm>` begins the declaration of a client. A function only names its client.',
    (p) =>
      p.isDefinition
        ? `Move \`client<llm> ${p.name} { … }\` out of the function, and write \`client ${p.name}\` here.`
        : `Write \`client ${p.name}\`.`,
  ),
  'parse/client-type': warning<Named>(
    (p) => `There is no type of clients "${p.name}": svc reads \`client<${p.name}>\` as \`client<llm>\`.`,
    'Write `client<llm>`.',
  ),
  'parse/missing-return-type': error<Named>(
    (p) => `The function "${p.name}" has no return type.`,
    'Write `-> Type` between the parameters and the block.',
  ),
  'parse/missing-arrow': error<Named>(
    (p) => `The arrow before the return type of the function "${p.name}" is missing.`,
    'Write `-> Type` after the parameters.',
  ),
  'parse/missing-block': error<Named & { readonly what: string }>(
    (p) => `The ${p.what} "${p.name}" has no block.`,
    'Write its content between `{` and `}`.',
  ),
  'parse/missing-name': error<{ readonly what: string }>(
    (p) => `This ${p.what} has no name.`,
    (p) => `Write \`${p.what} Name …\`.`,
  ),
  'parse/enum-value-line': error<Named>(
    (p) => `The enum value "${p.name}" is not on its own line.`,
    'Write one value per line.',
  ),
  'parse/double-optional': error('A type can be made optional only once.', 'Remove one "?".'),
  'parse/optional-before-list': error(
    '"?" cannot be followed by "[]".',
    'Write `(T?)[]` for a list of optional items, `T[]?` for an optional list.',
  ),
  'parse/inexact-integer': error<Text>(
    (p) => `svc cannot represent the number ${p.text} exactly.`,
    'Write it in quotes, as a string. Only integers up to 9007199254740992 are always exact.',
  ),
  'parse/float-literal': error<Text>(
    (p) => `"${p.text}" cannot be a type: literal types are strings, whole numbers, true and false.`,
    'Use `float`.',
  ),
  'parse/generic-type': error<Named & { readonly equivalent: string | undefined }>(
    (p) => `"${p.name}" takes no type parameters.`,
    (p) =>
      p.equivalent === undefined
        ? 'Only `map<K, V>` does. A list of T is `T[]`, an optional T is `T?`.'
        : `Write \`${p.equivalent}\`.`,
  ),
  'parse/leading-pipe': error(
    'A union does not begin with "|".',
    'Remove it. "|" separates the members, and a line can end with it.',
  ),
  'parse/list-type': error<{ readonly equivalent: string }>(
    () => 'A list type is written with its brackets after the item type.',
    (p) => `Write \`${p.equivalent}\`.`,
  ),
  'parse/inline-object': error(
    'An object type needs a class with a name.',
    'Declare `class Name { … }` and use `Name` here.',
  ),
  'parse/missing-value': error<Named>(
    (p) => `"${p.name}" has no value.`,
    (p) => `Write \`${p.name} value\` on one line, or remove the key.`,
  ),
  'parse/equals-in-entry': error<Named>(
    (p) => `There must be no "=" between "${p.name}" and its value.`,
    (p) => `Write \`${p.name} value\`.`,
  ),
  'parse/same-line': error<Text>(
    (p) => `${p.text} follows on the same line.`,
    'Begin a new line, or put a comma in between.',
  ),
  'parse/default-value': error<Named>(
    (p) => `The parameter "${p.name}" has a default value, which parameters cannot have.`,
    'Make the type optional (`T?`) and set the default in the prompt: `{{ x or "…" }}`.',
  ),
  'parse/parameter-order': error<Named & { readonly type: string }>(
    (p) => `The name of the parameter "${p.name}" comes after its type.`,
    (p) => `Write \`${p.name}: ${p.type}\`.`,
  ),
  'parse/missing-comma': error('A comma is missing between two parameters.', 'Add "," before this one.'),
  'parse/alias-parameters': error<Named>(
    (p) => `The type "${p.name}" cannot have type parameters.`,
    'Declare one type for each use.',
  ),
  'parse/semicolon': error('Definitions do not end with a semicolon.', 'Remove it.'),
  'parse/dynamic-outside-test': error<Named>(
    (p) => `"dynamic ${p.name}" extends a definition, which is possible only in the \`type_builder\` of a test.`,
    'Remove "dynamic", or mark the class or enum with `@@dynamic`.',
  ),
  'parse/not-in-type-builder': error<Named>(
    (p) => `A \`type_builder\` cannot contain "${p.name}".`,
    'It holds class, enum, type, dynamic class and dynamic enum.',
  ),
  'parse/template-body': error<Named>(
    (p) => `The template_string "${p.name}" has no raw string.`,
    'Write its text as #"…"# after the name and the parameters.',
  ),
  'parse/workflow': warning<Named>(
    (p) => `"${p.name}" is not a function that calls a model: its body is code. svc does not serve it.`,
    'A served function has a `client` and a `prompt`.',
  ),
  'parse/method': warning<Named>(
    (p) => `"${p.name}" is a method: its body is code, which svc does not run.`,
    'svc skips the method and reads the fields of the class.',
  ),
  'parse/ignored-parameters': warning<Named & { readonly what: string }>(
    (p) => `The parameters of the ${p.what} "${p.name}" have no effect.`,
    'Remove them.',
  ),
  'parse/raw-string-swallows': warning<Named>(
    (p) => `This raw string contains the definition of "${p.name}".`,
    'Probably the closing quote of the raw string is missing above that definition.',
  ),
};

export const parseDiagnostic = factoryOf(ENTRIES);
export const PARSE_CODES: readonly string[] = Object.keys(ENTRIES);

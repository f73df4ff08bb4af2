import { error, factoryOf, warning, type Named } from './entry.ts';

interface Suggested extends Named {
  readonly suggestion: string;
}
interface InBlock extends Named {
  /** The block that it belongs to, such as `class "Person"`. */
  readonly owner: string;
}
interface VersionMismatch {
  readonly file: string;
  readonly asked: string;
  readonly own: string;
  /** The version is one of BAML, not of svc. */
  readonly isLanguage: boolean;
}
interface Expected extends Named {
  readonly expected: string;
}

const suggestion = (p: Suggested): string => p.suggestion;

/** Problems with names and types. */
const NAMES_AND_TYPES = {
  'check/duplicate-name': error<Named & { readonly what: string }>(
    (p) => `The name "${p.name}" is declared twice, here as ${p.what}.`,
    'Classes, enums, types, functions, clients and template strings share one namespace. Rename one of the two.',
  ),
  'check/duplicate-field': error<InBlock>((p) => `The ${p.owner} has two fields "${p.name}".`),
  'check/duplicate-value': error<InBlock>((p) => `The ${p.owner} has two values "${p.name}".`),
  'check/duplicate-parameter': error<InBlock>((p) => `The ${p.owner} has two parameters "${p.name}".`),
  'check/duplicate-key': warning<Named>(
    (p) => `"${p.name}" appears twice, and the last one applies.`,
    'Remove the other.',
  ),
  'check/duplicate-test': warning<InBlock>(
    (p) => `The ${p.owner} has two tests "${p.name}".`,
    'Rename one of them or, if one test lists the function twice, remove one of the two entries.',
  ),
  'check/duplicate-attribute': error<Named>(
    (p) => `"@${p.name}" appears twice.`,
    'Only one of the two can apply. Remove the other.',
  ),
  'check/repeated-attribute': warning<Named>((p) => `The second "@${p.name}" has no effect.`, 'Remove one of the two.'),
  'check/duplicate-label': warning<Named>(
    (p) => `Two checks have the label "${p.name}".`,
    'Give each check its own label; otherwise, only the result of the last one is listed.',
  ),
  'check/repeated-label': warning<Named>(
    (p) => `The type already has a check with the label "${p.name}".`,
    'Give this check another label, or one of the two results is lost.',
  ),
  'check/lowercase-name': error<Named & { readonly what: string; readonly better: string }>(
    (p) => `The name of ${p.what} must begin with a capital letter, but "${p.name}" does not.`,
    (p) => `Call it "${p.better}".`,
  ),
  'check/reserved-type-name': error<Named>(
    (p) => `The name "${p.name}" is reserved.`,
    'Choose another name: clients in other languages could not use this one.',
  ),
  /** `swapped`: the type, if it is probably the name. */
  'check/reserved-field-name': error<Named & { readonly env: boolean; readonly swapped: string | undefined }>(
    (p) =>
      p.env
        ? 'A field cannot be called "env": `env.NAME` is how definitions read environment variables.'
        : `A field cannot be called "${p.name}": it is a reserved word of a language in which clients are written.`,
    (p) =>
      p.swapped === undefined
        ? `Call it "${p.name}_" or the like, and give it \`@alias("${p.name}")\` so that the model sees "${p.name}".`
        : `The name comes before the type: write \`${p.swapped} ${p.name}\`.`,
  ),
  'check/reserved-parameter-name': error<Named>(
    (p) => `A parameter cannot be called "${p.name}": requests use that key for options.`,
    'Rename the parameter.',
  ),
  'check/shadowing-parameter': warning<Named>(
    (p) => `The parameter "${p.name}" hides the built-in "${p.name}" in the prompt.`,
    'Rename the parameter.',
  ),
  'check/unknown-type': error<Suggested>(
    (p) => `There is no type "${p.name}".`,
    (p) => p.suggestion || 'Declare it as a class, an enum or a type, or use a built-in type such as `string`.',
  ),
  'check/not-a-type': error<Named & { readonly what: string }>(
    (p) => `"${p.name}" is a ${p.what}, not a type.`,
    'Use a class, an enum, a type alias or a built-in type.',
  ),
  'check/tuple-type': error('There are no tuple types.', 'Use a class with a field for each item.'),
  'check/map-key': error('This cannot be the key of a map.', 'Keys are `string`, an enum, or literal strings.'),
  'check/map-key-text': warning<Named>(
    (p) => `svc reads the keys of this map as strings, not as ${p.name}: JSON objects have no other keys.`,
    'Write `map<string, …>`.',
  ),
  'check/alias-cycle': error<{ readonly path: string }>(
    (p) => `This type refers only to itself: ${p.path}.`,
    'A type can refer to itself only inside a list or a map.',
  ),
  'check/class-cycle': error<{ readonly path: string }>(
    (p) => `No value can ever be complete, because each needs another one: ${p.path}.`,
    'Make one of these fields optional, or a list.',
  ),
  'check/media-output': warning<Named & { readonly media: string }>(
    (p) => `The function "${p.name}" returns ${p.media}, which a model cannot answer with.`,
    'Use media types only for parameters: here, an optional one is always null, and a required one fails the call.',
  ),
  'check/duplicate-union-member': warning('This type is already in the union.', 'Remove it.'),
  'check/ambiguous-union': warning<{ readonly first: string; readonly second: string }>(
    (p) => `"${p.first}" and "${p.second}" cannot be distinguished: they have the same fields.`,
    'Give each a field with a literal type, such as `kind "a"`, or use one class for both.',
  ),
  'check/type-too-large': error<Named & { readonly limit: number }>(
    (p) => `The type "${p.name}" has more than ${p.limit} parts once its aliases are replaced.`,
    'Use classes instead of aliases.',
  ),
  'check/empty-file': warning<{ readonly file: string }>(
    (p) => `The file "${p.file}" contains no definition.`,
    'Write a class or a function in it, or remove the file.',
  ),
  'check/empty-enum': warning<Named>(
    (p) => `The enum "${p.name}" has no value that a model could answer with.`,
    'Add a value, or remove the enum.',
  ),
};

/** Problems with attributes. */
const ATTRIBUTES = {
  'check/unknown-attribute': error<Suggested>((p) => `There is no attribute "${p.name}".`, suggestion),
  'check/attribute-level': error<Named & { readonly better: string; readonly place: string }>(
    (p) => `"${p.name}" cannot be used on ${p.place}.`,
    (p) => p.better,
  ),
  'check/attribute-no-effect': warning<Named & { readonly place: string }>(
    (p) => `"${p.name}" has no effect on ${p.place}.`,
    'Remove it.',
  ),
  'check/attribute-arguments': error<Expected>((p) => `"${p.name}" takes ${p.expected}.`),
  'check/attribute-not-string': warning<Named & { readonly text: string }>(
    (p) => `"${p.name}" takes a string: svc reads ${p.text} as "${p.text}".`,
    (p) => `Write \`${p.name}("${p.text}")\`.`,
  ),
  'check/attribute-env': warning<Named & { readonly variable: string }>(
    (p) => `The environment variable "${p.variable}" is not set, so "${p.name}" has no effect.`,
    'Set it before you start svc, which reads attributes when it loads the definitions.',
  ),
  'check/curly-quotes': warning(
    'Curly quotes do not make a string: they are part of this text.',
    'Use straight double quotes, `"…"`.',
  ),
  'check/constraint-label': error(
    '"@check" has no label.',
    'Write `@check(label, {{ … }})`: results are listed by label.',
  ),
  'check/constraint-quoted-label': error<Named>(
    (p) => `The label "${p.name}" is not a plain name.`,
    'Labels are names without quotes, spaces, "." and "-", such as `in_range`.',
  ),
  'check/constraint-expression': error<Named>(
    (p) => `"${p.name}" has no expression.`,
    (p) => `Write \`${p.name}(label, {{ this > 0 }})\`.`,
  ),
  'check/parameter-check': error<Named>(
    (p) => `The type of the parameter "${p.name}" has a @check, but only results can carry checks.`,
    'Use @assert: svc rejects a call whose argument fails it.',
  ),
  'check/alias-collision': warning<{ readonly alias: string; readonly first: string; readonly second: string }>(
    (p) => `The model sees "${p.first}" and "${p.second}" under the same name, "${p.alias}".`,
    'svc cannot distinguish them in a reply. Change one alias.',
  ),
  'check/empty-alias': error('An alias cannot be empty.', 'Remove it, or write a string that is not empty.'),
  'check/skip-required': error<Named>(
    (p) => `The field "${p.name}" is skipped, so a model can never fill it, but it is required.`,
    'Make its type optional: add "?".',
  ),
};

/** Problems with functions, clients, retry policies, generators and tests. */
const BLOCKS = {
  'check/unknown-key': error<Suggested & { readonly owner: string }>(
    (p) => `A ${p.owner} has no key "${p.name}".`,
    suggestion,
  ),
  'check/legacy-function-key': error<Named>(
    (p) => `"${p.name}" in the block of a function is an older form of the language.`,
    'Write parameters and return type in the head: `function Name(x: string) -> Type { … }`.',
  ),
  'check/missing-key': error<InBlock & { readonly example: string }>(
    (p) => `The ${p.owner} has no "${p.name}".`,
    (p) => `Add \`${p.example}\`.`,
  ),
  'check/prompt-not-raw': error('A prompt must be a raw string.', 'Write it as #"…"#.'),
  'check/unknown-client': error<Suggested>(
    (p) => `There is no client "${p.name}".`,
    (p) => p.suggestion || 'Declare it, or name a model together with its provider, as in "openai/gpt-4o-mini".',
  ),
  'check/glued-comment': error<Named & { readonly better: string }>(
    (p) => `The comment is part of the name "${p.name}".`,
    (p) => `Put a space before the comment: \`${p.better}\`.`,
  ),
  'check/client-from-env': error(
    'The client of a function cannot come from the environment.',
    'Name a client. The environment can set its options, such as `model env.MODEL`.',
  ),
  'check/unknown-provider': error<Suggested>(
    (p) => `There is no provider "${p.name}".`,
    (p) =>
      p.suggestion ||
      'For a service with an OpenAI-compatible API, use the provider "openai-generic" with its base_url.',
  ),
  'check/shorthand-provider': warning<Named & { readonly needs: string }>(
    (p) => `"${p.name}" cannot be named with a model alone: it needs ${p.needs}.`,
    'Declare a client with its options, and use its name here. Otherwise every call has to bring a client.',
  ),
  'check/missing-model': warning<Named>((p) => `"${p.name}" names no model.`, 'Write `provider/model`.'),
  'check/no-model': warning<InBlock>(
    (p) => `The ${p.owner} names no model.`,
    'Most services refuse a request without one: add `model "…"` to its options.',
  ),
  'check/unknown-retry-policy': error<Suggested>((p) => `There is no retry policy "${p.name}".`, suggestion),
  'check/missing-option': error<InBlock & { readonly why: string }>(
    (p) => `The ${p.owner} has no option ${p.name}, ${p.why}.`,
    'Add it to `options { … }` of the client.',
  ),
  'check/exclusive-options': error<{ readonly first: string; readonly second: string }>(
    (p) => `The options "${p.first}" and "${p.second}" exclude each other.`,
    'Remove one of the two.',
  ),
  'check/option-value': error<Named & { readonly problem: string }>((p) => `"${p.name}" ${p.problem}.`),
  'check/unusable-option': warning<Named & { readonly problem: string }>(
    (p) => `"${p.name}" ${p.problem}.`,
    'Calls with this client fail until you correct it.',
  ),
  'check/unknown-option': error<Suggested & { readonly owner: string }>(
    (p) => `${p.owner} has no setting "${p.name}".`,
    suggestion,
  ),
  'check/unused-option': warning<Suggested & { readonly owner: string }>(
    (p) => `The option "${p.name}" has no effect on ${p.owner}.`,
    (p) => p.suggestion || 'Remove it, or set it on the clients in its strategy.',
  ),
  'check/misspelt-option': warning<Suggested>(
    (p) => `The option "${p.name}" is unknown, so svc sends it to the provider unchanged.`,
    suggestion,
  ),
  'check/unsent-option': warning<Suggested>(
    (p) => `svc does not send the unknown option "${p.name}", because its value is a credential.`,
    (p) =>
      p.suggestion ||
      'Write the key of the provider as `api_key env.NAME`, or a credential of another kind in `headers { … }`.',
  ),
  'check/number-option': warning<Named & { readonly kind: string; readonly number: string | undefined }>(
    (p) => `"${p.name}" takes a number, but this is ${p.kind}.`,
    (p) =>
      p.number === undefined ? 'Write a number without quotes.' : `Write \`${p.name} ${p.number}\`, without quotes.`,
  ),
  'check/misplaced-option': warning<Named & { readonly effect: string; readonly place: string }>(
    (p) => `"${p.name}" in \`options\` ${p.effect}.`,
    (p) => p.place,
  ),
  'check/unstructured-client': warning<Named & { readonly reason: string }>(
    (p) => `The client "${p.name}" cannot use structured output: it ${p.reason}.`,
    'Change the options, or describe the replies in the prompts with "{{ ctx.output_format }}".',
  ),
  'check/unstructured-type': warning<Named & { readonly client: string; readonly reason: string }>(
    (p) => `The client "${p.client}" cannot use structured output for "${p.name}": the return type ${p.reason}.`,
    'Describe the reply in the prompt with "{{ ctx.output_format }}".',
  ),
  'check/default-role': error<Named & { readonly allowed: string }>(
    (p) => `The default role "${p.name}" is not among the allowed roles (${p.allowed}).`,
  ),
  'check/env-in-quotes': warning<Named & { readonly variable: string; readonly isPart: boolean }>(
    (p) => `"${p.name}" is plain text, not an environment variable: svc sends it as it is.`,
    (p) =>
      p.isPart
        ? `Put the whole string into the environment variable, and replace the string with \`env.${p.variable}\`, without quotes.`
        : `Write \`env.${p.variable}\`, without quotes or a fallback.`,
  ),
  'check/key-in-file': warning(
    'This looks like a secret key in a file.',
    'Keep it in the environment, and write `env.NAME` here.',
  ),
  'check/empty-strategy': error<Named>(
    (p) => `The client "${p.name}" has no clients to choose from: its strategy is empty.`,
  ),
  'check/repeated-member': warning<Named>((p) => `"${p.name}" is in this strategy twice.`),
  'check/client-cycle': error<{ readonly path: string }>(
    (p) => `These clients hand every call to each other: ${p.path}.`,
    'Remove one of them from a strategy.',
  ),
  'check/unused-retry-policy': warning<Named>(
    (p) => `No client uses the retry policy "${p.name}".`,
    (p) => `Write \`retry_policy ${p.name}\` in a client, or remove it.`,
  ),
  'check/many-retries': warning<{ readonly count: number }>(
    (p) => `${p.count} retries of one call are rarely intended.`,
  ),
  'check/unknown-output-type': warning<Suggested>((p) => `There is no output type "${p.name}".`, suggestion),
  'check/generator-version': warning<Named>(
    (p) => `"${p.name}" is not a version.`,
    'Write three numbers, such as "0.1.0".',
  ),
  'check/version-mismatch': error<VersionMismatch>(
    (p) =>
      p.isLanguage
        ? `"${p.file}" asks for version ${p.asked} of BAML, but svc ${p.own} reads version 0.`
        : `"${p.file}" asks for version ${p.asked}, but this is svc ${p.own}.`,
    (p) =>
      p.isLanguage
        ? 'Later versions are a different language. If these definitions are in the language of version 0, pass --no-version-check.'
        : `The major and minor versions must match: write "${p.own}" here, install the other version, or pass --no-version-check.`,
  ),
  'check/unknown-tested-function': warning<Suggested>((p) => `There is no function "${p.name}" to test.`, suggestion),
  'check/no-tested-function': warning<Named>(
    (p) => `The test "${p.name}" names no function.`,
    'Add `functions [Name]`.',
  ),
  'check/unknown-test-argument': warning<Suggested & { readonly owner: string }>(
    (p) => `The ${p.owner} has no parameter "${p.name}".`,
    suggestion,
  ),
  'check/test-argument-type': warning<InBlock & { readonly expected: string }>(
    (p) => `This value for "${p.name}" does not match the ${p.owner}, which takes ${p.expected} here.`,
    'Change the value, or the type of the parameter.',
  ),
  'check/unknown-built-type': warning<Suggested>(
    (p) => `There is no type "${p.name}".`,
    (p) => p.suggestion || 'Declare it here or outside the test.',
  ),
  'check/duplicate-built-type': warning<Named>(
    (p) => `This test defines "${p.name}" twice.`,
    'Merge the two definitions.',
  ),
  'check/missing-test-argument': warning<InBlock>(
    (p) => `This test gives no value for "${p.name}" of the ${p.owner}.`,
    (p) => `Write \`${p.name} …\` in \`args { … }\`.`,
  ),
};

const ENTRIES = { ...NAMES_AND_TYPES, ...ATTRIBUTES, ...BLOCKS };

export const checkDiagnostic = factoryOf(ENTRIES);
export const CHECK_CODES: readonly string[] = Object.keys(ENTRIES);

import * as t from './tokens.ts';
import { parseDiagnostic } from '../../diagnostics/catalogue/parse.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import type { DefinitionToken } from './tokens.ts';

/** Hints for words that have a meaning in other languages: each names the equivalent in definition files. */

/** Type names of other languages, in lower case, with the equivalent type. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ...each('str string text char varchar date time datetime timestamp uuid url decimal', 'string'),
  ...each('int integer long short byte uint bigint int32 int64 i32 i64', 'int'),
  ...each('float number double numeric real f32 f64', 'float'),
  ...each('bool boolean', 'bool'),
  ...each('null none nil undefined void unit', 'null'),
  ...each('list array tuple set vec', 'T[]'),
  ...each('map dict dictionary record hash hashmap', 'map<string, T>'),
  ...each('optional maybe option nullable', 'T?'),
]);

/** Type names for a value of any type. */
const UNTYPED = /^(?:any|object|unknown|json|mixed)$/iu;

/** Returns the hint for a type name of another language, or an empty string. */
export function typeHint(name: string): string {
  if (UNTYPED.test(name)) {
    return 'There is no type for arbitrary values: declare a class, or use a union such as `string | int`.';
  }
  const equivalent = TYPES.get(name.toLowerCase());
  return equivalent === undefined ? '' : `Write \`${equivalent}\`.`;
}

/** Longer names of generic types. */
const GENERICS: ReadonlyMap<string, string> = new Map([
  ...each('sequence iterable readonlyarray', 'list'),
  ...each('mapping', 'map'),
]);

/**
 * Returns the equivalent of `name<…>` or `name[…]`, or undefined if there is none. `args` are types without brackets.
 */
export function equivalentOfGeneric(name: string, args: readonly string[]): string | undefined {
  const types = args.map((arg) => TYPES.get(arg.toLowerCase()) ?? arg);
  const [first, second] = types;
  const kind = /^(?:union|literal)$/iu.test(name)
    ? 'union'
    : TYPES.get(GENERICS.get(name.toLowerCase()) ?? name.toLowerCase());
  if (kind === 'union') return types.join(' | ');
  if (kind === 'T?' && types.length === 1) return `${first}?`;
  if (kind === 'T[]' && types.length === 1) return `${first}[]`;
  return kind === 'map<string, T>' && second !== undefined && types.length === 2
    ? `map<${first}, ${second}>`
    : undefined;
}

/** Words with which definitions begin in other languages. */
const DECLARATIONS: ReadonlyMap<string, string> = new Map([
  ...each('interface struct model record dataclass schema message input object', 'Write `class Name { … }`.'),
  ...each('def fn func method async', 'Write `function Name(x: string) -> Type { … }`.'),
  ...each('import from include require use', 'Remove it: svc reads all files of the directory together.'),
  ...each('prompt template macro', 'Write `template_string Name(…) #"…"#`.'),
  ...each('provider llm model_client', 'Write `client<llm> Name { … }`.'),
  ...each(
    'const let var final static',
    'Remove it: there are no constants. Write the value where it is used, or read it with `env.NAME` in a client.',
  ),
  ...each('union typedef alias', 'Write `type Name = A | B`.'),
  ...each('export public default', 'Remove it: definitions are visible everywhere.'),
]);

/** Returns the hint for a word with which a definition begins in another language, or an empty string. */
export function declarationHint(word: string): string {
  return DECLARATIONS.get(word.toLowerCase()) ?? '';
}

/** Attribute names of other languages and libraries. */
const ATTRIBUTES: ReadonlyMap<string, string> = new Map([
  ['optional', 'A field is optional if its type ends in "?".'],
  ['nullable', 'A field can be null if its type ends in "?".'],
  ['required', 'Every field whose type does not end in "?" is required.'],
  ['default', 'Fields have no default values: a type that ends in "?" is optional.'],
  ...each('name rename', 'Write `@alias("…")`.'),
  ...each('desc doc comment', 'Write `@description("…")`.'),
  ...each('ignore exclude', 'Write `@skip`.'),
  ['min', 'Write `@assert({{ this >= 0 }})`.'],
  ['max', 'Write `@assert({{ this <= 0 }})`.'],
  ...each('regex pattern', 'Write `@assert({{ this|regex_match("…") }})`.'),
  ['validate', 'Write `@assert({{ … }})`.'],
  ['stream', 'There are `@stream.done`, `@stream.not_null` and `@stream.with_state`.'],
]);

/** Returns the hint for an attribute of another language, or undefined. */
export function attributeHint(name: string): string | undefined {
  return ATTRIBUTES.get(name.toLowerCase());
}

function each(words: string, equivalent: string): ReadonlyArray<readonly [string, string]> {
  return words.split(' ').map((word) => [word, equivalent] as const);
}

const CONSTRUCTOR = /[ \t]*\w+(?:\.\w+)*\.new\s*\(/y;

/**
 * Returns one error for a file in the language of BAML v1, at the first construct that v0 does not have: `client X = a.B.new(…)`,
 * or a prompt in backticks after a colon.
 */
export function laterLanguage(file: SourceFile, tokens: readonly t.DefinitionToken[]): Diagnostic | undefined {
  const sign = tokens.find((token, index) => isSign(file.text, token, tokens[index + 1], tokens[index + 2]));
  if (sign === undefined) return undefined;
  const span = { file: file.path, start: sign.startOffset, end: sign.startOffset + sign.image.length };
  return parseDiagnostic('parse/later-language', span, {});
}

function isSign(
  text: string,
  { image, depth, onNewLine }: t.DefinitionToken,
  second: t.DefinitionToken | undefined,
  third: t.DefinitionToken | undefined,
): boolean {
  if (!onNewLine || second === undefined || third === undefined) return false;
  if (image === 'prompt') return depth === 1 && second.image === ':' && third.image.startsWith('`');
  if (image !== 'client' || depth > 0 || third.tokenType !== t.Equals) return false;
  CONSTRUCTOR.lastIndex = third.startOffset + 1;
  return CONSTRUCTOR.test(text);
}

/** Adds a note about BAML v1 to the first of several errors about fields in the form `name: Type,`, which other languages share. */
export function withLanguageNote(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const colons = diagnostics.filter(({ code }) => code === 'parse/colon-after-name');
  const commas = diagnostics.filter(
    ({ code, message }) => code === 'parse/separator-in-block' && message.includes('","'),
  );
  const [first] = colons;
  if (first === undefined || colons.length < 2 || commas.length < 2) return diagnostics;
  const help = `${first.help ?? ''} The file may be in the language of BAML v1, but svc reads only that of v0.`;
  return diagnostics.map((diagnostic) => (diagnostic === first ? { ...diagnostic, help } : diagnostic));
}

/** The entries of a block by key, as text without comments. */
type WrittenEntries = ReadonlyMap<string, string>;

/** Joins the tokens of each entry of a block. A key is the first word of a line or of the block. */
export function writtenEntries(tokens: readonly DefinitionToken[]): WrittenEntries {
  const entries = new Map<string, string>();
  const depth = tokens[0]?.depth;
  let key = '';
  for (const [index, token] of tokens.entries()) {
    if (token.depth === depth && (token.onNewLine || index === 0) && /^\w+$/u.test(token.image)) {
      key = token.image;
      entries.set(key, '');
      continue;
    }
    const end = tokens[index - 1]?.endOffset ?? token.startOffset;
    const before = entries.get(key) ?? '';
    const isGlued = before === '' || token.startOffset === end + 1;
    entries.set(key, `${before}${isGlued ? '' : ' '}${token.image}`);
  }
  return entries;
}

/** Returns whether a block without parameters is a function in the older syntax. */
export function isOlderFunction(entries: WrittenEntries): boolean {
  return entries.has('input') || entries.has('output');
}

/** Writes a function in the older syntax, `function F { input … output … client … prompt … }`, in the current one. */
export function inTodaysForm(name: string, entries: WrittenEntries): string {
  const input = entries.get('input');
  const hasNames = input?.startsWith('(') === true;
  const parameters = hasNames ? input : `(${input === undefined ? '' : `input: ${input}`})`;
  const prompt = entries.get('prompt');
  return [
    `function ${name}${parameters} -> ${entries.get('output') ?? 'string'} {`,
    `  client ${entries.get('client') ?? 'Name'}`,
    `  prompt ${prompt === undefined ? '#"…"#' : withExpressions(prompt, hasNames)}`,
    '}',
  ].join('\n');
}

/** Replaces the older `{#input.x}`, `{#print_type(output)}` and `{// … //}` of a prompt. */
function withExpressions(prompt: string, hasNames: boolean): string {
  return prompt
    .replace(/\{#\s*print_type\(output\)\s*\}/gu, '{{ ctx.output_format }}')
    .replace(/\{#\s*input(\.\w+)?((?:\.\w+)*)\s*\}/gu, (_whole, first: string | undefined, rest: string) =>
      hasNames && first !== undefined ? `{{ ${first.slice(1)}${rest} }}` : `{{ input${first ?? ''}${rest} }}`,
    )
    .replace(/\{\/\/(.*?)\/\/\}/gsu, '{#$1#}');
}

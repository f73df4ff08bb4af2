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
  ...each('interface struct model record dataclass schema message', 'Write `class Name { … }`.'),
  ...each('def fn func method async', 'Write `function Name(x: string) -> Type { … }`.'),
  ...each('import from include require use', 'Remove it: svc reads all files of the directory together.'),
  ...each('prompt template macro', 'Write `template_string Name(…) #"…"#`.'),
  ...each('provider llm model_client', 'Write `client<llm> Name { … }`.'),
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

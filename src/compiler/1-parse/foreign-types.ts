/** Names that other languages have for built-in types, in lower case, and what stands for them here. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ...named('string', 'str string text char varchar date time datetime timestamp uuid url decimal'),
  ...named('int', 'int integer long short byte uint bigint int32 int64 i32 i64'),
  ...named('float', 'float number double numeric real f32 f64'),
  ...named('bool', 'bool boolean'),
  ...named('null', 'null none nil undefined void unit'),
  ...named('T[]', 'list array tuple set vec'),
  ...named('map<string, T>', 'map dict dictionary record hash hashmap'),
  ...named('T?', 'optional maybe option nullable'),
]);

/** What other languages call a value of which nothing is known. */
const UNTYPED = /^(?:any|object|unknown|json|mixed)$/iu;

/** What to write in place of a type name of another language; the empty text when it is none. */
export function adviceForType(name: string): string {
  if (UNTYPED.test(name)) {
    return 'Every value has a type: declare a class with the fields that it has, or a type such as `string | int`.';
  }
  const own = NAMES.get(name.toLowerCase());
  return own === undefined ? '' : `Write \`${own}\`.`;
}

/** What to write in place of `name<…>` or `name[…]`; undefined when that is unknown. `args` are plain type texts. */
export function equivalentOfGeneric(name: string, args: readonly string[]): string | undefined {
  const types = args.map((arg) => NAMES.get(arg.toLowerCase()) ?? arg);
  const [first, second] = types;
  const kind = /^(?:union|literal)$/iu.test(name)
    ? 'union'
    : NAMES.get(GENERICS.get(name.toLowerCase()) ?? name.toLowerCase());
  if (kind === 'union') return types.join(' | ');
  if (kind === 'T?' && types.length === 1) return `${first}?`;
  if (kind === 'T[]' && types.length === 1) return `${first}[]`;
  return kind === 'map<string, T>' && second !== undefined && types.length === 2
    ? `map<${first}, ${second}>`
    : undefined;
}

/** Longer names of what has parameters. */
const GENERICS: ReadonlyMap<string, string> = new Map([
  ['sequence', 'list'],
  ['iterable', 'list'],
  ['readonlyarray', 'list'],
  ['mapping', 'map'],
]);

function named(own: string, foreign: string): ReadonlyArray<readonly [string, string]> {
  return foreign.split(' ').map((name) => [name, own] as const);
}

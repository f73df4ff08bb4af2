/**
 * The filters that templates can use, with their parameters. The checker reads them here, as it reads the tests, functions and
 * methods below; the renderer has one implementation for each. A parameter is `name` (by position or by name), `name=` (by name
 * only), `*name` (the remaining positions) or `**name` (any other names); `?` marks an optional one.
 */
export const FILTERS = {
  abs: [],
  attr: ['name'],
  batch: ['count', 'fill_with?'],
  bool: [],
  capitalize: [],
  chain: ['*others'],
  count: [],
  d: ['other?', 'lax?'],
  default: ['other?', 'lax?'],
  dictsort: ['case_sensitive=?', 'by=?', 'reverse=?'],
  e: [],
  escape: [],
  first: [],
  float: [],
  format: ['type=?', 'format=?', 'indent=?', 'delimiter=?', 'length_marker=?'],
  groupby: ['attribute', 'default?', 'case_sensitive=?'],
  indent: ['width?', 'first?', 'blank?'],
  int: [],
  items: [],
  join: ['separator?'],
  last: [],
  length: [],
  lines: [],
  list: [],
  lower: [],
  map: ['attribute=?', 'default=?', 'filter?', '*arguments'],
  max: [],
  min: [],
  pprint: [],
  regex_match: ['pattern'],
  reject: ['test?', '*arguments'],
  rejectattr: ['attribute', 'test?', '*arguments'],
  replace: ['from', 'to'],
  reverse: [],
  round: ['precision?'],
  safe: [],
  select: ['test?', '*arguments'],
  selectattr: ['attribute', 'test?', '*arguments'],
  slice: ['count', 'fill_with?'],
  sort: ['reverse=?', 'attribute=?', 'case_sensitive=?'],
  split: ['separator?', 'maxsplits?'],
  string: [],
  sum: [],
  title: [],
  tojson: ['indent?'],
  trim: ['characters?'],
  unique: ['attribute=?', 'case_sensitive=?'],
  upper: [],
  zip: ['*others'],
} as const satisfies Record<string, readonly string[]>;

export const TESTS = {
  '!=': ['other'],
  '<': ['other'],
  '<=': ['other'],
  '==': ['other'],
  '>': ['other'],
  '>=': ['other'],
  boolean: [],
  defined: [],
  divisibleby: ['number'],
  endingwith: ['end'],
  eq: ['other'],
  equalto: ['other'],
  even: [],
  false: [],
  filter: [],
  float: [],
  ge: ['other'],
  greaterthan: ['other'],
  gt: ['other'],
  in: ['container'],
  int: [],
  integer: [],
  iterable: [],
  le: ['other'],
  lessthan: ['other'],
  lower: [],
  lt: ['other'],
  mapping: [],
  ne: ['other'],
  none: [],
  number: [],
  odd: [],
  safe: [],
  escaped: [],
  sameas: ['other'],
  sequence: [],
  startingwith: ['start'],
  string: [],
  test: [],
  true: [],
  undefined: [],
  upper: [],
} as const satisfies Record<string, readonly string[]>;

export const FUNCTIONS = {
  debug: ['*values'],
  range: ['lower', 'upper?', 'step?'],
  dict: ['value?', '**entries'],
  namespace: ['value?', '**entries'],
} as const satisfies Record<string, readonly string[]>;

/** Python's methods of strings, lists and maps, with their parameters. */
export const METHODS = {
  string: {
    capitalize: [],
    count: ['sub'],
    endswith: ['suffix'],
    find: ['sub'],
    format: ['*values', '**named'],
    isalnum: [],
    isalpha: [],
    isascii: [],
    isdigit: [],
    islower: [],
    isnumeric: [],
    isspace: [],
    isupper: [],
    join: ['iterable'],
    lower: [],
    lstrip: ['chars?'],
    replace: ['old', 'new', 'count?'],
    rfind: ['sub'],
    rstrip: ['chars?'],
    split: ['sep?', 'maxsplit?'],
    splitlines: ['keepends?'],
    startswith: ['prefix'],
    strip: ['chars?'],
    title: [],
    upper: [],
  },
  list: { count: ['value'] },
  map: { get: ['key', 'default?'], items: [], keys: [], values: [] },
} as const satisfies Record<string, Record<string, readonly string[]>>;

export type MethodName<K extends keyof typeof METHODS> = keyof (typeof METHODS)[K];
export type FilterName = keyof typeof FILTERS;
export type TestName = keyof typeof TESTS;
export type FunctionName = keyof typeof FUNCTIONS;

export function isFilterName(name: string): name is FilterName {
  return Object.hasOwn(FILTERS, name);
}

export function isTestName(name: string): name is TestName {
  return Object.hasOwn(TESTS, name);
}

export function isFunctionName(name: string): name is FunctionName {
  return Object.hasOwn(FUNCTIONS, name);
}

/** Options of `ctx.output_format(…)`, all by name. */
export const OUTPUT_FORMAT_OPTIONS = [
  'prefix',
  'or_splitter',
  'enum_value_prefix',
  'always_hoist_enums',
  'hoist_classes',
  'hoisted_class_prefix',
  'map_style',
  'quote_class_fields',
  'render_null_as',
] as const;

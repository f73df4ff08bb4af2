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

/** Kinds of values by which an operation can fail. Instances of classes are maps, and the int and the float are numbers. */
export type OperandKind = 'string' | 'number' | 'bool' | 'null' | 'undefined' | 'list' | 'map' | 'enum' | 'media';

const ITERABLE: readonly OperandKind[] = ['string', 'list', 'map', 'null', 'undefined'];
const NUMERIC: readonly OperandKind[] = ['number', 'bool'];
const ANY_KIND: readonly OperandKind[] = [...ITERABLE, ...NUMERIC, 'enum', 'media'];
const LIMIT: readonly OperandKind[] = ['number', 'bool', 'null', 'undefined'];

/** The values that operations take, in words and as kinds. With any other kind, rendering fails. */
export const OPERANDS = {
  iterable: { words: 'a list, a map or a string', kinds: ITERABLE },
  sized: { words: 'a list, a map or a string', kinds: ['string', 'list', 'map'] },
  sliceable: { words: 'a list or a string', kinds: ['string', 'list', 'null', 'undefined'] },
  map: { words: 'a map or a class', kinds: ['map'] },
  'optional-map': { words: 'a map or a class', kinds: ['map', 'undefined'] },
  number: { words: 'a number', kinds: NUMERIC },
  'optional-number': { words: 'a number', kinds: [...NUMERIC, 'undefined'] },
  signed: { words: 'a number', kinds: ['number'] },
  limit: { words: 'a number', kinds: LIMIT },
  convertible: { words: 'a number or a string', kinds: ['string', ...LIMIT] },
  role: { words: 'a string or an enum value', kinds: ['string', 'enum'] },
  data: { words: 'a value without media', kinds: ANY_KIND.filter((kind) => kind !== 'media') },
  object: {
    words: 'a value that is not null',
    kinds: ANY_KIND.filter((kind) => kind !== 'undefined' && kind !== 'null'),
  },
  present: { words: 'a defined value', kinds: ANY_KIND.filter((kind) => kind !== 'undefined') },
} as const satisfies Record<string, { readonly words: string; readonly kinds: readonly OperandKind[] }>;

export type OperandName = keyof typeof OPERANDS;

/** The operand of a filter, under `value`, and those of its parameters. Others take any value. */
export const FILTER_OPERANDS: Readonly<Partial<Record<FilterName, Readonly<Record<string, OperandName>>>>> = {
  abs: { value: 'number' },
  attr: { value: 'present' },
  batch: { value: 'iterable', count: 'number' },
  chain: { value: 'iterable', others: 'iterable' },
  count: { value: 'sized' },
  dictsort: { value: 'map' },
  first: { value: 'iterable' },
  float: { value: 'convertible' },
  format: { value: 'data' },
  groupby: { value: 'iterable' },
  indent: { width: 'limit' },
  int: { value: 'convertible' },
  items: { value: 'map' },
  join: { value: 'iterable' },
  last: { value: 'iterable' },
  length: { value: 'sized' },
  list: { value: 'iterable' },
  map: { value: 'iterable' },
  max: { value: 'iterable' },
  min: { value: 'iterable' },
  reject: { value: 'iterable' },
  rejectattr: { value: 'iterable' },
  reverse: { value: 'iterable' },
  round: { value: 'number' },
  select: { value: 'iterable' },
  selectattr: { value: 'iterable' },
  slice: { value: 'iterable', count: 'number' },
  sort: { value: 'iterable' },
  split: { maxsplits: 'limit' },
  sum: { value: 'iterable' },
  tojson: { indent: 'limit' },
  unique: { value: 'iterable' },
  zip: { value: 'iterable', others: 'iterable' },
};

/** The kind of the result of a filter, where it is the same for all operands. */
export const FILTER_RESULTS: Readonly<Partial<Record<FilterName, 'string' | 'int' | 'float' | 'bool' | 'list'>>> = {
  batch: 'list',
  bool: 'bool',
  capitalize: 'string',
  count: 'int',
  dictsort: 'list',
  e: 'string',
  escape: 'string',
  float: 'float',
  format: 'string',
  groupby: 'list',
  indent: 'string',
  int: 'int',
  items: 'list',
  join: 'string',
  length: 'int',
  lines: 'list',
  list: 'list',
  lower: 'string',
  map: 'list',
  pprint: 'string',
  regex_match: 'bool',
  reject: 'list',
  rejectattr: 'list',
  replace: 'string',
  safe: 'string',
  select: 'list',
  selectattr: 'list',
  slice: 'list',
  sort: 'list',
  split: 'list',
  string: 'string',
  title: 'string',
  tojson: 'string',
  trim: 'string',
  unique: 'list',
  upper: 'string',
  zip: 'list',
};

/** The operands of the parameters of tests. The tested value can be of any kind. */
export const TEST_OPERANDS: Readonly<Partial<Record<TestName, Readonly<Record<string, OperandName>>>>> = {
  divisibleby: { number: 'number' },
  in: { container: 'iterable' },
};

export const FUNCTION_OPERANDS: Readonly<Partial<Record<FunctionName, Readonly<Record<string, OperandName>>>>> = {
  range: { lower: 'number', upper: 'optional-number', step: 'optional-number' },
  dict: { value: 'optional-map' },
  namespace: { value: 'optional-map' },
};

/** The operands of the parameters of methods of strings. */
export const METHOD_OPERANDS: Readonly<Partial<Record<MethodName<'string'>, Readonly<Record<string, OperandName>>>>> = {
  join: { iterable: 'iterable' },
  replace: { count: 'limit' },
  split: { maxsplit: 'limit' },
};

/** The pairs of kinds that a binary operator takes, the left ones and the right ones. Other operators take any values. */
export const OPERATOR_OPERANDS: Readonly<
  Record<string, readonly (readonly [left: readonly OperandKind[], right: readonly OperandKind[]])[]>
> = {
  '+': [
    [NUMERIC, NUMERIC],
    [['string'], ['string']],
    [['list'], ['list']],
  ],
  '-': [[NUMERIC, NUMERIC]],
  '*': [
    [NUMERIC, NUMERIC],
    [['string', 'list'], NUMERIC],
    [NUMERIC, ['string', 'list']],
  ],
  '/': [[NUMERIC, NUMERIC]],
  '//': [[NUMERIC, NUMERIC]],
  '%': [[NUMERIC, NUMERIC]],
  '**': [[NUMERIC, NUMERIC]],
  in: [[ANY_KIND, ITERABLE]],
  'not in': [[ANY_KIND, ITERABLE]],
};

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

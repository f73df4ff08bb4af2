import { type MethodName, METHODS } from '../../../schema/template-vocabulary.ts';
import { orderArguments } from '../compile/bind-arguments.ts';
import { TemplateFault, type Work, assertTextLength } from '../values/work.ts';
import { contains, itemOf, itemsOf, readAttribute, valuesEqual } from '../values/access-value.ts';
import { plainTextOf } from '../values/print-value.ts';
import {
  type CallArguments,
  entriesOf,
  isList,
  isMapping,
  isString,
  isTrue,
  kindOf,
  RichText,
  Special,
  type Value,
  Float,
} from '../values/value.ts';
import { join } from './list-filters.ts';
import {
  capitalize,
  characterSet,
  linesOf,
  mapText,
  replaceText,
  splitBy,
  titleCase,
  trimEnd,
  trimStart,
  trimText,
} from './text-filters.ts';

/** Calls a method. Arguments come in the order of the vocabulary, `undefined` for omitted ones. */
type Method = (value: Value, args: readonly Value[], work: Work) => Value;

/** Methods of strings, as in Python. */
const STRING_METHODS: Readonly<Record<MethodName<'string'>, Method>> = {
  upper: (value, _, work) => mapText(value, (text) => text.toUpperCase(), work),
  lower: (value, _, work) => mapText(value, (text) => text.toLowerCase(), work),
  title: (value, _, work) => mapText(value, titleCase, work),
  capitalize: (value, _, work) => mapText(value, capitalize, work),
  strip: (value, [characters], work) => trimText(value, characters, work),
  lstrip: (value, [characters], work) => trimStart(plainTextOf(value, work), characterSet(characters, work)),
  rstrip: (value, [characters], work) => trimEnd(plainTextOf(value, work), characterSet(characters, work)),
  split: splitBy,
  splitlines: (value, [keepEnds], work) => (isTrue(keepEnds, work) ? wholeLinesOf(value, work) : linesOf(value, work)),
  replace: replaceText,
  startswith: (value, [start], work) =>
    affixes(start, work).some((affix) => plainTextOf(value, work).startsWith(affix)),
  endswith: (value, [end], work) => affixes(end, work).some((affix) => plainTextOf(value, work).endsWith(affix)),
  find: (value, [part], work) => plainTextOf(value, work).indexOf(plainTextOf(part, work)),
  format: (value, [positional, named], work) =>
    formatText(plainTextOf(value, work), formatArguments(positional, named), work),
  rfind: (value, [part], work) => plainTextOf(value, work).lastIndexOf(plainTextOf(part, work)),
  count: (value, [part], work) => occurrences(plainTextOf(value, work), plainTextOf(part, work)),
  join: (value, [items], work) => join(items, value, work),
  isdigit: matching(/^\p{Nd}*$/u),
  isnumeric: matching(/^\p{N}*$/u),
  isalpha: matching(/^\p{L}*$/u),
  isalnum: matching(/^[\p{L}\p{N}]*$/u),
  isspace: matching(/^\s*$/u),
  isupper: matching(/^\p{Uppercase}*$/u),
  islower: matching(/^\p{Lowercase}*$/u),
  // oxlint-disable-next-line no-control-regex -- all of ASCII
  isascii: matching(/^[\u0000-\u007f]*$/u),
};

const LIST_METHODS: Readonly<Record<MethodName<'list'>, Method>> = {
  count: (value, [wanted], work) => itemsOf(value, work).filter((item) => valuesEqual(item, wanted, work)).length,
};

const NO_ENTRIES: ReadonlyMap<Value, Value> = new Map();

const MAP_METHODS: Readonly<Record<MethodName<'map'>, Method>> = {
  keys: (value, _, work) => [...(entriesOf(value, work) ?? NO_ENTRIES).keys()],
  values: (value, _, work) => [...(entriesOf(value, work) ?? NO_ENTRIES).values()],
  items: (value, _, work) => [...(entriesOf(value, work) ?? NO_ENTRIES)],
  get: (value, [key, fallback], work) => (contains(value, key, work) ? itemOf(value, key, work) : (fallback ?? null)),
};

type MethodCalls = ReadonlyMap<string, (value: Value, args: CallArguments, work: Work) => Value>;

const ofStrings = withParameters(STRING_METHODS, METHODS.string);
const ofLists = withParameters(LIST_METHODS, METHODS.list);
const ofMaps = withParameters(MAP_METHODS, METHODS.map);

/** Lets methods accept arguments by position or by name, and refuse those that do not match their parameters. */
function withParameters<N extends string>(
  methods: Readonly<Record<N, Method>>,
  parameters: Readonly<Record<N, readonly string[]>>,
): MethodCalls {
  const names = Object.keys(methods) as N[];
  return new Map(
    names.map((name) => [
      name,
      (value, args, work) => methods[name](value, orderArguments(args, parameters[name]), work),
    ]),
  );
}

interface MethodCall {
  readonly name: string;
  readonly args: CallArguments;
}

/** `value.name(…)`: one of Python's methods of strings, lists and maps, or an attribute that can be called. */
export function callMethod(value: Value, call: MethodCall, work: Work): Value {
  const { name, args } = call;
  if (value === undefined) throw new TemplateFault(`cannot call "${name}" of an undefined value`);
  if (value instanceof Special && !(value instanceof RichText)) return callSpecial(value, call, work);
  const attribute = isMapping(value) ? readAttribute(value, name) : undefined;
  if (attribute instanceof Special) return attribute.call(args, work);
  const method = methodsOf(value)?.get(name);
  if (method === undefined) throw new TemplateFault(`a value of kind ${kindOf(value)} has no method "${name}"`);
  return method(value, args, work);
}

function callSpecial(value: Special, { name, args }: MethodCall, work: Work): Value {
  const attribute = value.attribute(name);
  if (attribute instanceof Special) return attribute.call(args, work);
  const method = isMapping(value) ? ofMaps.get(name) : undefined;
  return method === undefined ? value.callMethod(name, args, work) : method(value, args, work);
}

function methodsOf(value: Value): MethodCalls | undefined {
  if (isString(value)) return ofStrings;
  if (isList(value)) return ofLists;
  return isMapping(value) ? ofMaps : undefined;
}

function matching(pattern: RegExp): Method {
  return (value, _, work) => pattern.test(plainTextOf(value, work));
}

/** Lines with the line breaks that end them. */
function wholeLinesOf(value: Value, work: Work): readonly string[] {
  return plainTextOf(value, work).match(/[^\n]*\n|[^\n]+/gu) ?? [];
}

function formatArguments(positional: Value, named: Value): Parameters<typeof formatText>[1] {
  return { positional: isList(positional) ? positional : [], named: named instanceof Map ? named : NO_ENTRIES };
}

/** One string or a list of strings. */
function affixes(value: Value, work: Work): readonly string[] {
  return (isList(value) ? value : [value]).map((affix) => plainTextOf(affix, work));
}

function occurrences(text: string, part: string): number {
  return part === '' ? text.length + 1 : text.split(part).length - 1;
}

/** `{{`, `}}`, `{field:spec}`, `{field!conversion}`, or a brace without a partner. */
const PART = /\{\{|\}\}|\{([^{}:!]*)(?::([^{}]*))?\}|\{[^{}:!]*![^{}]*\}|[{}]/gu;
/** One step of a field after its first name: `.name` or `[key]`. */
const STEP = /\.(\w+)|\[([^\]]+)\]/gu;
const FIELD = /^(\w*)((?:\.\w+|\[[^\]]+\])*)$/u;

interface FormatArguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<Value, Value>;
}

/**
 * Python's `"…".format(…)`: fields are `{}`, `{0}` or `{name}`, with `.attribute` and `[key]`; a field can have a format
 * (https://docs.python.org/3/library/string.html#formatspec), except `=`, `%`, `c` and `n`, which BAML does not support either.
 */
function formatText(text: string, args: FormatArguments, work: Work): string {
  let next = 0;
  return text.replace(PART, (part: string, field: string | undefined, spec: string | undefined) => {
    if (part === '{{' || part === '}}') return part.charAt(0);
    if (field === undefined && part.length > 1)
      throw new TemplateFault(`"format" does not support conversions, such as "${part}"`);
    if (field === undefined)
      throw new TemplateFault(`the text of "format" contains "${part}" without a matching brace`);
    const [, name = '', steps = ''] = FIELD.exec(field) ?? refuse(field);
    const value = argumentOf(name === '' ? String(next++) : name, args);
    const reached = [...steps.matchAll(STEP)].reduce((object, step) => stepInto(object, step, work), value);
    return spec === undefined || spec === '' ? plainField(reached, work) : formatSpecified(reached, spec, work);
  });
}

function refuse(field: string): never {
  throw new TemplateFault(`"{${field}}" is not a field of "format"`);
}

function argumentOf(name: string, { positional, named }: FormatArguments): Value {
  if (/^\d+$/u.test(name) && Number(name) < positional.length) return positional[Number(name)];
  if (named.has(name)) return named.get(name);
  throw new TemplateFault(`"format" has no argument for the field "{${name}}"`);
}

function stepInto(object: Value, [, attribute, key = '']: readonly (string | undefined)[], work: Work): Value {
  if (attribute !== undefined) return readAttribute(object, attribute);
  return itemOf(object, isList(object) && /^\d+$/u.test(key) ? Number(key) : key, work);
}

/** Large and small floats have an exponent, as in Python. */
function plainField(value: Value, work: Work): string {
  const isFloat = value instanceof Float || (typeof value === 'number' && !Number.isInteger(value));
  return isFloat ? formatSpecified(value, '', work) : plainTextOf(value, work);
}

// --- formats of fields -----------------------------------------------------------------------------------------------

interface Spec {
  readonly fill: string;
  readonly align: string | undefined;
  readonly sign: string;
  readonly hasPrefix: boolean;
  readonly isZeroFilled: boolean;
  readonly width: number;
  readonly separator: string;
  readonly precision: number | undefined;
  readonly type: string;
}

const SPEC = /^(?:(.)?([<>^]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([sdboxXeEfFgG])?$/su;
/** JavaScript writes at most 100 digits after the point, of which rounding takes 30; a prompt needs far fewer. */
const MAX_PRECISION = 60;
const INTEGER_BASES: Readonly<Record<string, number>> = { d: 10, b: 2, o: 8, x: 16, X: 16 };
/** The precision in Python of `e`, `f` and `g` that state none. */
const DEFAULT_PRECISION = 6;

/** Formats one value by the part of a field after its colon. */
function formatSpecified(value: Value, text: string, work: Work): string {
  const spec = parseSpec(text);
  assertTextLength(spec.width);
  work.spend(spec.width);
  const number = typeof value === 'boolean' ? Number(value) : value instanceof Float ? value.value : value;
  if (typeof number !== 'number') return padded(textOf(value, spec, work), '', spec, '<');
  const digits = digitsOf(number, value, spec);
  const sign = digits.startsWith('-') ? '-' : spec.sign.replace('-', '');
  return padded(grouped(digits.replace(/^-/u, ''), spec), sign, spec, '>');
}

function parseSpec(text: string): Spec {
  const match = SPEC.exec(text);
  if (match === null) throw new TemplateFault(`"${text}" is not a format specification`);
  const [, fill, align, sign = '', prefix, zero, width, separator = '', precision, type = ''] = match;
  if (Number(precision) > MAX_PRECISION)
    throw new TemplateFault(`the format specification "${text}" asks for more than ${MAX_PRECISION} digits`);
  return {
    fill: fill ?? (zero !== undefined && align === undefined ? '0' : ' '),
    align,
    sign,
    hasPrefix: prefix !== undefined,
    isZeroFilled: zero !== undefined && align === undefined,
    width: Number(width ?? 0),
    separator,
    precision: precision === undefined ? undefined : Number(precision),
    type,
  };
}

function textOf(value: Value, { type, precision }: Spec, work: Work): string {
  if (type !== '' && type !== 's') throw mismatched(value, type);
  const text = plainTextOf(value, work);
  return precision === undefined ? text : [...text].slice(0, precision).join('');
}

function mismatched(value: Value, type: string): TemplateFault {
  return new TemplateFault(`the format "${type}" does not accept a value of kind ${kindOf(value)}`);
}

function digitsOf(number: number, value: Value, spec: Spec): string {
  const { type, precision } = spec;
  const isInteger = Number.isInteger(number) && !(value instanceof Float);
  const base = INTEGER_BASES[type === '' && isInteger && precision === undefined ? 'd' : type];
  if (type === 's' || (base !== undefined && !isInteger)) throw mismatched(value, type);
  if (base !== undefined) return integerDigits(number, base, spec);
  const lower = type.toLowerCase();
  const digits = Number.isFinite(number) ? floatDigits(number, lower, precision) : infinite(number);
  return lower === type ? digits : digits.toUpperCase();
}

function integerDigits(number: number, base: number, { type, hasPrefix }: Spec): string {
  const digits = BigInt(Math.abs(number)).toString(base);
  const prefix = hasPrefix && base !== 10 ? `0${type}` : '';
  return `${number < 0 ? '-' : ''}${prefix}${type === 'X' ? digits.toUpperCase() : digits}`;
}

function infinite(number: number): string {
  if (Number.isNaN(number)) return 'nan';
  return number > 0 ? 'inf' : '-inf';
}

function floatDigits(number: number, type: string, precision: number | undefined): string {
  if (type === 'f') return fixed(number, precision ?? DEFAULT_PRECISION);
  if (type === 'e') return exponential(number, precision ?? DEFAULT_PRECISION);
  if (type === 'g') return general(number, precision ?? DEFAULT_PRECISION);
  const digits = precision === undefined ? shortest(number) : general(number, precision);
  return /[.e]/u.test(digits) ? digits : `${digits}.0`;
}

/** Halves round to the even digit; `toFixed` rounds them up. */
function fixed(number: number, precision: number): string {
  if (Math.abs(number) >= 1e21) return `${BigInt(number)}${precision > 0 ? `.${'0'.repeat(precision)}` : ''}`;
  const exact = number.toFixed(precision + 30);
  const down = exact.slice(0, exact.length - 30).replace(/\.$/u, '');
  const isHalf = /^50*$/u.test(exact.slice(-30));
  return isHalf && /[02468]$/u.test(down) ? down : number.toFixed(precision);
}

/** The exponent has at least two digits. */
function exponential(number: number, precision?: number): string {
  return number.toExponential(precision).replace(/e([-+])(\d)$/u, 'e$10$2');
}

function general(number: number, precision: number): string {
  const digits = Math.max(1, precision);
  const exponent = Number(number.toExponential(digits - 1).split('e')[1]);
  const isPlain = exponent >= -4 && exponent < digits;
  const text = isPlain ? fixed(number, digits - 1 - exponent) : exponential(number, digits - 1);
  return text.includes('.') ? text.replace(/\.?0+(?=e|$)/u, '') : text;
}

/** The shortest digits that read back as this number. */
function shortest(number: number): string {
  const exponent = Number(number.toExponential().split('e')[1]);
  return exponent < -4 || exponent >= 16 ? exponential(number) : String(number);
}

function grouped(digits: string, { separator }: Spec): string {
  if (separator === '') return digits;
  return digits.replace(/^\d+/u, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/gu, separator));
}

/** Widths count characters. Zeros go between the sign and the digits. `usual`: the alignment if the specification states none. */
function padded(text: string, sign: string, { fill, width, isZeroFilled, align }: Spec, usual: '<' | '>'): string {
  const missing = Math.max(0, width - [...sign, ...text].length);
  const side = align ?? usual;
  if (isZeroFilled && side === '>') return sign + '0'.repeat(missing) + text;
  const before = side === '>' ? missing : side === '^' ? Math.floor(missing / 2) : 0;
  return fill.repeat(before) + sign + text + fill.repeat(missing - before);
}

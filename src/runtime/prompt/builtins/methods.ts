import { type MethodName, METHODS } from '../../../schema/template-vocabulary.ts';
import { orderArguments } from '../compile/bind-arguments.ts';
import { TemplateFault } from '../template-fault.ts';
import { contains, itemOf, itemsOf, readAttribute } from '../values/access-value.ts';
import { valuesEqual } from '../values/compare-values.ts';
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
} from '../values/value.ts';
import type { Work } from '../values/work.ts';
import { formatText } from './format-text.ts';
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

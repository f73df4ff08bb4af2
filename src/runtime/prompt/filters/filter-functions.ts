import type { FilterName } from '../../../schema/template-vocabulary.ts';
import type { Run } from '../run.ts';
import { TemplateFault } from '../template-fault.ts';
import { attributeOf, itemsOf, lengthOf } from '../values/access-value.ts';
import { Output } from '../values/rich-text.ts';
import { plainTextOf, printInside, textOf } from '../values/print-value.ts';
import { isList, isTrue, kindOf, type Value } from '../values/value.ts';
import { applyFilter, applyTest } from './apply-by-name.ts';
import { formatValue } from './format-value.ts';
import * as lists from './list-filters.ts';
import { absolute, round, toFloat, toInteger } from './number-filters.ts';
import { matchesPattern } from './match-pattern.ts';
import * as texts from './text-filters.ts';
import { dataOf, escapeForHtml, writeJson } from './to-json.ts';

/** One filter: its arguments come in the order of the vocabulary, `undefined` for those left out. */
export type FilterFunction = (value: Value, args: readonly Value[], run: Run) => Value;

/** Every filter of the vocabulary. */
export const FILTER_FUNCTIONS: Readonly<Record<FilterName, FilterFunction>> = {
  abs: absolute,
  attr: (value, [name]) => attributeOf(value, plainTextOf(name)),
  batch: lists.batchItems,
  bool: (value) => isTrue(value),
  capitalize: (value) => texts.mapText(value, texts.capitalize),
  chain: (value, [others]) => lists.chainItems(value, others),
  count: length,
  d: withDefault,
  default: withDefault,
  dictsort: lists.sortPairs,
  e: textOf,
  escape: textOf,
  first: (value) => itemsOf(value)[0],
  float: toFloat,
  format: formatValue,
  groupby: lists.groupItems,
  indent: texts.indentText,
  int: toInteger,
  items: (value) => lists.pairsOf(value),
  join: (value, [separator]) => lists.join(value, separator),
  last: (value) => itemsOf(value).at(-1),
  length,
  lines: (value) => texts.linesOf(value),
  list: (value) => [...itemsOf(value)],
  lower: (value) => texts.mapText(value, (text) => text.toLowerCase()),
  map: mapItems,
  max: lists.largest,
  min: lists.smallest,
  pprint,
  regex_match: (value, [pattern], run) => matchesPattern(plainTextOf(value), plainTextOf(pattern), run),
  reject: (value, [test, args], run) => selectItems(value, { test, args, keep: false }, run),
  rejectattr: (value, [path, test, args], run) => selectItems(value, { test, args, path, keep: false }, run),
  replace: texts.replaceText,
  reverse: lists.reverseItems,
  round: (value, [precision]) => round(value, precision),
  safe: textOf,
  select: (value, [test, args], run) => selectItems(value, { test, args, keep: true }, run),
  selectattr: (value, [path, test, args], run) => selectItems(value, { test, args, path, keep: true }, run),
  slice: lists.sliceItems,
  sort: lists.sortItems,
  split: texts.splitText,
  string: textOf,
  sum: lists.sumItems,
  title: (value) => texts.mapText(value, texts.titleCase),
  tojson: (value, [indent]) => escapeForHtml(writeJson(dataOf(value, 'real'), indentationOf(indent))),
  trim: (value, [characters]) => texts.trimText(value, characters),
  unique: lists.uniqueItems,
  upper: (value) => texts.mapText(value, (text) => text.toUpperCase()),
  zip: (value, [others]) => lists.zipItems(value, others),
};

function length(value: Value): Value {
  const size = lengthOf(value);
  if (size === undefined) throw new TemplateFault(`a value of kind ${kindOf(value)} has no length`);
  return size;
}

function withDefault(value: Value, [other, lax]: readonly Value[]): Value {
  if (value === undefined || (isTrue(lax) && !isTrue(value))) return other ?? '';
  return value;
}

/** `true` stands for two spaces. */
function indentationOf(indent: Value): number {
  return indent === true ? 2 : Math.min(texts.countOf(indent, 0), 16);
}

function pprint(value: Value): Value {
  const out = new Output();
  printInside(out, value, 0);
  return out.take();
}

/** `map(attribute=…)` takes an attribute of each item, `map("filter", …)` applies a filter to each. */
function mapItems(value: Value, [attribute, fallback, filter, args]: readonly Value[], run: Run): Value {
  const items = itemsOf(value);
  run.charge(items.length);
  if (attribute !== undefined) return items.map((item) => lists.pathOf(item, attribute) ?? fallback);
  if (filter === undefined) throw new TemplateFault('it needs the name of a filter, or attribute=');
  const name = plainTextOf(filter);
  return items.map((item) => applyFilter(FILTER_FUNCTIONS, { name, value: item, args: itemsOf(args) }, run));
}

interface Selection {
  readonly test: Value;
  readonly args: Value;
  readonly path?: Value;
  readonly keep: boolean;
}

function selectItems(value: Value, { test, args, path, keep }: Selection, run: Run): readonly Value[] {
  const items = itemsOf(value);
  run.charge(items.length);
  const given = isList(args) ? args : [];
  return items.filter((item) => {
    const tested = path === undefined ? item : lists.pathOf(item, path);
    const holds = test === undefined ? isTrue(tested) : applyTest(plainTextOf(test), tested, given);
    return holds === keep;
  });
}

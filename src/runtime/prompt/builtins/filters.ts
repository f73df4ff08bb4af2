import * as lists from './list-filters.ts';
import * as texts from './text-filters.ts';
import { type FilterName, FILTERS, isFilterName, isTestName, TESTS } from '../../../schema/template-vocabulary.ts';
import { orderArguments } from '../compile/bind-arguments.ts';
import { TemplateFault, type Work } from '../values/work.ts';
import { itemsOf, lengthOf, readAttribute, sizeOf } from '../values/access-value.ts';
import {
  PromptOutput,
  floatOf,
  isFloat,
  isList,
  isTrue,
  kindOf,
  numberOf,
  type Value,
  writtenText,
  Float,
} from '../values/value.ts';
import { plainTextOf, printedText, printInside, formatForJson } from '../values/print-value.ts';
import { matchesPattern } from './match-pattern.ts';
import { TEST_FUNCTIONS } from './functions.ts';
import { dataOf, escapeForHtml, writeJson, isEntries, isItems, type Data, writeToon } from './write-data.ts';

/** Applies a filter. Arguments come in the order of the vocabulary, `undefined` for omitted ones. */
type FilterFunction = (value: Value, args: readonly Value[], work: Work) => Value;

/** Every filter of the vocabulary. */
export const FILTER_FUNCTIONS: Readonly<Record<FilterName, FilterFunction>> = {
  abs: absolute,
  attr: (value, [name], work) => readAttribute(value, plainTextOf(name, work)),
  batch: lists.batchItems,
  bool: (value, _, work) => isTrue(value, work),
  capitalize: (value, _, work) => texts.mapText(value, texts.capitalize, work),
  chain: lists.chainItems,
  count: length,
  d: withDefault,
  default: withDefault,
  dictsort: lists.sortPairs,
  e: (value, _, work) => texts.mapText(value, escapeHtml, work),
  escape: (value, _, work) => texts.mapText(value, escapeHtml, work),
  first: (value, _, work) => itemsOf(value, work)[0],
  float: (value, _, work) => floatOf(numericOf(value, work)),
  format: formatValue,
  groupby: lists.groupItems,
  indent: texts.indentText,
  int: toInteger,
  items: (value, _, work) => lists.pairsOf(value, work),
  join: (value, [separator], work) => lists.join(value, separator, work),
  last: (value, _, work) => itemsOf(value, work).at(-1),
  length,
  lines: (value, _, work) => texts.linesOf(value, work),
  list: (value, _, work) => [...itemsOf(value, work)],
  lower: (value, _, work) => texts.mapText(value, (text) => text.toLowerCase(), work),
  map: mapItems,
  max: (value, _, work) => lists.extreme(value, 1, work),
  min: (value, _, work) => lists.extreme(value, -1, work),
  pprint,
  regex_match: (value, [pattern], work) => matchesPattern(plainTextOf(value, work), plainTextOf(pattern, work), work),
  reject: (value, [test, args], work) => selectItems(value, { test, args, keep: false }, work),
  rejectattr: (value, [path, test, args], work) => selectItems(value, { test, args, path, keep: false }, work),
  replace: texts.replaceText,
  reverse: lists.reverseItems,
  round,
  safe: asText,
  select: (value, [test, args], work) => selectItems(value, { test, args, keep: true }, work),
  selectattr: (value, [path, test, args], work) => selectItems(value, { test, args, path, keep: true }, work),
  slice: lists.sliceItems,
  sort: lists.sortItems,
  split: texts.splitText,
  string: asText,
  sum: lists.sumItems,
  title: (value, _, work) => texts.mapText(value, texts.titleCase, work),
  tojson: (value, [indent], work) =>
    escapeForHtml(writeJson(dataOf(value, { naming: 'real', work }), indentationOf(indent))),
  trim: (value, [characters], work) => texts.trimText(value, characters, work),
  unique: lists.uniqueItems,
  upper: (value, _, work) => texts.mapText(value, (text) => text.toUpperCase(), work),
  zip: lists.zipItems,
};

/** Returns the units of work that a filter costs: one, plus more for each part of the value that it reads. */
export function filterWork(name: FilterName, value: Value, work: Work): number {
  return readsAll(name, value) ? 1 + (sizeOf(value, work) >> 7) : 1;
}

/** Lengths of lists and maps, and ends of lists, are known without reading the rest. */
function readsAll(name: FilterName, value: Value): boolean {
  switch (name) {
    case 'd':
    case 'default':
      return false;
    case 'count':
    case 'length':
      return typeof value === 'string';
    case 'first':
    case 'last':
      return !isList(value);
    default:
      return true;
  }
}

const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;',
  '/': '&#x2f;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"'/]/gu, (character) => HTML[character] ?? character);
}

function asText(value: Value, _: readonly Value[], work: Work): Value {
  return printedText(value, work);
}

function length(value: Value, _: readonly Value[], work: Work): Value {
  const size = lengthOf(value, work);
  if (size === undefined) throw new TemplateFault(`a value of kind ${kindOf(value)} has no length`);
  return size;
}

function withDefault(value: Value, [other, lax]: readonly Value[], work: Work): Value {
  if (value === undefined || (isTrue(lax, work) && !isTrue(value, work))) return other ?? '';
  return value;
}

/** `true` means two spaces. */
function indentationOf(indent: Value): number {
  return indent === true ? 2 : Math.min(texts.countOf(indent, 0), 16);
}

function pprint(value: Value, _: readonly Value[], work: Work): Value {
  const out = new PromptOutput(work);
  printInside(out, value, 0);
  return writtenText(out);
}

const NO_NAMES: ReadonlyMap<string, Value> = new Map();

/** `map(attribute=…)` takes an attribute of each item, `map("filter", …)` applies a filter to each. */
function mapItems(value: Value, [attribute, fallback, filter, args]: readonly Value[], work: Work): Value {
  const items = itemsOf(value, work);
  work.spend(items.length);
  if (attribute !== undefined) return items.map((item) => lists.attributeOf(item, { attribute, fallback }, work));
  if (filter === undefined) throw new TemplateFault('give the name of a filter, or attribute=');
  const name = plainTextOf(filter, work);
  const given = { positional: itemsOf(args, work), named: NO_NAMES };
  return items.map((item) => {
    if (!isFilterName(name)) throw new TemplateFault(`there is no filter "${name}"`);
    work.spend(filterWork(name, item, work));
    return FILTER_FUNCTIONS[name](item, orderArguments(given, FILTERS[name]), work);
  });
}

interface Selection {
  readonly test: Value;
  readonly args: Value;
  readonly path?: Value;
  readonly keep: boolean;
}

function selectItems(value: Value, { test, args, path, keep }: Selection, work: Work): readonly Value[] {
  const items = itemsOf(value, work);
  work.spend(items.length);
  const holds = test === undefined ? isTrue : testNamed(plainTextOf(test, work), isList(args) ? args : []);
  return items.filter((item) => holds(path === undefined ? item : lists.valueAt(item, path, work), work) === keep);
}

/** Finds a test whose name is known only when rendering, as in `select("odd")`. An unknown name fails at the first item. */
function testNamed(name: string, args: readonly Value[]): (value: Value, work: Work) => boolean {
  return (value, work) => {
    if (!isTestName(name)) throw new TemplateFault(`there is no test "${name}"`);
    return TEST_FUNCTIONS[name](value, orderArguments({ positional: args, named: NO_NAMES }, TESTS[name]), work);
  };
}

function absolute(value: Value): Value {
  const number = givenNumber(value);
  return isFloat(value) ? floatOf(Math.abs(number)) : Math.abs(number);
}

/** Rounds halves away from zero; integers stay as they are. */
function round(value: Value, [precision]: readonly Value[]): Value {
  const number = givenNumber(value);
  if (!isFloat(value)) return number;
  const factor = 10 ** (numberOf(precision) ?? 0);
  const scaled = Math.sign(number) * Math.round(Math.abs(number) * factor);
  return floatOf(Number.isFinite(scaled) ? scaled / factor : number);
}

function givenNumber(value: Value): number {
  const number = numberOf(value);
  if (number === undefined) throw new TemplateFault(`a value of kind ${kindOf(value)} is not a number`);
  return number;
}

function toInteger(value: Value, _: readonly Value[], work: Work): Value {
  const number = numericOf(value, work);
  if (!Number.isFinite(number)) throw new TemplateFault('the number is too large for an integer');
  return Math.trunc(number);
}

const NUMERIC = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u;

function numericOf(value: Value, work: Work): number {
  const number = numberOf(value);
  if (number !== undefined) return number;
  if (value === undefined || value === null) return 0;
  const text = plainTextOf(value, work);
  if (text.length > 400 || !NUMERIC.test(text)) throw new TemplateFault('the string is not a number');
  return Number(text);
}

const DELIMITERS: ReadonlyMap<string, string> = new Map([
  ['comma', ','],
  ['tab', '\t'],
  ['pipe', '|'],
]);

/** `format(type="json"|"yaml"|"toon")`, in any case, also as `format=`: data under the names that the model sees. */
function formatValue(value: Value, args: readonly Value[], work: Work): string {
  const [type, format, indent, delimiter, lengthMarker] = args;
  const data = dataOf(value, { naming: 'alias', work });
  switch (plainTextOf(type ?? format, work).toLowerCase()) {
    case 'json':
      return writeJson(data, 0);
    case 'yaml':
      return writeYaml(data);
    case 'toon':
      return writeToon(data, {
        indent: texts.countOf(indent, 2),
        delimiter: delimiterOf(delimiter, work),
        lengthMarker: lengthMarker === undefined || lengthMarker === null ? '' : plainTextOf(lengthMarker, work),
      });
    default:
      throw new TemplateFault('the type must be "json", "yaml" or "toon"');
  }
}

function delimiterOf(name: Value, work: Work): string {
  if (name === undefined || name === null) return ',';
  const delimiter = DELIMITERS.get(plainTextOf(name, work));
  if (delimiter === undefined) throw new TemplateFault('the delimiter must be "comma", "tab" or "pipe"');
  return delimiter;
}

/**
 * Writes YAML in block style, ending with a line break. The output matches BAML's, not that of the `yaml` package: it quotes `-`
 * alone, `---a` and strings that look like a number with an exponent, leaves `=`, `<<` and `nULL` unquoted, and writes every string
 * of several lines as a block.
 */
function writeYaml(data: Data): string {
  return `${block(data, 0)}\n`;
}

function block(data: Data, level: number): string {
  if (isEntries(data) && data.size > 0) return writeEntries(data, level);
  if (isItems(data) && data.length > 0) return writeItems(data, level);
  return scalar(data, level);
}

function writeEntries(entries: ReadonlyMap<string, Data>, level: number): string {
  const pad = '  '.repeat(level);
  return [...entries]
    .map(([key, value]) => {
      const name = key.includes('\n') ? quoted(key) : writeString(key, level);
      if (isEntries(value) && value.size > 0) return `${name}:\n${'  '.repeat(level + 1)}${block(value, level + 1)}`;
      if (isItems(value) && value.length > 0) return `${name}:\n${pad}${block(value, level)}`;
      return `${name}: ${scalar(value, level)}`;
    })
    .join(`\n${pad}`);
}

function writeItems(items: readonly Data[], level: number): string {
  const lines = items.map(
    (item) => `- ${typeof item === 'string' ? writeString(item, level) : block(item, level + 1)}`,
  );
  return lines.join(`\n${'  '.repeat(level)}`);
}

function scalar(data: Data, level: number): string {
  if (data === null) return 'null';
  if (typeof data === 'boolean') return String(data);
  if (typeof data === 'number' || data instanceof Float) return formatForJson(data);
  if (typeof data === 'string') return writeString(data, level);
  return isItems(data) ? '[]' : '{}';
}

/** Words and forms that YAML reads as another kind than a string. */
const NOT_PLAIN_WORD =
  /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|\.nan|\.NaN|\.NAN|[-+]?\.(?:inf|Inf|INF))$/u;
const LOOKS_LIKE_NUMBER =
  /^[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|0x[\da-fA-F]+|0o[0-7]+|0b[01]+)$/u;
const INDICATOR_FIRST = /^[-?:](?:\s|$)|^[,[\]{}#&*!|>'"%@`]|^---|^\.\.\./u;
const INDICATOR_INSIDE = /: |:$| #/u;
const NEEDS_ESCAPES = /[^\n\u0020-\u007e\u00a0-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]|[\u2028\u2029]| \n/u;

function writeString(text: string, level: number): string {
  if (NEEDS_ESCAPES.test(text) || (text.includes('\n') && text.endsWith(' '))) return quoted(text);
  if (text.includes('\n')) return writeLiteral(text, level);
  const plain =
    text !== '' &&
    !/^ | $/u.test(text) &&
    ![NOT_PLAIN_WORD, LOOKS_LIKE_NUMBER, INDICATOR_FIRST, INDICATOR_INSIDE].some((pattern) => pattern.test(text));
  return plain ? text : `'${text.replaceAll("'", "''")}'`;
}

/** Writes a literal block, whose header marks white space at the start of the text and line breaks at its end. */
function writeLiteral(text: string, level: number): string {
  const hint = /^[ \n]/u.test(text) ? '2' : '';
  const chomp = text === '\n' || text.endsWith('\n\n') ? '+' : text.endsWith('\n') ? '' : '-';
  const pad = '  '.repeat(Math.max(1, level + 1));
  const lines = text.replace(/\n$/u, '').split('\n');
  return `|${hint}${chomp}\n${lines.map((line) => (line === '' ? '' : pad + line)).join('\n')}`;
}

const ESCAPED =
  /[^\u0020\u0021\u0023-\u005b\u005d-\u007e\u00a0-\u2027\u202a-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/gu;
const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\0', '\\0'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
  ['\u001b', '\\e'],
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\u0085', '\\N'],
  ['\u2028', '\\L'],
  ['\u2029', '\\P'],
]);

function quoted(text: string): string {
  return `"${text.replace(ESCAPED, (character) => SHORT_ESCAPES.get(character) ?? hexEscape(character))}"`;
}

function hexEscape(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return hex.length <= 2 ? `\\x${hex.padStart(2, '0')}` : `\\u${hex.padStart(4, '0')}`;
}

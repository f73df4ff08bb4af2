import { listOf, objectOf, valueOf, withoutEmphasis } from '../candidates/nodes.ts';
import { ReplyNode } from '../text/reply-node.ts';
import type { ClassFields } from './class-fields.ts';
import { spend } from './step-budget.ts';
import { isCommentaryKey } from './wrapper-keys.ts';

/*
 * Objects and lists whose members a model arranges in another way: as entries, as a table, or in groups.
 */

// --- entries ---------------------------------------------------------------------------------------------------------

/*
 * Objects that a model writes as a list of their members: `[{"key": "a", "value": 1}]`, `[{"field": "a", "type": "int",
 * "value": 1}]`, `[["a", 1]]`, `[{"a": 1}, {"b": 2}]`, `["a: 1"]`.
 */

/** A test for the keys of an object that is one entry: the position of the key, and that of the value. */
export type EntryKeys = (keys: readonly string[]) => readonly [key: number, value: number] | undefined;

const KEY = /^(?:key|name|k|id|field|field_?name|property|attribute|label|path|column|param|parameter|variable)$/iu;
const VALUE = /^(?:value|v|val|field_?value|data|content|answer)$/iu;
/** What a model adds to the key and the value. */
const NOTE =
  /^(?:type|kind|op|unit|description|desc|note|notes|comment|confidence|score|required|optional|reason|source|data_?type|field_?type|value_?type)$/iu;

/** `{"name": "a", "value": 1}`, perhaps with a type or a description. */
export const keyAndValue: EntryKeys = (keys) => {
  const key = keys.findIndex((each) => KEY.test(each));
  const value = keys.findIndex((each) => VALUE.test(each));
  if (key < 0 || value < 0) return undefined;
  return keys.every((each, at) => at === key || at === value || NOTE.test(each)) ? [key, value] : undefined;
};

/** `{"id": "a", "count": 1}`: the key and any other member. */
export const keyAndOther: EntryKeys = (keys) =>
  keys.length === 2 && /^(?:key|name|k|id)$/iu.test(keys[0] ?? '') ? [0, 1] : undefined;

/** Returns a list of entries as an object; undefined for other lists, and if a key occurs twice. */
export function objectOfEntries(list: ReplyNode, entryKeys: EntryKeys): ReplyNode | undefined {
  const object = new ReplyNode('object');
  object.complete = list.complete;
  const seen = new Set<string>();
  for (const item of list.items) {
    const entry = entryOf(item, entryKeys);
    if (entry === undefined || seen.has(entry.key)) return undefined;
    seen.add(entry.key);
    object.put(entry.key, entry.value);
  }
  return object;
}

interface Entry {
  readonly key: string;
  readonly value: ReplyNode;
}

function entryOf(node: ReplyNode, entryKeys: EntryKeys): Entry | undefined {
  const { kind, items, keys } = node;
  const [first, second] = items;
  if (first === undefined) return node.kind === 'string' ? lineEntry(node.text) : undefined;
  if (second === undefined) return kind === 'object' ? { key: keys[0] ?? '', value: first } : undefined;
  if (kind === 'list') return items.length === 2 && first.isScalar ? { key: first.text, value: second } : undefined;
  const [key = -1, value = -1] = entryKeys(keys) ?? [];
  const [name, of] = [items[key], items[value]];
  return name?.isScalar === true && of !== undefined ? { key: name.text, value: of } : undefined;
}

/** A key of a few words, a mark, and a value on one line. */
const LINE = /^\s*(["'`*]{0,3}[\p{L}_$][\p{L}\p{N}_$ .[\]-]{0,60}?["'`*]{0,3})\s*(?::(?!\/\/)|=>?|->|→)\s*(\S.*)$/u;
const MAX_LINE = 2000;

/** Returns the entry of a string such as `age: 36`. */
function lineEntry(text: string): Entry | undefined {
  const [, key, value] = text.length > MAX_LINE ? [] : (LINE.exec(text) ?? []);
  if (key === undefined || value === undefined) return undefined;
  const node = valueOf(value.trim());
  return { key: withoutQuotes(withoutEmphasis(key)), value: node };
}

function withoutQuotes(key: string): string {
  return key.replaceAll(/^["'`]|["'`]$/gu, '');
}

// --- tables ----------------------------------------------------------------------------------------------------------

/*
 * Lists of objects that a model writes as a table: `[["name", "age"], ["Ada", 36]]`, `{"columns": ["name", "age"], "rows":
 * [["Ada", 36]]}`, `{"name": ["Ada", "Alan"], "age": [36, 41]}`.
 */

/** Returns the rows of a table as a list of objects; undefined for other values. `hasField`: the test for the columns. */
export function rowsOf(node: ReplyNode, hasField: (key: string) => boolean): ReplyNode | undefined {
  if (node.kind === 'list') {
    const [header, ...rows] = node.items;
    return tableOf(header, rows, hasField);
  }
  const header = node.items.find((item) => isHeader(item, hasField));
  const rows = node.items.find((item) => item.kind === 'list' && item.items.length > 0 && item.items.every(isList));
  if (header !== undefined && rows !== undefined) return tableOf(header, rows.items, hasField);
  return columnsOf(node, hasField);
}

function isList({ kind }: ReplyNode): boolean {
  return kind === 'list';
}

function isHeader(node: ReplyNode | undefined, hasField: (key: string) => boolean): node is ReplyNode {
  if (node?.kind !== 'list' || node.items.length === 0) return false;
  return node.items.every((item) => item.kind === 'string' && hasField(item.text));
}

function tableOf(
  header: ReplyNode | undefined,
  rows: readonly ReplyNode[],
  hasField: (key: string) => boolean,
): ReplyNode | undefined {
  if (rows.length === 0 || !isHeader(header, hasField)) return undefined;
  if (!rows.every((row) => row.kind === 'list' && row.items.length === header.items.length)) return undefined;
  spend(rows.length * header.items.length);
  return listOf(
    rows.map(({ items }) => objectOf(items.map((item, column) => [header.items[column]?.text ?? '', item] as const))),
  );
}

function columnsOf({ keys, items }: ReplyNode, hasField: (key: string) => boolean): ReplyNode | undefined {
  const [first] = items;
  if (first === undefined || first.items.length === 0 || !keys.every(hasField)) return undefined;
  if (!items.every((item) => item.kind === 'list' && item.items.length === first.items.length)) return undefined;
  spend(items.length * first.items.length);
  return listOf(
    first.items.map((_, row) =>
      objectOf(
        items.flatMap((column, at) => column.items.slice(row, row + 1).map((item) => [keys[at] ?? '', item] as const)),
      ),
    ),
  );
}

// --- groups of fields ------------------------------------------------------------------------------------------------

/** The most groups of fields, and the fewest fields in them: two objects with one member each can be two things. */
const MAX_GROUPS = 12;
const LEAST_FIELDS = 3;

/**
 * Returns the fields that a model wrote in groups as one object: `{"general": {"name": …, "price": …}, "details": {"weight":
 * …}}`. Undefined unless every group contains nothing but fields, no field is in two groups, and no required field is missing.
 */
export function membersOfGroups(fields: ClassFields, { items, keys }: ReplyNode): ReplyNode | undefined {
  if (items.length < 2 || items.length > MAX_GROUPS) return undefined;
  const members = new ReplyNode('object');
  members.complete = true;
  const seen = new Set<number>();
  for (const [at, group] of items.entries()) {
    if (group.isScalar && isCommentaryKey(keys[at] ?? '')) continue;
    if (group.kind !== 'object' || group.items.length === 0 || group.items.length > fields.all.length) return undefined;
    spend(group.items.length);
    for (const [index, item] of group.items.entries()) {
      const key = group.keys[index] ?? '';
      const position = fields.positionOf(key);
      if (position < 0 || seen.has(position)) return undefined;
      seen.add(position);
      members.put(key, item);
    }
  }
  const isMissing = (position: number): boolean =>
    !seen.has(position) && fields.all[position]?.plan.fallback() === undefined;
  return seen.size < LEAST_FIELDS || fields.shown.some(isMissing) ? undefined : members;
}

import { valueOf, withoutEmphasis } from '../structured/make-node.ts';
import { ReplyNode } from '../text/reply-node.ts';

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

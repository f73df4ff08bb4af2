import { parseJson } from '../../../base/json.ts';
import { settleBareToken } from '../text/bare-reader.ts';
import { skipSpace } from '../text/characters.ts';
import { linkedText } from '../text/links.ts';
import { isStripped, ReplyNode, stringNode } from '../text/reply-node.ts';
import { Scanner } from '../text/scanner.ts';
import { TreeSink } from '../text/tree-sink.ts';

/** Returns a complete list. */
export function listOf(items: readonly ReplyNode[]): ReplyNode {
  const list = new ReplyNode('list');
  list.complete = true;
  for (const item of items) list.add(item);
  return list;
}

/** Returns a complete object. */
export function objectOf(members: Iterable<readonly [string, ReplyNode]>): ReplyNode {
  const object = new ReplyNode('object');
  object.complete = true;
  for (const [key, item] of members) object.put(key, item);
  return object;
}

/** The type between a name and its value in a declaration, as in `age: int = 36`. */
export const DECLARED_TYPE =
  /^(?:(?:string|str|text|int(?:eger)?|float|double|decimal|number|bool(?:ean)?|date(?:time)?|any|object|dict|list|array|enum|char|long)(?:\[[\w, ]{0,40}\]|<[\w, ]{1,40}>|\?)?|(?:optional|list|dict|map|array)[[<][\w, ]{1,40}[\]>]|[A-Za-z_]\w{0,40}\[\])\s*=\s*(?=\S)/iu;

const EMPHASIS = /^(\*\*|__|\*|_|`|~~)(?=\S)(.*\S)\1$/u;
const QUOTED = /^(["'“‘«])(.*)["'”’»]$/su;

/** Returns the scalar that a text states, without quotes and emphasis; or the list or object in it, as JSON. */
export function valueOf(raw: string): ReplyNode {
  const marked = withoutEmphasis(raw);
  const text = linkedText(marked) ?? marked;
  if (text.startsWith('{') || text.startsWith('[')) return jsonOf(text) ?? stringNode(text);
  const string = decoded(text) ?? unquoted(text);
  if (string === undefined) return bareNode(text);
  const node = stringNode(string);
  node.quoted = true;
  return node;
}

/** Returns a text without the quotes around it, unless others are next to them; the same quotes inside can be escaped. */
function unquoted(text: string): string | undefined {
  const [, quote = '', inner] = QUOTED.exec(text) ?? [];
  if (inner === undefined || /^["'“‘«]|(?<!\\)["'”’»]$/u.test(inner)) return undefined;
  // In `"a" and "b"`, the first quote inside ends a quotation.
  if (quote === '"' && /^[^"\\]*[^\s"(\\]"/u.test(inner) && inner.split('"').length % 2 === 1) return undefined;
  if (quote !== '"' && CLOSES_AND_OPENS.test(inner.replaceAll(APOSTROPHE, ''))) return undefined;
  return inner.replaceAll(String.raw`\"`, '"').replaceAll(`\\${quote}`, quote);
}

const APOSTROPHE = /(?<=[\p{L}\p{N}])['’](?=[\p{L}\p{N}])/gu;
/** In `'a' and 'b'`, the first quote inside ends a quotation, and the next one begins another. */
const CLOSES_AND_OPENS = /^[^'’‘”“»«]*[^\s('’‘”“»«\\]['’”»][^'’‘”“»«]*(?:(?<=[\s(,[/])['‘]|[“«])\S/u;

/** An empty cell, the dash in its place, or YAML's `~`: null, or the text of a string that cannot be null. */
const BLANK = /^(?:|-{1,3}|[–—~])$/u;

/** Returns the number, bool, null or string that a text without quotes states. */
export function bareNode(text: string): ReplyNode {
  const node = new ReplyNode('bare');
  node.text = text.includes('\\') ? unescaped(text) : text;
  settleBareToken(node);
  node.repairs = 0;
  if (BLANK.test(text)) node.kind = 'null';
  return node;
}

/** Removes the backslashes of Markdown, as in `ZX\_81`, from a text that has no others. */
function unescaped(text: string): string {
  const plain = text.replaceAll(/\\([_*#[\]])/gu, '$1');
  return plain.includes('\\') ? text : plain;
}

/** Returns the string if the text is a JSON string. */
function decoded(text: string): string | undefined {
  if (!text.startsWith('"') || !text.endsWith('"')) return undefined;
  const value = parseJson(text);
  return typeof value === 'string' ? value : undefined;
}

/** Returns the value of a text that is one object or list; undefined if it is not, such as the placeholder `{name}`. */
export function jsonOf(text: string): ReplyNode | undefined {
  const sink = new TreeSink();
  const scanner = new Scanner(sink);
  const end = scanner.read(text, 0, true);
  const { root } = sink;
  if (root?.complete !== true || skipSpace(text, end) !== text.length) return undefined;
  return root.kind === 'object' && isStripped(root) ? undefined : root;
}

/** The most pairs of marks around each other that are removed: bold, italic, struck, code. */
const MAX_MARKS = 4;

/** Removes the marks of Markdown around a text. */
export function withoutEmphasis(raw: string): string {
  let text = raw.trim();
  for (let mark = 0; mark < MAX_MARKS; mark += 1) {
    const [, sign = '', inner] = EMPHASIS.exec(text) ?? [];
    if (inner === undefined || inner.includes('**') || endsInside(inner, sign)) break;
    text = inner.trim();
  }
  return text;
}

/** True if one of the marks ends words inside: in `` `a` calls `b` ``, the marks are around two parts. */
function endsInside(inner: string, mark: string): boolean {
  const parts = inner.split(mark);
  return parts.some((part, at) => /\S$/u.test(part.slice(-2)) && /^[\s,.;:]/u.test(parts[at + 1] ?? ''));
}

import { parseJson } from '../../../base/json.ts';
import { settleBareToken } from './scan/bare-reader.ts';
import { skipSpace } from './scan/characters.ts';
import { isStripped, ReplyNode, stringNode } from './scan/reply-node.ts';
import { Scanner } from './scan/scanner.ts';
import { TreeSink } from './scan/tree-sink.ts';

/*
 * Nodes of texts that are not JSON: cells, items, and values after keys.
 */

export type NodeMember = readonly [key: string, value: ReplyNode];

/** Returns a complete list. */
export function listOf(items: readonly ReplyNode[]): ReplyNode {
  const list = new ReplyNode('list');
  list.complete = true;
  for (const item of items) list.add(item);
  return list;
}

/** Returns a complete object. */
export function objectOf(members: Iterable<NodeMember>): ReplyNode {
  const object = new ReplyNode('object');
  object.complete = true;
  for (const [key, item] of members) object.put(key, item);
  return object;
}

/** Returns the members of an object. */
export function membersOfNode({ items, keys }: ReplyNode): readonly NodeMember[] {
  return items.map((item, at) => [keys[at] ?? '', item]);
}

/** Returns the scalar that a text states, without quotes and emphasis; or the list or object in it, as JSON. */
export function valueOf(raw: string): ReplyNode {
  const marked = withoutEmphasis(raw);
  // A comma that ends a line of an object without its braces.
  const text = /^(?:"[^"]*"|-?\d[\d.]*|true|false|null),$/u.test(marked) ? marked.slice(0, -1) : marked;
  if (text.startsWith('{') || text.startsWith('[')) return jsonOf(text) ?? stringNode(text);
  const string = quotedString(text);
  if (string === undefined) return bareNode(text);
  const node = stringNode(string);
  node.quoted = true;
  return node;
}

/** Returns the content of a text that is one string in quotes. */
function quotedString(text: string): string | undefined {
  const quote = text.charAt(0);
  if ((quote !== '"' && quote !== "'") || text.length < 2 || !text.endsWith(quote)) return undefined;
  const value = quote === '"' ? parseJson(text) : undefined;
  if (typeof value === 'string') return value;
  const inner = text.slice(1, -1);
  return inner.includes(quote) ? undefined : inner;
}

/** The text of an empty cell: null, or the text of a string that cannot be null. */
const BLANK = /^(?:|-{1,3}|[–—~])$/u;

/** Returns the number, bool, null or string that a text without quotes states. */
function bareNode(text: string): ReplyNode {
  const node = new ReplyNode('bare');
  node.text = text;
  settleBareToken(node);
  node.repairs = 0;
  if (BLANK.test(text)) node.kind = 'null';
  return node;
}

/** Returns the value of a text that is one object or list; undefined if it is not, such as the placeholder `{name}`. */
function jsonOf(text: string): ReplyNode | undefined {
  const scanner = new Scanner(new TreeSink());
  const end = scanner.read(text, 0, true);
  const { root } = scanner;
  if (root?.complete !== true || skipSpace(text, end) !== text.length) return undefined;
  return root.kind === 'object' && isStripped(root) ? undefined : root;
}

const EMPHASIS = /^(\*\*|__|\*|_|`|~~)(?=\S)(.*\S)\1$/u;

/** Removes the marks of Markdown around a text, unless they are around two parts of it: `` `a` calls `b` ``. */
export function withoutEmphasis(raw: string): string {
  let text = raw.trim();
  for (;;) {
    const [, sign = '', inner] = EMPHASIS.exec(text) ?? [];
    if (inner === undefined || inner.includes(sign)) return text;
    text = inner.trim();
  }
}

import { decodeEntities } from '../text/entities.ts';
import type { ReplyNode } from '../text/reply-node.ts';
import { listOf, objectOf, valueOf } from './make-node.ts';

/*
 * Simple XML: elements with text or other elements. Attributes are members as well; comments are skipped. Calls of tools in
 * tags are a dialect of it, whose values are not escaped.
 */

/** A start tag or an end tag. */
const TAG =
  /<(\/?)([A-Za-z_][\w.-]{0,80})((?:\s+[\w:.-]{1,80}\s*=\s*(?:"[^"<]{0,500}"|'[^'<]{0,500}')){0,20})\s*(\/?)>/uy;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gu;
const MAX_NESTING = 50;

interface Element {
  readonly tag: string;
  readonly members: (readonly [string, ReplyNode])[];
  readonly attributes: ReadonlyMap<string, string>;
  text: string;
  /** It contains CDATA, whose text is kept as it is. */
  verbatim: boolean;
}

/** Returns the readings of the elements in a text; none if its tags do not match. */
export function xmlValues(raw: string): readonly ReplyNode[] {
  const text = raw.replaceAll(NAMED, '<$1 name="$2">');
  if (!text.includes('</') && !text.includes('/>')) return [];
  return PARAMETER.test(text) ? [...valuesIn(text, false), ...valuesIn(text, true)] : valuesIn(text, false);
}

/** A tag with the name of a parameter as its value: `<parameter=age>`. */
const NAMED =
  /<(parameter|param|argument|arg|function|tool|invoke)=["']?([\p{L}\p{N}_](?:[\p{L}\p{N}_ .-]{0,78}[\p{L}\p{N}_.-])?)["']?>/giu;

/** The element of a value in a call, in which tags can be text. */
const PARAMETER = /<(?:parameter|param|argument|arg|arg_value)\b/u;
const PARAMETERS: ReadonlySet<string> = new Set(['parameter', 'param', 'argument', 'arg', 'arg_value']);

/** The elements around a call, which models leave open. */
const CALLS: ReadonlySet<string> = new Set(['tool_call', 'function', 'function_call', 'function_calls', 'invoke', '']);

/** `isText`: tags in the values of a call are text. */
function valuesIn(text: string, isText: boolean): readonly ReplyNode[] {
  const root = elementOf('');
  const open = [root];
  let at = 0;
  while (at < text.length) {
    const top = open.at(-1);
    if (top === undefined) return [];
    at = isText && PARAMETERS.has(top.tag) ? readText(text, at, open, top) : readMark(text, at, open, top);
    if (at < 0) return [];
  }
  if (!open.every(({ tag }) => CALLS.has(tag))) return [];
  while (open.length > 1) close(open);
  return root.members.length > 0 ? readingsOf(root) : [];
}

/** Takes all text of an element, and its end tag. */
function readText(text: string, from: number, open: Element[], top: Element): number {
  const mark = `</${top.tag}>`;
  const end = text.indexOf(mark, from);
  if (end < 0) return -1;
  top.text = text.slice(from, end);
  top.verbatim = true;
  close(open);
  return end + mark.length;
}

const CDATA = '<![CDATA[';

/** Reads the text up to the next mark, and the mark. Returns the position after it, or -1 if the text is not XML. */
function readMark(text: string, from: number, open: Element[], top: Element): number {
  const mark = text.indexOf('<', from);
  const at = mark < 0 ? text.length : mark;
  top.text += text.slice(from, at);
  if (mark < 0) return at;
  if (text.startsWith(CDATA, at)) {
    const end = text.indexOf(']]>', at);
    top.text += text.slice(at + CDATA.length, end);
    top.verbatim = true;
    return end < 0 ? -1 : end + 3;
  }
  if (text.startsWith('<!--', at)) return endOf(text, '-->', at);
  if (text.startsWith('<!', at) || text.startsWith('<?', at)) return endOf(text, '>', at);
  TAG.lastIndex = at;
  const match = TAG.exec(text);
  if (match === null) {
    top.text += '<';
    return at + 1;
  }
  return takeTag(match, open, top) ? at + match[0].length : -1;
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end < 0 ? -1 : end + mark.length;
}

/** Takes one tag. Returns false if the tags do not match. */
function takeTag(
  [, slash, tag = '', attributes = '', selfClosing]: RegExpExecArray,
  open: Element[],
  top: Element,
): boolean {
  if (slash === '/') {
    if (top.tag !== tag || open.length === 1) return false;
    close(open);
    return true;
  }
  const pairs = [...attributes.matchAll(ATTRIBUTE)].map(
    ([, key = '', double, single]) => [key, double ?? single ?? ''] as const,
  );
  const element = elementOf(tag, new Map(pairs));
  if (selfClosing === '/') top.members.push([keyOf(element), nodeOf(element)]);
  else if (open.push(element) > MAX_NESTING) return false;
  return true;
}

/** Closes the innermost element. */
function close(open: Element[]): void {
  const element = open.pop();
  if (element !== undefined) open.at(-1)?.members.push([keyOf(element), nodeOf(element)]);
}

function elementOf(tag: string, attributes: ReadonlyMap<string, string> = new Map()): Element {
  return { tag, members: [], attributes, text: '', verbatim: false };
}

/** `<parameter name="age">` is a member with the key `age`. */
function keyOf({ tag, attributes }: Element): string {
  return (/^(?:parameter|param|arg|argument|field|property)$/iu.test(tag) ? attributes.get('name') : undefined) ?? tag;
}

/** Attributes are members of an element without text, except for the name of one with members of its own. */
function nodeOf(element: Element): ReplyNode {
  const { tag, text, verbatim } = element;
  if (element.members.length === 0 && (element.attributes.size === 0 || text.trim() !== '')) {
    return valueOf(verbatim ? text : decodeEntities(text));
  }
  const attributes = [...element.attributes].filter(([key]) => key !== 'name' || element.members.length === 0);
  const members = [
    ...attributes.map(([key, value]) => [key, valueOf(decodeEntities(value))] as const),
    ...element.members,
  ];
  const pairs = pairsOf(members);
  if (pairs !== undefined) return objectOf(grouped(pairs));
  const [first] = members;
  const isList = members.every(([key]) => key === first?.[0]) && (members.length > 1 || isItem(first?.[0] ?? '', tag));
  return isList ? listOf(members.map(([, item]) => item)) : objectOf(grouped(members));
}

/** Returns the members that elements with keys and elements with values in turn describe: `<key>age</key> <value>36</value>`. */
function pairsOf(members: Element['members']): Element['members'] | undefined {
  const isPairs = members.every(([tag, { isScalar }], at) =>
    at % 2 === 0 ? KEY.test(tag) && isScalar : !KEY.test(tag),
  );
  if (!isPairs || members.length % 2 === 1 || members.length === 0) return undefined;
  return members.flatMap(([, key], at) => {
    const value = members[at + 1]?.[1];
    return at % 2 === 1 || value === undefined ? [] : [[key.text, value] as const];
  });
}

const KEY = /^(?:arg_?key|key|arg_?name)$/iu;

/** True for the tag of a single member of a list: `item`, or the singular of the tag around it. */
function isItem(tag: string, around: string): boolean {
  return /^(?:item|element|entry|value|li)$/iu.test(tag) || around.toLowerCase() === `${tag.toLowerCase()}s`;
}

/** Joins the members with the same key into a list. */
function grouped(members: readonly (readonly [string, ReplyNode])[]): Map<string, ReplyNode> {
  const groups = new Map<string, ReplyNode[]>();
  for (const [key, item] of members) {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return new Map([...groups].map(([key, items]) => [key, onlyOf(items) ?? listOf(items)]));
}

function onlyOf(items: readonly ReplyNode[]): ReplyNode | undefined {
  return items.length === 1 ? items[0] : undefined;
}

function readingsOf(root: Element): ReplyNode[] {
  const object = objectOf(grouped(root.members));
  const only = root.members.length === 1 ? root.members[0]?.[1] : undefined;
  const list = listOf(root.members.map(([, item]) => item));
  return only === undefined || only.isScalar ? [object, list] : [only, object];
}

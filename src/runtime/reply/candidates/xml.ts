import { REPAIR, type ReplyNode } from './scan/reply-node.ts';
import { listOf, objectOf, valueOf, type NodeMember } from './nodes.ts';

/*
 * Simple XML: elements with text or other elements, or both (a string is then all of it), and calls of tools in tags (`<parameter=age>36</parameter>`). Attributes are
 * members; comments are skipped.
 */

const TAG =
  /<(\/?)([A-Za-z_][\w.-]{0,80})((?:\s+[\w:.-]{1,80}\s*=\s*(?:"[^"<]{0,500}"|'[^'<]{0,500}')){0,20})\s*(\/?)>/uy;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gu;
/** A tag with the name of a parameter as its value. */
const NAMED = /<(parameter|function|invoke)=["']?([\w.-]{1,80})["']?>/giu;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
const CDATA = '<![CDATA[';
const MAX_NESTING = 50;

interface Element {
  readonly tag: string;
  readonly attributes: readonly NodeMember[];
  readonly members: NodeMember[];
  text: string;
  /** The offset of its content. */
  readonly from: number;
}

/** Returns the readings of the elements in a text; none if its tags do not match. */
export function xmlValues(raw: string): readonly ReplyNode[] {
  if (!raw.includes('</')) return [];
  const text = raw.replaceAll(NAMED, '<$1 name="$2">');
  const root: Element = { tag: '', attributes: [], members: [], text: '', from: 0 };
  const open = [root];
  for (let at = 0; at < text.length;) {
    const top = open.at(-1);
    if (top === undefined) return [];
    at = readMark(text, at, open, top);
    if (at < 0) return [];
  }
  if (open.length > 1 || root.members.length === 0) return [];
  const object = objectOf(grouped(root.members));
  const [only, ...others] = root.members.map(([, item]) => item);
  if (only === undefined) return [];
  return others.length === 0 && !only.isScalar ? [only, object] : [object, listOf([only, ...others])];
}

/** Reads the text up to the next mark, and the mark. Returns the position after it, or -1 if the tags do not match. */
function readMark(text: string, from: number, open: Element[], top: Element): number {
  const mark = text.indexOf('<', from);
  const at = mark < 0 ? text.length : mark;
  top.text += decoded(text.slice(from, at));
  if (mark < 0) return at;
  if (text.startsWith(CDATA, at)) {
    const end = text.indexOf(']]>', at);
    top.text += text.slice(at + CDATA.length, end);
    return end < 0 ? -1 : end + 3;
  }
  if (text.startsWith('<!--', at)) return endOf(text, '-->', at);
  if (text.startsWith('<?', at)) return endOf(text, '?>', at);
  TAG.lastIndex = at;
  const match = TAG.exec(text);
  if (match === null) {
    top.text += '<';
    return at + 1;
  }
  return takeTag(match, open, top) ? TAG.lastIndex : -1;
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end < 0 ? -1 : end + mark.length;
}

function takeTag(match: RegExpExecArray, open: Element[], top: Element): boolean {
  const { input, index } = match;
  const [whole, slash, tag = '', source = '', empty] = match;
  if (slash === '/') {
    if (top.tag !== tag || open.length === 1) return false;
    open.pop();
    const node = nodeOf(top);
    if (top.members.length > 0 && top.text.trim() !== '') {
      node.text = decoded(input.slice(top.from, index));
      node.repairs |= REPAIR.droppedText;
    }
    open.at(-1)?.members.push([keyOf(top), node]);
    return true;
  }
  const attributes = [...source.matchAll(ATTRIBUTE)].map(
    ([, key = '', double, single]) => [key, valueOf(decoded(double ?? single ?? ''))] as const,
  );
  const element: Element = { tag, attributes, members: [], text: '', from: index + whole.length };
  if (empty === '/') top.members.push([keyOf(element), nodeOf(element)]);
  else if (open.push(element) > MAX_NESTING) return false;
  return true;
}

function decoded(text: string): string {
  return text.replaceAll(/&(lt|gt|quot|apos|amp);/gu, (_entity, name: string) => ENTITIES[name] ?? '');
}

/** `<parameter name="age">` is a member with the key `age`. */
function keyOf({ tag, attributes }: Element): string {
  const name = /^(?:parameter|argument|arg|field)$/iu.test(tag)
    ? attributes.find(([key]) => key === 'name')
    : undefined;
  return name?.[1].text ?? tag;
}

/** Attributes are members of an element without text, except for the name of one with members of its own. */
function nodeOf({ tag, attributes, members, text }: Element): ReplyNode {
  if (members.length === 0 && (attributes.length === 0 || text.trim() !== '')) return valueOf(text);
  const all = [...attributes.filter(([key]) => key !== 'name' || members.length === 0), ...members];
  const [first] = all;
  const isItem = first !== undefined && /^(?:item|element|entry|value)$/iu.test(first[0]);
  const isPlural = first !== undefined && tag.toLowerCase() === `${first[0].toLowerCase()}s`;
  const isList = all.every(([key]) => key === first?.[0]) && (all.length > 1 || isItem || isPlural);
  return isList ? listOf(all.map(([, item]) => item)) : objectOf(grouped(all));
}

/** Joins the members with the same key into a list. */
function grouped(members: readonly NodeMember[]): Map<string, ReplyNode> {
  const groups = new Map<string, ReplyNode[]>();
  for (const [key, item] of members) {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return new Map([...groups].map(([key, items]) => [key, items.length === 1 && items[0] ? items[0] : listOf(items)]));
}

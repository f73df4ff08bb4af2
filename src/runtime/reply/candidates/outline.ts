import { stringNode, type ReplyNode } from './scan/reply-node.ts';
import { membersOfNode, listOf, objectOf, valueOf, withoutEmphasis, type NodeMember } from './nodes.ts';
import { tableValues } from './table.ts';

/*
 * Outlines: keys with values, items with bullets or numbers, and headings, nested by their columns. YAML in block style is
 * one of them.
 */

/** A line with content. */
interface Line {
  /** The column of the text. Headings come before every column, in the order of their levels. */
  readonly depth: number;
  /** The column of the text after the bullet: deeper lines belong to it. */
  readonly inner: number;
  /** The line has a bullet or a number. */
  readonly marked: boolean;
  readonly key: string | undefined;
  /** The text after the bullet and the key. */
  readonly text: string;
  /** The text after the bullet. */
  readonly whole: string;
  /** The line as it is. */
  readonly row: string;
  /** An empty line comes before it. */
  readonly gap: boolean;
}

/** Deeper nesting is read as text. */
const MAX_NESTING = 30;
/** A text with more blocks is prose. */
const MAX_BLOCKS = 20;
/** The column of a heading of the first level is `1 - HEADINGS`. */
const HEADINGS = 100;

/** Returns the readings of the lines of a text: each block of lines as an object or a list. */
export function outlineValues(text: string): readonly ReplyNode[] {
  const blocks = blocksOf(linesOf(text));
  if (blocks.length > MAX_BLOCKS) return [];
  const objects = blocks.map((block) => objectIn(treeOf(block, 0)));
  const areRecords = objects.length > 1 && objects.every((each) => each?.keys[0] === objects[0]?.keys[0]);
  const records = areRecords ? objects.flatMap((each) => each ?? []) : [];
  return [...(records.length > 1 ? [listOf(records)] : []), ...blocks.flatMap(readingsOf)];
}

function objectIn(value: ReplyNode): ReplyNode | undefined {
  return value.kind === 'list' ? mergedObject(value) : value.kind === 'object' ? value : undefined;
}

/** The first line can introduce the others, as in `Tags:` above items. */
function readingsOf(block: readonly Line[]): readonly ReplyNode[] {
  const [first, ...rest] = block;
  if (first === undefined) return [];
  const isIntroduced = first.key !== undefined && first.text === '' && !first.marked && rest.length > 0;
  return [...(isIntroduced ? readingsOfTree(treeOf(rest, 0)) : []), ...readingsOfTree(treeOf(block, 0))];
}

function readingsOfTree(value: ReplyNode): readonly ReplyNode[] {
  if (value.isScalar || value.items.length === 0) return [];
  const other = otherReading(value);
  const isRepeated = value.kind === 'object' && new Set(value.keys).size < value.keys.length;
  return [...(other === undefined ? [] : [other]), ...(isRepeated ? [] : [value])];
}

// --- lines -----------------------------------------------------------------------------------------------------------

const HEADING = /^(#{1,6})\s+([^]*)/u;
const MARKER = /^(?:[-*+•–]|\(?\d{1,4}[.)])(?:\s+(?:\[[ xX]\]\s+)?|$)/u;
const RULE = /^(?:-{3,}|={3,}|\*{3,}|\.{3}|```\w*)$/u;
/** A key of a few words before a colon or an equals sign; quotes and emphasis can surround it, and end after the colon. */
const KEY =
  /^(?:\*\*|__|`|"|')?(\$?[\p{L}_][\p{L}\p{N}_ ./()&-]{0,60}?)(?:\*\*|__|`|"|')?\s*(?::(?!\/\/|:)(?:\*\*|__)?(?:\s|$)|=\s)([^]*)/u;
/** A line of bold words is a heading below all others. */
const BOLD_LINE = /^\*\*([^*\n:]{1,60})\*\*$/u;
const BOLD_LEVEL = 7;
/** A comment of YAML. A hash after one space can be text. */
const COMMENT = /(?<!\s)\s{2,}#\s[^]*/u;

function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  let gap = false;
  for (const row of text.split('\n')) {
    const body = row.trim();
    if (body === '' || RULE.test(body)) gap = true;
    else {
      lines.push(lineOf(row, body, gap));
      gap = false;
    }
  }
  return lines;
}

function lineOf(row: string, body: string, gap: boolean): Line {
  const [, level, heading] = HEADING.exec(body) ?? [];
  const title = heading ?? BOLD_LINE.exec(body)?.[1];
  const isMember = heading !== undefined && /:\s+\S/u.test(heading) && KEY.test(heading);
  if (title !== undefined && !isMember) {
    const depth = (level?.length ?? BOLD_LEVEL) - HEADINGS;
    const key = withoutEmphasis(title).replace(/:$/u, '');
    return { depth, inner: depth, marked: false, key, text: '', whole: title, row, gap };
  }
  const marker = MARKER.exec(body)?.[0] ?? '';
  const whole = (heading ?? body.slice(marker.length)).replace(COMMENT, '');
  const [, key, value = ''] = KEY.exec(whole) ?? [];
  const depth = columnOf(row);
  const text = key === undefined ? whole : value.trim().replace(/^#\s[^]*/u, '');
  return { depth, inner: depth + marker.length, marked: marker !== '', key: key?.trim(), text, whole, row, gap };
}

/** Returns the width of the white space in front of a line; a tab counts as four. */
function columnOf(row: string): number {
  const spaces = row.slice(0, row.length - row.trimStart().length);
  return spaces.length + 3 * (spaces.split('\t').length - 1);
}

/**
 * Splits the lines into blocks of keys, items and the text that belongs to them. A paragraph of prose ends a block; a line of
 * prose inside one is text of no key.
 */
function blocksOf(lines: readonly Line[]): Line[][] {
  const blocks: Line[][] = [];
  let block: Line[] | undefined;
  let owner: Line | undefined;
  for (const line of lines) {
    if (line.marked || line.key !== undefined) {
      if (block === undefined) blocks.push((block = []));
      block.push(line);
      owner = line;
    } else if (block !== undefined && owner !== undefined && belongs(line, owner)) block.push(line);
    else if (line.gap) block = undefined;
  }
  return blocks;
}

function belongs(line: Line, owner: Line): boolean {
  if (line.depth > owner.depth && owner.depth >= 0) return true;
  if (owner.key !== undefined && owner.text === '') return owner.depth < 0 || !line.gap || line.whole.startsWith('|');
  return !line.gap && /^\p{Ll}/u.test(line.whole);
}

// --- the tree --------------------------------------------------------------------------------------------------------

/** Returns the value of lines that belong together: a list, an object, or a string. */
function treeOf(lines: readonly Line[], nesting: number): ReplyNode {
  const [first] = lines;
  if (first === undefined) return stringNode('');
  if (nesting > MAX_NESTING || (!first.marked && first.key === undefined)) return textOf(lines);
  const groups = groupsOf(lines, first);
  if (first.marked) return listOf(groups.map((group) => itemOf(group, nesting)));
  const object = objectOf(groups.flatMap((group) => memberOf(group, nesting)));
  // A line can also be a sentence, which a string takes as it is.
  if (lines.length === 1) object.text = first.whole;
  return object;
}

function textOf(lines: readonly Line[]): ReplyNode {
  const [first] = lines;
  if (lines.length === 1 && first !== undefined) return valueOf(first.whole);
  return stringNode(lines.map(({ whole, gap }, at) => (at > 0 && gap ? `\n${whole}` : whole)).join('\n'));
}

/** Splits the lines before each item or key at the column of the first one, or left of it. */
function groupsOf(lines: readonly Line[], first: Line): readonly (readonly Line[])[] {
  const groups: Line[][] = [];
  let { depth } = first;
  for (const line of lines) {
    const isSame = line.depth <= depth && line.marked === first.marked && (line.marked || line.key !== undefined);
    const group = groups.at(-1);
    // The keys below a heading belong to it.
    if (isSame && line.depth < 0) ({ depth } = line);
    if (group === undefined || isSame) groups.push([line]);
    else group.push(line);
  }
  return groups;
}

function itemOf([head, ...below]: readonly Line[], nesting: number): ReplyNode {
  if (head === undefined) return stringNode('');
  if (head.key !== undefined) {
    // The other members of an object are at the column of its first key, or deeper.
    const at =
      head.text === '' ? below.findIndex((line) => line.depth <= head.inner && !line.marked) : firstOwner(below);
    const [own, others] = at < 0 ? [below, []] : [below.slice(0, at), below.slice(at)];
    const object = objectOf([...memberOf([head, ...own], nesting), ...membersOf(others, nesting)]);
    object.text = [head, ...below].map(({ whole }) => whole).join('\n');
    return object;
  }
  if (MARKER.test(head.whole))
    return treeOf([{ ...lineOf(head.whole, head.whole, false), depth: head.inner }, ...below], nesting + 1);
  if (below.length === 0) return valueOf(head.whole);
  if (firstOwner(below) !== 0) return textOf([head, ...below]);
  return head.whole === '' ? treeOf(below, nesting + 1) : textOf([head, ...below]);
}

function firstOwner(lines: readonly Line[]): number {
  return lines.findIndex(({ key, marked }) => key !== undefined || marked);
}

function membersOf(lines: readonly Line[], nesting: number): readonly NodeMember[] {
  if (lines.length === 0) return [];
  const value = treeOf(lines, nesting + 1);
  const object = value.kind === 'list' ? mergedObject(value) : value;
  return object?.kind === 'object' ? membersOfNode(object) : [];
}

/** Returns no member for a key without a value. */
function memberOf([head, ...below]: readonly Line[], nesting: number): readonly NodeMember[] {
  if (head?.key === undefined) return [];
  if (below.length === 0) return head.text === '' ? [] : [[head.key, valueOf(head.text)]];
  if (head.text === '') return [[head.key, valueBelow(below, nesting + 1)]];
  if (/^[|>][-+]?$/u.test(head.text)) return [[head.key, stringNode(blockOf(below, head.text.startsWith('>')))]];
  return [[head.key, textOf([{ ...head, whole: head.text }, ...below])]];
}

/** Returns the text of a block scalar of YAML, without the indentation of its lines. */
function blockOf(lines: readonly Line[], isFolded: boolean): string {
  const indent = lines.reduce((least, { row }) => Math.min(least, row.length - row.trimStart().length), Infinity);
  const rows = lines.map(({ row, gap }, at) => (gap && at > 0 ? '\n' : '') + row.slice(indent).trimEnd());
  return rows.join(isFolded ? ' ' : '\n');
}

/** Returns the value of the lines below a key. */
function valueBelow(lines: readonly Line[], nesting: number): ReplyNode {
  if (lines.every(({ whole }) => whole.startsWith('|'))) {
    const table = tableValues(lines.map(({ whole }) => whole).join('\n')).at(-1);
    if (table !== undefined) return table;
  }
  const value = treeOf(lines, nesting);
  return otherReading(value) ?? value;
}

// --- records ---------------------------------------------------------------------------------------------------------

/** Returns members with different keys as one object, and objects in a row as a list. */
function otherReading(value: ReplyNode): ReplyNode | undefined {
  if (value.kind === 'list') return mergedObject(value) ?? splitAtFirstKey(membersOfItems(value));
  if (value.kind !== 'object') return undefined;
  return listBelow(value) ?? splitAtFirstKey(membersOfNode(value));
}

/** `- Name: Ada` and `- Age: 36` are the members of one object. */
function mergedObject(list: ReplyNode): ReplyNode | undefined {
  const members = membersOfItems(list);
  const keys = new Set(members.map(([key]) => key));
  return members.length > 0 && keys.size === members.length ? objectOf(members) : undefined;
}

/** Returns the members of the items of a list; none unless each item is an object with one member. */
function membersOfItems({ items }: ReplyNode): readonly NodeMember[] {
  const areMembers = items.every((item) => item.kind === 'object' && item.items.length === 1);
  return areMembers ? items.flatMap((item) => membersOfNode(item)) : [];
}

/** Returns the objects that begin at each repetition of the first key; undefined if it is not repeated. */
function splitAtFirstKey(members: readonly NodeMember[]): ReplyNode | undefined {
  const starts = members.flatMap(([key], at) => (key === members[0]?.[0] ? [at] : []));
  const records = starts.map((start, index) => members.slice(start, starts[index + 1]));
  const areRecords = records.every((each) => each.length > 1 && new Set(each.map(([key]) => key)).size === each.length);
  return areRecords && records.length > 1 ? listOf(records.map((each) => objectOf(each))) : undefined;
}

/** Returns the objects below headings that count them (`Person 1`, `Person 2`) as a list. */
function listBelow({ items, keys }: ReplyNode): ReplyNode | undefined {
  return items.every((item, at) => item.kind === 'object' && numberOf(keys[at]) === at + 1) ? listOf(items) : undefined;
}

function numberOf(heading = ''): number {
  return Number(/(?<!\d)\d+(?=\W*$)/u.exec(heading)?.[0]);
}

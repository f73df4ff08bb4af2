import { HeadedNode, RecordsNode, stringNode, type ReplyNode } from '../text/reply-node.ts';
import { bareNode, jsonOf, listOf, objectOf, valueOf, withoutEmphasis } from './make-node.ts';
import { blocksOf } from './outline-blocks.ts';
import { lineOf, outlineLines, MARKER, type Line } from './outline-lines.ts';
import { tableValues } from './tables.ts';

/*
 * Lines of text: lists of lines with bullets or numbers, and keys with values, nested by indentation or headings.
 */

/** Returns the readings of the lines of a text, from the least to the most general. */
export function outlineValues(text: string): readonly ReplyNode[] {
  if (QUOTED_LINES.test(text)) return [listOf(linesIn(text).map((line) => valueOf(line.replace(/,\s*$/u, ''))))];
  const readings = valuesOf(outlineLines(text, false));
  return TITLE.test(text) ? [...readings, ...valuesOf(outlineLines(text.replace(TITLE, ''), false))] : readings;
}

/** The mark of a heading that is a key with its value, as in `# Title: Pancakes`, before anything else. */
const TITLE = /^\s*#{1,6}[^\S\n]+(?=[\p{L}_][\p{L}\p{N}_ ]{0,40}:[^\S\n]+\S)/u;

/** Returns the readings of the lines of a text in which a fence is the value of the key above it; none without such a fence. */
export function fencedMembers(text: string): readonly ReplyNode[] {
  if (!FENCE_BELOW_KEY.test(text)) return [];
  const lines = outlineLines(text, true);
  const isMember =
    lines.some(({ fence }) => fence !== undefined) && lines.filter(({ key }) => key !== undefined).length > 1;
  return isMember ? valuesOf(lines) : [];
}

const FENCE_BELOW_KEY = /\S[ \t]*\n\s*```/u;

function valuesOf(lines: readonly Line[]): readonly ReplyNode[] {
  const blocks = blocksOf(lines);
  const records = recordsIn(blocks);
  const readings = blocks.flatMap((all) => {
    const [first] = all;
    // A line before the first item or key can introduce all of them.
    const isIntroduced = first?.key !== undefined && first.text === '' && !first.marked && !hasLists(all, first);
    return [...(isIntroduced ? readingsOf(all.slice(1)) : []), ...readingsOf(all)];
  });
  return records === undefined ? readings : [records, ...readings];
}

/** True if the items below the first key end at another key without a value: the lines are several lists. */
function hasLists(lines: readonly Line[], { depth }: Line): boolean {
  const [, item, ...rest] = lines;
  return item?.marked === true && rest.some((line) => isLabel(line) && line.depth === depth && depth >= 0);
}

function isLabel({ key, text, marked }: Line): boolean {
  return key !== undefined && text === '' && !marked;
}

/** Returns the objects of several blocks that all begin with the same key, as a list. */
function recordsIn(blocks: readonly (readonly Line[])[]): ReplyNode | undefined {
  const key = blocks[0]?.[0]?.key;
  if (blocks.length < 2 || key === undefined || blocks.some(([first]) => first?.key !== key || first.text === ''))
    return undefined;
  // The items of two counts can be two versions of one list.
  if (blocks.some(([first]) => /^\(?\d/u.test(first?.raw ?? ''))) return undefined;
  const records = blocks.flatMap((lines) => {
    const value = treeOf(lines, 0);
    return value.kind === 'list' ? (mergedObject(value) ?? value.items) : value;
  });
  return records.every(isRecord) ? listOf(records) : undefined;
}

function isRecord({ kind, keys }: ReplyNode): boolean {
  return kind === 'object' && new Set(keys).size === keys.length;
}

/** At least two strings in quotes, each on a line of its own. */
const QUOTED_LINES = /^\s*(?:```\w*\n)?(?:[ \t]*"[^"\n]*",?[ \t]*\r?\n+)+[ \t]*"[^"\n]*",?\s*(?:```)?\s*$/u;

function linesIn(text: string): readonly string[] {
  return text.split('\n').filter((line) => !/^\s*(?:$|```)/u.test(line));
}

// --- readings --------------------------------------------------------------------------------------------------------

function readingsOf(lines: readonly Line[]): ReplyNode[] {
  const [first] = lines;
  if (first === undefined) return [];
  const readings: ReplyNode[] = [];
  const items = lines.every((line) => line.marked && line.depth === first.depth);
  const value = treeOf(lines, 0);
  const others =
    value.kind === 'list'
      ? [headedList(value), mergedObject(value), repeatedMembers(value)]
      : value.kind === 'object'
        ? [recordsOf(value)]
        : [];
  readings.push(...others.filter((other) => other !== undefined));
  // A repeated key belongs to the next object.
  const isSeveral = value.kind === 'object' && new Set(value.keys).size < value.keys.length;
  if (value.items.length > 0 && !isSeveral) readings.push(value);
  if (items) readings.push(listOf(lines.map((line) => valueOf(line.whole))));
  return readings;
}

/** `- Name: Ada` and `- Age: 36` are the members of one object. */
function mergedObject(list: ReplyNode): ReplyNode | undefined {
  const members = membersOfItems(list);
  return members !== undefined && new Set(members.map(([key]) => key)).size === members.length
    ? objectOf(members)
    : undefined;
}

/** Returns the objects below headings or keys as a list, or the objects that begin at each repetition of the first key. */
function recordsOf(object: ReplyNode): ReplyNode | undefined {
  const members = entriesOf(object);
  if (members.length === 0) return undefined;
  if (object.items.every((item) => item.kind === 'object')) return headed(members);
  const records = splitAtFirstKey(members);
  return records.length > 1 ? listOf(records.map((each) => objectOf(each))) : undefined;
}

/** `- Name: Ada`, `- Age: 36`, `- Name: Alan` and so on are the members of objects that begin with the same key. */
function repeatedMembers(list: ReplyNode): ReplyNode | undefined {
  const records = splitAtFirstKey(membersOfItems(list) ?? []);
  const areRecords = records.every((each) => each.length > 1 && new Set(each.map(([key]) => key)).size === each.length);
  return areRecords && records.length > 1 ? listOf(records.map((each) => objectOf(each))) : undefined;
}

/** `- Ada:` and `- Alan:` are the headings of the members below them. */
function headedList(list: ReplyNode): ReplyNode | undefined {
  const members = membersOfItems(list);
  return members?.every(([, value]) => value.kind === 'object') === true ? headed(members) : undefined;
}

/** Returns the members of the items of a list; undefined unless each item is an object with one member. */
function membersOfItems({ items }: ReplyNode): readonly Entry[] | undefined {
  const areMembers = items.every((item) => item.kind === 'object' && item.items.length === 1);
  return areMembers ? items.flatMap((item) => entriesOf(item)) : undefined;
}

/** Splits members before each repetition of the first key. */
function splitAtFirstKey(members: readonly Entry[]): readonly (readonly Entry[])[] {
  const starts = members.flatMap(([key], at) => (key === members[0]?.[0] ? [at] : []));
  return starts.map((start, index) => members.slice(start, starts[index + 1]));
}

type Entry = readonly [key: string, value: ReplyNode];

function entriesOf({ items, keys }: ReplyNode): Entry[] {
  return items.map((item, at) => [keys[at] ?? '', item]);
}

/** Returns a list of objects below headings. Several different headings name the objects, unless they count them. */
function headed(records: readonly Entry[]): ReplyNode {
  const names = records.map(([heading]) => heading.replace(NUMBER, '').trim());
  const isNamed = records.length > 1 && new Set(names).size === names.length && !names.every(isCount);
  return listOf(records.map(([, object], at) => (isNamed ? new HeadedNode(names[at] ?? '', object) : object)));
}

/** The number of a heading. */
const NUMBER = /^(?:\(?\d{1,4}[.):]|#\d{1,4}:?)\s+/u;

/** True for the heading `Person 2` of the second object. */
function isCount(name: string, at: number): boolean {
  return name === '' || new RegExp(String.raw`(?:^|\D)${at + 1}\W*$`, 'u').test(name);
}

// --- the tree of the lines -------------------------------------------------------------------------------------------

/** Deeper nesting than this is not read: the rest of a text is a string. */
const MAX_NESTING = 20;

/** Returns the value of lines that belong together: a list, an object, or a string. */
function treeOf(lines: readonly Line[], nesting: number): ReplyNode {
  const [first] = lines;
  if (first === undefined) return stringNode('');
  if (first.fence !== undefined && lines.length === 1) return fencedNode(first.fence);
  const isList = first.marked;
  const groups = nesting < MAX_NESTING && (isList || first.key !== undefined) ? groupsOf(lines, first, isList) : [];
  if (groups.length === 0) return lines.length === 1 ? valueOf(first.whole) : stringNode(textOf(lines));
  if (isList) return listOf(groups.map((group, at) => itemOf(group, nesting, at)));
  const members = groups.flatMap((group) => memberOf(group, nesting));
  return lines.length === 1 ? lineObject(first, members) : objectOf(members);
}

/** Returns the content of a fence as a string, or as the list that its lines can be. */
function fencedNode({ text, isCode }: NonNullable<Line['fence']>): ReplyNode {
  const content = text.trim();
  if (!isCode && !content.includes('\n')) return bareNode(text);
  const value =
    isCode || content.startsWith('{')
      ? undefined
      : ((content.startsWith('[') ? jsonOf(content) : undefined) ?? treeOf(outlineLines(text, false), 1));
  return value?.kind === 'list' ? new RecordsNode(stringNode(text), value) : stringNode(text);
}

/** Returns the text of lines, with the empty lines between its paragraphs. */
function textOf(lines: readonly Line[]): string {
  return lines.map(({ whole, gap }, at) => (at > 0 && gap ? `\n${whole}` : whole)).join('\n');
}

/** Returns the object of a single line, which can also be a sentence: a string takes the line as it is. */
function lineObject({ whole }: Line, members: readonly Entry[]): ReplyNode {
  const object = objectOf(members);
  object.text = whole;
  return object;
}

/** Splits the lines before each line at the depth of the first one. The keys below a heading belong to it. */
function groupsOf(lines: readonly Line[], first: Line, isList: boolean): Line[][] {
  const groups: Line[][] = [];
  let { depth } = first;
  for (const line of lines) {
    const starts = line.depth <= depth && (isList ? line.marked : line.key !== undefined && !line.marked);
    const group = groups.at(-1);
    if (starts && line.depth < 0) ({ depth } = line);
    if (starts || group === undefined) groups.push([line]);
    else group.push(line);
  }
  return groups;
}

/** An item with a key is an object, whose other members are below it. */
function itemOf([head, ...below]: readonly Line[], nesting: number, at: number): ReplyNode {
  if (head === undefined) return stringNode('');
  const rest = below.filter(({ aside }) => !aside);
  if (below.length === 0)
    return head.key === undefined ? valueOf(head.whole) : lineObject(head, [[head.key, valueOf(head.text)]]);
  if (head.key === undefined) {
    const nested = MARKER.test(head.whole) ? lineOf(head.whole) : undefined;
    if (nested?.marked === true)
      return treeOf([{ ...nested, depth: rest[0]?.depth ?? head.inner }, ...rest], nesting + 1);
    const lines = rawText(head, below);
    if (rest.every((line) => line.key === undefined && !line.marked)) return stringNode(lines);
    const value = headedItem(head, treeOf(rest, nesting + 1), at);
    // A string takes the lines as they are.
    if (head.whole !== '') value.text = lines;
    return value;
  }
  const end = rest.findIndex((line) => line.key !== undefined || line.marked);
  const [own, others] = end < 0 ? [rest, []] : [rest.slice(0, end), rest.slice(end)];
  if (others.length === 0) {
    const object = objectOf(memberOf([head, ...own], nesting));
    object.text = rawText(head, below);
    return object;
  }
  // As in YAML, the items of a list can be at the column of their key.
  const isBelow =
    head.text === '' && rest.every((line) => line.depth > head.inner || (line.marked && line.depth === head.inner));
  if (isBelow) return objectOf(memberOf([head, ...rest], nesting));
  const member: Entry = [head.key, own.length === 0 ? valueOf(head.text) : textBelow(head, own, nesting)];
  return objectOf([member, ...membersOf(others, nesting)]);
}

/** Returns all lines of an item: a string takes them as they are. */
function rawText(head: Line, rest: readonly Line[]): string {
  return [head.whole, ...rest.map(({ raw, gap }) => (gap ? `\n${raw}` : raw))].join('\n');
}

/** The words of an item name the object below them: `1. **Ada**`. */
function headedItem({ whole }: Line, value: ReplyNode, at: number): ReplyNode {
  const heading = withoutEmphasis(whole);
  const object = value.kind === 'list' ? mergedObject(value) : value;
  const isShort = heading !== whole || heading.split(' ').length <= MAX_HEADING;
  const isName = isShort && HEADING_WORDS.test(heading) && !isCount(heading, at);
  return object?.kind === 'object' && isName ? new HeadedNode(heading, object) : value;
}

/** The most words of a heading without emphasis; more are a sentence. */
const MAX_HEADING = 5;
/** A heading without marks inside. */
const HEADING_WORDS = /^[^*_`:\n]{1,120}$/u;

function membersOf(lines: readonly Line[], nesting: number): Entry[] {
  const value = treeOf(lines, nesting + 1);
  const object = value.kind === 'list' ? mergedObject(value) : value;
  return object?.kind === 'object' ? entriesOf(object) : [];
}

/** Returns no member for a key without a value and with nothing below it. */
function memberOf([head, ...lines]: readonly Line[], nesting: number): Entry[] {
  if (head?.key === undefined) return [];
  const rest = lines.filter(({ aside }) => !aside);
  if (rest.length === 0) return head.text === '' ? [] : [[head.key, valueOf(head.text)]];
  return [[head.key, textBelow(head, rest, nesting)]];
}

/** Returns the value of a key with lines below it: its text and these lines, or the value of the lines. */
function textBelow(head: Line, rest: readonly Line[], nesting: number): ReplyNode {
  if (head.text === '') return nestedReadings(treeOf(rest, nesting + 1), rest);
  const block = /^[|>][-+]?$/u.test(head.text) ? head.text.charAt(0) : undefined;
  if (block === undefined) return stringNode(textOf([{ ...head, whole: head.text }, ...rest]));
  return stringNode(rest.map((line) => line.whole).join(block === '|' ? '\n' : ' '));
}

/** Adds the other reading of lines below a key: as a list of records, a table, or the members of one object. */
function nestedReadings(value: ReplyNode, lines: readonly Line[]): ReplyNode {
  if (lines.every(({ raw }) => raw.startsWith('|'))) return tableBelow(lines) ?? value;
  if (value.kind === 'list') {
    const object = mergedObject(value);
    const list = headedList(value) ?? (object === undefined ? repeatedMembers(value) : undefined);
    return list === undefined ? (object ?? value) : new RecordsNode(object ?? value, list);
  }
  const records = value.kind === 'object' ? recordsOf(value) : undefined;
  return records === undefined ? value : new RecordsNode(value, records);
}

function tableBelow(lines: readonly Line[]): ReplyNode | undefined {
  const text = lines.map(({ raw }) => raw).join('\n');
  const tables = tableValues(text);
  const list = tables.find(({ kind }) => kind === 'list');
  const table = list && new RecordsNode(tables.find(({ kind }) => kind === 'object') ?? list, list);
  if (table !== undefined) table.text = text;
  return table;
}

import { stringNode, type ReplyNode } from '../text/reply-node.ts';
import { DECLARED_TYPE, listOf, objectOf, valueOf, withoutEmphasis } from './make-node.ts';

/*
 * Lines of text: lists of lines with bullets or numbers, and keys with values, nested by indentation or headings.
 */

interface Line {
  /** The column of the text; headings come before every column, in the order of their levels. */
  readonly depth: number;
  /** The column of the text after the bullet; deeper lines belong to it. */
  readonly inner: number;
  readonly marked: boolean;
  readonly key: string | undefined;
  /** The text after the key, or the whole text. */
  readonly text: string;
  /** The text with its key. */
  readonly whole: string;
}

const HEADINGS = 100;
/** A line of marks, perhaps with the number of a record in its middle. */
const RULE = /^(?:---+|===+|\*\*\*+|([*=-])\1{3,}[^\n]{1,40}\1{4,})$/u;
/** A line of bold words without a mark, which is the heading of the lines below. */
const BOLD = /^\*\*([\p{L}_][\p{L}\p{N}_ -]{0,40})\*\*$/u;
const BLANK: Line = { depth: Infinity, inner: Infinity, marked: false, key: undefined, text: '', whole: '' };

const MARKER = /^(?:[-*+•‣◦▪–]|\(?\d{1,4}[.)]|\(?[a-z]\)|[a-z]\.(?=\s)|\[\d{1,4}\])(?:\s+(?:\[[ xX]\]\s+)?|$)/u;
const HEADING = /^(#{1,6})\s+/u;
/** A key of a few words, before a colon, an equals sign or an arrow; emphasis can end before or after the mark. */
const KEY = new RegExp(
  String.raw`^(?:(?:export|const|let|var|final|val|set|local|my)\s+)?(?:\*\*|__|\x60|")?(?:\d{1,3}[.)]\s+)?([$@%:]?[\p{L}_$][\p{L}\p{N}_$ ./()&'[\]-]{0,60}?)(?:\*\*|__|\x60|")?\s*(?:(?::(?!\/\/|:)|=(?!=|>)|→|->|=>)(?:\*\*|__)?(?:\s+(.*)|(?<=[\w\]]=)(\S.*)|)|\s\.{3,}\s+(.*)|(?<=\*\*|__|\x60)\s*[–—-]\s+(.*)|\s+[–—]\s+(.*)|\s+-\s+([-+$€£]?\d[\d.,]*\s?%?))$`,
  'u',
);

/** A comment as in YAML, with spaces that set it off: a hash after one space can be text. */
const COMMENT = /\s{2,}#\s.*$/u;

/** Returns the readings of the lines of a text, from the least to the most general. */
export function outlineValues(text: string): readonly ReplyNode[] {
  if (QUOTED_LINES.test(text)) return [listOf(linesIn(text).map((line) => valueOf(line.replace(/,\s*$/u, ''))))];
  const lines = text.split('\n').map((line) => lineOf(line));
  const blocks = blocksOf(lines);
  return blocks.flatMap((all) => {
    const [first] = all;
    // A line before the first item or key can introduce all of them.
    const isIntroduced = first?.key !== undefined && first.text === '' && !first.marked;
    return [...(isIntroduced ? readingsOf(all.slice(1)) : []), ...readingsOf(all)];
  });
}

/** At least two strings in quotes, each on a line of its own. */
const QUOTED_LINES = /^\s*(?:```\w*\n)?(?:[ \t]*"[^"\n]*",?[ \t]*\r?\n+)+[ \t]*"[^"\n]*",?\s*(?:```)?\s*$/u;

function linesIn(text: string): readonly string[] {
  return text.split('\n').filter((line) => !/^\s*(?:$|```)/u.test(line));
}

function lineOf(raw: string): Line {
  const body = raw.trim();
  if (body === '' || body.startsWith('```') || RULE.test(body)) return BLANK;
  const indent = columnOf(raw);
  const heading = HEADING.exec(body);
  if (heading !== null) {
    const key = withoutEmphasis(body.slice(heading[0].length)).replace(/:$/u, '');
    const depth = (heading[1] ?? '').length - HEADINGS;
    return { depth, inner: depth, marked: false, key, text: '', whole: key };
  }
  const marker = MARKER.exec(body)?.[0] ?? '';
  const whole = body.slice(marker.length);
  const bold = marker === '' ? BOLD.exec(body)?.[1] : undefined;
  const { key, value } = bold === undefined ? memberIn(whole) : { key: bold, value: '' };
  const inner = indent + marker.length;
  return {
    depth: indent,
    inner,
    marked: marker !== '',
    key: key?.trim(),
    text: key === undefined ? whole : value.replace(COMMENT, '').trim(),
    whole,
  };
}

function memberIn(whole: string): { key: string | undefined; value: string } {
  const [, key, ...values] = KEY.exec(whole) ?? [];
  const value = (values.find((each) => each !== undefined) ?? '').replace(DECLARED_TYPE, '');
  return {
    key,
    value: /^(?:["'[{].*["'\]}]|[\w.+-]+);$|^(?:["'[{].*["'\]}]|-?\d[\d.]*|true|false|null),$/u.test(value)
      ? value.slice(0, -1)
      : value,
  };
}

/** The width of the spaces in front of a line; a tab counts as four. */
function columnOf(raw: string): number {
  const spaces = raw.slice(0, raw.length - raw.trimStart().length);
  return spaces.length + 3 * (spaces.split('\t').length - 1);
}

/**
 * Splits the lines into blocks of lines with keys or markers and the lines that belong to them. Prose between two blocks
 * separates them, and so does a sentence that ends in a colon.
 */
function blocksOf(lines: readonly Line[]): Line[][] {
  const blocks: Line[][] = [];
  let block: Line[] = [];
  for (const line of lines) {
    if (line === BLANK) continue;
    const last = block.at(-1);
    const belongs = line.marked || line.key !== undefined || (last !== undefined && isInside(line, last));
    if (belongs) block.push(line);
    if (belongs && block.length === 1) blocks.push(block);
    if (!belongs) block = [];
  }
  return blocks.length > MAX_BLOCKS ? [] : blocks;
}

/** A text with more blocks is prose. */
const MAX_BLOCKS = 20;

/** A line without a key belongs to a key without a value above it. */
function isInside(line: Line, last: Line): boolean {
  return line.depth > last.depth || (last.key !== undefined && last.text === '' && line.depth === last.depth);
}

// --- readings --------------------------------------------------------------------------------------------------------

function readingsOf(lines: readonly Line[]): ReplyNode[] {
  const [first] = lines;
  if (first === undefined) return [];
  const readings: ReplyNode[] = [];
  const items = lines.every((line) => line.marked && line.depth === first.depth);
  const value = treeOf(lines, 0);
  const other = value.kind === 'list' ? mergedObject(value) : value.kind === 'object' ? recordsOf(value) : undefined;
  if (other !== undefined) readings.push(other);
  // A repeated key belongs to the next object.
  const isSeveral = value.kind === 'object' && new Set(value.keys).size < value.keys.length;
  if (value.items.length > 0 && !isSeveral) readings.push(value);
  if (items) readings.push(listOf(lines.map((line) => valueOf(line.whole))));
  return readings;
}

/** `- Name: Ada` and `- Age: 36` are the members of one object. */
function mergedObject(list: ReplyNode): ReplyNode | undefined {
  if (!list.items.every((item) => item.kind === 'object' && item.items.length === 1)) return undefined;
  const members = list.items.flatMap((item) => item.items.map((value, at) => [item.keys[at] ?? '', value] as const));
  return new Set(members.map(([key]) => key)).size === members.length ? objectOf(members) : undefined;
}

/** Returns the objects below headings or keys as a list, or the objects that begin at each repetition of the first key. */
function recordsOf(object: ReplyNode): ReplyNode | undefined {
  const members = object.items.map((item, at) => [object.keys[at] ?? '', item] as const);
  if (members.length === 0) return undefined;
  if (object.items.every((item) => item.kind === 'object')) return listOf(object.items);
  const first = members[0]?.[0];
  const starts = members.flatMap(([key], at) => (key === first ? [at] : []));
  if (starts.length < 2) return undefined;
  return listOf(starts.map((start, index) => objectOf(members.slice(start, starts[index + 1]))));
}

// --- the tree of the lines -------------------------------------------------------------------------------------------

/** Deeper nesting than this is not read: the rest of a text is a string. */
const MAX_NESTING = 20;

/** Returns the value of lines that belong together: a list, an object, or a string. */
function treeOf(lines: readonly Line[], nesting: number): ReplyNode {
  const [first] = lines;
  if (first === undefined) return stringNode('');
  const isList = first.marked;
  const groups = nesting < MAX_NESTING && (isList || first.key !== undefined) ? groupsOf(lines, first, isList) : [];
  if (groups.length === 0)
    return lines.length === 1 ? valueOf(first.whole) : stringNode(lines.map((line) => line.whole).join('\n'));
  if (isList) return listOf(groups.map((group) => itemOf(group, nesting)));
  const members = groups.flatMap((group) => memberOf(group, nesting));
  return lines.length === 1 ? lineObject(first, members) : objectOf(members);
}

/** Returns the object of a single line, which can also be a sentence: a string takes the line as it is. */
function lineObject({ whole }: Line, members: readonly (readonly [string, ReplyNode])[]): ReplyNode {
  const object = objectOf(members);
  object.text = whole;
  return object;
}

/** Splits the lines before each line at the depth of the first one. */
function groupsOf(lines: readonly Line[], first: Line, isList: boolean): Line[][] {
  const groups: Line[][] = [];
  for (const line of lines) {
    const starts = line.depth <= first.depth && (isList ? line.marked : line.key !== undefined && !line.marked);
    const group = groups.at(-1);
    if (starts || group === undefined) groups.push([line]);
    else group.push(line);
  }
  return groups;
}

/** An item with a key is an object, whose other members are below it. */
function itemOf([head = BLANK, ...rest]: readonly Line[], nesting: number): ReplyNode {
  if (rest.length === 0)
    return head.key === undefined ? valueOf(head.whole) : lineObject(head, [[head.key, valueOf(head.text)]]);
  if (head.key === undefined) {
    const nested = MARKER.test(head.whole) ? { ...lineOf(head.whole), depth: rest[0]?.depth ?? head.inner } : undefined;
    if (nested?.marked === true) return treeOf([nested, ...rest], nesting + 1);
    return rest.some((line) => line.key !== undefined || line.marked)
      ? treeOf(rest, nesting + 1)
      : stringNode([head, ...rest].map((line) => line.whole).join('\n'));
  }
  // As in YAML, the items of a list can be at the column of their key.
  const isBelow =
    head.text === '' && rest.every((line) => line.depth > head.inner || (line.marked && line.depth === head.inner));
  if (isBelow) return objectOf(memberOf([head, ...rest], nesting));
  return objectOf([[head.key, valueOf(head.text)], ...membersOf(rest, nesting)]);
}

function membersOf(lines: readonly Line[], nesting: number): (readonly [string, ReplyNode])[] {
  const value = treeOf(lines, nesting + 1);
  const object = value.kind === 'list' ? mergedObject(value) : value;
  return object?.kind === 'object' ? object.items.map((item, at) => [object.keys[at] ?? '', item] as const) : [];
}

/** Returns no member for a key without a value and with nothing below it. */
function memberOf([head = BLANK, ...rest]: readonly Line[], nesting: number): (readonly [string, ReplyNode])[] {
  if (head.key === undefined) return [];
  if (rest.length === 0) return head.text === '' ? [] : [[head.key, valueOf(head.text)]];
  if (head.text === '' || /^[|>][-+]?$/u.test(head.text)) return [[head.key, below(head, rest, nesting)]];
  return [[head.key, stringNode([head.text, ...rest.map((line) => line.whole)].join('\n'))]];
}

/** Returns the value below a key: `- Age: 36` lines below a heading can be the members of an object. */
function below(head: Line, rest: readonly Line[], nesting: number): ReplyNode {
  if (/^[|>]/u.test(head.text))
    return stringNode(rest.map((line) => line.whole).join(head.text.startsWith('|') ? '\n' : ' '));
  const value = treeOf(rest, nesting + 1);
  return (value.kind === 'list' ? mergedObject(value) : undefined) ?? value;
}

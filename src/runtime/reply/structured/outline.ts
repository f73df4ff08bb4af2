import { HeadedNode, stringNode, type ReplyNode } from '../text/reply-node.ts';
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
  /** The text with its marker. */
  readonly raw: string;
}

const HEADINGS = 100;
/** A line of marks, perhaps with the number of a record in its middle. */
const RULE = /^(?:---+|===+|\*\*\*+|([*=-])\1{3,}[^\n]{1,40}\1{4,})$/u;
/** A line of bold words without a mark, which is the heading of the lines below. */
const BOLD = /^\*\*((?:\d{1,4}[.)] )?[\p{L}_][\p{L}\p{N}_ -]{0,40})\*\*$/u;
const BLANK: Line = { depth: Infinity, inner: Infinity, marked: false, key: undefined, text: '', whole: '', raw: '' };

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
  const lines = withCounts(text.split('\n').map((line) => lineOf(line)));
  const blocks = blocksOf(lines);
  const records = recordsIn(blocks);
  const readings = blocks.flatMap((all) => {
    const [first] = all;
    // A line before the first item or key can introduce all of them.
    const isIntroduced = first?.key !== undefined && first.text === '' && !first.marked;
    return [...(isIntroduced ? readingsOf(all.slice(1)) : []), ...readingsOf(all)];
  });
  return records === undefined ? readings : [records, ...readings];
}

/** A number that counts a record, as its heading: `1.`, `**#1**`, `(1)`, `No. 1:`. */
const COUNT = /^(?:\*\*|__)?(?:[([#]|no\.? ?|nr\.? ?)?(\d{1,4})[.):\]]{0,2}(?:\*\*|__)?:?$/iu;

/**
 * Makes each number that is alone on its line and continues the count the heading of the keys below it, unless these are
 * indented as the members of an item. A number below a key is its value.
 */
function withCounts(lines: readonly Line[]): readonly Line[] {
  const full = lines.filter((line) => line !== BLANK);
  let count: number | undefined;
  return full.map((line, at) => {
    const number = COUNT.exec(line.raw)?.[1];
    const [before, next] = [full[at - 1], full[at + 1]];
    const isValue = before?.key !== undefined && before.text === '' && before.depth >= 0;
    if (number === undefined || isValue || next?.key === undefined || next.depth !== line.depth) return line;
    if (count === undefined ? Number(number) > 1 : Number(number) !== count + 1) return line;
    count = Number(number);
    return { ...line, depth: -1, inner: -1, marked: false, key: number, text: '' };
  });
}

/** Returns the objects of several blocks that all begin with the same key, as a list. */
function recordsIn(blocks: readonly (readonly Line[])[]): ReplyNode | undefined {
  const key = blocks[0]?.[0]?.key;
  if (blocks.length < 2 || key === undefined || blocks.some(([first]) => first?.key !== key || first.text === ''))
    return undefined;
  const records = blocks.map((lines) => {
    const value = treeOf(lines, 0);
    return value.kind === 'list' ? mergedObject(value) : value;
  });
  const objects = records.filter(
    (record) => record?.kind === 'object' && new Set(record.keys).size === record.keys.length,
  );
  return objects.length === blocks.length ? listOf(objects.filter((object) => object !== undefined)) : undefined;
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
    return { depth, inner: depth, marked: false, key, text: '', whole: key, raw: body };
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
    raw: body,
  };
}

/** The first line of a function is code. */
const FUNCTION = /^(?:export |async |public |static ){0,3}(?:def|function)\s+\w{1,60}\s*\(/u;

function memberIn(whole: string): { key: string | undefined; value: string } {
  if (FUNCTION.test(whole)) return { key: undefined, value: '' };
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
  return blocks.length > MAX_BLOCKS ? [] : blocks.map((each) => withHeadings(each));
}

/** Makes bold lines the headings of the keys below them, if a block begins with one and each of several has keys below. */
function withHeadings(block: readonly Line[]): Line[] {
  const isHeading = (line: Line, at: number) => BOLD.test(line.raw) && isKey(block[at + 1], line.depth);
  const isHeaded = BOLD.test(block[0]?.raw ?? '') && block.filter(isHeading).length > 1;
  return isHeaded && block.every((line, at) => !BOLD.test(line.raw) || isHeading(line, at))
    ? block.map((line) => (BOLD.test(line.raw) ? { ...line, depth: -1, inner: -1 } : line))
    : [...block];
}

function isKey(line: Line | undefined, depth: number): boolean {
  return line?.key !== undefined && line.text !== '' && !line.marked && line.depth === depth;
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
  const others =
    value.kind === 'list'
      ? [headedList(value), mergedObject(value)]
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
  if (!list.items.every((item) => item.kind === 'object' && item.items.length === 1)) return undefined;
  const members = list.items.flatMap((item) => item.items.map((value, at) => [item.keys[at] ?? '', value] as const));
  return new Set(members.map(([key]) => key)).size === members.length ? objectOf(members) : undefined;
}

/** Returns the objects below headings or keys as a list, or the objects that begin at each repetition of the first key. */
function recordsOf(object: ReplyNode): ReplyNode | undefined {
  const members = object.items.map((item, at) => [object.keys[at] ?? '', item] as const);
  if (members.length === 0) return undefined;
  if (object.items.every((item) => item.kind === 'object')) return headed(members);
  const first = members[0]?.[0];
  const starts = members.flatMap(([key], at) => (key === first ? [at] : []));
  if (starts.length < 2) return undefined;
  return listOf(starts.map((start, index) => objectOf(members.slice(start, starts[index + 1]))));
}

/** `- Ada:` and `- Alan:` are the headings of the members below them. */
function headedList(list: ReplyNode): ReplyNode | undefined {
  const isHeaded = list.items.every(
    ({ kind, items }) => kind === 'object' && items.length === 1 && items[0]?.kind === 'object',
  );
  if (!isHeaded) return undefined;
  return headed(list.items.flatMap((item) => item.items.map((value, at) => [item.keys[at] ?? '', value] as const)));
}

/** Returns a list of objects below headings. Several different headings name the objects, unless they count them. */
function headed(records: readonly (readonly [heading: string, object: ReplyNode])[]): ReplyNode {
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
  const isList = first.marked;
  const groups = nesting < MAX_NESTING && (isList || first.key !== undefined) ? groupsOf(lines, first, isList) : [];
  if (groups.length === 0)
    return lines.length === 1 ? valueOf(first.whole) : stringNode(lines.map((line) => line.whole).join('\n'));
  if (isList) return listOf(groups.map((group, at) => itemOf(group, nesting, at)));
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
function itemOf([head = BLANK, ...rest]: readonly Line[], nesting: number, at: number): ReplyNode {
  if (rest.length === 0)
    return head.key === undefined ? valueOf(head.whole) : lineObject(head, [[head.key, valueOf(head.text)]]);
  if (head.key === undefined) {
    const nested = MARKER.test(head.whole) ? { ...lineOf(head.whole), depth: rest[0]?.depth ?? head.inner } : undefined;
    if (nested?.marked === true) return treeOf([nested, ...rest], nesting + 1);
    const lines = [head.whole, ...rest.map((line) => line.raw)].join('\n');
    if (rest.every((line) => line.key === undefined && !line.marked)) return stringNode(lines);
    const value = headedItem(head, treeOf(rest, nesting + 1), at);
    // A string takes the lines as they are.
    if (head.whole !== '') value.text = lines;
    return value;
  }
  // As in YAML, the items of a list can be at the column of their key.
  const isBelow =
    head.text === '' && rest.every((line) => line.depth > head.inner || (line.marked && line.depth === head.inner));
  if (isBelow) return objectOf(memberOf([head, ...rest], nesting));
  return objectOf([[head.key, valueOf(head.text)], ...membersOf(rest, nesting)]);
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

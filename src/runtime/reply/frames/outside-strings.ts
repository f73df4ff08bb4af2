/*
 * Frames that change the punctuation of JSON, but not the text of its strings. A string here ends at a quote before
 * punctuation, since the text inside it can contain any character.
 */

/** Changes the text at a position outside of strings; undefined leaves the character as it is. */
type Change = (text: string, at: number) => { readonly to: string; readonly length: number } | undefined;

/** The quotes that open strings, and those that close them. */
const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”“', '「': '」', '『': '』', '＂': '＂' };

/** The text before a single quote that opens a string; any other is an apostrophe. */
const BEFORE_SINGLE = /[[{:,［｛：，、]\s*$|[\w(]=\s?$|\w\($/u;

const FOLLOWS_STRING = new Set([':', ',', '}', ']', '：', '，', '、', '｝', '］', ';', '；']);

const OPENERS = '{[｛［';
const CLOSERS = '}]｝］';

/** Applies the change inside brackets and outside of strings. Returns undefined if nothing changes. */
function changeOutsideStrings(text: string, from: number, change: Change): string | undefined {
  const parts = [text.slice(0, from)];
  let changed = false;
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const character = text.charAt(at);
    const closers =
      character === "'" && !BEFORE_SINGLE.test(text.slice(Math.max(0, at - MAX_SPACES), at))
        ? undefined
        : QUOTES[character];
    if (depth > 0 && closers !== undefined) {
      const end = stringEnd(text, at, closers);
      parts.push(asString(text, at, end));
      at = end;
      continue;
    }
    const isInside = depth > 0 || OPENERS.includes(text.charAt(character === '\\' ? at + 1 : at));
    const next = isInside ? change(text, at) : undefined;
    const to = next?.to ?? character;
    if (next !== undefined) changed = true;
    if (OPENERS.includes(to)) depth += 1;
    else if (depth > 0 && CLOSERS.includes(to)) depth -= 1;
    parts.push(to);
    at += next?.length ?? 1;
  }
  return changed ? parts.join('') : undefined;
}

/** Returns the position after the string whose opening quote is at `from`. */
function stringEnd(text: string, from: number, closers: string): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\\') at += 1;
    else if (closers.includes(character) && isEnd(text, at + 1)) return at + 1;
  }
  return text.length;
}

/** True if punctuation or the end of the text is next, after spaces and the tags of JSON in HTML. */
function isEnd(text: string, from: number): boolean {
  const at = afterMarkup(text, from);
  const isEscaped = text.charAt(at) === '\\' && CLOSERS.includes(text.charAt(at + 1));
  return (
    at >= text.length || FOLLOWS_STRING.has(text.charAt(at)) || isEscaped || AFTER_STRING.test(text.slice(at, at + 12))
  );
}

function afterMarkup(text: string, from: number): number {
  for (let at = from, tags = 0; ; tags += 1) {
    const start = at;
    while (at < text.length && at - start < MAX_SPACES && /\s/u.test(text.charAt(at))) at += 1;
    MARKUP.lastIndex = at;
    const length = tags < MAX_TAGS ? MARKUP.exec(text)?.[0].length : undefined;
    if (length === undefined) return at;
    at += length;
  }
}

/** A conversion in Rust, or the end of a call. */
const AFTER_STRING = /^\)?\.(?:to_string|to_owned|into|clone)\b|^\)\s{0,3}(?:[,\])}]|$)/u;

/** A tag or an entity that can be between the members of JSON in HTML. */
const MARKUP = /<\/?(?:br|span|p|div|b|strong|em|i|code|font)\b[^<>]{0,200}>|&(?:nbsp|ensp|emsp|#160|#xa0);/iuy;

/** Both bound the work for each quote. */
const MAX_SPACES = 100;
const MAX_TAGS = 4;

function asString(text: string, from: number, end: number): string {
  const string = text.slice(from, end);
  if (text.charAt(from) === '"' || text.charAt(from) === "'") return string;
  const closed = (QUOTES[text.charAt(from)] ?? '').includes(text.charAt(end - 1)) && end > from + 1;
  return `"${string.slice(1, closed ? -1 : undefined).replaceAll('"', String.raw`\"`)}"`;
}

// --- full-width punctuation ------------------------------------------------------------------------------------------

const ASCII: Readonly<Record<string, string>> = {
  '：': ':',
  '，': ',',
  '、': ',',
  '；': ',',
  '｛': '{',
  '｝': '}',
  '［': '[',
  '］': ']',
};

/** Full-width punctuation between the members of JSON, which models of East Asian languages write. */
export function asciiPunctuation(text: string): string | undefined {
  const from = text.search(/[[{［｛]/u);
  if (from < 0 || !/[：，、［｛「『＂]/u.test(text)) return undefined;
  return changeOutsideStrings(text, from, (whole, at) => {
    const to = ASCII[whole.charAt(at)];
    return to === undefined ? undefined : { to, length: 1 };
  });
}

// --- doubled braces --------------------------------------------------------------------------------------------------

/** The braces of a template, which are doubled: `{{"a": {{"b": 1}}}}`. Objects inside can have single braces. */
export function singleBraces(text: string): string | undefined {
  const from = text.search(/[[{]/u);
  if (from < 0 || !/^\{\{\s*["'\w}]/u.test(text.slice(from, from + MAX_SPACES))) return undefined;
  const doubled: boolean[] = [];
  return changeOutsideStrings(text, from, (whole, at) => {
    const character = whole.charAt(at);
    if (character !== '{' && character !== '}') return undefined;
    const isPair = whole.charAt(at + 1) === character;
    const isDoubled = character === '{' ? isPair : (doubled.pop() ?? false) && isPair;
    if (character === '{') doubled.push(isDoubled);
    return isDoubled ? { to: character, length: 2 } : undefined;
  });
}

// --- escaped brackets ------------------------------------------------------------------------------------------------

/**
 * An escaped bracket with the beginning of a value after it: `\[1,`, `\{"a"`, `\{a:`. None follows in a formula,
 * `\[x = 5\]`, or before prose, `\[Note: …`.
 */
const ESCAPED = /\\(?:[[{]\s*(?:\\?["'[{\]}_]|-?\d+(?:\.\d+)?\s*(?:,|\\\]))|\{\s*\w+\s*:)/u;

/** JSON whose brackets Markdown escapes: `\{"a": 1\}`, `{"a": \["b"\]}`. */
export function unescapeBrackets(text: string): string | undefined {
  if (!ESCAPED.test(text)) return undefined;
  const from = text.search(/\\?[[{]/u);
  return changeOutsideStrings(text, from, (whole, at) => {
    const bracket = whole.charAt(at) === '\\' ? whole.charAt(at + 1) : '';
    return bracket !== '' && '[]{}'.includes(bracket) ? { to: bracket, length: 2 } : undefined;
  });
}

// --- tags ------------------------------------------------------------------------------------------------------------

/** JSON as HTML, with line breaks, spaces and colours outside of its strings. */
export function stripTags(text: string): string | undefined {
  const from = text.search(/[[{]/u);
  if (from < 0 || !HAS_MARKUP.test(text) || HAS_BLOCK.test(text)) return undefined;
  const start = withoutMarkup(text.slice(0, from));
  return changeOutsideStrings(start + text.slice(from), start.length, (whole, at) => {
    if (!'<&'.includes(whole.charAt(at))) return undefined;
    MARKUP.lastIndex = at;
    const length = MARKUP.exec(whole)?.[0].length;
    return length === undefined ? undefined : { to: ' ', length };
  });
}

/** Text in backticks or CDATA, whose tags belong to it. */
const HAS_BLOCK = /<!\[CDATA\[|[:,[]\s*`/u;
const HAS_MARKUP = /<(?:br|span|p|div|b|strong|em|i|code|font)\b|&(?:nbsp|ensp|emsp|#160|#xa0);/iu;

function withoutMarkup(text: string): string {
  return text.replaceAll(new RegExp(MARKUP.source, 'giu'), ' ');
}

// --- types before brackets -------------------------------------------------------------------------------------------

/** A struct, a slice or a map with its type in front. */
const STRUCT =
  /[A-Z]\w*\s?\{\s*[A-Za-z_]\w*\s*:|\bvec!\s?\[|\[\]\*?[\w.]+\{|\bmap\[\w+\][\w.]+\{|"\.(?:to_string|to_owned|into)\(\)/u;
const TYPE = /(?<=[:,=[{(]\s{0,20})(?:&|new )?[A-Z]\w*(?:(?:::|\.)\w+)*(?:<[\w, ]{1,40}>)?\s?(?=\{)/uy;
const SLICE = /(?:&?\[\d*\]\*?[\w.]+\{)/uy;
const MAP = /map\[\w+\](?:\[\])?[\w.]+(?:\{\})?\{/uy;
const CONVERSION = /vec!|\.(?:to_string|to_owned|to_vec|into|clone)\(\)|String::from(?=\()/uy;

/** Values of Rust and Go, with the names of types before their brackets. */
export function fromStructs(text: string): string | undefined {
  const from = text.search(/[[{]/u);
  if (from < 0 || !STRUCT.test(text)) return undefined;
  const lists: boolean[] = [];
  return changeOutsideStrings(text, from, (whole, at) => {
    const slice = lengthAt(SLICE, whole, at);
    const map = slice > 0 ? 0 : lengthAt(MAP, whole, at);
    const character = whole.charAt(at);
    if (slice > 0 || map > 0 || character === '{') {
      lists.push(slice > 0);
      return slice + map === 0 ? undefined : { to: slice > 0 ? '[' : '{', length: slice + map };
    }
    if (character === '}') return lists.pop() === true ? { to: ']', length: 1 } : undefined;
    const length = lengthAt(TYPE, whole, at) || lengthAt(CONVERSION, whole, at);
    return length > 0 ? { to: ' ', length } : undefined;
  });
}

function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

// --- citations and characters without width --------------------------------------------------------------------------

/*
 * Marks between the members of JSON that belong to the place where a model's text is shown, not to the value: citations of search
 * results, and characters without width.
 */

/** A scalar or bracket, after which a mark does not belong to a string. */
const MEMBER = String.raw`(?<=["}\]]\s*,?|[:[,]\s*(?:-?\d[\d.]{0,30}|true|false|null)\s*,?)`;
const MARK = String.raw`(?:\[cite(?:_start|_end)?(?::[^\]\n]{0,40})?\]|【[^】\n]{1,60}】|:contentReference\[oaicite:\d{1,4}\]\{index=\d{1,4}\})`;
const CITATION = new RegExp(String.raw`${MEMBER}\s*(?:${MARK}\s?){1,5}(?=\s*(?:[,}\]\n]|$))`, 'gu');
const CITATION_START = /^(\s*)\[cite_start\]\s*/gmu;

/** Removes citations such as `[cite: 3]` and `【4:9†source】` behind the members of JSON. */
export function stripCitations(text: string): string | undefined {
  if (!text.includes('cite') && !text.includes('【')) return undefined;
  return text.replaceAll(CITATION_START, '$1').replaceAll(CITATION, '');
}

const WIDTHLESS = String.raw`[\u200B\u2060\uFEFF]`;
const HAS_WIDTHLESS = new RegExp(WIDTHLESS, 'u');
const WIDTHLESS_MARK = new RegExp(
  String.raw`(?<=["':,{}[\]]\s{0,40})${WIDTHLESS}+|${WIDTHLESS}+(?=\s{0,40}["':,{}[\]])`,
  'gu',
);

/** Removes characters without width beside the punctuation of JSON. Inside words, they are a part of the text. */
export function stripWidthless(text: string): string | undefined {
  return HAS_WIDTHLESS.test(text) ? text.replaceAll(WIDTHLESS_MARK, '') : undefined;
}

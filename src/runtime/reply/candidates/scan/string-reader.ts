import {
  meaningOf,
  onlyBracketsFollow,
  opensKey,
  opensNext,
  type Meaning,
  type OpenString,
  type Place,
} from './after-quote.ts';
import { Ahead, type Verdict, type Cursor } from './cursor.ts';
import {
  BACKSLASH,
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  closersOf,
  codeAt,
  COMMA,
  DOUBLE_QUOTE,
  isDigit,
  isSpace,
  isWordCharacter,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  RIGHT_QUOTE,
  SINGLE_QUOTE,
  skipSpace,
  SPACE,
} from './characters.ts';
import { REPAIR, ReplyNode } from './reply-node.ts';

/** Reads one string at a time: between quotes of any kind, or between triple quotes (a block). */
export class StringReader {
  /** The escapes in the string that `completeEnd` found, or that is being read. */
  escapes: Escapes = 'none';
  readonly #cursor: Cursor;
  /** The string being read; undefined after it has ended. */
  #node: ReplyNode | undefined = undefined;
  #place: Place = 'item';
  #closers = '';
  #quote = 0;
  /** The three quotes that end a block; empty in a string between single quotes. */
  #fence = '';
  /** The number of quotes that were taken as part of the string. */
  #quotes = 0;
  /** The number of brackets that are open inside the string. */
  #brackets = 0;
  /** The last character of the string, which can be gone from its node; 0 at its start. */
  #last = 0;
  /** The string ends in a comma and spaces so far. */
  #endsInComma = false;
  /** The quotes around the string are doubled. */
  #doubled = false;

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  get ended(): boolean {
    return this.#node === undefined;
  }

  /**
   * Returns the offset after the string between double quotes at the cursor, if all of it and the text that proves its end
   * have arrived, and it needs no repair; otherwise -1.
   */
  completeEnd(inObject: boolean): number {
    const { text, at: start, isLast } = this.#cursor;
    this.escapes = 'none';
    let hasBrackets = false;
    let at = start + 1;
    for (; ; at += 1) {
      if (at >= text.length) return -1;
      const code = text.charCodeAt(at);
      if (code > CLOSE_BRACKET && code < OPEN_BRACE) continue; // Most characters are small letters.
      if (code === DOUBLE_QUOTE) break;
      if (code === BACKSLASH) {
        at += 1;
        if (isCanonicalEscape(codeAt(text, at))) {
          if (this.escapes === 'none') this.escapes = 'canonical';
        } else if (isJsonEscape(text, at)) this.escapes = 'other';
        else return -1;
      } else if (code < 32) return -1;
      else if ((code & 0xffdf) === OPEN_BRACKET) hasBrackets = true;
      else if (code === RIGHT_QUOTE) return -1;
    }
    const next = codeAt(text, at + 1);
    const before = text.charCodeAt(at - 1);
    if (next === DOUBLE_QUOTE || before === COMMA || before === SPACE || (before > 128 && isSpace(before))) return -1;
    if (goesOn(text, at + 1, hasBrackets)) return at + 1;
    if (this.escapes === 'other') return -1;
    const brackets = hasBrackets ? openBrackets(text.slice(start + 1, at)) : 0;
    const ahead = new Ahead(text, at + 1, isLast);
    const string: OpenString = {
      place: inObject ? 'value' : 'item',
      closers: '"',
      quotes: 0,
      brackets,
      endsInDigit: isDigit(before),
    };
    return meaningOf(ahead, at + 1, string) === 'ends' && !ahead.isShort ? at + 1 : -1;
  }

  /** Begins the string or key whose opening quote is at the cursor. */
  open(place: Place): ReplyNode {
    const code = this.#cursor.text.charCodeAt(this.#cursor.at);
    const node = this.#begin(place);
    if (code !== DOUBLE_QUOTE) node.repairs |= REPAIR.quotes;
    this.#quote = code;
    this.#closers = closersOf(code);
    this.escapes = 'none';
    this.#cursor.at += 1;
    return node;
  }

  /** Begins the string or block whose opening quote is at the cursor. Returns undefined if that needs more text. */
  start(place: Place): ReplyNode | undefined {
    const triple = this.#tripleAhead();
    if (triple === 'wait') return undefined;
    if (triple === 'no') return this.open(place);
    const node = this.#begin(place);
    this.#becomeBlock(node, this.#cursor.text.slice(this.#cursor.at, this.#cursor.at + 3));
    this.#cursor.at += 3;
    return node;
  }

  /** Three quotes open a block. A `"` at the end of a delta does not wait for the next two, so that a string appears at once. */
  #tripleAhead(): Verdict {
    const { text, at, isLast } = this.#cursor;
    const code = text.charCodeAt(at);
    if (code !== BACKTICK && code !== DOUBLE_QUOTE && code !== SINGLE_QUOTE) return 'no';
    if (at + 1 >= text.length) return isLast || code === DOUBLE_QUOTE ? 'no' : 'wait';
    if (text.charCodeAt(at + 1) !== code) return 'no';
    if (at + 2 >= text.length) return isLast ? 'no' : 'wait';
    return text.charCodeAt(at + 2) === code ? 'yes' : 'no';
  }

  #begin(place: Place): ReplyNode {
    const node = new ReplyNode('string');
    node.quoted = true;
    this.#node = node;
    this.#place = place;
    this.#fence = '';
    this.#quotes = 0;
    this.#brackets = 0;
    this.#last = 0;
    this.#endsInComma = false;
    this.#doubled = false;
    return node;
  }

  /** The text of a block is read as it is, then dedented. */
  #becomeBlock(node: ReplyNode, fence: string): void {
    this.#fence = fence;
    this.#closers = fence.charAt(0);
    node.block = true;
    node.plain = false;
    node.repairs |= REPAIR.quotes;
  }

  /** Reads on. Returns false if the answer needs more text. */
  read(): boolean {
    const node = this.#node;
    if (node === undefined) return true;
    if (this.#fence !== '') return this.#readBlock(node);
    this.#readRun(node);
    const cursor = this.#cursor;
    if (cursor.isAtEnd) return true;
    const code = cursor.text.charCodeAt(cursor.at);
    if (code === LINE_FEED) return this.#readLineEnd(node);
    if (code === RIGHT_QUOTE && this.#quote === DOUBLE_QUOTE) return this.#readRightQuote(node);
    return code === BACKSLASH ? this.#readEscape(node) : this.#readQuote(node);
  }

  /** A ” ends a string that " opened only if the JSON goes on after it. */
  #readRightQuote(node: ReplyNode): boolean {
    const { text, at, isLast } = this.#cursor;
    const ahead = new Ahead(text, at + 1, isLast);
    const meaning = meaningOf(ahead, at + 1, { ...this.#string, closers: '"”', quotes: 1 });
    if (ahead.isShort) return false;
    if (meaning === 'ends') return this.#endAt(node, at + 1, REPAIR.quotes);
    this.#take(node, at, at + 1);
    return true;
  }

  /** Reads on up to a quote that can close the string, or a line break. Returns true if that has arrived. */
  readToQuote(): boolean {
    const node = this.#node;
    const cursor = this.#cursor;
    if (node === undefined) return true;
    do this.#readRun(node);
    while (cursor.text.charCodeAt(cursor.at) === BACKSLASH && this.#readEscape(node));
    return !cursor.isAtEnd && cursor.text.charCodeAt(cursor.at) !== BACKSLASH;
  }

  /** Ends a string whose closing quote never arrived. `closers`: the brackets that close the lists and objects around it. */
  giveUp(closers: string): void {
    const node = this.#node;
    if (node === undefined) return;
    if (this.#fence === '') node.text = withoutClosers(node.text, closers);
    else node.text = dedentBlock(node.text, this.#fence === '```');
    node.repairs |= REPAIR.unclosed;
    this.#node = undefined;
  }

  /** Takes everything up to the next quote, escape or line break. */
  #readRun(node: ReplyNode): void {
    const { text, at: start } = this.#cursor;
    const isDouble = this.#quote === DOUBLE_QUOTE;
    let at = start;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === DOUBLE_QUOTE || code === BACKSLASH) {
        if (isDouble || (code === BACKSLASH ? this.#quote !== BACKTICK : this.#closers.includes('"'))) break;
        node.plain = false;
      } else if (code < 32) {
        node.plain = false;
        node.repairs |= REPAIR.controlCharacter;
        if (code === LINE_FEED) break;
      } else if (isDouble ? code === RIGHT_QUOTE : this.#closers.includes(text.charAt(at))) break;
      else if ((code & LIKE_BRACKETS) === ANY_BRACKET) this.#brackets = bracketsAfter(this.#brackets, code);
    }
    this.#take(node, start, at);
  }

  #take(node: ReplyNode, from: number, to: number): void {
    if (to === from) return;
    const part = this.#cursor.text.slice(from, to);
    node.text = node.text === '' ? part : node.text + part;
    let last = part.length - 1;
    this.#last = part.charCodeAt(last);
    while (last >= 0 && isSpace(part.charCodeAt(last))) last -= 1;
    if (last >= 0) this.#endsInComma = part.charCodeAt(last) === COMMA;
    this.#cursor.at = to;
  }

  get #string(): OpenString {
    const endsInDigit = isDigit(this.#last);
    return { place: this.#place, closers: this.#closers, quotes: this.#quotes, brackets: this.#brackets, endsInDigit };
  }

  /** A string without its closing quote ends with its line if only brackets follow. */
  #readLineEnd(node: ReplyNode): boolean {
    const { text, at, isLast } = this.#cursor;
    const ahead = new Ahead(text, at, isLast);
    const ends = onlyBracketsFollow(ahead, ahead.skipSpace(at), this.#string);
    if (ahead.isShort) return false;
    if (ends) return this.#endBeforeComma(node);
    this.#take(node, at, at + 1);
    return true;
  }

  /** Ends a string without a closing quote, which the comma and the spaces after it do not belong to. */
  #endBeforeComma(node: ReplyNode): true {
    node.text = node.text.slice(0, -MAX_END) + node.text.slice(-MAX_END).replace(/,?\s*$/u, '');
    return this.#endAt(node, this.#cursor.at, REPAIR.unclosed);
  }

  #readQuote(node: ReplyNode): boolean {
    const { text, at, isLast } = this.#cursor;
    if (this.#isPlain && goesOn(text, at + 1, this.#brackets > 0)) return this.#endAt(node, at + 1, 0);
    const ahead = new Ahead(text, at + 1, isLast);
    const next = ahead.code(at + 1);
    const isPair = next === text.charCodeAt(at);
    if (this.#last === 0 && isPair && this.#place !== 'key' && this.#quote < 128) return this.#turnIntoBlock(node);
    if (this.#isInside(next, isPair)) return this.#keepQuote(node);
    const opens = this.#endsInComma && opensNext(ahead, at, this.#string);
    const isShared = !opens && this.#quotes === 0 && isWordCharacter(this.#last) && opensKey(ahead, at, this.#string);
    const meaning = opens || isShared ? 'ends' : this.#meaning(ahead, at, isPair);
    if (ahead.isShort) return false;
    if (opens) return this.#endBeforeComma(node);
    if (isShared) return this.#endAt(node, at, REPAIR.unclosed);
    return this.#act(node, meaning);
  }

  /** Nothing in the string so far raises a doubt about its end. */
  get #isPlain(): boolean {
    return (
      this.#quote === DOUBLE_QUOTE &&
      this.#place !== 'key' &&
      this.#quotes === 0 &&
      !this.#endsInComma &&
      !this.#doubled
    );
  }

  /**
   * Does the next character suffice to show that a quote belongs to the string? It is an apostrophe, opens a quotation, or
   * ends one before the end of the string.
   */
  #isInside(next: number, isPair: boolean): boolean {
    if (this.#place === 'key' || this.#last === 0 || this.#doubled) return false;
    if (isPair) return this.#quotes > 0;
    if (!isWordCharacter(next)) return false;
    return isWordCharacter(this.#last) ? this.#quote !== DOUBLE_QUOTE : isSpace(this.#last) && !this.#endsInComma;
  }

  #meaning(ahead: Ahead, at: number, isPair: boolean): Meaning | 'ends doubled' {
    if (isPair && (this.#doubled || (this.#quotes === 0 && !isDigit(this.#last) && this.#last !== 0))) {
      const meaning = meaningOf(ahead, at + 2, this.#string);
      if (meaning === 'ends') return 'ends doubled';
    }
    return meaningOf(ahead, at + 1, this.#string);
  }

  #act(node: ReplyNode, meaning: Meaning | 'ends doubled'): boolean {
    const { text, at } = this.#cursor;
    switch (meaning) {
      case 'ends':
        return this.#endAt(node, at + 1, 0);
      case 'ends doubled':
        return this.#endAt(node, at + 2, REPAIR.quotes);
      case 'joins':
        this.#cursor.at = text.indexOf(text.charAt(at), at + 1) + 1;
        node.repairs |= REPAIR.quotes;
        return true;
      case 'takes':
        return this.#takeWords(node);
      case 'inside':
        return this.#keepQuote(node);
    }
  }

  /** Takes the words after a closing quote, up to the next delimiter. */
  #takeWords(node: ReplyNode): boolean {
    const { text, at, isLast } = this.#cursor;
    const ahead = new Ahead(text, at + 1, isLast);
    let end = at + 1;
    for (let code = ahead.code(end); code >= 0 && !ENDS_WORDS.has(code); code = ahead.code(end)) end += 1;
    if (ahead.isShort) return false;
    node.text += text.slice(at + 1, end).trimEnd();
    node.plain = false;
    return this.#endAt(node, end, REPAIR.innerQuotes);
  }

  #endAt(node: ReplyNode, at: number, repair: number): true {
    node.repairs |= repair;
    node.complete = true;
    this.#cursor.at = at;
    this.#node = undefined;
    return true;
  }

  /** Takes a quote as part of the string. A doubled quote at the start is dropped; an apostrophe is not one of a pair. */
  #keepQuote(node: ReplyNode): true {
    const { text, at } = this.#cursor;
    this.#cursor.at += 1;
    if (this.#last === 0 && !this.#doubled && this.#place !== 'item') {
      this.#doubled = true;
      node.repairs |= REPAIR.quotes;
      return true;
    }
    const isApostrophe = this.#quote !== DOUBLE_QUOTE && isWordCharacter(this.#last);
    if (!isApostrophe || !isWordCharacter(codeAt(text, at + 1))) this.#quotes += 1;
    this.#last = text.charCodeAt(at);
    this.#endsInComma = false;
    node.plain = false;
    node.repairs |= REPAIR.innerQuotes;
    node.text += text.charAt(at);
    return true;
  }

  /** Handles three quotes of which the first was part of an earlier delta. */
  #turnIntoBlock(node: ReplyNode): boolean {
    this.#becomeBlock(node, String.fromCharCode(this.#quote).repeat(3));
    this.#cursor.at += 2;
    return true;
  }

  #readEscape(node: ReplyNode): boolean {
    const { text, at, isLast } = this.#cursor;
    const escape = decodeEscape(text, at, isLast);
    if (escape === undefined) return false;
    node.text += escape.text;
    node.plain = false;
    if (!escape.known) node.repairs |= REPAIR.escape;
    if (escape.text !== '') this.#last = escape.text.charCodeAt(escape.text.length - 1);
    this.#endsInComma = false;
    if (!isCanonicalEscape(text.charCodeAt(at + 1)) && !isJsonEscape(text, at + 1)) this.escapes = 'foreign';
    this.#cursor.at += escape.length;
    return true;
  }

  /** A block ends at three quotes that the JSON goes on after. */
  #readBlock(node: ReplyNode): boolean {
    const { text, at, isLast } = this.#cursor;
    const end = text.indexOf(this.#fence, at);
    if (end < 0) {
      const safe = isLast ? text.length : Math.max(at, text.length - 2);
      node.text += text.slice(at, safe);
      this.#cursor.at = safe;
      return isLast;
    }
    const ahead = new Ahead(text, end + 3, isLast);
    const string: OpenString = {
      place: this.#place,
      closers: this.#closers,
      quotes: 0,
      brackets: 0,
      endsInDigit: false,
    };
    const meaning = meaningOf(ahead, end + 3, string);
    if (ahead.isShort) return false;
    if (meaning !== 'ends') {
      node.text += text.slice(at, end + 3);
      this.#cursor.at = end + 3;
      return true;
    }
    node.text = dedentBlock(node.text + text.slice(at, end), this.#fence === '```');
    return this.#endAt(node, end + 3, 0);
  }
}

/** The most spaces after the comma of a string without a closing quote. */
const MAX_END = 200;

const ENDS_WORDS: ReadonlySet<number> = new Set([COMMA, CLOSE_BRACE, CLOSE_BRACKET, LINE_FEED, DOUBLE_QUOTE]);

/**
 * Does JSON go on after the quote before `from` as it nearly always does: with a comma and a quote or a line break, or with a closing bracket?
 * The latter can belong to a string with brackets.
 */
function goesOn(text: string, from: number, hasBrackets: boolean): boolean {
  let at = from;
  let code = codeAt(text, at);
  if (code <= 32) {
    at = skipSpace(text, from);
    code = codeAt(text, at);
  }
  if (code !== COMMA) return !hasBrackets && (code === CLOSE_BRACE || code === CLOSE_BRACKET);
  code = codeAt(text, at + 1);
  return (
    code === DOUBLE_QUOTE ||
    code === LINE_FEED ||
    (code <= 32 && codeAt(text, skipSpace(text, at + 1)) === DOUBLE_QUOTE)
  );
}

/** The bits that brackets and braces share, with which a loop recognizes them at the cost of one comparison. */
const LIKE_BRACKETS = 0xffd9;
const ANY_BRACKET = OPEN_BRACKET & LIKE_BRACKETS;

/** Returns the number of open brackets after the character `code`. */
function bracketsAfter(open: number, code: number): number {
  if (code === OPEN_BRACE || code === OPEN_BRACKET) return open + 1;
  return open > 0 && (code === CLOSE_BRACE || code === CLOSE_BRACKET) ? open - 1 : open;
}

/** Returns the number of brackets that are open at the end of a text. */
function openBrackets(text: string): number {
  let open = 0;
  for (let at = 0; at < text.length; at += 1) open = bracketsAfter(open, text.charCodeAt(at));
  return open;
}

/**
 * Removes closing brackets, and the end of a fence after them, from the end of a string without its closing quote: if they close the
 * lists and objects around it, and none of them closes a bracket inside the string. `closers`: the innermost first.
 */
function withoutClosers(text: string, closers: string): string {
  const to = text.endsWith('```') ? text.length - 3 : text.length;
  const end = to - (/(?<![\]}\s])[\]}\s]+$/u.exec(text.slice(0, to))?.[0].length ?? 0);
  if (closers === '' || text.slice(end, to).replaceAll(/\s/gu, '') !== closers) return text;
  return openBrackets(text.slice(0, end)) > 0 ? text : text.slice(0, end);
}

/**
 * Returns the text between triple quotes or backticks, trimmed, without the language line of a fence and without the
 * indentation that all its lines share.
 */
function dedentBlock(text: string, isFence: boolean): string {
  const body = isFence ? text.slice(text.indexOf('\n') + 1) : text;
  const lines = body.split('\n');
  let shared = Infinity;
  for (const line of lines) {
    const indentation = line.length - line.trimStart().length;
    if (indentation < line.length) shared = Math.min(shared, indentation);
  }
  if (shared === Infinity) return '';
  return lines
    .map((line) => (line.trim() === '' ? '' : line.slice(shared)))
    .join('\n')
    .trim();
}

/*
 * The escapes in strings. Models also write backslashes that are not JSON escapes: those of other languages, those of
 * Markdown before punctuation, and unescaped ones in regular expressions, LaTeX and paths.
 */

/**
 * The escapes in a string: `canonical` are those that JSON.stringify writes in the same way, `foreign` are those that
 * JSON does not have.
 */
export type Escapes = 'none' | 'canonical' | 'other' | 'foreign';

interface Escape {
  readonly text: string;
  /** The length of the escape in the source, including the backslash. */
  readonly length: number;
  readonly known: boolean;
}

const SIMPLE: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '"': '"',
  "'": "'",
  '`': '`',
  '/': '/',
  '\\': '\\',
};

/** True for the characters after a backslash that JSON.stringify writes in the same way: n t r b f " \\ */
function isCanonicalEscape(code: number): boolean {
  switch (code) {
    case 110:
    case 116:
    case 114:
    case 98:
    case 102:
    case DOUBLE_QUOTE:
    case BACKSLASH:
      return true;
    default:
      return false;
  }
}

/** True for the rest of any other escape of JSON: `/`, or `u` and four digits. */
function isJsonEscape(text: string, at: number): boolean {
  const letter = text.charAt(at);
  if (letter !== 'u') return letter === '/';
  for (let index = at + 1; index < at + 5; index += 1) if (hexDigit(text.charCodeAt(index)) < 0) return false;
  return true;
}

/** Punctuation that Markdown escapes, and that no other language escapes more often. */
const MARKDOWN = '_*#~>-+|!=&<@:;';

/**
 * Decodes the escape at the backslash `at`; undefined if its end has not arrived. Before punctuation that Markdown
 * escapes, the backslash is dropped; before other characters that JSON does not allow, it stays, because models put
 * regular expressions, LaTeX and paths into strings.
 */
function decodeEscape(text: string, at: number, isLast: boolean): Escape | undefined {
  if (at + 1 >= text.length) return isLast ? { text: '', length: 1, known: false } : undefined;
  const letter = text.charAt(at + 1);
  const simple = SIMPLE[letter];
  if (simple !== undefined) return { text: simple, length: 2, known: true };
  if (letter === '\n' || MARKDOWN.includes(letter)) return { text: letter, length: 2, known: false };
  if (letter === 'u' || letter === 'x' || letter === 'U') return decodeCode(text, at, letter, isLast);
  return kept(letter);
}

function kept(letter: string): Escape {
  return { text: `\\${letter}`, length: 2, known: false };
}

// --- codes of characters ---------------------------------------------------------------------------------------------

/** Decodes `\u00e9`, `\u{e9}`, `\xe9` or `\U000000e9`. */
function decodeCode(text: string, at: number, letter: string, isLast: boolean): Escape | undefined {
  const isBraced = letter === 'u' && text.charAt(at + 2) === '{';
  const digits = isBraced ? 6 : letter === 'u' ? 4 : letter === 'x' ? 2 : 8;
  const from = isBraced ? at + 3 : at + 2;
  let code = 0;
  let index = from;
  for (; index < from + digits; index += 1) {
    if (index >= text.length && !isLast) return undefined;
    const digit = hexDigit(text.charCodeAt(index));
    if (digit < 0) break;
    code = code * 16 + digit;
  }
  const isWhole = isBraced ? index > from && text.charAt(index) === '}' : index === from + digits;
  if (isBraced && index >= text.length && !isLast) return undefined;
  if (!isWhole && index >= text.length) return { text: '', length: index - at, known: false }; // The reply breaks off.
  if (!isWhole || code > 0x10ffff) return kept(letter);
  const length = index - at + (isBraced ? 1 : 0);
  const isJson = letter === 'u' && !isBraced;
  return { text: String.fromCodePoint(code), length, known: isJson };
}

function hexDigit(code: number): number {
  if (isDigit(code)) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

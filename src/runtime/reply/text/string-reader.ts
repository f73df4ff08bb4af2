import {
  BACKSLASH,
  BACKTICK,
  closersOf,
  DOUBLE_QUOTE,
  isWordCharacter,
  LINE_FEED,
  SINGLE_QUOTE,
} from './characters.ts';
import type { Cursor } from './cursor.ts';
import { quoteEnds, type StringPosition } from './look-ahead.ts';
import { REPAIR, ReplyNode } from './reply-node.ts';

/** Reads one string at a time: between quotes of any kind, or between triple quotes (a block). */
export class StringReader {
  readonly #cursor: Cursor;
  /** The string being read; undefined after it has ended. */
  #node: ReplyNode | undefined = undefined;
  #position: StringPosition = 'list';
  #closers = '';
  #quote = 0;
  /** The number of quotes taken as part of the string. */
  #innerQuotes = 0;
  /** The three quotes that end a block; empty in a string between single quotes. */
  #fence = '';

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  get ended(): boolean {
    return this.#node === undefined;
  }

  /** Begins the string whose opening quote is at the cursor. */
  open(position: StringPosition): ReplyNode {
    const code = this.#cursor.text.charCodeAt(this.#cursor.at);
    const node = this.#begin(position);
    if (code !== DOUBLE_QUOTE) node.repairs |= REPAIR.quotes;
    this.#quote = code;
    this.#closers = closersOf(code);
    this.#innerQuotes = 0;
    this.#cursor.at += 1;
    return node;
  }

  /** Begins the block whose three quotes are at the cursor. Its text is read as it is, then dedented. */
  openBlock(): ReplyNode {
    const node = this.#begin('object');
    this.#becomeBlock(node, this.#cursor.text.slice(this.#cursor.at, this.#cursor.at + 3));
    this.#cursor.at += 3;
    return node;
  }

  #begin(position: StringPosition): ReplyNode {
    const node = new ReplyNode('string');
    node.quoted = true;
    this.#node = node;
    this.#position = position;
    this.#fence = '';
    return node;
  }

  #becomeBlock(node: ReplyNode, fence: string): void {
    this.#fence = fence;
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
    return cursor.text.charCodeAt(cursor.at) === BACKSLASH ? this.#readEscape(node) : this.#readQuote(node);
  }

  /** Ends a string whose closing quote never arrived. */
  giveUp(): void {
    const node = this.#node;
    if (node === undefined) return;
    if (this.#fence !== '') node.text = dedentBlock(node.text, this.#fence === '```');
    node.repairs |= REPAIR.unclosed;
    this.#node = undefined;
  }

  /** Takes everything up to the next quote or escape. */
  #readRun(node: ReplyNode): void {
    const { text, at: start } = this.#cursor;
    const isDouble = this.#quote === DOUBLE_QUOTE;
    let at = start;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === DOUBLE_QUOTE) {
        if (isDouble || this.#closers.length > 1) break;
        node.plain = false;
      } else if (code === BACKSLASH) {
        if (this.#quote !== BACKTICK) break;
        node.plain = false;
      } else if (code < 32) {
        node.plain = false;
        node.repairs |= REPAIR.controlCharacter;
      } else if (!isDouble && this.#closers.includes(text.charAt(at))) break;
    }
    if (at === start) return;
    node.text = node.text === '' ? text.slice(start, at) : node.text + text.slice(start, at);
    this.#cursor.at = at;
  }

  #readQuote(node: ReplyNode): boolean {
    const { text, at, isLast } = this.#cursor;
    if (node.text === '' && this.#innerQuotes === 0 && this.#position !== 'key') {
      if (at + 1 >= text.length && !isLast) return false;
      if (this.#quote < 128 && text.charCodeAt(at + 1) === this.#quote) return this.#turnIntoBlock(node);
    }
    const verdict = quoteEnds(text, at + 1, { position: this.#position, innerQuotes: this.#innerQuotes, isLast });
    if (verdict === 'wait') return false;
    this.#cursor.at += 1;
    if (verdict === 'yes') this.#end(node);
    else this.#keepQuote(node, text.charAt(at), text.charCodeAt(at + 1));
    return true;
  }

  #keepQuote(node: ReplyNode, quote: string, next: number): void {
    if (!this.#isApostrophe(node, next)) this.#innerQuotes += 1;
    node.plain = false;
    node.repairs |= REPAIR.innerQuotes;
    node.text += quote;
  }

  /** A `'` between letters, in a string delimited by `'`, is an apostrophe and does not count as one of a pair. */
  #isApostrophe(node: ReplyNode, next: number): boolean {
    if (this.#quote !== SINGLE_QUOTE && this.#quote !== 0x2018) return false;
    return isWordCharacter(node.text.charCodeAt(node.text.length - 1)) && isWordCharacter(next);
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
    this.#cursor.at += escape.length;
    return true;
  }

  #readBlock(node: ReplyNode): boolean {
    const { text, at, isLast } = this.#cursor;
    const end = text.indexOf(this.#fence, at);
    if (end < 0) {
      const safe = isLast ? text.length : Math.max(at, text.length - 2);
      node.text += text.slice(at, safe);
      this.#cursor.at = safe;
      return isLast;
    }
    node.text = dedentBlock(node.text + text.slice(at, end), this.#fence === '```');
    this.#cursor.at = end + 3;
    this.#end(node);
    return true;
  }

  #end(node: ReplyNode): void {
    node.complete = true;
    this.#node = undefined;
  }
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

// --- escapes ---------------------------------------------------------------------------------------------------------

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

/**
 * Decodes the escape at the backslash `at`; undefined if its end has not arrived. An unknown escape stays as the model
 * wrote it, because models put regular expressions and LaTeX into strings.
 */
function decodeEscape(text: string, at: number, isLast: boolean): Escape | undefined {
  if (at + 1 >= text.length) return isLast ? { text: '', length: 1, known: false } : undefined;
  const letter = text.charAt(at + 1);
  if (letter === 'u') return decodeUnicode(text, at, isLast);
  const simple = SIMPLE[letter];
  if (simple !== undefined) return { text: simple, length: 2, known: true };
  if (letter.charCodeAt(0) === LINE_FEED) return { text: '\n', length: 2, known: false };
  return { text: `\\${letter}`, length: 2, known: false };
}

function decodeUnicode(text: string, at: number, isLast: boolean): Escape | undefined {
  let code = 0;
  for (let index = at + 2; index < at + 6; index += 1) {
    if (index >= text.length && !isLast) return undefined;
    const digit = hexDigit(text.charCodeAt(index));
    if (digit < 0) return { text: '\\u', length: 2, known: false };
    code = code * 16 + digit;
  }
  return { text: String.fromCharCode(code), length: 6, known: true };
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

import {
  BACKSLASH,
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  closersOf,
  codeAt,
  COMMA,
  DOUBLE_QUOTE,
  GUILLEMETS,
  LINE_FEED,
  RIGHT_QUOTE,
  SINGLE_QUOTE,
  SPACE,
} from './characters.ts';
import { dedentBlock } from './block-text.ts';
import type { Cursor } from './cursor.ts';
import { decodeEscape, isCanonicalEscape, isJsonEscape, type Escapes, type RawBackslashes } from './escapes.ts';
import { InnerQuotes, withoutQuotes } from './inner-quotes.ts';
import type { Verdict } from './look-ahead.ts';
import { REPAIR, ReplyNode } from './reply-node.ts';
import { IN_LIST, IN_OBJECT, quoteEnds, type QuoteContext, type StringPosition } from './string-end.ts';
import { escapedQuoteEnds, lineEndsString, nextPart, noteEnd, opensMember, withoutEnd } from './string-edges.ts';

/** Reads one string at a time: between quotes of any kind, or between triple quotes (a block). */
export class StringReader {
  /** The escapes in the string that `completeEnd` found, or that is being read. */
  escapes: Escapes = 'none';
  readonly #cursor: Cursor;
  /** The string being read; undefined after it has ended. */
  #node: ReplyNode | undefined = undefined;
  #position: StringPosition = 'list';
  #closers = '';
  #quote = 0;
  readonly #inner = new InnerQuotes();
  #raw: RawBackslashes = 'none';
  /** The three quotes that end a block; empty in a string between single quotes. */
  #fence = '';

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
    const context = inObject ? IN_OBJECT : IN_LIST;
    this.escapes = 'none';
    let at = start + 1;
    for (; ; at += 1) {
      if (at >= text.length) return -1;
      const code = text.charCodeAt(at);
      if (code === DOUBLE_QUOTE) break;
      if (code === BACKSLASH) {
        at += 1;
        const escaped = codeAt(text, at);
        if (isCanonicalEscape(escaped)) {
          if (escaped === DOUBLE_QUOTE && escapedQuoteEnds(text, at + 1, context.position, isLast) !== 'no') return -1;
          if (this.escapes === 'none') this.escapes = 'canonical';
        } else if (isJsonEscape(text, at)) this.escapes = 'other';
        else return -1;
      } else if (code < 32 || code === RIGHT_QUOTE) return -1;
    }
    const next = codeAt(text, at + 1);
    if (next === COMMA || next === CLOSE_BRACE || next === CLOSE_BRACKET) return at + 1;
    if (next === DOUBLE_QUOTE || text.charCodeAt(at - 1) === SPACE) return -1;
    return quoteEnds(text, at + 1, isLast ? { ...context, isLast } : context) === 'yes' ? at + 1 : -1;
  }

  /** Begins the string or key whose opening quote is at the cursor. */
  open(position: StringPosition): ReplyNode {
    const code = this.#cursor.text.charCodeAt(this.#cursor.at);
    const node = this.#begin(position);
    if (code !== DOUBLE_QUOTE) node.repairs |= REPAIR.quotes;
    this.#quote = code;
    this.#closers = closersOf(code);
    this.escapes = 'none';
    this.#cursor.at += 1;
    return node;
  }

  /** Begins the string or block whose opening quote is at the cursor. Returns undefined if that needs more text. */
  start(position: StringPosition): ReplyNode | undefined {
    const triple = this.#tripleAhead();
    if (triple === 'wait') return undefined;
    return triple === 'yes' ? this.#openBlock() : this.open(position);
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

  /** The text of a block is read as it is, then dedented. */
  #openBlock(): ReplyNode {
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
    this.#inner.clear();
    this.#raw = 'none';
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
    const code = cursor.text.charCodeAt(cursor.at);
    if (code === LINE_FEED) return this.#readLineEnd(node);
    if (code === RIGHT_QUOTE && this.#quote === DOUBLE_QUOTE) return this.#readRightQuote(node);
    if (code === DOUBLE_QUOTE && !this.#closers.includes('"')) return this.#readDoubleQuote(node);
    return code === BACKSLASH ? this.#readEscape(node) : this.#readQuote(node);
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
    if (this.#fence === '') node.text = withoutEnd(node.text, closers, this.#quote);
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
      if (code === DOUBLE_QUOTE) {
        if (this.#quote !== BACKTICK) break;
        node.plain = false;
      } else if (code === BACKSLASH) {
        if (this.#quote !== BACKTICK) break;
        node.plain = false;
      } else if (code < 32) {
        node.plain = false;
        node.repairs |= REPAIR.controlCharacter;
        if (code === LINE_FEED) break;
      } else if (isDouble ? code === RIGHT_QUOTE : this.#closers.includes(text.charAt(at))) break;
    }
    this.#take(node, start, at);
  }

  #take(node: ReplyNode, from: number, to: number): void {
    if (to === from) return;
    const part = this.#cursor.text.slice(from, to);
    node.text = node.text === '' ? part : node.text + part;
    this.#inner.take(part);
    this.#cursor.at = to;
  }

  get #context(): QuoteContext {
    return {
      position: this.#position,
      innerQuotes: this.#inner.count,
      quoting: this.#inner.quoting,
      brackets: this.#inner.count > 0 ? this.#inner.brackets : 0,
      endsInSpace: this.#inner.lastCode === SPACE,
      closers: this.#closers,
      isLast: this.#cursor.isLast,
    };
  }

  #readLineEnd(node: ReplyNode): boolean {
    const { text, at } = this.#cursor;
    this.#inner.countBrackets(node.text);
    const isInside = this.#inner.count > 0 || this.#position === 'key';
    const { afterComma } = this.#inner;
    const context = { ...this.#context, brackets: this.#inner.brackets };
    const verdict = isInside ? 'no' : lineEndsString(text, at + 1, afterComma, context);
    if (verdict === 'wait') return false;
    if (verdict === 'no') {
      this.#take(node, at, at + 1);
      return true;
    }
    return this.#endBeforeComma(node);
  }

  /** Ends a string without a closing quote, which the comma and the spaces after it do not belong to. */
  #endBeforeComma(node: ReplyNode): true {
    node.text = node.text.slice(0, -MAX_END) + node.text.slice(-MAX_END).replace(/'?,?\s*$/u, '');
    node.repairs |= REPAIR.unclosed;
    this.#end(node);
    return true;
  }

  #readQuote(node: ReplyNode): boolean {
    const { text, at, isLast } = this.#cursor;
    if (this.#inner.lastCode === 0 && this.#position !== 'key') {
      if (at + 1 >= text.length && !isLast) return false;
      if (this.#quote < 128 && text.charCodeAt(at + 1) === this.#quote) return this.#turnIntoBlock(node);
    }
    const context = this.#context;
    const verdict = quoteEnds(text, at + 1, context);
    if (verdict === 'wait') return false;
    if (verdict === 'yes') {
      node.text = withoutQuotes(node.text, text.charAt(at), this.#inner.count);
      this.#cursor.at += 1;
      this.#end(node);
      return true;
    }
    return this.#readInnerQuote(node, context);
  }

  /** A ” ends a string that " opened if the JSON goes on after it, unless it ends a quotation inside the string. */
  #readRightQuote(node: ReplyNode): boolean {
    const { text, at } = this.#cursor;
    const isInner = node.text.slice(-LONGEST_QUOTATION).includes('\u201c');
    const context = { ...this.#context, innerQuotes: 1, closers: '"”' };
    const verdict = isInner ? 'no' : quoteEnds(text, at + 1, context);
    if (verdict === 'wait') return false;
    if (verdict === 'yes') return this.#endAt(node, at + 1, REPAIR.quotes);
    this.#take(node, at, at + 1);
    return true;
  }

  /** A " ends a string that another quote opened if the JSON goes on after it, unless it ends a quotation inside the string. */
  #readDoubleQuote(node: ReplyNode): boolean {
    const { text, at } = this.#cursor;
    const verdict = this.#inner.isInDouble
      ? 'no'
      : quoteEnds(text, at + 1, { ...this.#context, innerQuotes: 1, closers: `${this.#closers}"` });
    if (verdict === 'wait') return false;
    if (verdict === 'yes') return this.#endAt(node, at + 1, REPAIR.quotes);
    this.#inner.isInDouble = !this.#inner.isInDouble;
    node.plain = false;
    this.#take(node, at, at + 1);
    return true;
  }

  /** Reads a quote that does not end the string on its own: it is part of the string. */
  #readInnerQuote(node: ReplyNode, context: QuoteContext): boolean {
    const { text, at, isLast } = this.#cursor;
    if (at + 1 >= text.length && !isLast) return false;
    const next = this.#inner.afterComma ? opensMember(text, at, context) : 'no';
    if (next === 'wait') return false;
    if (next === 'yes') return this.#endBeforeComma(node);
    if (this.#closers.includes(text.charAt(at + 1))) {
      if (at + 2 >= text.length && !isLast) return false;
      const verdict = this.#doubledEnds(context);
      if (verdict === 'wait') return false;
      if (verdict === 'yes') return this.#endAt(node, at + 2, REPAIR.quotes);
      if (this.#inner.isDoubled(text.charCodeAt(at + 2))) return this.#takeDoubled(node);
    }
    const part = nextPart(text, at + 1, context);
    if (part === 'wait') return false;
    if (part >= 0) {
      this.#cursor.at = part + 1;
      node.repairs |= REPAIR.quotes;
      return true;
    }
    const note = noteEnd(text, at + 1, context);
    if (note === 'wait') return false;
    if (note >= 0) return this.#endAt(node, note, REPAIR.comment);
    this.#cursor.at += 1;
    this.#keepQuote(node, text.charAt(at), text.charCodeAt(at + 1));
    return true;
  }

  /** Do the two quotes at the cursor end the string? */
  #doubledEnds(context: QuoteContext): Verdict {
    return this.#inner.canEndDoubled(this.#node?.text ?? '')
      ? quoteEnds(this.#cursor.text, this.#cursor.at + 2, context)
      : 'no';
  }

  /** Takes two quotes as one, as in CSV. */
  #takeDoubled(node: ReplyNode): boolean {
    this.#inner.takeDoubled(this.#quote);
    node.plain = false;
    node.repairs |= REPAIR.innerQuotes;
    node.text += this.#cursor.text.charAt(this.#cursor.at);
    this.#cursor.at += 2;
    return true;
  }

  #endAt(node: ReplyNode, at: number, repair: number): boolean {
    node.repairs |= repair;
    this.#cursor.at = at;
    this.#end(node);
    return true;
  }

  #keepQuote(node: ReplyNode, quote: string, next: number): void {
    this.#inner.countBrackets(node.text);
    this.#inner.keep(quote.charCodeAt(0), next, this.#quote === SINGLE_QUOTE || this.#quote === 0x2018);
    node.plain = false;
    node.repairs |= REPAIR.innerQuotes;
    node.text += quote;
  }

  /** Handles three quotes of which the first was part of an earlier delta. */
  #turnIntoBlock(node: ReplyNode): boolean {
    this.#becomeBlock(node, String.fromCharCode(this.#quote).repeat(3));
    this.#cursor.at += 2;
    return true;
  }

  #readEscape(node: ReplyNode): boolean {
    const { text, at, isLast } = this.#cursor;
    const isKey = this.#position === 'key';
    if (text.charCodeAt(at + 1) === DOUBLE_QUOTE && this.#quote === DOUBLE_QUOTE && !isKey) {
      const verdict = escapedQuoteEnds(text, at + 2, this.#position, isLast);
      if (verdict === 'wait') return false;
      if (verdict === 'yes' && node.text.split('"').length % 2 === 1) return this.#endAt(node, at + 2, REPAIR.quotes);
    }
    const escape = decodeEscape(text, at, { raw: this.#raw, isKey, before: this.#inner.lastCode, isLast });
    if (escape === undefined) return false;
    if (escape.raw && this.#raw === 'none') this.#raw = /^[A-Za-z]:$/u.test(node.text) ? 'all' : 'commands';
    node.text += escape.text;
    node.plain = false;
    if (!escape.known) node.repairs |= REPAIR.escape;
    if (escape.text !== '') this.#inner.lastCode = escape.text.charCodeAt(escape.text.length - 1);
    if (!isCanonicalEscape(text.charCodeAt(at + 1)) && !isJsonEscape(text, at + 1)) this.escapes = 'foreign';
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
    if (GUILLEMETS.has(this.#quote)) node.text = node.text.replace(/^[ \u00a0\u202f]([^]*)[ \u00a0\u202f]$/u, '$1');
    node.complete = true;
    this.#node = undefined;
  }
}

/** The most spaces after the comma of a string without a closing quote. */
const MAX_END = 200;

/** The longest quotation inside a string; a longer one has probably ended. */
const LONGEST_QUOTATION = 400;

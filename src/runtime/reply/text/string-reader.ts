import { BACKSLASH, BACKTICK, closersOf, DOUBLE_QUOTE, isWordCharacter, SINGLE_QUOTE } from './characters.ts';
import { dedentBlock } from './dedent-block.ts';
import { decodeEscape } from './escape.ts';
import type { ReaderCursor } from './reader-cursor.ts';
import { quoteEnds, type Place } from './string-end.ts';
import { REPAIR, ValueNode } from './value-node.ts';

/** Reads one string at a time: between quotes of any kind, or between triple quotes (a block). */
export class StringReader {
  readonly #cursor: ReaderCursor;
  /** The string being read; undefined once it has ended. */
  #node: ValueNode | undefined = undefined;
  #place: Place = 'list';
  #closers = '';
  #quote = 0;
  /** Quotes taken as part of the string. */
  #innerQuotes = 0;
  /** What ends a block; empty in a string between single quotes. */
  #fence = '';

  constructor(cursor: ReaderCursor) {
    this.#cursor = cursor;
  }

  get ended(): boolean {
    return this.#node === undefined;
  }

  /** Begins the string whose opening quote is at the cursor. */
  open(place: Place): ValueNode {
    const code = this.#cursor.text.charCodeAt(this.#cursor.at);
    const node = this.#begin(place);
    if (code !== DOUBLE_QUOTE) node.repairs |= REPAIR.quotes;
    this.#quote = code;
    this.#closers = closersOf(code);
    this.#innerQuotes = 0;
    this.#cursor.at += 1;
    return node;
  }

  /** Begins the block whose three quotes are at the cursor: taken as it is, then dedented. */
  openBlock(): ValueNode {
    const node = this.#begin('object');
    this.#becomeBlock(node, this.#cursor.text.slice(this.#cursor.at, this.#cursor.at + 3));
    this.#cursor.at += 3;
    return node;
  }

  #begin(place: Place): ValueNode {
    const node = new ValueNode('string');
    node.quoted = true;
    this.#node = node;
    this.#place = place;
    this.#fence = '';
    return node;
  }

  #becomeBlock(node: ValueNode, fence: string): void {
    this.#fence = fence;
    node.block = true;
    node.plain = false;
    node.repairs |= REPAIR.quotes;
  }

  /** Reads on; false when the answer needs more text. */
  read(): boolean {
    const node = this.#node;
    if (node === undefined) return true;
    if (this.#fence !== '') return this.#readBlock(node);
    this.#readRun(node);
    const cursor = this.#cursor;
    if (cursor.isAtEnd) return true;
    return cursor.text.charCodeAt(cursor.at) === BACKSLASH ? this.#readEscape(node) : this.#readQuote(node);
  }

  /** Closes a string whose end never came. */
  giveUp(): void {
    const node = this.#node;
    if (node === undefined) return;
    if (this.#fence !== '') node.text = dedentBlock(node.text, this.#fence === '```');
    node.repairs |= REPAIR.unclosed;
    this.#node = undefined;
  }

  /** Takes everything up to the next quote or escape. */
  #readRun(node: ValueNode): void {
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

  #readQuote(node: ValueNode): boolean {
    const { text, at, isLast } = this.#cursor;
    if (node.text === '' && this.#innerQuotes === 0 && this.#place !== 'key') {
      if (at + 1 >= text.length && !isLast) return false;
      if (this.#quote < 128 && text.charCodeAt(at + 1) === this.#quote) return this.#turnIntoBlock(node);
    }
    const verdict = quoteEnds(text, at + 1, { place: this.#place, innerQuotes: this.#innerQuotes, isLast });
    if (verdict === 'wait') return false;
    this.#cursor.at += 1;
    if (verdict === 'yes') this.#end(node);
    else this.#keepQuote(node, text.charAt(at), text.charCodeAt(at + 1));
    return true;
  }

  #keepQuote(node: ValueNode, quote: string, next: number): void {
    if (!this.#isApostrophe(node, next)) this.#innerQuotes += 1;
    node.plain = false;
    node.repairs |= REPAIR.innerQuotes;
    node.text += quote;
  }

  /** `'` between letters, in a string that `'` delimits, is an apostrophe and says nothing about pairs. */
  #isApostrophe(node: ValueNode, next: number): boolean {
    if (this.#quote !== SINGLE_QUOTE && this.#quote !== 0x2018) return false;
    return isWordCharacter(node.text.charCodeAt(node.text.length - 1)) && isWordCharacter(next);
  }

  /** Three quotes of which the first came with an earlier piece. */
  #turnIntoBlock(node: ValueNode): boolean {
    this.#becomeBlock(node, String.fromCharCode(this.#quote).repeat(3));
    this.#cursor.at += 2;
    return true;
  }

  #readEscape(node: ValueNode): boolean {
    const { text, at, isLast } = this.#cursor;
    const escape = decodeEscape(text, at, isLast);
    if (escape === undefined) return false;
    node.text += escape.text;
    node.plain = false;
    if (!escape.known) node.repairs |= REPAIR.escape;
    this.#cursor.at += escape.length;
    return true;
  }

  #readBlock(node: ValueNode): boolean {
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

  #end(node: ValueNode): void {
    node.complete = true;
    this.#node = undefined;
  }
}

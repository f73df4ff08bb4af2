import { commaEndsToken, lineEndsToken, type BareContext } from './bare-end.ts';
import { settleBareToken } from './bare-token.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COMMA,
  DOUBLE_QUOTE,
  isDigit,
  isSpace,
  isWordCharacter,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
  SLASH,
} from './characters.ts';
import { keyAhead, type Verdict } from './look-ahead.ts';
import type { ReaderCursor } from './reader-cursor.ts';
import { commentAhead } from './string-end.ts';
import { REPAIR, ValueNode } from './value-node.ts';

/** Reads one token without quotes at a time: a number, a word, or a text whose quotes were left out. */
export class BareReader {
  readonly #cursor: ReaderCursor;
  /** The token being read; undefined once it has ended. */
  #node: ValueNode | undefined = undefined;
  #inList = false;
  /** Containers lie around the one that the token stands in. */
  #nested = false;
  /** Brackets opened inside the token and not closed. */
  #open = 0;
  /** No spaces between words and no brackets so far. */
  #simple = true;
  /** A space has been read since the last word. */
  #spaced = false;
  /** The last character taken from an earlier piece. */
  #lastCode = 0;

  constructor(cursor: ReaderCursor) {
    this.#cursor = cursor;
  }

  get ended(): boolean {
    return this.#node === undefined;
  }

  /** Begins the token at the cursor. */
  open(inList: boolean, nested: boolean): ValueNode {
    const node = new ValueNode('bare');
    this.#node = node;
    this.#inList = inList;
    this.#nested = nested;
    this.#open = 0;
    this.#simple = true;
    this.#spaced = false;
    this.#lastCode = 0;
    return node;
  }

  /** Reads on; false when the answer needs more text. */
  read(): boolean {
    const node = this.#node;
    if (node === undefined) return true;
    const { text, at: start } = this.#cursor;
    for (let at = start; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (isWordCharacter(code)) {
        if (this.#spaced) this.#simple = false;
        continue;
      }
      const verdict = this.#ends(at, at > start ? text.charCodeAt(at - 1) : this.#lastCode);
      if (verdict === 'no') continue;
      this.#take(node, start, at);
      if (verdict === 'wait') return false;
      settleBareToken(node);
      this.#node = undefined;
      return true;
    }
    this.#take(node, start, text.length);
    return true;
  }

  /** Closes a token whose end never came. */
  giveUp(): void {
    const node = this.#node;
    if (node === undefined) return;
    settleBareToken(node);
    node.complete = false;
    node.repairs |= REPAIR.unclosed;
    this.#node = undefined;
  }

  #take(node: ValueNode, from: number, to: number): void {
    if (to > from) {
      node.text += this.#cursor.text.slice(from, to);
      this.#lastCode = this.#cursor.text.charCodeAt(to - 1);
    }
    this.#cursor.at = to;
  }

  #ends(at: number, before: number): Verdict {
    const { text, isLast } = this.#cursor;
    const code = text.charCodeAt(at);
    switch (code) {
      case COMMA:
        return commaEndsToken(text, at + 1, isDigit(before), this.#context());
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
      case CLOSE_PAREN:
        return this.#closerEnds(code);
      case OPEN_BRACE:
      case OPEN_BRACKET:
      case OPEN_PAREN:
        this.#open += 1;
        this.#simple = false;
        return 'no';
      case LINE_FEED:
        return this.#lineEnds(at);
      case SLASH:
        return isSpace(before) ? commentAhead(text, at, isLast) : 'no';
      case DOUBLE_QUOTE:
        return this.#simple && !this.#inList ? keyAhead(text, at, isLast) : 'no';
      default:
        if (isSpace(code)) this.#spaced = true;
        return 'no';
    }
  }

  #lineEnds(at: number): Verdict {
    const verdict = lineEndsToken(this.#cursor.text, at + 1, this.#context());
    if (verdict !== 'no') return verdict;
    this.#open = 0;
    this.#spaced = true;
    return 'no';
  }

  #closerEnds(code: number): Verdict {
    if (this.#open > 0) {
      this.#open -= 1;
      return 'no';
    }
    if (code === CLOSE_PAREN) return 'no';
    if ((code === CLOSE_BRACKET) === this.#inList) return 'yes';
    return this.#simple && this.#nested ? 'yes' : 'no';
  }

  #context(): BareContext {
    return { inList: this.#inList, simple: this.#simple, open: this.#open, isLast: this.#cursor.isLast };
  }
}

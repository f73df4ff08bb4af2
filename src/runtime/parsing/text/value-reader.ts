import { settleBareToken } from './bare-token.ts';
import { commaEndsToken, lineEndsToken, type BareContext } from './bare-end.ts';
import {
  ASTERISK,
  BACKSLASH,
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  closersOf,
  COLON,
  COMMA,
  DOUBLE_QUOTE,
  EQUALS,
  GREATER_THAN,
  HASH,
  isDigit,
  isSpace,
  isWordCharacter,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
  SEMICOLON,
  SINGLE_QUOTE,
  skipSpace,
  SLASH,
} from './characters.ts';
import { dedentBlock } from './dedent-block.ts';
import { decodeEscape } from './escape.ts';
import { keyAhead, type Verdict } from './look-ahead.ts';
import { commentAhead, quoteEnds, type Place } from './string-end.ts';
import { REPAIR, ValueNode } from './value-node.ts';

/**
 * Containers may nest this deep. No definition needs more, and everything that walks a value may recurse without
 * fear for the stack.
 */
export const MAX_DEPTH = 400;

type State =
  | 'value'
  | 'after'
  | 'key'
  | 'colon'
  | 'string'
  | 'key-string'
  | 'bare'
  | 'bare-key'
  | 'block'
  | 'line-comment'
  | 'block-comment'
  | 'done';

/**
 * Reads one list or object, forgiving what models get wrong, from text that may arrive in pieces of any size.
 * Every state is data, so reading can stop after any character and go on with the next piece.
 */
export class ValueReader {
  /** The outermost value; undefined until its bracket has been read. */
  root: ValueNode | undefined = undefined;
  /** The value nested deeper than MAX_DEPTH; it was given up. */
  tooDeep = false;
  readonly #inFence: boolean;
  readonly #stack: ValueNode[] = [];
  #state: State = 'value';
  /** The state that a comment returns to. */
  #resume: State = 'value';
  #text = '';
  #at = 0;
  #isLast = false;
  #token: ValueNode | undefined = undefined;
  #closers = '';
  #quote = 0;
  #innerQuotes = 0;
  #fence = '';
  #key = '';
  #keyRepairs = 0;
  #open = 0;
  #simple = true;
  /** A space has been read since the token's last word. */
  #spaced = false;
  /** The last character that the token took over from an earlier piece. */
  #lastCode = 0;
  #sawComma = false;

  constructor(inFence: boolean) {
    this.#inFence = inFence;
  }

  get done(): boolean {
    return this.#state === 'done';
  }

  /**
   * Reads on from `from`. Returns the position up to which the text is used up; what is left has to be given again,
   * in front of the next piece. `isLast`: no more text will come, so everything open is closed as incomplete.
   */
  read(text: string, from: number, isLast: boolean): number {
    this.#text = text;
    this.#at = from;
    this.#isLast = isLast;
    while (this.#at < text.length && this.#state !== 'done') if (!this.#step()) break;
    if (isLast && this.#state !== 'done') this.#giveUp();
    this.#text = '';
    return this.#at;
  }

  /** One step; false when the answer needs more text. */
  #step(): boolean {
    switch (this.#state) {
      case 'value':
        return this.#readValue();
      case 'after':
        return this.#readDelimiter();
      case 'key':
        return this.#readKey();
      case 'colon':
        return this.#readColon();
      case 'string':
      case 'key-string':
        return this.#readString();
      case 'bare':
        return this.#readBare();
      case 'bare-key':
        return this.#readBareKey();
      case 'block':
        return this.#readBlock();
      case 'line-comment':
        return this.#skipLineComment();
      case 'block-comment':
        return this.#skipBlockComment();
      case 'done':
        return false;
    }
  }

  #skipSpaces(): boolean {
    this.#at = skipSpace(this.#text, this.#at);
    return this.#at < this.#text.length;
  }

  #top(): ValueNode | undefined {
    return this.#stack[this.#stack.length - 1];
  }

  #note(repair: number): void {
    const top = this.#top();
    if (top !== undefined) top.repairs |= repair;
  }

  // --- values -----------------------------------------------------------------------------------------------------

  #readValue(): boolean {
    if (!this.#skipSpaces()) return true;
    const code = this.#text.charCodeAt(this.#at);
    switch (code) {
      case OPEN_BRACE:
        return this.#openContainer(new ValueNode('object'), 'key');
      case OPEN_BRACKET:
        return this.#openContainer(new ValueNode('list'), 'value');
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
      case COMMA:
        return this.#noValue(code);
      case SLASH:
        return this.#maybeComment('value');
      default:
        return closersOf(code) === '' ? this.#startBare() : this.#startString(code);
    }
  }

  /** A delimiter where a value should be: a key without a value, a doubled comma, or the end of a list. */
  #noValue(code: number): boolean {
    const inObject = this.#top()?.kind === 'object';
    if (inObject) this.#note(REPAIR.droppedText);
    if (code === COMMA) {
      this.#at += 1;
      this.#note(REPAIR.comma);
      if (inObject) this.#state = 'key';
      return true;
    }
    if (!inObject && this.#sawComma) this.#note(REPAIR.comma);
    return this.#closeContainer(code);
  }

  #openContainer(node: ValueNode, next: State): boolean {
    if (this.#stack.length >= MAX_DEPTH) {
      this.tooDeep = true;
      this.#state = 'done';
      return false;
    }
    this.#adopt(node);
    this.#stack.push(node);
    this.#at += 1;
    this.#state = next;
    this.#sawComma = false;
    return true;
  }

  /** Makes the value a member of the container that is open. */
  #adopt(node: ValueNode): void {
    const parent = this.#top();
    if (parent === undefined) {
      this.root = node;
      return;
    }
    if (parent.kind === 'object') {
      parent.keys.push(this.#key);
      parent.repairs |= this.#keyRepairs;
      this.#keyRepairs = 0;
    }
    parent.items.push(node);
  }

  #closeContainer(code: number): boolean {
    const wanted = code === CLOSE_BRACE ? 'object' : 'list';
    if (this.#top()?.kind !== wanted && !this.#closeUpTo(wanted)) {
      this.#at += 1;
      this.#note(REPAIR.brackets);
      return true;
    }
    this.#at += 1;
    const node = this.#stack.pop();
    if (node !== undefined) node.complete = true;
    this.#state = this.#stack.length === 0 ? 'done' : 'after';
    return true;
  }

  /** Closes what was left open inside the nearest container of that kind; false when there is none. */
  #closeUpTo(kind: 'object' | 'list'): boolean {
    let depth = this.#stack.length - 1;
    while (depth >= 0 && this.#stack[depth]?.kind !== kind) depth -= 1;
    if (depth < 0) return false;
    while (this.#stack.length - 1 > depth) {
      const node = this.#stack.pop();
      if (node === undefined) break;
      node.complete = true;
      node.repairs |= REPAIR.brackets;
    }
    return true;
  }

  #readDelimiter(): boolean {
    if (!this.#skipSpaces()) return true;
    const code = this.#text.charCodeAt(this.#at);
    switch (code) {
      case COMMA:
      case SEMICOLON:
        this.#at += 1;
        this.#sawComma = true;
        if (code === SEMICOLON) this.#note(REPAIR.comma);
        this.#state = this.#top()?.kind === 'object' ? 'key' : 'value';
        return true;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        return this.#closeContainer(code);
      case SLASH:
        return this.#maybeComment('after');
      case HASH:
        return this.#startComment('after', 'line-comment', 1);
      case BACKTICK:
        return this.#maybeFenceEnd('after');
      default:
        this.#note(REPAIR.comma);
        this.#sawComma = false;
        this.#state = this.#top()?.kind === 'object' ? 'key' : 'value';
        return true;
    }
  }

  // --- keys -------------------------------------------------------------------------------------------------------

  #readKey(): boolean {
    if (!this.#skipSpaces()) return true;
    const code = this.#text.charCodeAt(this.#at);
    switch (code) {
      case CLOSE_BRACE:
        if (this.#sawComma) this.#note(REPAIR.comma);
        return this.#closeContainer(code);
      case CLOSE_BRACKET:
        return this.#closeContainer(code);
      case COMMA:
      case SEMICOLON:
      case OPEN_BRACE:
        this.#at += 1;
        this.#note(code === OPEN_BRACE ? REPAIR.brackets : REPAIR.comma);
        return true;
      case SLASH:
        return this.#maybeComment('key');
      case HASH:
        return this.#startComment('key', 'line-comment', 1);
      case BACKTICK:
        if (this.#text.startsWith('```', this.#at) || this.#text.length - this.#at < 3)
          return this.#maybeFenceEnd('key');
    }
    this.#sawComma = false;
    const closers = closersOf(code);
    this.#token = new ValueNode('string');
    if (closers === '') {
      this.#keyRepairs |= REPAIR.unquotedKey;
      this.#state = 'bare-key';
      return true;
    }
    this.#openQuotes(code, closers);
    if (code !== DOUBLE_QUOTE) this.#keyRepairs |= REPAIR.quotes;
    this.#state = 'key-string';
    return true;
  }

  #readBareKey(): boolean {
    const text = this.#text;
    const token = this.#token;
    if (token === undefined) return false;
    const start = this.#at;
    for (let at = start; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === COLON || (code === EQUALS && at > start)) {
        token.text += text.slice(start, at);
        this.#at = at;
        this.#keyIs(stripQuotes(token.text.trim()));
        this.#state = 'colon';
        return true;
      }
      if (code === OPEN_BRACE) return this.#keyBeforeBrace(token, start, at);
      if (code === COMMA || code === CLOSE_BRACE || code === LINE_FEED) return this.#dropKey(token, start, at);
      if (code === DOUBLE_QUOTE && at > start && isSpace(text.charCodeAt(at - 1)))
        return this.#dropKey(token, start, at);
    }
    token.text += text.slice(start);
    this.#at = text.length;
    return true;
  }

  /** `key {`: the colon is missing. */
  #keyBeforeBrace(token: ValueNode, from: number, to: number): boolean {
    token.text += this.#text.slice(from, to);
    this.#at = to;
    this.#note(REPAIR.colon);
    this.#keyIs(token.text.trim());
    this.#state = 'value';
    return true;
  }

  /** Text where a key should be, without a colon: it is left out. */
  #dropKey(token: ValueNode, from: number, to: number): boolean {
    if (token.text.trim() !== '' || this.#text.slice(from, to).trim() !== '') this.#note(REPAIR.droppedText);
    this.#at = to;
    this.#keyRepairs = 0;
    this.#state = 'key';
    return true;
  }

  #keyIs(key: string): void {
    this.#key = key;
    this.#token = undefined;
  }

  #readColon(): boolean {
    if (!this.#skipSpaces()) return true;
    const code = this.#text.charCodeAt(this.#at);
    if (code === COLON || code === EQUALS) {
      this.#at += 1;
      if (code === EQUALS) {
        this.#note(REPAIR.colon);
        if (this.#text.charCodeAt(this.#at) === GREATER_THAN) this.#at += 1;
      }
    } else if (code === SLASH) {
      return this.#maybeComment('colon');
    } else {
      this.#note(REPAIR.colon);
    }
    this.#state = 'value';
    return true;
  }

  // --- strings ----------------------------------------------------------------------------------------------------

  #startString(code: number): boolean {
    const text = this.#text;
    if (code === BACKTICK || code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      const triple = text.slice(this.#at, this.#at + 3);
      const mark = String.fromCharCode(code);
      if (triple === mark.repeat(3)) return this.#startBlock(triple);
      if (triple.length < 3 && triple === mark.repeat(triple.length) && !this.#isLast && code !== DOUBLE_QUOTE)
        return false;
      if (triple === mark.repeat(2) && !this.#isLast) return false;
    }
    const node = new ValueNode('string');
    node.quoted = true;
    if (code !== DOUBLE_QUOTE) node.repairs |= REPAIR.quotes;
    this.#adopt(node);
    this.#token = node;
    this.#openQuotes(code, closersOf(code));
    this.#state = 'string';
    return true;
  }

  #openQuotes(code: number, closers: string): void {
    this.#quote = code;
    this.#closers = closers;
    this.#innerQuotes = 0;
    this.#at += 1;
  }

  #readString(): boolean {
    const node = this.#token;
    if (node === undefined) return false;
    const text = this.#text;
    const length = text.length;
    const simple = this.#quote === DOUBLE_QUOTE;
    const start = this.#at;
    let at = start;
    for (; at < length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === DOUBLE_QUOTE) {
        if (simple) break;
        if (this.#closers.length > 1) break;
        node.plain = false;
      } else if (code === BACKSLASH) {
        if (this.#quote !== BACKTICK) break;
        node.plain = false;
      } else if (code < 32) {
        node.plain = false;
        node.repairs |= REPAIR.controlCharacter;
      } else if (!simple && this.#closers.includes(text.charAt(at))) break;
    }
    if (at > start) {
      node.text = node.text === '' ? text.slice(start, at) : node.text + text.slice(start, at);
      this.#at = at;
    }
    if (at >= length) return true;
    return text.charCodeAt(at) === BACKSLASH ? this.#readEscape(node) : this.#readQuote(node);
  }

  #readQuote(node: ValueNode): boolean {
    if (node.text === '' && this.#innerQuotes === 0 && this.#state === 'string') {
      if (this.#at + 1 >= this.#text.length && !this.#isLast) return false;
      if (this.#quote < 128 && this.#text.charCodeAt(this.#at + 1) === this.#quote) return this.#turnIntoBlock(node);
    }
    const place = this.#place();
    const verdict = quoteEnds(this.#text, this.#at + 1, {
      place,
      innerQuotes: this.#innerQuotes,
      isLast: this.#isLast,
    });
    if (verdict === 'wait') return false;
    if (verdict === 'no') {
      if (!this.#isApostrophe(node)) this.#innerQuotes += 1;
      node.plain = false;
      node.repairs |= REPAIR.innerQuotes;
      node.text += this.#text.charAt(this.#at);
      this.#at += 1;
      return true;
    }
    this.#at += 1;
    this.#endString(node);
    return true;
  }

  /** Three quotes of which the first came with an earlier piece. */
  #turnIntoBlock(node: ValueNode): boolean {
    this.#fence = String.fromCharCode(this.#quote).repeat(3);
    this.#at += 2;
    node.block = true;
    node.plain = false;
    node.repairs |= REPAIR.quotes;
    this.#state = 'block';
    return true;
  }

  /** `'` between letters, in a string that `'` delimits, is an apostrophe and says nothing about pairs. */
  #isApostrophe(node: ValueNode): boolean {
    if (this.#quote !== SINGLE_QUOTE && this.#quote !== 0x2018) return false;
    const before = node.text.charCodeAt(node.text.length - 1);
    return isWordCharacter(before) && isWordCharacter(this.#text.charCodeAt(this.#at + 1));
  }

  #place(): Place {
    if (this.#state === 'key-string') return 'key';
    return this.#top()?.kind === 'object' ? 'object' : 'list';
  }

  #endString(node: ValueNode): void {
    node.complete = true;
    this.#token = undefined;
    if (this.#state === 'key-string') {
      this.#keyRepairs |= node.repairs;
      this.#keyIs(node.text);
      this.#state = 'colon';
    } else {
      this.#state = 'after';
    }
  }

  #readEscape(node: ValueNode): boolean {
    const escape = decodeEscape(this.#text, this.#at, this.#isLast);
    if (escape === undefined) return false;
    node.text += escape.text;
    node.plain = false;
    if (!escape.known) node.repairs |= REPAIR.escape;
    this.#at += escape.length;
    return true;
  }

  /** A text between triple quotes or backticks: taken as it is, then dedented. */
  #startBlock(fence: string): boolean {
    const node = new ValueNode('string');
    node.quoted = true;
    node.block = true;
    node.plain = false;
    node.repairs |= REPAIR.quotes;
    this.#adopt(node);
    this.#token = node;
    this.#fence = fence;
    this.#at += 3;
    this.#state = 'block';
    return true;
  }

  #readBlock(): boolean {
    const node = this.#token;
    if (node === undefined) return false;
    const end = this.#text.indexOf(this.#fence, this.#at);
    if (end < 0) {
      const safe = this.#isLast ? this.#text.length : Math.max(this.#at, this.#text.length - 2);
      node.text += this.#text.slice(this.#at, safe);
      this.#at = safe;
      return this.#isLast;
    }
    node.text += this.#text.slice(this.#at, end);
    this.#at = end + 3;
    node.text = dedentBlock(node.text, this.#fence === '```');
    this.#endString(node);
    return true;
  }

  // --- tokens without quotes --------------------------------------------------------------------------------------

  #startBare(): boolean {
    const node = new ValueNode('bare');
    this.#adopt(node);
    this.#token = node;
    this.#open = 0;
    this.#simple = true;
    this.#spaced = false;
    this.#lastCode = 0;
    this.#state = 'bare';
    return true;
  }

  #readBare(): boolean {
    const node = this.#token;
    if (node === undefined) return false;
    const text = this.#text;
    const start = this.#at;
    for (let at = start; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (isWordCharacter(code)) {
        if (this.#spaced) this.#simple = false;
        continue;
      }
      const verdict = this.#bareEnds(at, at > start ? text.charCodeAt(at - 1) : this.#lastCode);
      if (verdict === 'no') continue;
      this.#takeBare(node, start, at);
      if (verdict === 'wait') return false;
      settleBareToken(node);
      this.#token = undefined;
      this.#state = 'after';
      if (isEllipsis(node.text)) this.#dropEllipsis();
      return true;
    }
    this.#takeBare(node, start, text.length);
    return true;
  }

  #takeBare(node: ValueNode, from: number, to: number): void {
    if (to > from) {
      node.text += this.#text.slice(from, to);
      this.#lastCode = this.#text.charCodeAt(to - 1);
    }
    this.#at = to;
  }

  #bareEnds(at: number, before: number): Verdict {
    const text = this.#text;
    const code = text.charCodeAt(at);
    switch (code) {
      case COMMA:
        return commaEndsToken(text, at + 1, isDigit(before), this.#bareContext());
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
      case LINE_FEED: {
        const verdict = lineEndsToken(text, at + 1, this.#bareContext());
        if (verdict === 'no') this.#open = 0;
        return verdict;
      }
      case SLASH:
        return isSpace(before) ? commentAhead(text, at, this.#isLast) : 'no';
      case DOUBLE_QUOTE:
        return this.#simple && this.#top()?.kind === 'object' ? keyAhead(text, at, this.#isLast) : 'no';
      default:
        if (isSpace(code)) this.#spaced = true;
        return 'no';
    }
  }

  #closerEnds(code: number): Verdict {
    if (this.#open > 0) {
      this.#open -= 1;
      return 'no';
    }
    if (code === CLOSE_PAREN) return 'no';
    const inList = this.#top()?.kind === 'list';
    if ((code === CLOSE_BRACKET) === inList) return 'yes';
    return this.#simple && this.#stack.length > 1 ? 'yes' : 'no';
  }

  #bareContext(): BareContext {
    return {
      inList: this.#top()?.kind === 'list',
      simple: this.#simple,
      open: this.#open,
      isLast: this.#isLast,
    };
  }

  /** `...` stands for members that the model left out. */
  #dropEllipsis(): void {
    const parent = this.#top();
    if (parent?.kind !== 'list') return;
    parent.items.pop();
    parent.repairs |= REPAIR.droppedText;
  }

  // --- comments and fences ----------------------------------------------------------------------------------------

  #maybeComment(resume: State): boolean {
    if (this.#at + 1 >= this.#text.length && !this.#isLast) return false;
    const next = this.#text.charCodeAt(this.#at + 1);
    if (next === SLASH) return this.#startComment(resume, 'line-comment', 2);
    if (next === ASTERISK) return this.#startComment(resume, 'block-comment', 2);
    if (resume === 'value') return this.#startBare();
    this.#at += 1;
    this.#note(REPAIR.droppedText);
    return true;
  }

  #startComment(resume: State, state: State, length: number): boolean {
    this.#note(REPAIR.comment);
    this.#resume = resume;
    this.#state = state;
    this.#at += length;
    return true;
  }

  #skipLineComment(): boolean {
    const end = this.#text.indexOf('\n', this.#at);
    this.#at = end < 0 ? this.#text.length : end + 1;
    if (end >= 0) this.#state = this.#resume;
    return true;
  }

  #skipBlockComment(): boolean {
    const end = this.#text.indexOf('*/', this.#at);
    if (end < 0) {
      this.#at = this.#isLast ? this.#text.length : Math.max(this.#at, this.#text.length - 1);
      return this.#isLast;
    }
    this.#at = end + 2;
    this.#state = this.#resume;
    return true;
  }

  /** Three backticks between members end the fence that the value stands in, and the value with it. */
  #maybeFenceEnd(resume: State): boolean {
    if (this.#text.length - this.#at < 3 && !this.#isLast) return false;
    if (this.#inFence && this.#text.startsWith('```', this.#at)) {
      this.#giveUp();
      return false;
    }
    this.#at += 1;
    this.#note(REPAIR.droppedText);
    this.#state = resume;
    return true;
  }

  /** Closes everything that is open, as incomplete. */
  #giveUp(): void {
    const token = this.#token;
    if (token !== undefined && this.#state === 'bare') {
      settleBareToken(token);
      token.complete = false;
    }
    if (token?.block === true) token.text = dedentBlock(token.text, this.#fence === '```');
    if (token !== undefined) token.repairs |= REPAIR.unclosed;
    for (const node of this.#stack) node.repairs |= REPAIR.unclosed;
    this.#state = 'done';
  }
}

function isEllipsis(text: string): boolean {
  return text === '...' || text === '…';
}

function stripQuotes(key: string): string {
  return closersOf(key.charCodeAt(key.length - 1)) === '' ? key : key.slice(0, -1);
}

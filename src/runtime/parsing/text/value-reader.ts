import { BareReader } from './bare-reader.ts';
import {
  ASTERISK,
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  closersOf,
  COLON,
  COMMA,
  DOUBLE_QUOTE,
  EQUALS,
  GREATER_THAN,
  HASH,
  isSpace,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  SEMICOLON,
  SINGLE_QUOTE,
  skipSpace,
  SLASH,
} from './characters.ts';
import type { Verdict } from './look-ahead.ts';
import { ReaderCursor } from './reader-cursor.ts';
import { StringReader } from './string-reader.ts';
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
  readonly #cursor = new ReaderCursor();
  readonly #strings = new StringReader(this.#cursor);
  readonly #tokens = new BareReader(this.#cursor);
  /** The string or token being read, a member already or a key. */
  #token: ValueNode | undefined = undefined;
  #bareKey = '';
  #key = '';
  #keyRepairs = 0;
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
    this.#cursor.text = text;
    this.#cursor.at = from;
    this.#cursor.isLast = isLast;
    while (this.#cursor.at < text.length && this.#state !== 'done') if (!this.#step()) break;
    if (isLast && this.#state !== 'done') this.#giveUp();
    this.#cursor.text = '';
    return this.#cursor.at;
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
        return this.#readString();
      case 'key-string':
        return this.#readQuotedKey();
      case 'bare':
        return this.#readBare();
      case 'bare-key':
        return this.#readBareKey();
      case 'line-comment':
        return this.#skipLineComment();
      case 'block-comment':
        return this.#skipBlockComment();
      case 'done':
        return false;
    }
  }

  #skipSpaces(): boolean {
    this.#cursor.at = skipSpace(this.#cursor.text, this.#cursor.at);
    return this.#cursor.at < this.#cursor.text.length;
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
    const code = this.#cursor.text.charCodeAt(this.#cursor.at);
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
      this.#cursor.at += 1;
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
    this.#cursor.at += 1;
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
      this.#cursor.at += 1;
      this.#note(REPAIR.brackets);
      return true;
    }
    this.#cursor.at += 1;
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
    const code = this.#cursor.text.charCodeAt(this.#cursor.at);
    switch (code) {
      case COMMA:
      case SEMICOLON:
        this.#cursor.at += 1;
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
    const code = this.#cursor.text.charCodeAt(this.#cursor.at);
    switch (code) {
      case CLOSE_BRACE:
        if (this.#sawComma) this.#note(REPAIR.comma);
        return this.#closeContainer(code);
      case CLOSE_BRACKET:
        return this.#closeContainer(code);
      case COMMA:
      case SEMICOLON:
      case OPEN_BRACE:
        this.#cursor.at += 1;
        this.#note(code === OPEN_BRACE ? REPAIR.brackets : REPAIR.comma);
        return true;
      case SLASH:
        return this.#maybeComment('key');
      case HASH:
        return this.#startComment('key', 'line-comment', 1);
      case BACKTICK:
        if (this.#cursor.text.startsWith('```', this.#cursor.at) || this.#cursor.text.length - this.#cursor.at < 3)
          return this.#maybeFenceEnd('key');
    }
    this.#sawComma = false;
    if (closersOf(code) === '') {
      this.#bareKey = '';
      this.#keyRepairs |= REPAIR.unquotedKey;
      this.#state = 'bare-key';
    } else {
      this.#token = this.#strings.open('key');
      this.#state = 'key-string';
    }
    return true;
  }

  #readQuotedKey(): boolean {
    const goesOn = this.#strings.read();
    const token = this.#token;
    if (token === undefined || !this.#strings.ended) return goesOn;
    this.#keyRepairs |= token.repairs;
    this.#keyIs(token.text);
    this.#state = 'colon';
    return true;
  }

  #readBareKey(): boolean {
    const { text, at: start } = this.#cursor;
    for (let at = start; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === COLON || (code === EQUALS && at > start)) return this.#endBareKey(at, 'colon');
      if (code === OPEN_BRACE) {
        this.#note(REPAIR.colon);
        return this.#endBareKey(at, 'value');
      }
      if (code === COMMA || code === CLOSE_BRACE || code === LINE_FEED) return this.#dropKey(at);
      if (code === DOUBLE_QUOTE && isSpace(this.#before(at, start))) return this.#dropKey(at);
    }
    this.#bareKey += text.slice(start);
    this.#cursor.at = text.length;
    return true;
  }

  /** The character of the key before `at`, which may have come with an earlier piece. */
  #before(at: number, start: number): number {
    return at > start ? this.#cursor.text.charCodeAt(at - 1) : this.#bareKey.charCodeAt(this.#bareKey.length - 1);
  }

  #endBareKey(at: number, next: State): boolean {
    const key = (this.#bareKey + this.#cursor.text.slice(this.#cursor.at, at)).trim();
    this.#cursor.at = at;
    this.#keyIs(stripQuote(key));
    this.#state = next;
    return true;
  }

  /** Text where a key should be, without a colon: it is left out. */
  #dropKey(at: number): boolean {
    const dropped = this.#bareKey + this.#cursor.text.slice(this.#cursor.at, at);
    if (dropped.trim() !== '') this.#note(REPAIR.droppedText);
    this.#cursor.at = at;
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
    const code = this.#cursor.text.charCodeAt(this.#cursor.at);
    if (code === COLON || code === EQUALS) {
      this.#cursor.at += 1;
      if (code === EQUALS) {
        this.#note(REPAIR.colon);
        if (this.#cursor.text.charCodeAt(this.#cursor.at) === GREATER_THAN) this.#cursor.at += 1;
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
    const triple = this.#tripleAhead(code);
    if (triple === 'wait') return false;
    const place = this.#top()?.kind === 'object' ? 'object' : 'list';
    this.#token = triple === 'yes' ? this.#strings.openBlock() : this.#strings.open(place);
    this.#adopt(this.#token);
    this.#state = 'string';
    return true;
  }

  /** Three quotes open a block. Of `"` alone nothing is waited for, so that an empty text appears at once. */
  #tripleAhead(code: number): Verdict {
    if (code !== BACKTICK && code !== DOUBLE_QUOTE && code !== SINGLE_QUOTE) return 'no';
    const { text, at, isLast } = this.#cursor;
    const mark = String.fromCharCode(code);
    const ahead = text.slice(at, at + 3);
    if (ahead === mark.repeat(3)) return 'yes';
    if (isLast || ahead !== mark.repeat(ahead.length)) return 'no';
    return ahead.length === 2 || code !== DOUBLE_QUOTE ? 'wait' : 'no';
  }

  #readString(): boolean {
    const goesOn = this.#strings.read();
    if (this.#strings.ended) this.#endToken();
    return goesOn;
  }

  #endToken(): void {
    this.#token = undefined;
    this.#state = 'after';
  }

  // --- tokens without quotes --------------------------------------------------------------------------------------

  #startBare(): boolean {
    this.#token = this.#tokens.open(this.#top()?.kind === 'list', this.#stack.length > 1);
    this.#adopt(this.#token);
    this.#state = 'bare';
    return true;
  }

  #readBare(): boolean {
    const goesOn = this.#tokens.read();
    if (!this.#tokens.ended) return goesOn;
    if (this.#token !== undefined && isEllipsis(this.#token.text)) this.#dropEllipsis();
    this.#endToken();
    return true;
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
    if (this.#cursor.at + 1 >= this.#cursor.text.length && !this.#cursor.isLast) return false;
    const next = this.#cursor.text.charCodeAt(this.#cursor.at + 1);
    if (next === SLASH) return this.#startComment(resume, 'line-comment', 2);
    if (next === ASTERISK) return this.#startComment(resume, 'block-comment', 2);
    if (resume === 'value') return this.#startBare();
    this.#cursor.at += 1;
    this.#note(REPAIR.droppedText);
    return true;
  }

  #startComment(resume: State, state: State, length: number): boolean {
    this.#note(REPAIR.comment);
    this.#resume = resume;
    this.#state = state;
    this.#cursor.at += length;
    return true;
  }

  #skipLineComment(): boolean {
    const end = this.#cursor.text.indexOf('\n', this.#cursor.at);
    this.#cursor.at = end < 0 ? this.#cursor.text.length : end + 1;
    if (end >= 0) this.#state = this.#resume;
    return true;
  }

  #skipBlockComment(): boolean {
    const end = this.#cursor.text.indexOf('*/', this.#cursor.at);
    if (end < 0) {
      this.#cursor.at = this.#cursor.isLast
        ? this.#cursor.text.length
        : Math.max(this.#cursor.at, this.#cursor.text.length - 1);
      return this.#cursor.isLast;
    }
    this.#cursor.at = end + 2;
    this.#state = this.#resume;
    return true;
  }

  /** Three backticks between members end the fence that the value stands in, and the value with it. */
  #maybeFenceEnd(resume: State): boolean {
    if (this.#cursor.text.length - this.#cursor.at < 3 && !this.#cursor.isLast) return false;
    if (this.#inFence && this.#cursor.text.startsWith('```', this.#cursor.at)) {
      this.#giveUp();
      return false;
    }
    this.#cursor.at += 1;
    this.#note(REPAIR.droppedText);
    this.#state = resume;
    return true;
  }

  /** Closes everything that is open, as incomplete. */
  #giveUp(): void {
    this.#tokens.giveUp();
    this.#strings.giveUp();
    for (const node of this.#stack) node.repairs |= REPAIR.unclosed;
    this.#state = 'done';
  }
}

function isEllipsis(text: string): boolean {
  return text === '...' || text === '…';
}

/** The quote that ends a key whose opening quote is missing. */
function stripQuote(key: string): string {
  return closersOf(key.charCodeAt(key.length - 1)) === '' ? key : key.slice(0, -1);
}

import { BareReader } from './bare-reader.ts';
import {
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
  OPEN_BRACE,
  OPEN_BRACKET,
  SEMICOLON,
  SINGLE_QUOTE,
  SLASH,
} from './characters.ts';
import { Cursor } from './cursor.ts';
import type { ValueSource } from './candidate-finder.ts';
import { KeyReader } from './key-reader.ts';
import type { Verdict } from './look-ahead.ts';
import { OpenNodes, REPAIR, type ReplyNode } from './reply-node.ts';
import { StringReader } from './string-reader.ts';

type State = 'value' | 'after' | 'key' | 'colon' | 'string' | 'quoted-key' | 'bare' | 'bare-key' | 'done';

/**
 * The tolerant parser of one list or object. It forgives the mistakes of models and reads text that arrives in deltas
 * of any size: its state is data, so it can stop after any character and go on with the next delta.
 */
export class TolerantReader implements ValueSource<ReplyNode> {
  /** The value nests deeper than MAX_DEPTH. */
  gaveUp = false;
  #inFence = false;
  readonly #cursor = new Cursor();
  readonly #open = new OpenNodes();
  readonly #keys = new KeyReader(this.#cursor);
  readonly #strings = new StringReader(this.#cursor);
  readonly #tokens = new BareReader(this.#cursor);
  #state: State = 'value';
  /** The string or token being read. */
  #token: ReplyNode | undefined = undefined;
  #sawComma = false;

  /** Begins another value. A text can contain thousands, and a reader has many parts, so it is reused. */
  restart(inFence: boolean): void {
    this.#inFence = inFence;
    this.gaveUp = false;
    this.#open.clear();
    this.#state = 'value';
    this.#token = undefined;
    this.#sawComma = false;
  }

  /** The outermost value; undefined until its bracket has been read. */
  get root(): ReplyNode | undefined {
    return this.#open.root;
  }

  get done(): boolean {
    return this.#state === 'done';
  }

  /** At the end of the last text, everything that is still open ends as incomplete. */
  read(text: string, from: number, isLast: boolean): number {
    this.#cursor.start(text, from, isLast);
    while (this.#cursor.at < text.length && this.#state !== 'done') if (!this.#step()) break;
    if (isLast && this.#state !== 'done') this.#giveUp();
    this.#cursor.text = '';
    return this.#cursor.at;
  }

  /** Takes one step. Returns false if it needs more text. */
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
      case 'quoted-key':
        return this.#readQuotedKey();
      case 'bare':
        return this.#readBare();
      case 'bare-key':
        return this.#readBareKey();
      case 'done':
        return false;
    }
  }

  // --- values --------------------------------------------------------------------------------------------------------

  #readValue(): boolean {
    const code = this.#cursor.peek();
    switch (code) {
      case OPEN_BRACE:
        return this.#openContainer('object');
      case OPEN_BRACKET:
        return this.#openContainer('list');
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
      case COMMA:
        return this.#noValue(code);
      case SLASH:
        return this.#readSlashValue();
      case HASH:
        return this.#readHashValue();
      default:
        if (this.#cursor.isAtEnd) return true;
        return closersOf(code) === '' ? this.#startBare() : this.#startString(code);
    }
  }

  /** Handles a delimiter in the place of a value: after a key without a value, after a comma, or at the end of a list. */
  #noValue(code: number): boolean {
    const { inObject } = this.#open;
    if (inObject) this.#open.addRepair(REPAIR.droppedText);
    if (code === COMMA) {
      this.#cursor.at += 1;
      this.#open.addRepair(REPAIR.comma);
      if (inObject) this.#state = 'key';
      return true;
    }
    if (!inObject && this.#sawComma) this.#open.addRepair(REPAIR.comma);
    return this.#closeContainer(code);
  }

  #openContainer(kind: 'object' | 'list'): boolean {
    if (!this.#open.open(kind)) {
      this.gaveUp = true;
      this.#state = 'done';
      return false;
    }
    this.#cursor.at += 1;
    this.#state = kind === 'object' ? 'key' : 'value';
    this.#sawComma = false;
    return true;
  }

  #closeContainer(bracket: number): boolean {
    this.#cursor.at += 1;
    if (!this.#open.close(bracket)) this.#open.addRepair(REPAIR.brackets);
    else this.#state = this.#open.depth === 0 ? 'done' : 'after';
    return true;
  }

  #readDelimiter(): boolean {
    const code = this.#cursor.peek();
    switch (code) {
      case COMMA:
      case SEMICOLON:
        this.#cursor.at += 1;
        if (code === SEMICOLON) this.#open.addRepair(REPAIR.comma);
        return this.#startMember(true);
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        return this.#closeContainer(code);
      case SLASH:
        return this.#slash();
      case HASH:
        return this.#skipLineComment();
      case BACKTICK:
        return this.#maybeFenceEnd();
      default:
        if (this.#cursor.isAtEnd) return true;
        this.#open.addRepair(REPAIR.comma);
        return this.#startMember(false);
    }
  }

  #startMember(sawComma: boolean): boolean {
    this.#sawComma = sawComma;
    this.#state = this.#open.inObject ? 'key' : 'value';
    return true;
  }

  // --- keys ----------------------------------------------------------------------------------------------------------

  #readKey(): boolean {
    const code = this.#cursor.peek();
    switch (code) {
      case CLOSE_BRACE:
        if (this.#sawComma) this.#open.addRepair(REPAIR.comma);
        return this.#closeContainer(code);
      case CLOSE_BRACKET:
        return this.#closeContainer(code);
      case COMMA:
      case SEMICOLON:
      case OPEN_BRACE:
        this.#cursor.at += 1;
        this.#open.addRepair(code === OPEN_BRACE ? REPAIR.brackets : REPAIR.comma);
        return true;
      case SLASH:
        return this.#slash();
      case HASH:
        return this.#skipLineComment();
      case BACKTICK:
        return this.#readKeyOrFence();
      default:
        return this.#cursor.isAtEnd || this.#startKey(code);
    }
  }

  #readKeyOrFence(): boolean {
    const { text, at } = this.#cursor;
    const isFence = text.startsWith('```', at) || text.length - at < 3;
    return isFence ? this.#maybeFenceEnd() : this.#startKey(BACKTICK);
  }

  #startKey(code: number): boolean {
    this.#sawComma = false;
    if (code === DOUBLE_QUOTE && this.#keys.quick()) {
      this.#open.setKey(this.#keys.key, 0);
      this.#state = 'value';
    } else if (closersOf(code) === '') {
      this.#keys.openBare();
      this.#state = 'bare-key';
    } else {
      this.#token = this.#strings.open('key');
      this.#state = 'quoted-key';
    }
    return true;
  }

  #readQuotedKey(): boolean {
    const goesOn = this.#strings.read();
    if (this.#token === undefined || !this.#strings.ended) return goesOn;
    this.#open.setKey(this.#token.text, this.#token.repairs);
    this.#state = 'colon';
    return true;
  }

  #readBareKey(): boolean {
    const end = this.#keys.readBare();
    if (end === undefined) return true;
    if (end === 'dropped') {
      if (this.#keys.key !== '') this.#open.addRepair(REPAIR.droppedText);
      this.#state = 'key';
      return true;
    }
    if (end === 'brace') this.#open.addRepair(REPAIR.colon);
    this.#open.setKey(this.#keys.key, REPAIR.unquotedKey);
    this.#state = end === 'brace' ? 'value' : 'colon';
    return true;
  }

  #readColon(): boolean {
    const code = this.#cursor.peek();
    if (this.#cursor.isAtEnd) return true;
    if (code === SLASH) return this.#slash();
    if (code === EQUALS) return this.#readEquals();
    if (code === COLON) this.#cursor.at += 1;
    else this.#open.addRepair(REPAIR.colon);
    this.#state = 'value';
    return true;
  }

  /** Reads `=` or `=>` in the place of a colon. */
  #readEquals(): boolean {
    const { text, at, isLast } = this.#cursor;
    if (at + 1 >= text.length && !isLast) return false;
    this.#cursor.at += text.charCodeAt(at + 1) === GREATER_THAN ? 2 : 1;
    this.#open.addRepair(REPAIR.colon);
    this.#state = 'value';
    return true;
  }

  // --- strings and tokens --------------------------------------------------------------------------------------------

  #startString(code: number): boolean {
    const triple = this.#tripleAhead(code);
    if (triple === 'wait') return false;
    const position = this.#open.inObject ? 'object' : 'list';
    this.#token = triple === 'yes' ? this.#strings.openBlock() : this.#strings.open(position);
    this.#open.adopt(this.#token);
    this.#state = 'string';
    return true;
  }

  /** Three quotes open a block. A `"` at the end of a delta does not wait for the next two, so that a string appears at once. */
  #tripleAhead(code: number): Verdict {
    const { text, at, isLast } = this.#cursor;
    if (code !== BACKTICK && code !== DOUBLE_QUOTE && code !== SINGLE_QUOTE) return 'no';
    if (at + 1 >= text.length) return isLast || code === DOUBLE_QUOTE ? 'no' : 'wait';
    if (text.charCodeAt(at + 1) !== code) return 'no';
    if (at + 2 >= text.length) return isLast ? 'no' : 'wait';
    return text.charCodeAt(at + 2) === code ? 'yes' : 'no';
  }

  #readString(): boolean {
    const goesOn = this.#strings.read();
    if (this.#strings.ended) this.#state = 'after';
    return goesOn;
  }

  /** A slash in place of a value opens a comment or begins a string without quotes. */
  #readSlashValue(): boolean {
    const opens = this.#skipSlashComment();
    return opens === 'no' ? this.#startBare() : opens === 'yes';
  }

  /** A `#` in place of a value opens a comment if a space follows, and begins a string without quotes otherwise. */
  #readHashValue(): boolean {
    const { text, at, isLast } = this.#cursor;
    if (at + 1 >= text.length && !isLast) return false;
    return isSpace(text.charCodeAt(at + 1)) ? this.#skipLineComment() : this.#startBare();
  }

  #startBare(): boolean {
    this.#token = this.#tokens.open(!this.#open.inObject, this.#open.depth > 1);
    this.#open.adopt(this.#token);
    this.#state = 'bare';
    return true;
  }

  #readBare(): boolean {
    const goesOn = this.#tokens.read();
    if (!this.#tokens.ended) return goesOn;
    if (this.#token !== undefined && isEllipsis(this.#token.text)) this.#open.dropLast();
    this.#state = 'after';
    return true;
  }

  // --- comments and fences -------------------------------------------------------------------------------------------

  /** Handles a slash in place of a delimiter or a key: it opens a comment, or is dropped. */
  #slash(): boolean {
    const opens = this.#skipSlashComment();
    if (opens !== 'no') return opens === 'yes';
    this.#cursor.at += 1;
    this.#open.addRepair(REPAIR.droppedText);
    return true;
  }

  #skipSlashComment(): Verdict {
    const opens = this.#cursor.skipSlashComment();
    if (opens === 'yes') this.#open.addRepair(REPAIR.comment);
    return opens;
  }

  #skipLineComment(): boolean {
    this.#open.addRepair(REPAIR.comment);
    this.#cursor.skipLineComment();
    return true;
  }

  /** Three backticks between members end the fence around the value, and the value with it. */
  #maybeFenceEnd(): boolean {
    const { text, at, isLast } = this.#cursor;
    if (text.length - at < 3 && !isLast) return false;
    if (this.#inFence && text.startsWith('```', at)) {
      this.#giveUp();
      return false;
    }
    this.#cursor.at += 1;
    this.#open.addRepair(REPAIR.droppedText);
    return true;
  }

  /** Ends everything that is open as incomplete. */
  #giveUp(): void {
    this.#tokens.giveUp();
    this.#strings.giveUp();
    this.#open.giveUp();
    this.#state = 'done';
  }
}

/** Three dots mark members that the model left out. */
function isEllipsis(text: string): boolean {
  return text === '...' || text === '…';
}

import { AfterMember, NO_QUOTES } from './after-member.ts';
import { BareReader, isEllipsis } from './bare-reader.ts';
import type { ValueSource } from '../candidates/candidate-finder.ts';
import {
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  closersOf,
  COLON,
  COMMA,
  DOUBLE_QUOTE,
  EQUALS,
  HASH,
  isWordCharacter,
  LESS_THAN,
  OPEN_BRACE,
  OPEN_BRACKET,
  SEMICOLON,
  SLASH,
} from './characters.ts';
import { closeOther } from './closing-brackets.ts';
import { Cursor } from './cursor.ts';
import { KeyReader } from './key-reader.ts';
import { REPAIR, type ReplyNode } from './reply-node.ts';
import type { Sink } from './sink.ts';
import { SkippedText } from './skipped-text.ts';
import { StringReader } from './string-reader.ts';

type State = 'value' | 'after' | 'key' | 'colon' | 'string' | 'quoted-key' | 'bare' | 'bare-key' | 'done';

/**
 * Reads one list or object, and repairs the mistakes of models, from text that arrives in deltas of any size: its state is
 * data, so it can stop after any character and continue with the next delta. It owns the grammar; its sink turns the
 * parts into a tree of nodes, or into JSON text of a known type.
 */
export class Scanner<T> implements ValueSource<T> {
  readonly #sink: Sink<T>;
  #inFence = false;
  readonly #cursor = new Cursor();
  readonly #keys = new KeyReader(this.#cursor);
  readonly #strings = new StringReader(this.#cursor);
  readonly #tokens = new BareReader(this.#cursor);
  readonly #after = new AfterMember(this.#cursor);
  readonly #skipped: SkippedText;
  #state: State = 'value';
  #inObject = false;
  /** The string or token being read. */
  #node: ReplyNode | undefined = undefined;
  #sawComma = false;

  constructor(sink: Sink<T>) {
    this.#sink = sink;
    this.#skipped = new SkippedText(this.#cursor, sink);
  }

  /** Begins another value. A text can contain thousands, and a scanner has many parts, so it is reused. */
  restart(inFence: boolean): void {
    this.#inFence = inFence;
    this.#sink.clear();
    this.#state = 'value';
    this.#inObject = false;
    this.#node = undefined;
    this.#sawComma = false;
    this.#after.clear();
  }

  get root(): T | undefined {
    return this.#sink.root;
  }

  get gaveUp(): boolean {
    return this.#sink.gaveUp;
  }

  get done(): boolean {
    return this.#state === 'done' || this.#sink.gaveUp;
  }

  /** Reads the text from an offset. At the end of the last text, everything that is still open ends as incomplete. */
  read(text: string, from: number, isLast: boolean): number {
    const cursor = this.#cursor;
    cursor.start(text, from, isLast);
    while (cursor.at < text.length && !this.done) if (!this.#step()) break;
    if (isLast && !this.done) this.#giveUp();
    else if (this.#node !== undefined && (this.#state === 'string' || this.#state === 'bare'))
      this.#sink.grow(this.#node);
    cursor.text = '';
    return cursor.at;
  }

  /** Takes one step. Returns false if it needs more text or the sink gave up. */
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
      case DOUBLE_QUOTE:
        return this.#readDoubleQuoted();
      case OPEN_BRACE:
      case OPEN_BRACKET:
        return this.#openContainer(code);
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
      case COMMA:
        return this.#noValue(code);
      case SLASH:
      case HASH:
      case LESS_THAN:
        return this.#readCommentValue(code);
      case COLON:
      case EQUALS:
        return this.#inObject ? this.#skipped.sign(code) : this.#startBare(code);
      default:
        if (this.#cursor.isAtEnd) return true;
        return closersOf(code) === '' ? this.#readToken(code) : this.#startString(code);
    }
  }

  /** Handles a delimiter in the place of a value: after a key without a value, after a comma, or at the end of a list. */
  #noValue(code: number): boolean {
    if (this.#inObject) this.#sink.addRepair(REPAIR.droppedText);
    if (code === COMMA) {
      if (this.#inObject) this.#state = 'key';
      return this.#skipped.character(REPAIR.comma);
    }
    if (!this.#inObject && this.#sawComma) this.#sink.addRepair(REPAIR.comma);
    return this.#closeContainer(code);
  }

  #openContainer(bracket: number): boolean {
    if (!this.#sink.open(bracket)) return false;
    this.#cursor.at += 1;
    this.#inObject = bracket === OPEN_BRACE;
    this.#after.bare = '';
    this.#state = this.#inObject ? 'key' : 'value';
    this.#sawComma = false;
    return true;
  }

  #closeContainer(bracket: number): boolean {
    const isMatch = this.#inObject === (bracket === CLOSE_BRACE);
    const isClosed = isMatch ? this.#sink.close(bracket) : closeOther(this.#sink, this.#cursor, bracket);
    if (isClosed === 'wait') return false;
    if (!isClosed) return this.#skipped.character(REPAIR.brackets);
    this.#cursor.at += 1;
    this.#inObject = this.#sink.inObject;
    this.#state = this.#sink.depth === 0 ? 'done' : 'after';
    return true;
  }

  #readDelimiter(): boolean {
    const code = this.#after.peek();
    switch (code) {
      case COMMA:
        return this.#readComma();
      case SEMICOLON:
        this.#skipped.character(REPAIR.comma);
        return this.#readMember(true);
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        return this.#closeContainer(code);
      case SLASH:
        return this.#skipped.slash();
      case HASH:
        return this.#skipped.line();
      case BACKTICK:
        return this.#maybeFenceEnd();
      default:
        if (this.#cursor.isAtEnd) return true;
        return (code === COLON || code === EQUALS) && !this.#inObject ? this.#endListAtKey() : this.#readOther();
    }
  }

  /** Reads the comma after a member. If it is alone on its line, the object inside another one has lost its closing brace. */
  #readComma(): boolean {
    const isAlone = this.#inObject && this.#after.lines > 0 ? this.#after.isCommaAlone() : 'no';
    if (isAlone === 'wait') return false;
    if (isAlone === 'yes' && this.#sink.closers.startsWith('}}')) this.#sink.closeInnermost();
    this.#cursor.at += 1;
    return this.#readMember(true);
  }

  /** Reads a note, the end of a value whose closing brackets are missing, or a member after a missing comma. */
  #readOther(): boolean {
    const comment = this.#skipped.html();
    if (comment !== 'no') return comment === 'yes';
    const ahead = this.#after.ahead(this.#inObject);
    if (ahead === 'note') return this.#skipped.line();
    if (ahead === 'prose') return this.#giveUp();
    if (ahead !== 'member') return false;
    this.#sink.addRepair(REPAIR.comma);
    return this.#readMember(false);
  }

  /** Handles a colon or `=>` after a string in a list: the string is a key of an object whose brackets are missing or wrong. */
  #endListAtKey(): boolean {
    this.#sink.addRepair(REPAIR.brackets);
    this.#inObject = this.#sink.itemToKey();
    if (this.#inObject) this.#state = 'colon';
    return this.#inObject || this.#readMember(false);
  }

  #readMember(sawComma: boolean): boolean {
    this.#sawComma = sawComma;
    this.#after.lines = 0;
    if (!this.#inObject) this.#after.bare = '';
    this.#state = this.#inObject ? 'key' : 'value';
    return this.#inObject ? this.#readKey() : this.#readValue();
  }

  // --- keys ----------------------------------------------------------------------------------------------------------

  #readKey(): boolean {
    const code = this.#cursor.peek();
    switch (code) {
      case DOUBLE_QUOTE:
        return this.#readDoubleQuotedKey();
      case CLOSE_BRACE:
        if (this.#sawComma) this.#sink.addRepair(REPAIR.comma);
        return this.#closeContainer(code);
      case CLOSE_BRACKET:
        return this.#closeContainer(code);
      case OPEN_BRACE:
        // The next object of a list that was not opened, or whose last object was not closed; any other brace is dropped.
        this.#sink.addRepair(REPAIR.brackets);
        return this.#sink.nextItem() ? this.#openContainer(OPEN_BRACE) : this.#skipped.character(REPAIR.brackets);
      case BACKTICK:
        return this.#readKeyOrFence();
      default: {
        const isSkipped = this.#skipped.beforeKey(code);
        if (isSkipped !== 'no') return isSkipped === 'yes';
        return this.#cursor.isAtEnd || this.#startKey(code);
      }
    }
  }

  #readKeyOrFence(): boolean {
    const { text, at } = this.#cursor;
    return text.startsWith('```', at) || text.length - at < 3 ? this.#maybeFenceEnd() : this.#startKey(BACKTICK);
  }

  #readDoubleQuotedKey(): boolean {
    const quick = this.#keys.quick(this.#sink.likely);
    if (quick === 'wait') return false;
    return quick === 'no' ? this.#startKey(DOUBLE_QUOTE) : this.#takeKey(0);
  }

  #takeKey(repairs: number): boolean {
    this.#state = 'value';
    this.#after.bare = repairs === 0 ? '' : NO_QUOTES;
    return this.#sink.key(this.#keys.key, repairs) && this.#readValue();
  }

  #startKey(code: number): boolean {
    const unclosed = code === DOUBLE_QUOTE ? this.#keys.unclosed() : 'no';
    if (unclosed === 'wait') return false;
    this.#sawComma = false;
    if (unclosed === 'yes') return this.#takeKey(REPAIR.quotes);
    if (isWordCharacter(code) && this.#keys.quickBare(this.#sink.likely)) return this.#takeKey(REPAIR.unquotedKey);
    if (closersOf(code) === '') {
      this.#keys.openBare();
      this.#state = 'bare-key';
      return this.#readBareKey();
    }
    this.#node = this.#strings.open('key');
    this.#state = 'quoted-key';
    this.#after.bare = '';
    return true;
  }

  #readQuotedKey(): boolean {
    const goesOn = this.#strings.read();
    if (this.#node === undefined || !this.#strings.ended) return goesOn;
    this.#state = 'colon';
    return this.#sink.key(this.#node.text, this.#node.repairs);
  }

  #readBareKey(): boolean {
    const end = this.#keys.readBare();
    if (end === undefined) return true;
    if (end === 'dropped') {
      if (this.#keys.key !== '') this.#sink.addRepair(REPAIR.droppedText);
      this.#state = 'key';
      return true;
    }
    this.#after.bare = NO_QUOTES;
    if (end === 'brace') this.#sink.addRepair(REPAIR.colon);
    this.#state = end === 'brace' ? 'value' : 'colon';
    return this.#sink.key(this.#keys.key, this.#keys.repairs);
  }

  #readColon(): boolean {
    const code = this.#cursor.peek();
    if (this.#cursor.isAtEnd) return true;
    if (code === SLASH) return this.#skipped.slash();
    this.#state = 'value';
    if (code === COLON) this.#cursor.at += 1;
    else this.#sink.addRepair(REPAIR.colon);
    return true;
  }

  // --- strings and tokens --------------------------------------------------------------------------------------------

  #readDoubleQuoted(): boolean {
    const { text, at: from } = this.#cursor;
    const to = this.#strings.completeEnd(this.#inObject);
    if (to < 0) return this.#startString(DOUBLE_QUOTE);
    this.#cursor.at = to;
    this.#state = 'after';
    return this.#sink.string(text, from, to, this.#strings.escapes);
  }

  #startString(code: number): boolean {
    const node = this.#strings.start(this.#inObject ? 'object' : 'list');
    if (node === undefined) return false;
    this.#node = node;
    this.#state = 'string';
    return this.#sink.begin(node, code);
  }

  #readString(): boolean {
    const goesOn = this.#strings.read();
    if (this.#node === undefined || !this.#strings.ended) return goesOn;
    this.#state = 'after';
    return this.#sink.end(this.#node);
  }

  /** A slash, a `#` or a `<` in place of a value opens a comment or begins a string without quotes. */
  #readCommentValue(code: number): boolean {
    const isComment = this.#skipped.comment(code);
    return isComment === 'no' ? this.#startBare(code) : isComment === 'yes';
  }

  #readToken(code: number): boolean {
    const { text, at: from } = this.#cursor;
    const to = this.#tokens.completeEnd(code, !this.#inObject);
    if (to < 0) return this.#startBare(code);
    const source = text.slice(from, to);
    if (!this.#inObject) this.#after.bare = source;
    this.#cursor.at = to;
    this.#state = 'after';
    return this.#sink.token(source);
  }

  #startBare(code: number): boolean {
    this.#node = this.#tokens.open(!this.#inObject, this.#sink.depth > 1);
    this.#state = 'bare';
    return this.#sink.begin(this.#node, code);
  }

  #readBare(): boolean {
    const goesOn = this.#tokens.read();
    if (this.#node === undefined || !this.#tokens.ended) return goesOn;
    this.#state = 'after';
    if (!this.#inObject && this.#node.kind === 'string') this.#after.bare = NO_QUOTES;
    if (!isEllipsis(this.#node.text)) return this.#sink.end(this.#node);
    this.#sink.dropLast();
    return true;
  }

  /** Three backticks between members end the fence around the value, and the value with it. */
  #maybeFenceEnd(): boolean {
    const { text, at, isLast } = this.#cursor;
    if (text.length - at < 3 && !isLast) return false;
    if (this.#inFence && text.startsWith('```', at)) return this.#giveUp();
    return this.#skipped.character(REPAIR.droppedText);
  }

  /** Ends everything that is open as incomplete. Always returns false. */
  #giveUp(): false {
    this.#tokens.giveUp();
    this.#strings.giveUp(this.#sink.closers);
    this.#sink.giveUp();
    this.#state = 'done';
    return false;
  }
}

import type { ValueSource } from '../candidate-finder.ts';
import { Ahead, type Verdict, Cursor } from './cursor.ts';
import { BareReader, isEllipsis } from './bare-reader.ts';
import {
  BACKSLASH,
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
  isDigit,
  isWordCharacter,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
  SLASH,
  isSpace,
  MINUS,
} from './characters.ts';
import { KeyReader } from './key-reader.ts';
import { REPAIR, type ReplyNode } from './reply-node.ts';
import type { Sink } from './tree-sink.ts';
import { StringReader } from './string-reader.ts';

type State = 'value' | 'after' | 'key' | 'colon' | 'string' | 'quoted-key' | 'bare' | 'bare-key' | 'closed' | 'done';

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
  #state: State = 'value';
  #inObject = false;
  /** The list or object that was closed last was an object. */
  #wasObject = false;
  /** The string or token being read. */
  #node: ReplyNode | undefined = undefined;
  #sawComma = false;
  /** The number of line breaks since the last member. */
  #lines = 0;

  constructor(sink: Sink<T>) {
    this.#sink = sink;
  }

  /** Begins another value. A text can contain thousands, and a scanner has many parts, so it is reused. */
  restart(inFence: boolean): void {
    this.#inFence = inFence;
    this.#cursor.restart();
    this.#sink.clear();
    this.#state = 'value';
    this.#inObject = false;
    this.#node = undefined;
    this.#sawComma = false;
    this.#lines = 0;
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
    if (isLast && this.#state === 'closed') this.#state = 'done';
    else if (isLast && !this.done) this.#giveUp();
    else if (this.#node !== undefined && (this.#state === 'string' || this.#state === 'bare'))
      this.#sink.grow(this.#node);
    const { at } = cursor;
    cursor.stop(this.#sink.keepsText);
    return at;
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
      case 'closed':
        return this.#readAfterRoot();
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
        return this.#readCommentValue(code);
      case COLON:
      case EQUALS:
        return this.#inObject ? this.#skipSign(code) : this.#startBare(code);
      default:
        if (this.#cursor.isAtEnd) return true;
        return closersOf(code) === '' ? this.#readToken(code) : this.#startString(code);
    }
  }

  /** Handles a delimiter in the place of a value: after a key without a value, after a comma, or at the end of a list. */
  #noValue(code: number): boolean {
    if (this.#inObject) this.#sink.addRepair(REPAIR.noValue);
    if (code === COMMA) {
      if (this.#inObject) this.#state = 'key';
      return this.#skip(REPAIR.comma);
    }
    if (!this.#inObject && this.#sawComma) this.#sink.addRepair(REPAIR.comma);
    return this.#closeContainer(code);
  }

  #openContainer(bracket: number): boolean {
    if (!this.#sink.open(bracket, this.#cursor)) return false;
    this.#cursor.at += 1;
    this.#inObject = bracket === OPEN_BRACE;
    this.#state = this.#inObject ? 'key' : 'value';
    this.#sawComma = false;
    return true;
  }

  #closeContainer(bracket: number): boolean {
    const isMatch = this.#inObject === (bracket === CLOSE_BRACE);
    const closing = isMatch ? 'all' : closingOf(this.#cursor, this.#sink.closers, this.#wasObject);
    if (closing === 'wait') return false;
    if (closing === 'innermost') this.#sink.closeInnermost();
    if (closing === 'none' || (closing === 'all' && !this.#sink.close(bracket, this.#cursor)))
      return this.#skip(REPAIR.brackets);
    this.#cursor.at += 1;
    this.#wasObject = this.#inObject;
    this.#inObject = this.#sink.inObject;
    this.#state = this.#sink.depth === 0 ? 'closed' : 'after';
    this.#lines = 0;
    return true;
  }

  /** After the bracket that closes the whole value, more members show that it was one too many. */
  #readAfterRoot(): boolean {
    const isMore = continues(this.#cursor, this.#wasObject);
    if (isMore === 'wait') return false;
    this.#state = isMore === 'yes' ? 'after' : 'done';
    if (isMore === 'no') return false;
    this.#inObject = this.#wasObject;
    return this.#sink.reopenRoot();
  }

  #readDelimiter(): boolean {
    const code = this.#peekDelimiter();
    switch (code) {
      case COMMA:
        this.#cursor.at += 1;
        return this.#readMember(true);
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        return this.#closeContainer(code);
      case SLASH:
        return this.#skipSlash();
      case HASH:
        return this.#skipLine();
      case BACKSLASH:
        return this.#skip(REPAIR.escape);
      case BACKTICK:
        return this.#maybeFenceEnd();
      case OPEN_PAREN:
        this.#cursor.skipNote();
        this.#sink.addRepair(REPAIR.droppedText);
        return true;
      default:
        if (this.#cursor.isAtEnd) return true;
        return code === COLON && !this.#inObject ? this.#endListAtKey() : this.#readOther(code);
    }
  }

  /** Skips spaces, counts their line breaks, and returns the code of the next character. */
  #peekDelimiter(): number {
    const cursor = this.#cursor;
    const from = cursor.at;
    const code = cursor.peek();
    for (let at = from; at < cursor.at; at += 1) if (cursor.text.charCodeAt(at) === LINE_FEED) this.#lines += 1;
    return code;
  }

  /** Reads a member after a missing comma, or the text after a value whose closing brackets are missing. */
  #readOther(code: number): boolean {
    const isProse = this.#lines > 0 && isWordCharacter(code) && !isDigit(code) ? this.#proseAhead() : 'no';
    if (isProse !== 'no') return isProse === 'yes' && this.#giveUp();
    this.#sink.addRepair(REPAIR.comma);
    return this.#readMember(false);
  }

  /** Does a sentence follow? In a list, only an empty line before it distinguishes it from an item without quotes. */
  #proseAhead(): Verdict {
    const { text, at, isLast } = this.#cursor;
    const ahead = new Ahead(text, at, isLast);
    if (this.#inObject ? ahead.phraseKey(at) !== undefined || ahead.key(at) !== undefined : this.#lines < 2)
      return ahead.answer(false);
    let end = at;
    while (isWordCharacter(ahead.code(end)) || ahead.code(end) === COMMA) end += 1;
    const next = ahead.skipSpace(end);
    return ahead.answer(next > end && isWordCharacter(ahead.code(next)));
  }

  /** Handles a colon after a string in a list: the string is a key of an object whose brackets are missing or wrong. */
  #endListAtKey(): boolean {
    this.#inObject = this.#sink.itemToKey();
    if (this.#inObject) this.#state = 'colon';
    return this.#inObject || this.#readMember(false);
  }

  #readMember(sawComma: boolean): boolean {
    this.#sawComma = sawComma;
    this.#lines = 0;
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
      case OPEN_BRACKET:
        return this.#readItemForKey(code);
      case COMMA:
        return this.#skip(REPAIR.comma);
      case SLASH:
        return this.#skipSlash();
      case HASH:
        return this.#skipLine();
      case BACKTICK:
        return this.#readKeyOrFence();
      default:
        return this.#cursor.isAtEnd || this.#startKey(code);
    }
  }

  /**
   * Reads a list or object in the place of a key: the next item of a list that was closed too early, or not opened, or
   * whose last object was not closed; any other bracket is dropped.
   */
  #readItemForKey(bracket: number): boolean {
    this.#sink.addRepair(REPAIR.brackets);
    if (this.#sink.reopen()) {
      this.#inObject = false;
      this.#state = 'value';
      // `[1], [2]` is one list, in which only lists of lists keep the brackets.
      return bracket === OPEN_BRACE || this.#sink.holdsLists
        ? this.#openContainer(bracket)
        : this.#skip(REPAIR.brackets);
    }
    if (bracket === OPEN_BRACE && this.#sink.nextItem()) return this.#openContainer(bracket);
    return this.#skip(bracket === OPEN_BRACE ? REPAIR.brackets : REPAIR.droppedText);
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
      if (this.#keys.key !== '')
        this.#sink.addRepair(WORD.test(this.#keys.key) ? REPAIR.lostText | REPAIR.droppedText : REPAIR.droppedText);
      this.#state = 'key';
      return true;
    }
    if (end === 'wait') return false;
    if (end === 'value') this.#sink.addRepair(REPAIR.colon);
    this.#state = end === 'value' ? 'value' : 'colon';
    return this.#sink.key(this.#keys.key, this.#keys.repairs);
  }

  #readColon(): boolean {
    const code = this.#cursor.peek();
    if (this.#cursor.isAtEnd) return true;
    if (code === SLASH) return this.#skipSlash();
    if (code === COMMA && this.#sink.keyToItem()) {
      this.#inObject = false;
      this.#state = 'after';
      return true;
    }
    this.#state = 'value';
    if (code === COLON) this.#cursor.at += 1;
    // What looked like a key is a value that no key belongs to.
    else this.#sink.addRepair(ENDS_MEMBER.has(code) ? REPAIR.lostText : REPAIR.colon);
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
    const node = this.#strings.start(this.#inObject ? 'value' : 'item');
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

  /** A slash or a `#` in place of a value opens a comment or begins a string without quotes. */
  #readCommentValue(code: number): boolean {
    const isComment = code === SLASH ? this.#cursor.skipSlashComment() : this.#cursor.skipHashComment();
    if (isComment === 'yes') this.#sink.addRepair(REPAIR.comment);
    return isComment === 'no' ? this.#startBare(code) : isComment === 'yes';
  }

  #readToken(code: number): boolean {
    const { text, at: from } = this.#cursor;
    const to = this.#tokens.completeEnd(code, !this.#inObject);
    if (to < 0) return this.#startBare(code);
    this.#cursor.at = to;
    this.#state = 'after';
    return this.#sink.token(text.slice(from, to));
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
    if (!isEllipsis(this.#node.text)) return this.#sink.end(this.#node);
    this.#sink.dropLast();
    return true;
  }

  // --- text that belongs to no member --------------------------------------------------------------------------------

  /** Skips the character at the cursor. Always returns true. */
  #skip(repair: number): true {
    this.#cursor.at += 1;
    this.#sink.addRepair(repair);
    return true;
  }

  /** Skips the comment up to the end of the line that the character at the cursor opens. */
  #skipLine(): true {
    this.#cursor.skipLineComment();
    this.#sink.addRepair(REPAIR.comment);
    return true;
  }

  /** Skips the slash at the cursor, with the comment that it opens, if any. Returns false if that needs more text. */
  #skipSlash(): boolean {
    const opens = this.#cursor.skipSlashComment();
    if (opens === 'no') return this.#skip(REPAIR.droppedText);
    if (opens === 'yes') this.#sink.addRepair(REPAIR.comment);
    return opens === 'yes';
  }

  /** Skips `=` or `=>` in the place of a colon, or a second colon. Returns false if that needs more text. */
  #skipSign(code: number): boolean {
    const { text, at, isLast } = this.#cursor;
    if (at + 1 >= text.length && !isLast) return false;
    if (code === EQUALS && text.charCodeAt(at + 1) === GREATER_THAN) this.#cursor.at += 1;
    return this.#skip(REPAIR.colon);
  }

  /** Three backticks between members end the fence around the value, and the value with it. */
  #maybeFenceEnd(): boolean {
    const { text, at, isLast } = this.#cursor;
    if (text.length - at < 3 && !isLast) return false;
    if (this.#inFence && text.startsWith('```', at)) return this.#giveUp();
    return this.#skip(REPAIR.droppedText);
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

const ENDS_MEMBER: ReadonlySet<number> = new Set([COMMA, CLOSE_BRACE, CLOSE_BRACKET]);

const WORD = /[\p{L}\p{N}]/u;

/*
 * Closing brackets that do not match the innermost list or object, or that are followed by more of a value that they
 * close: brackets are missing, of the wrong kind, or there are too many.
 */

/**
 * `all`: the bracket closes the nearest list or object of its kind, and all that are open inside it. `innermost`: it closes
 * the innermost one, whatever its kind. `none`: it closes nothing.
 */
type Closing = 'all' | 'innermost' | 'none' | 'wait';

/**
 * Determines the meaning of a closing bracket at the cursor that does not match the innermost list or object, by the
 * brackets and the member that follow. `closers`: the brackets that close the open lists and objects, innermost first.
 * `wasObject`: the list or object that was closed last was an object.
 */
function closingOf({ text, at, isLast }: Readonly<Cursor>, closers: string, wasObject: boolean): Closing {
  const ahead = new Ahead(text, at + 1, isLast);
  const next = nextOf(ahead, at + 1);
  if (ahead.isShort) return 'wait';
  const matching = closers.indexOf(text.charAt(at));
  const readings: readonly (readonly [Closing, string])[] = [
    ['all', matching < 0 ? '' : closers.slice(matching + 1)],
    ['innermost', closers.slice(1)],
    ['none', closers],
    // A member can go on an object in a list that was closed too early.
    ['none', wasObject ? `}${closers}` : closers],
  ];
  let best: Closing = 'none';
  let least = Infinity;
  for (const [closing, open] of readings) {
    const faults = (closing === 'all' && matching < 0 ? 1 : 0) + faultsOf(open, next);
    if (faults >= least) continue;
    best = closing;
    least = faults;
  }
  return best;
}

/** Does another member of a value follow at the cursor, after the closing bracket of the whole value? */
function continues({ text, at, isLast }: Readonly<Cursor>, isObject: boolean): Verdict {
  const ahead = new Ahead(text, at, isLast);
  const { brackets, member } = nextOf(ahead, at);
  return ahead.answer(isObject ? member === '}' : member === ']' && brackets !== '');
}

/** The text after a closing bracket: more of them, and the closing bracket of the list or object that can have the next member. */
interface Next {
  readonly brackets: string;
  /** `end`: the text ends. `unknown`: anything, or the end of the look-ahead. */
  readonly member: '}' | ']' | 'end' | 'unknown';
}

/** Counts the contradictions between the lists and objects that are open and the text ahead. */
function faultsOf(open: string, { brackets, member }: Next): number {
  let rest = open;
  let faults = 0;
  for (const bracket of brackets) {
    const at = rest.indexOf(bracket);
    faults += at < 0 ? 1 : at;
    if (at >= 0) rest = rest.slice(at + 1);
  }
  if (member === 'end') return faults + rest.length;
  return member === 'unknown' || rest.charAt(0) === member ? faults : faults + 1;
}

function nextOf(ahead: Ahead, from: number): Next {
  let brackets = '';
  let at = from;
  let code = ahead.code(at);
  for (; code === CLOSE_BRACE || code === CLOSE_BRACKET || isSpace(code); code = ahead.code(at)) {
    if (!isSpace(code)) brackets += code === CLOSE_BRACE ? '}' : ']';
    at += 1;
  }
  if (code === -1) return { brackets, member: 'end' };
  if (code !== COMMA) return { brackets, member: 'unknown' };
  if (ahead.key(at + 1) !== undefined) return { brackets, member: '}' };
  return { brackets, member: beginsItem(ahead.code(ahead.skipSpace(at + 1))) ? ']' : 'unknown' };
}

function beginsItem(code: number): boolean {
  if (code === BACKTICK) return false;
  return code === OPEN_BRACE || code === OPEN_BRACKET || closersOf(code) !== '' || isDigit(code) || code === MINUS;
}

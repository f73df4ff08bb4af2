import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  closersOf,
  COLON,
  COMMA,
  DOUBLE_QUOTE,
  HASH,
  isDigit,
  isWordCharacter,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  skipSpace,
  SLASH,
} from '../text/characters.ts';
import type { ValueSource } from '../text/candidate-finder.ts';
import { Cursor } from '../text/cursor.ts';
import { LOOK_AHEAD } from '../text/look-ahead.ts';
import { MAX_DEPTH, REPAIR } from '../text/reply-node.ts';
import {
  canBecomeScalar,
  isTokenCharacter,
  isWordStart,
  skipBlanks,
  stringEnds,
  tokenEnds,
  isCanonicalEscape,
  OpenString,
  rewriteString,
} from './fast-scalars.ts';
import type { FastPlan, TypedContainer } from './typed-container.ts';

type State = 'value' | 'key' | 'after' | 'string' | 'done';

/**
 * Reads one list or object directly into its type, from text that arrives in deltas of any size. It accepts JSON, and
 * deviations whose meaning is certain: comments, keys without quotes, trailing commas. Any surprise makes it give up, and
 * the tolerant parser starts over, so the code here neither explains nor repairs. Where the meaning depends on text that
 * has not arrived, both readers ask the same functions: at every cut, both have read the same.
 */
export class FastReader implements ValueSource<TypedContainer> {
  /** The reply is left to the tolerant parser. */
  gaveUp = false;
  root: TypedContainer | undefined = undefined;
  /** The JSON text of the value; undefined until it is complete. */
  json: string | undefined = undefined;
  /** Increases with everything that a partial can show. */
  version = 0;
  readonly #cursor = new Cursor();
  readonly #string = new OpenString(this.#cursor);
  #state: State = 'done';
  /** The innermost list or object that has not ended, and the number of those around it, including itself. */
  #top: TypedContainer | undefined = undefined;
  #depth = 0;
  /** The type of the value that comes next, or is being read. */
  #expected: FastPlan;
  #sawComma = false;

  constructor(type: FastPlan) {
    this.#expected = type;
  }

  /** Begins the value. Only one can be read: a second one has to be compared with the first. */
  restart(): void {
    this.gaveUp = this.root !== undefined;
    this.#state = this.gaveUp ? 'done' : 'value';
  }

  get done(): boolean {
    return this.#state === 'done';
  }

  read(text: string, from: number, isLast: boolean): number {
    const cursor = this.#cursor;
    cursor.start(text, from, isLast);
    while (this.#state !== 'done' && cursor.at < text.length) if (!this.#step()) break;
    if (isLast && this.#state !== 'done') this.#refuse();
    cursor.text = '';
    return cursor.at;
  }

  /** Returns the JSON text that a partial shows; undefined if nothing may appear yet. */
  show(): string | undefined {
    if (this.json !== undefined) return this.json;
    let shown = this.#state === 'string' ? this.#expected.showString(this.#string.json) : undefined;
    for (let container = this.#top; container !== undefined; container = container.outer) {
      const json = container.show(shown);
      shown = container.plan?.showsOpen(container.isList ? OPEN_BRACKET : OPEN_BRACE) === true ? json : undefined;
    }
    return shown;
  }

  /** Takes one step. Returns false if it needs more text or gave up. */
  #step(): boolean {
    switch (this.#state) {
      case 'value':
        return this.#readValue();
      case 'key':
        return this.#readKey();
      case 'after':
        return this.#readDelimiter();
      case 'string':
        return this.#readOpenString();
      case 'done':
        return false;
    }
  }

  #refuse(): false {
    this.gaveUp = true;
    this.#state = 'done';
    return false;
  }

  get #inList(): boolean {
    return this.#top?.isList === true;
  }

  #addRepair(repair: number): void {
    if (this.#top !== undefined) this.#top.repairs |= repair;
  }

  // --- containers ----------------------------------------------------------------------------------------------------

  #readValue(): boolean {
    const code = this.#cursor.peek();
    switch (code) {
      case DOUBLE_QUOTE:
        return this.#readString();
      case OPEN_BRACE:
      case OPEN_BRACKET:
        return this.#openContainer(code);
      case CLOSE_BRACKET:
        return this.#inList ? this.#closeContainer(code) : this.#refuse();
      case SLASH:
        return this.#skipSlashComment();
      default:
        return this.#cursor.isAtEnd || this.#readBare(code);
    }
  }

  #openContainer(bracket: number): boolean {
    const plan = this.#expected;
    const container = this.#depth < MAX_DEPTH ? plan.openContainer(bracket) : undefined;
    if (container === undefined) return this.#refuse();
    container.plan = plan;
    container.outer = this.#top;
    this.root ??= container;
    this.#top = container;
    this.#depth += 1;
    this.#cursor.at += 1;
    this.version += 1;
    this.#sawComma = false;
    this.#state = container.isList ? 'value' : 'key';
    return !container.isList || this.#expect('');
  }

  #expect(key: string): boolean {
    const plan = this.#top?.next(key);
    if (plan === undefined) return this.#refuse();
    this.#expected = plan;
    return true;
  }

  #closeContainer(bracket: number): boolean {
    const top = this.#top;
    if (top === undefined || bracket !== (top.isList ? CLOSE_BRACKET : CLOSE_BRACE)) return this.#refuse();
    if (this.#sawComma) this.#addRepair(REPAIR.comma);
    const json = top.close();
    if (json === undefined || top.plan?.accepts(json) !== true) return this.#refuse();
    this.#cursor.at += 1;
    this.#top = top.outer;
    this.#depth -= 1;
    this.#sawComma = false;
    if (top.outer !== undefined) return this.#add(json, top);
    this.json = json;
    this.version += 1;
    this.#state = 'done';
    return true;
  }

  /** Appends a complete member to the innermost container. */
  #add(json: string, member?: TypedContainer): boolean {
    this.#top?.add(json, member?.flags);
    this.version += 1;
    this.#state = 'after';
    return true;
  }

  #readDelimiter(): boolean {
    const code = this.#cursor.peek();
    switch (code) {
      case COMMA:
        this.#cursor.at += 1;
        this.#sawComma = true;
        return this.#readMember();
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#sawComma = false;
        return this.#closeContainer(code);
      case SLASH:
        return this.#skipSlashComment();
      case HASH:
        return this.#skipLineComment();
      default:
        return this.#cursor.isAtEnd || this.#refuse();
    }
  }

  #readMember(): boolean {
    if (!this.#inList) {
      this.#state = 'key';
      return this.#readKey();
    }
    this.#state = 'value';
    return this.#expect('') && this.#readValue();
  }

  // --- keys ----------------------------------------------------------------------------------------------------------

  #readKey(): boolean {
    const code = this.#cursor.peek();
    switch (code) {
      case DOUBLE_QUOTE:
        return this.#readQuotedKey();
      case CLOSE_BRACE:
        return this.#closeContainer(code);
      case SLASH:
        return this.#skipSlashComment();
      case HASH:
        return this.#skipLineComment();
      default:
        return this.#cursor.isAtEnd || this.#readBareKey();
    }
  }

  #readQuotedKey(): boolean {
    const { text, at } = this.#cursor;
    const likely = this.#top?.likely;
    if (likely !== undefined && text.startsWith(likely.writtenKey, at)) {
      return this.#takeKey(likely.key, at + likely.writtenKey.length - 1);
    }
    const from = at + 1;
    let end = from;
    for (let code = text.charCodeAt(end); code !== DOUBLE_QUOTE; code = text.charCodeAt(end)) {
      if (!(code >= 32)) return end >= text.length ? this.#wait(from) : this.#refuse();
      if (code === BACKSLASH) return this.#refuse();
      end += 1;
    }
    return this.#takeKey(text.slice(from, end), skipSpace(text, end + 1));
  }

  #readBareKey(): boolean {
    const { text, at: from } = this.#cursor;
    let end = from;
    while (end < text.length && (isWordCharacter(text.charCodeAt(end)) || text.charCodeAt(end) === MINUS)) end += 1;
    // Typographic quotes count as letters.
    if (end === from || closersOf(text.charCodeAt(from)) !== '') return this.#refuse();
    const colon = skipBlanks(text, end);
    if (text.charCodeAt(colon) === COLON) this.#addRepair(REPAIR.unquotedKey);
    return this.#takeKey(text.slice(from, end), colon);
  }

  /** Takes a key if its colon is at `colon`. */
  #takeKey(key: string, colon: number): boolean {
    if (colon >= this.#cursor.text.length) return this.#wait(this.#cursor.at);
    if (this.#cursor.text.charCodeAt(colon) !== COLON || !this.#expect(key)) return this.#refuse();
    this.#cursor.at = colon + 1;
    this.#sawComma = false;
    this.#state = 'value';
    return this.#readValue();
  }

  /** Waits for the rest of the key or token at `from`, which is then read again from its start. Always returns false. */
  #wait(from: number): false {
    return this.#cursor.text.length - from > MAX_WAITING ? this.#refuse() : false;
  }

  // --- scalars -------------------------------------------------------------------------------------------------------

  #readString(): boolean {
    const { text, at: start } = this.#cursor;
    let canonical = true;
    let end = start + 1;
    for (let code = text.charCodeAt(end); code !== DOUBLE_QUOTE; code = text.charCodeAt(end)) {
      if (code === BACKSLASH) {
        end += 1;
        canonical &&= isCanonicalEscape(text.charCodeAt(end));
      } else if (!(code >= 32)) return end >= text.length ? this.#openString() : this.#refuse();
      end += 1;
    }
    const verdict = stringEnds(this.#cursor, end + 1, this.#inList);
    if (verdict === 'wait' && end === start + 1 && end + 1 === text.length) return false; // A third quote would open a block.
    if (verdict === 'wait') return this.#openString();
    if (verdict === 'no') return this.#refuse();
    const source = text.slice(start, end + 1);
    this.#cursor.at = end + 1;
    return this.#takeScalar(canonical ? source : rewriteString(source));
  }

  #takeScalar(source: string | undefined): boolean {
    const json = source === undefined ? undefined : this.#expected.exact(source);
    if (json === undefined) return this.#refuse();
    this.#sawComma = false;
    return this.#add(json);
  }

  /** Begins a string whose end has not arrived. */
  #openString(): boolean {
    if (!this.#expected.mayBegin(DOUBLE_QUOTE)) return this.#refuse();
    this.#string.begin();
    this.#sawComma = false;
    this.version += 1;
    this.#state = 'string';
    return true;
  }

  #readOpenString(): boolean {
    const before = this.#cursor.at;
    const stop = this.#string.read();
    if (stop === 'surprise') return this.#refuse();
    if (this.#cursor.at > before) this.version += 1;
    if (stop === 'end') return false;
    const verdict = stringEnds(this.#cursor, this.#cursor.at + 1, this.#inList);
    if (verdict === 'wait') return false;
    if (verdict === 'no') return this.#refuse();
    this.#cursor.at += 1;
    return this.#takeScalar(this.#string.json);
  }

  /** Reads a number, `true`, `false` or `null`. */
  #readBare(first: number): boolean {
    if (first !== MINUS && !isDigit(first) && !isWordStart(first)) return this.#refuse();
    const { text, at: start } = this.#cursor;
    let end = start + 1;
    while (end < text.length && isTokenCharacter(text.charCodeAt(end))) end += 1;
    const verdict = tokenEnds(this.#cursor, end, this.#inList);
    if (verdict === 'no') return this.#refuse();
    const source = text.slice(start, end);
    if (verdict === 'wait')
      return this.#expected.mayBegin(first) && canBecomeScalar(source) ? this.#wait(start) : this.#refuse();
    this.#cursor.at = end;
    return this.#takeScalar(source);
  }

  // --- comments ------------------------------------------------------------------------------------------------------

  #skipSlashComment(): boolean {
    const opens = this.#cursor.skipSlashComment();
    if (opens === 'no') return this.#refuse();
    if (opens === 'yes') this.#addRepair(REPAIR.comment);
    return opens === 'yes';
  }

  #skipLineComment(): boolean {
    this.#addRepair(REPAIR.comment);
    this.#cursor.skipLineComment();
    return true;
  }
}

/** Keys and tokens with more characters are left to the tolerant parser, so that none is read again without end. */
const MAX_WAITING = 4 * LOOK_AHEAD;

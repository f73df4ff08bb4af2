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
import { CommentReader } from '../text/comment-reader.ts';
import { LOOK_AHEAD } from '../text/look-ahead.ts';
import { MAX_DEPTH } from '../text/open-containers.ts';
import { ReaderCursor } from '../text/reader-cursor.ts';
import { REPAIR } from '../text/value-node.ts';
import type { ValueSource } from '../text/value-source.ts';
import { isCanonicalEscape, rewritten } from './json-text.ts';
import { OpenText } from './open-text.ts';
import { isTokenCharacter, isWordStart, mayBecomeScalar, skipBlanks, textEnds, tokenEnds } from './scalar-end.ts';
import type { StraightPlan, TypedContainer } from './typed-container.ts';

type State = 'value' | 'key' | 'after' | 'text' | 'comment' | 'done';

/**
 * Reads one list or object straight into its type, from text that may arrive in pieces of any size: JSON, and what can
 * be forgiven without a second thought (comments, keys without quotes, a comma too many). Any surprise ends it, and the
 * tolerant reader starts over, so nothing here explains or repairs anything. Where text ends before its meaning is
 * sure, the same functions as in the tolerant reader say so: at every cut both have read the same.
 */
export class StraightReader implements ValueSource<TypedContainer> {
  /** Something was met that only the tolerant reader can tell. */
  gaveUp = false;
  root: TypedContainer | undefined = undefined;
  /** The JSON text of the value; undefined until it is complete. */
  json: string | undefined = undefined;
  /** Grows with all that a partial may show. */
  version = 0;
  readonly #cursor = new ReaderCursor();
  readonly #comments = new CommentReader(this.#cursor);
  readonly #text = new OpenText(this.#cursor);
  #state: State = 'done';
  /** The state that a comment returns to. */
  #resume: State = 'value';
  /** The innermost container, and how deep it lies. */
  #top: TypedContainer | undefined = undefined;
  #depth = 0;
  /** The type of the value that comes next, or is being read. */
  #expected: StraightPlan;
  #sawComma = false;

  constructor(type: StraightPlan) {
    this.#expected = type;
  }

  /** Begins the value: one only, since a second one makes the reply a matter of choice. */
  restart(): void {
    this.gaveUp = this.root !== undefined;
    this.#state = this.gaveUp ? 'done' : 'value';
  }

  get done(): boolean {
    return this.#state === 'done';
  }

  read(text: string, from: number, isLast: boolean): number {
    const cursor = this.#cursor;
    cursor.text = text;
    cursor.at = from;
    cursor.isLast = isLast;
    while (this.#state !== 'done' && cursor.at < text.length) if (!this.#step()) break;
    if (isLast && this.#state !== 'done') this.#refuse();
    cursor.text = '';
    return cursor.at;
  }

  /** The JSON text so far, as a partial shows it; undefined when it may not appear yet. */
  show(): string | undefined {
    if (this.json !== undefined) return this.json;
    let shown = this.#state === 'text' ? this.#expected.showText(this.#text.json) : undefined;
    for (let container = this.#top; container !== undefined; container = container.outer) {
      const json = container.show(shown);
      shown = container.plan.showsOpen(bracketOf(container)) ? json : undefined;
    }
    return shown;
  }

  /** One step; false when it needs more text, or gave up. */
  #step(): boolean {
    switch (this.#state) {
      case 'value':
        return this.#readValue();
      case 'key':
        return this.#readKey();
      case 'after':
        return this.#readDelimiter();
      case 'text':
        return this.#readOpenText();
      case 'comment':
        return this.#readComment();
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

  #note(repair: number): void {
    if (this.#top !== undefined) this.#top.repairs |= repair;
  }

  // --- containers -------------------------------------------------------------------------------------------------

  #readValue(): boolean {
    const code = this.#cursor.peek();
    switch (code) {
      case DOUBLE_QUOTE:
        return this.#readText();
      case OPEN_BRACE:
      case OPEN_BRACKET:
        return this.#openContainer(code);
      case CLOSE_BRACKET:
        return this.#inList ? this.#closeContainer(code) : this.#refuse();
      case SLASH:
        return this.#slash('value');
      default:
        return this.#cursor.isAtEnd || this.#readBare(code);
    }
  }

  #openContainer(bracket: number): boolean {
    const plan = this.#expected;
    const container = this.#depth < MAX_DEPTH ? plan.openContainer(bracket, { plan, outer: this.#top }) : undefined;
    if (container === undefined) return this.#refuse();
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
    if (this.#sawComma) this.#note(REPAIR.comma);
    const json = top.close();
    if (json === undefined || !top.plan.accepts(json)) return this.#refuse();
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

  /** A member is complete. */
  #add(json: string, container?: TypedContainer): boolean {
    this.#top?.add(json, container?.notes);
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
        return this.#slash('after');
      case HASH:
        return this.#hash('after');
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

  // --- keys -------------------------------------------------------------------------------------------------------

  #readKey(): boolean {
    const code = this.#cursor.peek();
    switch (code) {
      case DOUBLE_QUOTE:
        return this.#readQuotedKey();
      case CLOSE_BRACE:
        return this.#closeContainer(code);
      case SLASH:
        return this.#slash('key');
      case HASH:
        return this.#hash('key');
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
    if (text.charCodeAt(colon) === COLON) this.#note(REPAIR.unquotedKey);
    return this.#takeKey(text.slice(from, end), colon);
  }

  /** The key whose colon has to be at `colon`. */
  #takeKey(key: string, colon: number): boolean {
    if (colon >= this.#cursor.text.length) return this.#wait(this.#cursor.at);
    if (this.#cursor.text.charCodeAt(colon) !== COLON || !this.#expect(key)) return this.#refuse();
    this.#cursor.at = colon + 1;
    this.#sawComma = false;
    this.#state = 'value';
    return this.#readValue();
  }

  /**
   * What began at `from` goes on in text that has not arrived, and will be read again from its start: not for ever.
   * Always false.
   */
  #wait(from: number): false {
    return this.#cursor.text.length - from > MAX_WAITING ? this.#refuse() : false;
  }

  // --- scalars ----------------------------------------------------------------------------------------------------

  #readText(): boolean {
    const { text, at: start } = this.#cursor;
    let canonical = true;
    let end = start + 1;
    for (let code = text.charCodeAt(end); code !== DOUBLE_QUOTE; code = text.charCodeAt(end)) {
      if (code === BACKSLASH) {
        end += 1;
        canonical &&= isCanonicalEscape(text.charCodeAt(end));
      } else if (!(code >= 32)) return end >= text.length ? this.#openText() : this.#refuse();
      end += 1;
    }
    const verdict = textEnds(this.#cursor, end + 1, this.#inList);
    if (verdict === 'wait' && end === start + 1 && end + 1 === text.length) return false; // A third quote would open a block.
    if (verdict === 'wait') return this.#openText();
    if (verdict === 'no') return this.#refuse();
    const source = text.slice(start, end + 1);
    this.#cursor.at = end + 1;
    return this.#takeScalar(canonical ? source : rewritten(source));
  }

  #takeScalar(source: string | undefined): boolean {
    const json = source === undefined ? undefined : this.#expected.exact(source);
    if (json === undefined) return this.#refuse();
    this.#sawComma = false;
    return this.#add(json);
  }

  /** The end of a text has not arrived. */
  #openText(): boolean {
    if (!this.#expected.mayBegin(DOUBLE_QUOTE)) return this.#refuse();
    this.#text.begin();
    this.#sawComma = false;
    this.version += 1;
    this.#state = 'text';
    return true;
  }

  #readOpenText(): boolean {
    const before = this.#cursor.at;
    const stop = this.#text.read();
    if (stop === 'surprise') return this.#refuse();
    if (this.#cursor.at > before) this.version += 1;
    if (stop === 'end') return false;
    const verdict = textEnds(this.#cursor, this.#cursor.at + 1, this.#inList);
    if (verdict === 'wait') return false;
    if (verdict === 'no') return this.#refuse();
    this.#cursor.at += 1;
    return this.#takeScalar(this.#text.json);
  }

  /** A number, `true`, `false` or `null`. */
  #readBare(first: number): boolean {
    if (first !== MINUS && !isDigit(first) && !isWordStart(first)) return this.#refuse();
    const { text, at: start } = this.#cursor;
    let end = start + 1;
    while (end < text.length && isTokenCharacter(text.charCodeAt(end))) end += 1;
    const verdict = tokenEnds(this.#cursor, end, this.#inList);
    if (verdict === 'no') return this.#refuse();
    const source = text.slice(start, end);
    if (verdict === 'wait')
      return this.#expected.mayBegin(first) && mayBecomeScalar(source) ? this.#wait(start) : this.#refuse();
    this.#cursor.at = end;
    return this.#takeScalar(source);
  }

  // --- comments ---------------------------------------------------------------------------------------------------

  #slash(resume: State): boolean {
    const opens = this.#comments.openSlash();
    if (opens === 'wait') return false;
    return opens === 'yes' ? this.#startComment(resume) : this.#refuse();
  }

  #hash(resume: State): boolean {
    this.#comments.openLine();
    return this.#startComment(resume);
  }

  #startComment(resume: State): boolean {
    this.#note(REPAIR.comment);
    this.#resume = resume;
    this.#state = 'comment';
    return true;
  }

  #readComment(): boolean {
    const goesOn = this.#comments.read();
    if (this.#comments.ended) this.#state = this.#resume;
    return goesOn;
  }
}

/** Keys and tokens that are not over after so many characters are left to the tolerant reader. */
const MAX_WAITING = 4 * LOOK_AHEAD;

function bracketOf(container: TypedContainer): number {
  return container.isList ? OPEN_BRACKET : OPEN_BRACE;
}

import { COLON, COMMA, EQUALS, GREATER_THAN, HASH, LESS_THAN, SEMICOLON, SLASH } from './characters.ts';
import type { Cursor } from './cursor.ts';
import type { Verdict } from './look-ahead.ts';
import { REPAIR } from './reply-node.ts';
import type { Sink } from './sink.ts';

/** Skips text that belongs to no member: comments, and characters without a meaning. The sink records the repairs. */
export class SkippedText {
  readonly #cursor: Cursor;
  readonly #sink: Pick<Sink<unknown>, 'addRepair'>;

  constructor(cursor: Cursor, sink: Pick<Sink<unknown>, 'addRepair'>) {
    this.#cursor = cursor;
    this.#sink = sink;
  }

  /** Skips the character at the cursor. Always returns true. */
  character(repair: number): true {
    this.#cursor.at += 1;
    this.#sink.addRepair(repair);
    return true;
  }

  /** Skips the comment up to the end of the line that the character at the cursor opens. */
  line(): true {
    this.#cursor.skipLineComment();
    this.#sink.addRepair(REPAIR.comment);
    return true;
  }

  /** Skips the comment that a slash, a `#` or a `<` at the cursor opens, if it opens one. */
  comment(code: number): Verdict {
    const opens = this.#skipComment(code);
    if (opens === 'yes') this.#sink.addRepair(REPAIR.comment);
    return opens;
  }

  /** Skips `=` or `=>` in the place of a colon, or a second colon. Returns false if that needs more text. */
  sign(code: number): boolean {
    const { text, at, isLast } = this.#cursor;
    if (at + 1 >= text.length && !isLast) return false;
    if (code === EQUALS && text.charCodeAt(at + 1) === GREATER_THAN) this.#cursor.at += 1;
    return this.character(REPAIR.colon);
  }

  /** Skips a comment or a superfluous character in front of a key: a comma, or the colon of a symbol of Ruby. */
  beforeKey(code: number): Verdict {
    switch (code) {
      case COMMA:
      case SEMICOLON:
        this.character(REPAIR.comma);
        return 'yes';
      case COLON:
        this.character(REPAIR.unquotedKey);
        return 'yes';
      case SLASH:
        return this.slash() ? 'yes' : 'wait';
      case HASH:
        this.line();
        return 'yes';
      case LESS_THAN:
        return this.comment(LESS_THAN);
      default:
        return 'no';
    }
  }

  /** Skips the comment of HTML that a `<` at the cursor opens, if it opens one. */
  html(): Verdict {
    return this.#cursor.text.charCodeAt(this.#cursor.at) === LESS_THAN ? this.comment(LESS_THAN) : 'no';
  }

  #skipComment(code: number): Verdict {
    if (code === SLASH) return this.#cursor.skipSlashComment();
    return code === HASH ? this.#cursor.skipHashComment() : this.#cursor.skipHtmlComment();
  }

  /** Skips the slash at the cursor, with the comment that it opens, if any. Returns false if that needs more text. */
  slash(): boolean {
    const opens = this.comment(SLASH);
    return opens === 'no' ? this.character(REPAIR.droppedText) : opens === 'yes';
  }
}

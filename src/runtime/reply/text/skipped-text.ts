import { SLASH } from './characters.ts';
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

  /** Skips the character at the cursor. */
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

  /** Skips the comment that a slash or a `#` at the cursor opens, if it opens one. */
  comment(code: number): Verdict {
    const opens = code === SLASH ? this.#cursor.skipSlashComment() : this.#cursor.skipHashComment();
    if (opens === 'yes') this.#sink.addRepair(REPAIR.comment);
    return opens;
  }

  /** Skips the slash at the cursor, with the comment that it opens, if any. Returns false if that needs more text. */
  slash(): boolean {
    const opens = this.comment(SLASH);
    return opens === 'no' ? this.character(REPAIR.droppedText) : opens === 'yes';
  }
}

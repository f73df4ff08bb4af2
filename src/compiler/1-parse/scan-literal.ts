/** Where a literal ends (exclusive), and whether its end was there. */
export interface Scanned {
  readonly end: number;
  readonly closed: boolean;
}

const NAME_CHARACTER = /[\p{L}\p{N}_]/u;
/** No language construct needs more; the sixth "#" is text. */
const MAX_HASHES = 5;

/** Characters looked at to recognise the head of a definition. */
const LONGEST_HEAD = 200;

/** A definition at the beginning of a line: where an unclosed literal is taken to have ended. */
const DECLARATION_LINE =
  /\n(?=(?:(?:class|enum|function|retry_policy|generator|test|template_string|client<llm>)[ \t]+[A-Za-z]\w*|type[ \t]+[A-Z]\w*[ \t]*=))/g;

/**
 * Finds the ends of literals in one source. It remembers what it searched for, and that a search ran to the end in
 * vain, so that a file full of unclosed literals still takes linear time.
 */
export class LiteralScanner {
  readonly #text: string;
  /** For each needle: no occurrence between `from` and `at`. */
  readonly #found = new Map<string, { readonly from: number; readonly at: number }>();
  /** After one literal without an end, the next ones of that kind have to close on their own line. */
  readonly #singleLine = new Set<string>();
  /** No closing inner quote before this offset. */
  readonly #innerQuoteAbsent = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
  }

  /** The first `needle` at or after `from`, or Infinity. */
  find(needle: string, from: number): number {
    const known = this.#found.get(needle);
    if (known !== undefined && known.from <= from && from <= known.at) return known.at;
    const index = this.#text.indexOf(needle, from);
    const at = index < 0 ? Infinity : index;
    this.#found.set(needle, { from, at });
    return at;
  }

  /**
   * A quoted string may span lines. But when the closing quote of a string that does is followed by a letter, then that
   * quote opens the next string, and this one was not closed on its own line.
   */
  quoted(start: number): Scanned {
    const lineEnd = this.lineEnd(start);
    const limit = this.#singleLine.has('"') ? lineEnd : this.#text.length;
    for (let at = start + 1; at < limit; at += 1) {
      const character = this.#text[at];
      if (character === '\\') at += 1;
      else if (character === '"') {
        const opensAnother = at > lineEnd && NAME_CHARACTER.test(this.#text[at + 1] ?? '');
        return opensAnother ? { end: lineEnd, closed: false } : { end: at + 1, closed: true };
      }
      if (at > lineEnd && this.#isDeclarationLine(at)) return { end: lineEnd, closed: false };
    }
    this.#singleLine.add('"');
    return { end: lineEnd, closed: false };
  }

  /** The number of "#" of a raw string that begins at `start`, or 0 when none does. */
  hashes(start: number): number {
    let count = 0;
    while (this.#text[start + count] === '#' && count < MAX_HASHES) count += 1;
    return this.#text[start + count] === '"' ? count : 0;
  }

  raw(start: number, hashes: number): Scanned {
    const closing = `"${'#'.repeat(hashes)}`;
    const at = this.find(closing, start + hashes + 1);
    if (at !== Infinity) return { end: at + closing.length, closed: true };
    DECLARATION_LINE.lastIndex = start;
    const next = DECLARATION_LINE.exec(this.#text);
    return { end: next === null ? this.#text.length : next.index, closed: false };
  }

  /** `{{ … }}`; braces inside the strings of the expression do not count. */
  expression(start: number): Scanned {
    const lineEnd = this.lineEnd(start);
    const limit = this.#singleLine.has('{{') ? lineEnd : this.#text.length;
    for (let at = start + 2; at < limit; at += 1) {
      const character = this.#text[at] ?? '';
      if (character === '}' && this.#text[at + 1] === '}') return { end: at + 2, closed: true };
      if (at > lineEnd && this.#isDeclarationLine(at)) return { end: lineEnd, closed: false };
      if (character === '"' || character === "'") at = this.#lastOfInnerString(at, character);
    }
    this.#singleLine.add('{{');
    return { end: lineEnd, closed: false };
  }

  /** Offset of the line break at or after `from`, or of the end of the text. */
  lineEnd(from: number): number {
    const end = Math.min(this.find('\n', from), this.#text.length);
    return this.#text[end - 1] === '\r' && end > from ? end - 1 : end;
  }

  /** The closing quote of a string that closes on its own line; `start` when none does (then it is an apostrophe). */
  #lastOfInnerString(start: number, quote: string): number {
    const lineEnd = this.lineEnd(start);
    if (lineEnd <= (this.#innerQuoteAbsent.get(quote) ?? -1)) return start;
    for (let at = start + 1; at < lineEnd; at += 1) {
      const character = this.#text[at];
      if (character === '\\') at += 1;
      else if (character === quote) return at;
    }
    this.#innerQuoteAbsent.set(quote, lineEnd);
    return start;
  }

  /** Whether a line begins at `at` that begins a definition. */
  #isDeclarationLine(at: number): boolean {
    if (this.#text[at - 1] !== '\n') return false;
    DECLARATION_LINE.lastIndex = 0;
    const next = DECLARATION_LINE.exec(this.#text.slice(at - 1, at + LONGEST_HEAD));
    return next !== null && next.index === 0;
  }
}

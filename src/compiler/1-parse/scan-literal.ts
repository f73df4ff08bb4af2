/** Where a literal ends (exclusive), and whether its end was there. */
export interface Scanned {
  readonly end: number;
  readonly closed: boolean;
}

const NAME_CHARACTER = /[\p{L}\p{N}_]/u;
/** No language construct needs more; the sixth "#" is text. */
const MAX_HASHES = 5;

/**
 * The head of a definition at the beginning of a line: where a literal or a bracket that was never closed is taken to
 * have ended. Prose may begin with the same words, but what follows a name tells them apart.
 */
export const DECLARATION_HEAD =
  /(?:(?:class|enum|function|retry_policy|generator|test|template_string|string_template)[ \t]+[A-Za-z_]\w*[ \t]*[({#=]|type[ \t]+\w+[ \t]*=|client[ \t]*<|client[ \t]+\w+[ \t]*\{|dynamic[ \t]+(?:class|enum)\b)/y;

const DECLARATION_LINE = new RegExp(String.raw`\n(?=${DECLARATION_HEAD.source})`, 'g');

/** What stands behind the closing quote of a string: the end of its line, of its list or its attribute, or a comment. */
const BEHIND_STRING = /[ \t]*(?:[)\]},@]|\/\/|\r?\n|$)/y;

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
   * quote opens the next string, and this one was not closed on its own line. So it is when a definition begins before
   * that quote, unless what is around the quote shows that it closes.
   */
  quoted(start: number): Scanned {
    const lineEnd = this.lineEnd(start);
    const limit = this.#singleLine.has('"') ? lineEnd : this.#text.length;
    let holdsDeclaration = false;
    for (let at = start + 1; at < limit; at += 1) {
      const character = this.#text[at];
      if (character === '\\') at += 1;
      else if (character === '"') {
        const closes = at <= lineEnd || (holdsDeclaration ? this.#surelyCloses(at) : !this.#opensAnother(at));
        return closes ? { end: at + 1, closed: true } : { end: lineEnd, closed: false };
      } else if (at > lineEnd) holdsDeclaration ||= this.#isDeclarationLine(at);
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

  #opensAnother(quote: number): boolean {
    return NAME_CHARACTER.test(this.#text[quote + 1] ?? '');
  }

  #surelyCloses(quote: number): boolean {
    BEHIND_STRING.lastIndex = quote + 1;
    return this.#text[quote - 1] !== '#' && BEHIND_STRING.test(this.#text);
  }

  /** Whether a line begins at `at` that begins a definition. */
  #isDeclarationLine(at: number): boolean {
    if (this.#text[at - 1] !== '\n') return false;
    DECLARATION_HEAD.lastIndex = at;
    return DECLARATION_HEAD.test(this.#text);
  }
}

import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  isDigit,
  isSpace,
  isWordCharacter,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
} from './characters.ts';

/** The quotes and brackets inside the string being read, which decide where it ends. */
export class InnerQuotes {
  /** The number of quotes taken as part of the string. */
  count = 0;
  /** The last of them opened a quotation that has not ended. */
  quoting = false;
  /** The number of brackets that are open inside the string, from the first call of `countBrackets` on. */
  brackets = 0;
  /** The code of the last character of the string, which can be gone from its node; 0 at its start. */
  lastCode = 0;
  /** The string ends in a comma and spaces so far. */
  afterComma = false;
  /** A " opened a quotation inside a string between other quotes. */
  isInDouble = false;
  /** The quotes inside the string are doubled, as in CSV. */
  #doubled = false;
  #counting = false;

  /** Prepares for another string. */
  clear(): void {
    this.count = 0;
    this.quoting = false;
    this.brackets = 0;
    this.lastCode = 0;
    this.afterComma = false;
    this.isInDouble = false;
    this.#doubled = false;
    this.#counting = false;
  }

  /** Takes a part of the string that contains no quotes. */
  take(part: string): void {
    if (this.#counting) this.#add(part);
    let last = part.length - 1;
    this.lastCode = part.charCodeAt(last);
    while (last >= 0 && isSpace(part.charCodeAt(last))) last -= 1;
    if (last >= 0) this.afterComma = part.charCodeAt(last) === COMMA;
  }

  /** Counts brackets from now on. `text`: the string so far. */
  countBrackets(text: string): void {
    if (this.#counting) return;
    this.#counting = true;
    this.#add(text);
  }

  #add(part: string): void {
    for (let at = 0; at < part.length; at += 1) {
      const code = part.charCodeAt(at);
      if (code === OPEN_BRACE || code === OPEN_BRACKET) this.brackets += 1;
      else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && this.brackets > 0) this.brackets -= 1;
    }
  }

  /**
   * Takes a quote as part of the string. An apostrophe between letters is not one of a pair. `next`: the character after
   * it; `isSingle`: the string is delimited by single quotes.
   */
  keep(quote: number, next: number, isSingle: boolean): void {
    if (!isSingle || !isWordCharacter(this.lastCode) || !isWordCharacter(next)) {
      this.count += 1;
      // A bracket alone in quotes opens nothing.
      if (this.quoting && this.brackets > 0 && isOpener(this.lastCode)) this.brackets -= 1;
      this.quoting = this.#beginsQuotation(next) || (!this.quoting && isSpace(this.lastCode));
    }
    this.lastCode = quote;
  }

  /** Does a quote before `next` begin a quotation rather than end one? */
  #beginsQuotation(next: number): boolean {
    if (isSpace(next)) return false;
    const before = this.lastCode;
    return before === 0 || isSpace(before) || isOpener(before) || BEFORE_QUOTATION.has(before);
  }

  // --- doubled quotes ------------------------------------------------------------------------------------------------

  /** Two quotes can be the end of the string, unless the first can be an inch mark: `A 27""`. `text`: the string so far. */
  canEndDoubled(text: string): boolean {
    if (this.count > 0 || this.#doubled || this.lastCode === 0) return false;
    return !isDigit(this.lastCode) || !INCHES.test(text.slice(-MAX_INCHES));
  }

  /** Are two quotes before `next` one, as in CSV? The first pair begins a quotation, or is an inch mark. */
  isDoubled(next: number): boolean {
    if (this.#doubled || this.count > 0 || this.lastCode === 0) return this.#doubled;
    return isSpace(next) ? isDigit(this.lastCode) : isWordCharacter(next) && this.#beginsQuotation(next);
  }

  takeDoubled(quote: number): void {
    this.#doubled = true;
    this.lastCode = quote;
  }
}

/**
 * Removes the quotes that enclose a whole string, or the only one, if it is first: the opening quote was doubled. `count`:
 * the number of quotes taken as part of the string.
 */
export function withoutQuotes(text: string, quote: string, count: number): string {
  if (text.length < 2 || !text.startsWith(quote)) return text;
  if (count === 1 && text.lastIndexOf(quote) === 0) return CLIPPED.test(text) ? text : text.slice(1);
  return count === 2 && text.length > 2 && text.endsWith(quote) ? text.slice(1, -1) : text;
}

/** A word whose first letters an apostrophe replaces. */
const CLIPPED = /^'(?:\d|(?:tis|twas|em|cause|bout|til|n|cos)\b)/iu;

/** A number of one or two digits at the start of a string, after a word, or after feet. */
const INCHES = /(?:^|(?:^|[^\d\s=+])\s+|[x×(]|['’])\d{1,2}(?:[.,/]\d{1,3})?$/u;
const MAX_INCHES = 20;

/** `=` `:` `,` `>` `-` `/` `—` */
const BEFORE_QUOTATION: ReadonlySet<number> = new Set([61, 58, 44, 62, 45, 47, 0x2014]);

function isOpener(code: number): boolean {
  return code === OPEN_BRACE || code === OPEN_BRACKET || code === OPEN_PAREN;
}

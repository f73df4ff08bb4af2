/** The end of a literal (exclusive), and whether the literal has a closing delimiter. */
interface Scanned {
  readonly end: number;
  readonly closed: boolean;
}

const NAME_CHARACTER = /[\p{L}\p{N}_]/u;
/** No language construct needs more; a sixth "#" is part of the text. */
const MAX_HASHES = 5;

/**
 * The head of a definition at the start of a line, which ends an unclosed literal or bracket. Prose can begin with the
 * same words, but not with the token that follows the name of a definition.
 */
export const DECLARATION_HEAD =
  /(?:(?:class|enum|function|retry_policy|generator|test|template_string|string_template)[ \t]+[A-Za-z_]\w*[ \t]*[({#=]|type[ \t]+\w+[ \t]*=|client[ \t]*<|client[ \t]+\w+[ \t]*\{|dynamic[ \t]+(?:class|enum)\b)/y;

const DECLARATION_LINE = new RegExp(String.raw`\n(?=${DECLARATION_HEAD.source})`, 'g');

/** Text that can follow the closing quote of a string: the end of its line, list or attribute, or a comment. */
const AFTER_STRING = /[ \t]*(?:[)\]},@]|\/\/|\r?\n|$)/y;

/**
 * Finds the ends of literals in one source. It remembers the results of its searches, also of those that found nothing,
 * so that a file full of unclosed literals still takes linear time.
 */
export class LiteralScanner {
  readonly #text: string;
  /** For each needle: no occurrence between `from` and `at`. */
  readonly #found = new Map<string, { readonly from: number; readonly at: number }>();
  /** Kinds of literals of which one was unterminated: the next ones of that kind must close on their own line. */
  readonly #singleLine = new Set<string>();
  /** No closing inner quote before this offset. */
  readonly #innerQuoteAbsent = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the offset of the first `needle` at or after `from`, or Infinity. */
  find(needle: string, from: number): number {
    const known = this.#found.get(needle);
    if (known !== undefined && known.from <= from && from <= known.at) return known.at;
    const index = this.#text.indexOf(needle, from);
    const at = index < 0 ? Infinity : index;
    this.#found.set(needle, { from, at });
    return at;
  }

  /**
   * A quoted string can span lines. But if a letter follows the closing quote of such a string, that quote opens the next
   * string, and this one is unterminated on its first line. The same holds if a definition begins before that quote,
   * unless the surroundings of the quote show that it closes a string.
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

  /** Returns the number of "#" of a raw string that begins at `start`, or 0 if none begins there. */
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

  /** `{{ … }}`, ignoring braces inside the strings of the expression. */
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

  /** Returns the offset of the line break at or after `from`, or of the end of the text. */
  lineEnd(from: number): number {
    const end = Math.min(this.find('\n', from), this.#text.length);
    return this.#text[end - 1] === '\r' && end > from ? end - 1 : end;
  }

  /** Returns the closing quote on the same line, or `start` if there is none: then it is an apostrophe. */
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
    AFTER_STRING.lastIndex = quote + 1;
    return this.#text[quote - 1] !== '#' && AFTER_STRING.test(this.#text);
  }

  /** Returns whether a line that begins a definition starts at `at`. */
  #isDeclarationLine(at: number): boolean {
    if (this.#text[at - 1] !== '\n') return false;
    DECLARATION_HEAD.lastIndex = at;
    return DECLARATION_HEAD.test(this.#text);
  }
}

/** Numbers as values and as literal types. */
export const UNQUOTED_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Characters that a value without quotes cannot contain. Closing brackets and commas end it. */
const FORBIDDEN = /[#@{([<>';]/;
const ENDS = new Set([',', ')', ']', '}']);
const OPENERS = new Set(['{', '(', '[']);
/** The beginning of a raw string also ends a value: the next key is on the same line. */
const RAW_STRING = /^#{1,5}"/;
/** The most characters between brackets inside an invalid value; the limit keeps the scan linear. */
const LONGEST_BRACKETS = 200;
const BEGINS_LIKE_NUMBER = /^-?\d/;
/** A comment can follow a number without a space. */
const NUMBER_BEFORE_COMMENT = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?=\/\/)/y;

/** The end of a value without quotes (exclusive), and whether the value is valid. */
export interface UnquotedValue {
  readonly end: number;
  readonly valid: boolean;
}

/**
 * Finds the end of the value without quotes at `start`: the end of the line, a comma, a closing bracket, or a comment
 * after a space. An invalid value includes the brackets that it opens, if they close on the same line.
 */
export function unquotedValue(text: string, start: number, lineEnd: number): UnquotedValue {
  NUMBER_BEFORE_COMMENT.lastIndex = start;
  const number = NUMBER_BEFORE_COMMENT.exec(text)?.[0];
  if (number !== undefined) return { end: start + number.length, valid: true };
  let end = start;
  let valid = true;
  let depth = 0;
  let beforeOpener = lineEnd;
  for (let at = start; at < lineEnd; at += 1) {
    const character = text[at] ?? '';
    if (depth === 0 && (ENDS.has(character) || beginsComment(text, at, start))) break;
    if (depth > 0 && at - beforeOpener > LONGEST_BRACKETS) break;
    if (depth === 0 && RAW_STRING.test(text.slice(at, at + 6))) break;
    if (FORBIDDEN.test(character)) valid = false;
    if (OPENERS.has(character)) {
      if (depth === 0) beforeOpener = at;
      depth += 1;
    } else if (ENDS.has(character) && character !== ',') depth -= 1;
    if (!isSpace(character)) end = at + 1;
  }
  if (depth > 0 && beforeOpener > start) end = start + text.slice(start, beforeOpener).trimEnd().length;
  return { end, valid: valid && !isBadNumber(text.slice(start, end)) };
}

function beginsComment(text: string, at: number, start: number): boolean {
  const isComment = text.startsWith('//', at) || text.startsWith('{//', at);
  return isComment && (at === start || isSpace(text[at - 1] ?? ''));
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\t';
}

function isBadNumber(value: string): boolean {
  return BEGINS_LIKE_NUMBER.test(value) && !UNQUOTED_NUMBER.test(value);
}

/** A longer integer is beyond the range of doubles. */
const LONGEST_INTEGER = 320;

/** True if a JavaScript number holds exactly the value of an integer: up to 2^53, and of some larger ones. */
export function isExactInteger(text: string): boolean {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return true;
  return text.length <= LONGEST_INTEGER && Number.isFinite(value) && BigInt(text) === BigInt(value);
}

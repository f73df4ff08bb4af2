/*
 * Python literals that JSON does not have: calls of constructors, tuples, sets, string prefixes, strings in several parts;
 * also arrays of PHP, hashes of Perl, and lists of tables in Lua. They become JSON; Python strings and constants stay,
 * because the scanner reads them.
 */

const SCALAR = String.raw`(?:"(?:[^"\\\n]|\\.){0,300}"|'(?:[^'\\\n]|\\.){0,300}'|-?\d{1,20}(?:\.\d{1,20})?|None|True|False)`;
const SCALARS = String.raw`\s*${SCALAR}(?:(?:\s*,\s*|\s+)${SCALAR}){0,50}\s*,?\s*`;

/** The first entry of an array in PHP or a hash in Perl. */
const ENTRY = String.raw`(?:'[^'\n]{0,80}'|"[^"\n]{0,80}"|[A-Za-z_]\w{0,60})\s*=>`;

/** A tuple, a group or a set of scalars as a value, or a string with a prefix. */
const VALUE = new RegExp(
  String.raw`(?:^|[[:,=(])\s*(?:\((?:${SCALARS}|\s*)\)\s*(?:[,)\]}\n]|$)|\{${SCALARS}\}|[fFrRbBuU]{1,2}["'])|(?:^|:)\s*\(\s*[[{]|\dL\s*[,}\])]|\barray\s?\(|\(\s*${ENTRY}|[=:]\s*\{\s*\{\s*[A-Za-z"'[]`,
  'u',
);

/** A call with named arguments. */
const NAMED = /[A-Za-z_]\w{0,60}\(\s*[A-Za-z_]\w{0,60}\s*=[^=]/u;

const CALL = /[A-Za-z_][\w.]{0,60}\(\s*(?=[A-Za-z_]\w{0,60}\s*=[^=]|\))/uy;
const ARGUMENT = /([A-Za-z_]\w{0,60})\s*=(?!=)\s*/uy;
const SET = new RegExp(String.raw`\{(?=${SCALARS}\})`, 'uy');
const ENTRIES = new RegExp(String.raw`(?:array\s?)?\(\s*(?=${ENTRY})`, 'iuy');
const ARRAY = /array\s?\(/iuy;
/** A list of tables in Lua. */
const TABLES = /\{(?=\s*\{\s*[A-Za-z"'[])/uy;
const PREFIXED = /[fFrRbBuU]{1,2}(?=["'])/uy;
const LONG = /(\d{1,20})L\b/uy;
/** A string ends where a delimiter follows its quote; otherwise at the first quote on its line. */
const STRING =
  /"""[^]*?"""|'''[^]*?'''|"(?:[^"\\]|\\[^])*"(?=\s*(?:[,:}\])]|$))|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'/uy;

/** Converts the Python literals in a text to JSON; undefined if there are none. */
export function fromPython(text: string): string | undefined {
  return VALUE.test(text) && !HAS_BACKTICKS.test(text) ? new PythonReader(text).read() : undefined;
}

/** The same for a text with calls of constructors, which can also be code in prose. */
export function fromPythonCalls(text: string): string | undefined {
  return NAMED.test(text) ? new PythonReader(text).read() : undefined;
}

/** A string in backticks, which Python does not have: Python inside it is text. */
const HAS_BACKTICKS = /[:[,]\s*`[^`]/u;

const MAX_SPACES = 100;
const CLOSERS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

interface Bracket {
  readonly close: string;
  /** True for the brackets of a call. */
  readonly isCall: boolean;
  /** The position of the opening bracket among the parts; -1 for brackets other than `(`. */
  readonly group: number;
  hasComma: boolean;
}

class PythonReader {
  readonly #text: string;
  readonly #parts: string[] = [];
  readonly #open: Bracket[] = [];
  #at = 0;
  /** The last character other than a space. */
  #before = '';
  /** True if a literal was converted. Parentheses around the whole value do not count. */
  #changed = false;
  /** True if a word follows a closing quote: some quote is missing, so strings and the text between them are mixed up. */
  #isAstray = false;
  /** The position of the last part if it is a string with only spaces after it so far; otherwise -1. */
  #string = -1;

  constructor(text: string) {
    this.#text = text;
  }

  read(): string | undefined {
    while (this.#at < this.#text.length) this.#step();
    const outer = this.#open[0];
    // A parenthesis at the start of the text that never closes is prose.
    if (outer !== undefined && outer.group >= 0) this.#parts[outer.group] = '(';
    return this.#changed && !this.#isAstray ? this.#parts.join('') : undefined;
  }

  #step(): void {
    const character = this.#text.charAt(this.#at);
    if (/\s/u.test(character)) this.#copy(character);
    else if (!this.#readWord(character) && !this.#readString(character)) this.#readMark(character);
  }

  #readWord(character: string): boolean {
    if (!/[\w]/u.test(character) || /[\w.]/u.test(this.#text.charAt(this.#at - 1))) return false;
    if (this.#match(ENTRIES) !== undefined) {
      this.#push('{', '}', false);
      return true;
    }
    if (this.#match(ARRAY) !== undefined) {
      this.#push('[', ']', false);
      return true;
    }
    if (this.#match(CALL) !== undefined) {
      this.#push('{', '}', true);
      return true;
    }
    const top = this.#open.at(-1);
    const key = top?.isCall === true && '({,'.includes(this.#before) ? this.#match(ARGUMENT)?.[1] : undefined;
    if (key !== undefined) return this.#emit(`"${key}": `, ':');
    if (this.#open.length > 0 && this.#match(PREFIXED) !== undefined)
      return this.#readString(this.#text.charAt(this.#at), true);
    const long = this.#open.length > 0 ? this.#match(LONG)?.[1] : undefined;
    return long !== undefined && this.#emit(long, '0');
  }

  /** Copies a string, or joins it to the one before it. `isPrefixed`: its backslashes can be raw. */
  #readString(quote: string, isPrefixed = false): boolean {
    if (this.#open.length === 0 || (quote !== '"' && quote !== "'")) return false;
    const isRaw = isPrefixed && /[rR]/u.test(this.#text.slice(Math.max(0, this.#at - 2), this.#at));
    const string = this.#match(STRING)?.[0];
    if (string === undefined) return false;
    if (/\w/u.test(this.#text.charAt(this.#at))) this.#isAstray = true;
    const written = isRaw ? string.replaceAll('\\', String.raw`\\`) : string;
    const inGroup = (this.#open.at(-1)?.group ?? -1) >= 0;
    const first = this.#parts[this.#string];
    if (inGroup && first?.endsWith(quote) === true) {
      this.#parts[this.#string] = first.slice(0, -1) + written.slice(1);
      this.#parts.length = this.#string + 1; // Drops the spaces between the two.
      this.#changed = true;
      return true;
    }
    this.#emit(written, quote);
    this.#string = this.#parts.length - 1;
    return true;
  }

  #readMark(character: string): void {
    const top = this.#open.at(-1);
    if (character === '{' && this.#match(SET) !== undefined) return this.#push('[', ']', false);
    if (character === '{' && '=:'.includes(this.#before || ' ') && this.#match(TABLES) !== undefined)
      return this.#push('[', ']', false);
    if (character === '(' && this.#isValuePlace() && this.#match(ENTRIES) !== undefined)
      return this.#push('{', '}', false);
    if (character === ',' && top !== undefined) top.hasComma = true;
    if (character === '(' && this.#isValuePlace()) this.#push('[', ']', false, this.#parts.length);
    else if (character in CLOSERS && (character !== '(' || top !== undefined)) {
      this.#push(character, CLOSERS[character] ?? '', false);
    } else if (')]}'.includes(character) && top !== undefined) this.#close(top);
    else return this.#copy(character);
    this.#at += 1;
  }

  /** A parenthesis opens a tuple or a group in place of a value, also at the start of the text. */
  #isValuePlace(): boolean {
    return this.#before === '' || (this.#open.length > 0 && '[(:,={'.includes(this.#before));
  }

  #push(open: string, close: string, isCall: boolean, group = -1): void {
    this.#open.push({ close, isCall, group, hasComma: false });
    this.#emit(open, isCall ? '(' : open);
  }

  /** Closes a bracket. Parentheses around a single value are dropped, and those in a text without quotes stay. */
  #close({ close, group, hasComma }: Bracket): void {
    this.#open.pop();
    if (group >= 0 && !/^\)\s*(?:[,)\]}\n]|$)/u.test(this.#text.slice(this.#at, this.#at + MAX_SPACES))) {
      this.#parts[group] = '(';
      this.#emit(')', ')');
      return;
    }
    const isGroup = group >= 0 && !hasComma && this.#parts.length > group + 1;
    if (group >= 0 && (!isGroup || this.#open.length > 0)) this.#changed = true;
    if (isGroup) this.#parts[group] = '';
    this.#emit(isGroup ? '' : close, close);
  }

  /** Copies a character, and the one after a backslash with it: an escaped quote opens no string. */
  #copy(character: string): void {
    this.#parts.push(character === '\\' ? this.#text.slice(this.#at, this.#at + 2) : character);
    this.#at += character === '\\' ? 2 : 1;
    if (/\s/u.test(character)) return;
    this.#before = character;
    this.#string = -1;
  }

  /** Writes a part. Always returns true. */
  #emit(part: string, before: string): true {
    this.#parts.push(part);
    this.#before = before;
    this.#string = -1;
    return true;
  }

  /** Returns the match at the position and moves past it. */
  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at += match[0].length;
    if (pattern !== STRING) this.#changed = true;
    return match;
  }
}

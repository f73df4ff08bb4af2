import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DOUBLE_QUOTE,
  isDigit,
  isSpace,
  MINUS,
  skipSpace,
} from './characters.ts';
import { MAX_DEPTH } from './open-containers.ts';

/** Escapes that JSON.stringify writes the same way: n t r b f " \ */
const CANONICAL_ESCAPES = new Set([110, 116, 114, 98, 102, DOUBLE_QUOTE, BACKSLASH]);

/**
 * Walks over strict JSON on behalf of a type that knows what comes next. Any surprise ends the walk, and the tolerant
 * reader starts over, so nothing here has to explain or repair anything.
 */
export class ExactScanner {
  at: number;
  readonly text: string;
  #depth = 0;

  constructor(text: string, from: number) {
    this.text = text;
    this.at = from;
  }

  /** The next character after spaces, not taken. */
  peek(): number {
    const code = this.text.charCodeAt(this.at);
    if (code > 32) return code;
    this.at = skipSpace(this.text, this.at);
    return this.text.charCodeAt(this.at);
  }

  /** Takes a word such as `null`; false when something else stands here. */
  word(word: string): boolean {
    this.peek();
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  /** Takes the bracket that opens a list or object; false when there is none, or too many. */
  open(bracket: number): boolean {
    if (this.peek() !== bracket || this.#depth >= MAX_DEPTH) return false;
    this.#depth += 1;
    this.at += 1;
    return true;
  }

  /** After a member: `more` past a comma, `end` past the bracket that closes; undefined for anything else. */
  next(bracket: number): 'more' | 'end' | undefined {
    const code = this.peek();
    if (code !== COMMA && code !== bracket) return undefined;
    this.at += 1;
    if (code === COMMA) return 'more';
    this.#depth -= 1;
    return 'end';
  }

  /** True past the bracket that closes an empty list or object. */
  isEmpty(bracket: number): boolean {
    if (this.peek() !== bracket) return false;
    this.at += 1;
    this.#depth -= 1;
    return true;
  }

  /** The text of a key without escapes, its colon taken. */
  key(): string | undefined {
    if (this.peek() !== DOUBLE_QUOTE) return undefined;
    const from = this.at + 1;
    const end = this.text.indexOf('"', from);
    if (end < 0) return undefined;
    const key = this.text.slice(from, end);
    if (key.includes('\\')) return undefined;
    this.at = end + 1;
    if (this.peek() !== COLON) return undefined;
    this.at += 1;
    return key;
  }

  /** The JSON text of a string, quotes included, as JSON.stringify would write it. */
  string(): string | undefined {
    if (this.peek() !== DOUBLE_QUOTE) return undefined;
    const { text } = this;
    let canonical = true;
    let end = this.at + 1;
    for (; ; end += 1) {
      const code = text.charCodeAt(end);
      if (code === DOUBLE_QUOTE) break;
      if (code === BACKSLASH) {
        end += 1;
        canonical &&= CANONICAL_ESCAPES.has(text.charCodeAt(end));
      } else if (!(code >= 32)) return undefined;
    }
    const source = text.slice(this.at, end + 1);
    this.at = end + 1;
    return canonical ? source : rewritten(source);
  }

  /** A number as it is written, when it stands as JSON has it. */
  number(): string | undefined {
    const first = this.peek();
    if (first !== MINUS && !isDigit(first)) return undefined;
    let end = this.at + 1;
    while (end < this.text.length && isNumberCharacter(this.text.charCodeAt(end))) end += 1;
    if (!isEnd(this.text.charCodeAt(end))) return undefined;
    const source = this.text.slice(this.at, end);
    this.at = end;
    return source;
  }
}

function rewritten(source: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(source));
  } catch {
    return undefined;
  }
}

function isNumberCharacter(code: number): boolean {
  return isDigit(code) || code === 46 || (code | 32) === 101 || code === MINUS || code === 43;
}

function isEnd(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || isSpace(code);
}

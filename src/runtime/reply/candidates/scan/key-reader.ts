import {
  BACKSLASH,
  CLOSE_BRACE,
  closersOf,
  codeAt,
  COLON,
  COMMA,
  DOUBLE_QUOTE,
  EQUALS,
  isSpace,
  isWordCharacter,
  LINE_FEED,
  RIGHT_QUOTE,
  skipSpace,
} from './characters.ts';
import { type Cursor, Ahead, LOOK_AHEAD, type Verdict } from './cursor.ts';
import { REPAIR } from './reply-node.ts';
import type { LikelyKey } from './tree-sink.ts';

/** How a key without quotes ended: before its colon, before a value with the colon missing, or as text to drop; `wait` if that needs more text. */
export type BareKeyEnd = 'colon' | 'value' | 'dropped' | 'wait';

/** Reads keys that need no string reader: without quotes, or with the colon directly after the closing quote. */
export class KeyReader {
  /** The last key read, or the text to drop. */
  key = '';
  /** The repairs that the last key of `readBare` took, as bits of REPAIR. */
  repairs = 0;
  readonly #cursor: Cursor;

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  /**
   * Takes `"key":` if all of it is at the cursor. `likely`: the key that probably comes next. A key whose end has not
   * arrived is waited for, and then read again from its start, unless it is long.
   */
  quick(likely: LikelyKey | undefined): Verdict {
    const { text, at, isLast } = this.#cursor;
    if (likely !== undefined && text.startsWith(likely.writtenKey, at)) {
      return this.#take(likely.key, at + likely.writtenKey.length);
    }
    let end = at + 1;
    for (; ; end += 1) {
      if (end >= text.length) return isLast || end - at > LOOK_AHEAD ? 'no' : 'wait';
      const code = text.charCodeAt(end);
      if (code === DOUBLE_QUOTE) break;
      if (code === BACKSLASH || code === RIGHT_QUOTE || code < 32) return 'no';
    }
    const colon = skipSpace(text, end + 1);
    if (codeAt(text, colon) === COLON) return this.#take(text.slice(at + 1, end), colon + 1);
    return colon < text.length || isLast || colon - at > LOOK_AHEAD ? 'no' : 'wait';
  }

  /**
   * Takes `"key:` whose closing quote is missing: a string in quotes, a number, a word of JSON, a list or an object follows.
   * The next quote is not the one of a key.
   */
  unclosed(): Verdict {
    const { text, at, isLast } = this.#cursor;
    const limit = Math.min(text.length, at + LOOK_AHEAD);
    let end = at + 1;
    while (end < limit && !ENDS_KEY.has(text.charCodeAt(end))) end += 1;
    const quote = text.charCodeAt(end);
    if (quote === BACKSLASH || end - at >= LOOK_AHEAD) return 'no';
    if (end + 1 >= text.length && quote !== LINE_FEED && !isLast) return 'wait';
    const [whole, value = ''] = UNCLOSED.exec(text.slice(at + 1, end)) ?? [];
    if (whole === undefined || (value === '' && (quote !== DOUBLE_QUOTE || endsHere(text.charCodeAt(end + 1)))))
      return 'no';
    const colon = at + 1 + whole.indexOf(':');
    return this.#take(text.slice(at + 1, colon), colon + 1);
  }

  /** Takes `key:` if all of it is at the cursor and the key needs no cleaning. `likely`: the key that probably comes next. */
  quickBare(likely: LikelyKey | undefined): boolean {
    const { text, at } = this.#cursor;
    if (likely !== undefined && text.startsWith(likely.key, at)) {
      const colon = at + likely.key.length;
      if (codeAt(text, colon) === COLON && colon > at) return this.#take(likely.key, colon + 1) === 'yes';
    }
    let end = at;
    while (end < text.length && text.charCodeAt(end) < 128 && isWordCharacter(text.charCodeAt(end))) end += 1;
    return end > at && codeAt(text, end) === COLON && this.#take(text.slice(at, end), end + 1) === 'yes';
  }

  #take(key: string, to: number): 'yes' {
    this.key = key;
    this.#cursor.at = to;
    return 'yes';
  }

  /** Begins a key without quotes at the cursor. */
  openBare(): void {
    this.key = '';
  }

  /** Reads on. Returns undefined while more of the key can follow. */
  readBare(): BareKeyEnd | undefined {
    const { text, at: start } = this.#cursor;
    for (let at = start; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (isWordCharacter(code) && !isTypographicQuote(code)) continue;
      if (code === COLON || (code === EQUALS && (at > start || this.key !== ''))) return this.#end(at, 'colon');
      if (code === COMMA || code === CLOSE_BRACE || code === LINE_FEED) return this.#end(at, 'dropped');
      const isQuote = code === DOUBLE_QUOTE || isTypographicQuote(code);
      if (isQuote && isSpace(this.#before(at, start))) return this.#endAtQuote(at);
    }
    this.key += text.slice(start);
    this.#cursor.at = text.length;
    return undefined;
  }

  /** A quote after a space opens the next key after a stray word, or the value of a key without a colon. */
  #endAtQuote(at: number): BareKeyEnd {
    const { text, isLast } = this.#cursor;
    const ahead = new Ahead(text, at, isLast);
    const isKey = ahead.key(at) !== undefined;
    return ahead.isShort ? 'wait' : this.#end(at, isKey ? 'dropped' : 'value');
  }

  /** The character of the key before `at`, which can be part of an earlier delta. */
  #before(at: number, start: number): number {
    return at > start ? this.#cursor.text.charCodeAt(at - 1) : this.key.charCodeAt(this.key.length - 1);
  }

  #end(at: number, end: BareKeyEnd): BareKeyEnd {
    const rest = this.#cursor.text.slice(this.#cursor.at, at);
    const source = (this.key === '' ? rest : this.key + rest).trim();
    this.repairs = ESCAPED.test(source) ? REPAIR.unquotedKey | REPAIR.escape : REPAIR.unquotedKey;
    this.key = plainKey(source);
    this.#cursor.at = at;
    return end;
  }
}

/** True for “ and its like. */
function isTypographicQuote(code: number): boolean {
  return code >= 128 && closersOf(code) !== '';
}

const ENDS_KEY: ReadonlySet<number> = new Set([DOUBLE_QUOTE, LINE_FEED, BACKSLASH]);

/** A key without its closing quote, and the first characters of its value; these are empty if a quote follows. */
const UNCLOSED = /^[\p{L}\p{N}_$][\p{L}\p{N}_$ .-]*:[ \t]*(?:(-?\d|true\b|false\b|null\b|[[{]).*)?$/su;

/** True for a character after a quote that closes a string, rather than opens one. */
function endsHere(code: number): boolean {
  return !(code > 32) || ENDS_STRING.includes(String.fromCharCode(code));
}

const ENDS_STRING = ',:=}]{[';

/** A backslash or an entity in a key: the whole reply can be escaped. */
const ESCAPED = /\\|&#?\w+;/u;

/** Removes the closing quote of a key whose opening quote is missing, and backslashes before punctuation. */
function plainKey(key: string): string {
  const open = closersOf(key.charCodeAt(key.length - 1)) === '' ? key : key.slice(0, -1);
  return !open.includes('\\') ? open : open.replaceAll(/\\(?=[\W_])/gu, '');
}

import { BACKSLASH, DOUBLE_QUOTE } from '../text/characters.ts';
import { GrowingText } from '../text/growing-text.ts';
import type { ReaderCursor } from '../text/reader-cursor.ts';
import { isCanonicalEscape, rewritten } from './json-text.ts';

/** Where reading on stopped: at the closing quote, at the end of what has arrived, or at something that is no JSON. */
export type OpenTextStop = 'quote' | 'end' | 'surprise';

/** A text between double quotes whose end has not arrived yet. What has arrived is JSON text already. */
export class OpenText {
  readonly #cursor: ReaderCursor;
  #json = new GrowingText();

  constructor(cursor: ReaderCursor) {
    this.#cursor = cursor;
  }

  /** The JSON text so far, with both quotes. */
  get json(): string {
    return `"${this.#json.text}"`;
  }

  /** Begins the text whose opening quote is at the cursor. */
  begin(): void {
    this.#json = new GrowingText();
    this.#cursor.at += 1;
  }

  /** Takes in what is at hand, up to the closing quote. */
  read(): OpenTextStop {
    const { text, at: start } = this.#cursor;
    let canonical = true;
    let at = start;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      if (code === DOUBLE_QUOTE) return this.#take(start, at, canonical) ? 'quote' : 'surprise';
      if (code < 32) return 'surprise';
      if (code === BACKSLASH) {
        const length = escapeLength(text, at);
        if (at + length > text.length) break;
        canonical &&= isCanonicalEscape(text.charCodeAt(at + 1));
        at += length;
      } else at += 1;
    }
    return this.#take(start, beforeHalf(text, start, at), canonical) ? 'end' : 'surprise';
  }

  #take(from: number, to: number, canonical: boolean): boolean {
    if (to <= from) return true;
    const source = this.#cursor.text.slice(from, to);
    const json = canonical ? source : rewritten(`"${source}"`)?.slice(1, -1);
    if (json === undefined) return false;
    this.#json.append(json);
    this.#cursor.at = to;
    return true;
  }
}

function escapeLength(text: string, at: number): number {
  return text.charCodeAt(at + 1) === 117 ? 6 : 2;
}

/** `to`, or the start of the half of a surrogate pair that ends there: it waits for the other half. */
function beforeHalf(text: string, from: number, to: number): number {
  if (to > from && isHigh(text.charCodeAt(to - 1))) return to - 1;
  const escape = to - 6;
  const isEscape = escape >= from && text.startsWith('\\u', escape) && isHigh(parseInt(text.slice(escape + 2, to), 16));
  return isEscape ? escape : to;
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

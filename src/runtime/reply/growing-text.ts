import { GrowingText, type TextParts } from '../../base/text-parts.ts';

/** The JSON text of a string that grows. */
export class GrowingString {
  readonly #json = new GrowingText();
  /** Half of a surrogate pair that waits for the other half. */
  #half = '';
  #length = 0;

  /** Appends the part of `text` that is new since the last call. */
  growTo(text: string): void {
    if (text.length === this.#length) return;
    this.append(text.slice(this.#length), false);
    this.#length = text.length;
  }

  /** `plain`: true if the text needs no escapes. */
  append(text: string, plain: boolean): void {
    const all = this.#half + text;
    const last = all.charCodeAt(all.length - 1);
    this.#half = last >= 0xd800 && last <= 0xdbff ? all.slice(-1) : '';
    const whole = this.#half === '' ? all : all.slice(0, -1);
    this.#json.append(plain ? whole : JSON.stringify(whole).slice(1, -1));
  }

  get json(): TextParts {
    return ['"', this.#json.parts, '"'];
  }

  /** The JSON text, for callers that read it as a whole. */
  get text(): string {
    return `"${this.#json.text}"`;
  }

  /** The length of the JSON text. */
  get size(): number {
    return this.#json.length + 2;
  }

  /** Returns the JSON text of the whole string. */
  end(): string {
    if (this.#half !== '') this.#json.append(JSON.stringify(this.#half).slice(1, -1));
    return `"${this.#json.joined}"`;
  }
}

/** Shorter texts are not worth the call. Longer ones consist of flat texts already and may be part of an even longer one. */
const FLATTENED = { from: 100, to: 4096 };

/**
 * Flattens a text that was concatenated from parts. V8's tree of them is many times larger than the text, and with
 * thousands of members it outlives the young generation.
 */
export function flatten(text: string): void {
  if (text.length >= FLATTENED.from && text.length < FLATTENED.to) text.charCodeAt(0);
}

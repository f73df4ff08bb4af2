import type { TextParts } from '../../base/text-parts.ts';

/** The length from which the end of a text becomes a block. */
export const BLOCK = 12_288;

/** The text after the first block is copied into it when it reaches this length and an eighth of the block. */
const SETTLE_FROM = 4096;

/**
 * A text that only grows. V8 keeps a concatenation as a tree until something reads it, so the text consists of blocks of flat text,
 * and the deltas that they came from are released early.
 */
export class GrowingText {
  #blocks: string[] = [];
  #recent = '';
  length = 0;

  append(text: string): void {
    this.length += text.length;
    this.#recent += text;
    if (this.#recent.length < BLOCK) return;
    this.#recent.charCodeAt(0); // flattens
    this.#blocks.push(this.#recent);
    this.#recent = '';
  }

  /** The parts of the text so far, to be read before it grows. */
  get parts(): TextParts {
    return this.#blocks.length === 0 ? this.#recent : [this.#blocks, this.#recent];
  }

  /** The text, for callers that read it as a whole again and again. */
  get text(): string {
    const settled = this.#blocks[0]?.length ?? 0;
    const all = this.joined;
    if (all.length - settled >= SETTLE_FROM + settled / 8) {
      all.charCodeAt(0); // flattens
      this.#blocks = [all];
      this.#recent = '';
    }
    return all;
  }

  /** The text, for callers that read it for the last time. */
  get joined(): string {
    let all = '';
    for (const block of this.#blocks) all += block;
    return all + this.#recent;
  }
}

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

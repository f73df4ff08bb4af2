const BLOCK = 4096;

/** The text after the settled part is copied into it when it reaches this length and an eighth of the settled part. */
const SETTLE_FROM = 4096;

/**
 * A text that only grows and is often read as a whole. V8 keeps a concatenation as a tree until something reads it, and
 * reading a large tree again and again costs far more than copying flat text. This class therefore flattens the front
 * of the text from time to time.
 */
export class GrowingText {
  #settled = '';
  /** Blocks of flat text, so that the deltas they came from are released early. */
  #blocks = '';
  #recent = '';

  append(text: string): void {
    this.#recent += text;
    if (this.#recent.length < BLOCK) return;
    this.#recent.charCodeAt(0); // flattens
    this.#blocks += this.#recent;
    this.#recent = '';
  }

  get isEmpty(): boolean {
    return this.#recent === '' && this.#blocks === '' && this.#settled === '';
  }

  /** The text, for callers that read it again after it has grown. */
  get text(): string {
    if (this.#blocks.length + this.#recent.length >= SETTLE_FROM + this.#settled.length / 8) {
      this.#settled += this.#blocks + this.#recent;
      this.#blocks = '';
      this.#recent = '';
      this.#settled.charCodeAt(0); // flattens
    }
    return this.joined;
  }

  /** The text, for callers that read it for the last time. */
  get joined(): string {
    return this.#settled + this.#blocks + this.#recent;
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

  get json(): string {
    return `"${this.#json.text}"`;
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

const BLOCK = 4096;

/** Text behind the settled part is copied into it once it is this long, and an eighth of the settled part. */
const SETTLE_FROM = 4096;

/**
 * A text that only grows and is often read whole. V8 keeps a sum of strings as a tree until somebody reads it; reading
 * a large tree again and again costs far more than copying flat text, so the front is flattened now and then as it is read.
 */
export class GrowingText {
  #settled = '';
  /** Blocks of flat text, so that the parts they came in are let go of soon. */
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

  /** The text, which will be read again when more of it is there. */
  get text(): string {
    if (this.#blocks.length + this.#recent.length >= SETTLE_FROM + this.#settled.length / 8) {
      this.#settled += this.#blocks + this.#recent;
      this.#blocks = '';
      this.#recent = '';
      this.#settled.charCodeAt(0); // flattens
    }
    return this.joined;
  }

  /** The text, read for the last time. */
  get joined(): string {
    return this.#settled + this.#blocks + this.#recent;
  }
}

/** The JSON text of a string that grows. */
export class GrowingString {
  readonly #json = new GrowingText();
  #done = 0;

  /** Takes in what `text` has beyond what it had last time; half of a surrogate pair waits for the other half. */
  growTo(text: string): void {
    const last = text.charCodeAt(text.length - 1);
    const end = last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
    if (end <= this.#done) return;
    this.#json.append(JSON.stringify(text.slice(this.#done, end)).slice(1, -1));
    this.#done = end;
  }

  get json(): string {
    return `"${this.#json.text}"`;
  }
}

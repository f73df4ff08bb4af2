/**
 * A text, or its parts in order. Long texts that grow and are written again and again are not joined: V8 would have to copy all of
 * a text to write it, and a copy of more than 100 KB costs far more than writing its parts.
 */
export type TextParts = string | readonly TextParts[];

/** Shorter parts are joined with their neighbors. */
const SHORT_PART = 1024;

/** Returns the parts of a text as one list. */
export function textParts(text: TextParts): readonly string[] {
  const parts: string[] = [];
  const rest = gather(text, parts, '');
  if (rest !== '') parts.push(rest);
  return parts;
}

/** Appends parts. Returns the short ones at the end, which are not appended yet. `before`: those before the text. */
function gather(text: TextParts, parts: string[], before: string): string {
  let short = before;
  if (typeof text !== 'string') for (const each of text) short = gather(each, parts, short);
  else if (text.length < SHORT_PART) short += text;
  else {
    if (short !== '') parts.push(short);
    parts.push(text);
    short = '';
  }
  return short;
}

/** Returns the number of UTF-16 units in all parts. */
export function lengthOfParts(parts: readonly string[]): number {
  let length = 0;
  for (const part of parts) length += part.length;
  return length;
}

/** Returns the whole text, which V8 copies together when something reads it. */
export function joinParts(parts: readonly string[]): string {
  let text = '';
  for (const part of parts) text += part;
  return text;
}

/** True for the same text, whatever its parts. */
export function isSameText(parts: readonly string[], others: readonly string[]): boolean {
  return lengthOfParts(parts) === lengthOfParts(others) && joinParts(parts) === joinParts(others);
}

/** The length from which the end of a text becomes a block. */
const BLOCK = 12_288;

/** Most texts are short. */
const NO_BLOCKS: string[] = [];

/** The text after the first block is copied into it when it reaches this length and an eighth of the block. */
const SETTLE_FROM = 4096;

/**
 * A text that only grows. V8 keeps a concatenation as a tree until something reads it, so the text consists of blocks of flat text,
 * and the deltas that they came from are released early.
 */
export class GrowingText {
  #blocks = NO_BLOCKS;
  #recent = '';
  length = 0;

  append(text: string): void {
    this.length += text.length;
    this.#recent += text;
    if (this.#recent.length < BLOCK) return;
    this.#recent.charCodeAt(0); // flattens
    if (this.#blocks === NO_BLOCKS) this.#blocks = [this.#recent];
    else this.#blocks.push(this.#recent);
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

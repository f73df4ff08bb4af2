import { BOLD, type Line } from './outline-lines.ts';

/*
 * Blocks of lines that belong together. A line without a key or a marker belongs to the text above, or is an aside: it is text of
 * its item, but of no key.
 */

/**
 * Splits the lines into blocks of lines with keys or markers and the lines that belong to them. Prose between two blocks
 * separates them, and so does a sentence that ends in a colon.
 */
export function blocksOf(lines: readonly Line[]): Line[][] {
  const blocks = new Blocks();
  for (const line of lines) blocks.add(line);
  return blocks.all.length > MAX_BLOCKS ? [] : blocks.all.map((each) => withHeadings(each));
}

class Blocks {
  readonly all: Line[][] = [];
  #block: Line[] = [];
  /** The last line with a key or a marker. */
  #owner: Line | undefined;
  /** The last number of an item at the column of the block. */
  #count = 0;
  /** The lines after the block that belong to it only if it continues. */
  #passed: Line[] = [];

  add(line: Line): void {
    if (line.marked || line.key !== undefined) this.#addOwner(line);
    else if (this.#passed.length === 0 && this.#belongs(line)) this.#block.push(line);
    else if (this.#block.length > 0) this.#passed.push(line);
  }

  #addOwner(line: Line): void {
    const [first] = this.#block;
    if (first === undefined || !this.#continues(line, first)) {
      this.#block = [];
      this.all.push(this.#block);
    } else for (const passed of this.#settled()) this.#block.push(passed);
    this.#passed = [];
    this.#block.push(line);
    this.#owner = line;
    if (line.depth === this.#block[0]?.depth) this.#count = numberOf(line);
  }

  /** A line without a key belongs to the text of the key or item above it. */
  #belongs(line: Line): boolean {
    const owner = this.#owner;
    const last = this.#block.at(-1);
    if (owner === undefined || last === undefined) return false;
    if (line.fence !== undefined || last.fence !== undefined) return line.fence !== undefined;
    if (owner.depth < 0 && line.gap && last !== owner && (line.ruled || CLOSING.test(line.whole))) return false;
    if (owner.key === undefined) return line.depth > owner.depth || (!line.gap && goesOn(last, line));
    if (line.depth > owner.inner) return true;
    if (owner.text !== '') return !line.gap && line.depth >= owner.depth && goesOn(last, line);
    return line.depth >= owner.depth && (last === owner || !line.gap);
  }

  /** True if a line continues the block in spite of the lines without a key before it. */
  #continues(line: Line, first: Line): boolean {
    if (this.#passed.every(({ depth }) => depth > first.depth)) return true;
    if (line.depth === first.depth && this.#count > 0 && numberOf(line) === this.#count + 1) return true;
    if (BOLD.test(first.raw) && BOLD.test(line.raw)) return true;
    const isInside = !line.gap && this.#passed.every(({ gap }) => !gap);
    return isInside && !line.marked && !first.marked && line.depth === first.depth && line.key !== first.key;
  }

  /** Returns the passed lines as the rest of the text above, or as asides. */
  #settled(): readonly Line[] {
    const isText = this.#owner?.key !== undefined && isProse(this.#owner.text) && this.#passed.every(({ gap }) => !gap);
    return isText ? this.#passed : this.#passed.map((line) => ({ ...line, aside: true }));
  }
}

/** The words with which a model ends its reply. */
const CLOSING =
  /^(?:i hope|hope this|let me know|please let me|feel free|if you(?: need|['’]d| would| have| want)|would you like|is there anything|happy to)\b/iu;

/** True for a line that begins in the middle of the sentence above. */
function goesOn(above: Line, line: Line): boolean {
  return /^\p{Ll}/u.test(line.whole) && /\p{L}/u.test(above.text) && !/[.!?:;…]["'”»)*_]{0,3}$/u.test(above.text);
}

/** The fewest words of a value that is prose. */
const FEWEST_WORDS = 3;

function isProse(text: string): boolean {
  return (text.match(/\p{L}{2,}/gu)?.length ?? 0) >= FEWEST_WORDS;
}

/** Returns the number of an item; 0 if it has none. */
function numberOf({ marked, raw }: Line): number {
  return marked ? Number(/^\(?(\d{1,4})/u.exec(raw)?.[1] ?? 0) : 0;
}

/** Makes bold lines the headings of the keys below them, if a block begins with one and each of several has keys below. */
function withHeadings(block: readonly Line[]): Line[] {
  const isHeading = (line: Line, at: number) => BOLD.test(line.raw) && isKey(block[at + 1], line.depth);
  const isHeaded = BOLD.test(block[0]?.raw ?? '') && block.filter(isHeading).length > 1;
  return isHeaded && block.every((line, at) => !BOLD.test(line.raw) || isHeading(line, at))
    ? block.map((line) => (BOLD.test(line.raw) ? { ...line, depth: -1, inner: -1 } : line))
    : [...block];
}

function isKey(line: Line | undefined, depth: number): boolean {
  return line?.key !== undefined && line.text !== '' && !line.marked && line.depth === depth;
}

/** A text with more blocks is prose. */
const MAX_BLOCKS = 20;

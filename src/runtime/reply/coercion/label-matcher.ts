import { foldAccents, isAscii } from './folding.ts';

/** A string that represents one value of an enum, or one literal. */
export interface Label {
  readonly text: string;
  /** The JSON text of the value. */
  readonly json: string;
}

export type LabelMatch =
  | { readonly kind: 'match'; readonly json: string; readonly cost: number; readonly flag: string | undefined }
  | { readonly kind: 'ambiguous'; readonly labels: readonly string[] }
  | { readonly kind: 'none' };

const NONE: LabelMatch = { kind: 'none' };

type Fold = (text: string) => string;

const identity: Fold = (text) => text;
const lower: Fold = (text) => foldAccents(text.toLowerCase());
const bareLower: Fold = (text) => stripPunctuation(lower(text));

/** The ways to compare a string with a label, from strict to loose, with their costs. */
const FOLDS: readonly { readonly fold: Fold; readonly cost: number; readonly flag: string | undefined }[] = [
  { fold: identity, cost: 0, flag: undefined },
  { fold: foldAccents, cost: 1, flag: 'accents' },
  { fold: stripPunctuation, cost: 3, flag: 'punctuation' },
  { fold: lower, cost: 3, flag: 'letter-case' },
  { fold: bareLower, cost: 3, flag: 'punctuation' },
];

/**
 * Finds the label that a string means: first as the whole string, compared ever more loosely, then inside the string,
 * where a longer label hides the shorter ones that are part of it, also in another letter case: `Not guilty` is not
 * `guilty`. Folded labels are created on first use and kept.
 */
export class LabelMatcher {
  readonly #labels: readonly Label[];
  readonly #onSeveral: 'frequent' | 'first';
  readonly #exact = new Map<string, string>();
  readonly #folded: (readonly string[] | undefined)[] = [];
  #spellings: readonly Spelling[] | undefined = undefined;

  /**
   * `onSeveral`: the meaning of a string that contains several values. `frequent`: the one that occurs most often; if several
   * occur equally often, the string is ambiguous. `first`: the one that is declared first.
   */
  constructor(labels: readonly Label[], onSeveral: 'frequent' | 'first' = 'frequent') {
    this.#labels = labels;
    this.#onSeveral = onSeveral;
    for (const label of labels) if (!this.#exact.has(label.text)) this.#exact.set(label.text, label.json);
  }

  /** Returns the value whose label is exactly this string. */
  exact(text: string): string | undefined {
    return this.#exact.get(text);
  }

  /** True if a label begins with the text. */
  mayBecome(text: string): boolean {
    return this.#labels.some((label) => label.text.startsWith(text));
  }

  get longest(): number {
    return this.#labels.reduce((longest, label) => Math.max(longest, label.text.length), 0);
  }

  match(raw: string): LabelMatch {
    const text = raw.trim();
    const whole = this.whole(text);
    if (whole.kind !== 'none') return whole;
    for (const fold of [0, 1, 3]) {
      const found = this.#inside(text, fold);
      if (found.kind !== 'none') return found;
    }
    return this.#inside(text, 4);
  }

  /** Compares the labels with the whole string. */
  whole(text: string): LabelMatch {
    for (const [index, { fold, cost, flag }] of FOLDS.entries()) {
      const folded = fold(text);
      if (folded === '') continue;
      const at = this.#foldedLabels(index).indexOf(folded);
      const json = this.#labels[at]?.json;
      if (json !== undefined) return { kind: 'match', json, cost, flag };
    }
    return NONE;
  }

  #foldedLabels(index: number): readonly string[] {
    const known = this.#folded[index];
    if (known !== undefined) return known;
    const fold = FOLDS[index]?.fold ?? identity;
    const folded = this.#labels.map((label) => fold(label.text));
    this.#folded[index] = folded;
    return folded;
  }

  /** Finds labels inside the text, whole words before any position. */
  #inside(text: string, index: number): LabelMatch {
    const folded = (FOLDS[index]?.fold ?? identity)(text);
    const found = findLabels(folded, this.#foldedLabels(index));
    if (found.length === 0) return NONE;
    const hits = [...found, ...this.#longerLabels(folded, found)];
    const words = hits.filter(({ from, to }) => isWholeWord(folded, from, to));
    const counts = countVisible(words.length > 0 ? words : hits);
    return this.#onSeveral === 'first' ? this.#firstDeclared(counts) : this.#mostFrequent(counts);
  }

  /** Finds the labels that contain one of those found, in any of their spellings. */
  #longerLabels(text: string, found: readonly Hit[]): Hit[] {
    const spellings = (this.#spellings ??= this.#labels.map((label) => new Spelling(label.text)));
    const short = [...new Set(found.map(({ label }) => spellings[label]?.letters ?? ''))];
    return spellings.flatMap(({ letters, pattern }, label) => {
      if (!short.some((other) => letters.length > other.length && letters.includes(other))) return [];
      return [...text.matchAll(pattern)].map(({ 0: hit, index: from }) => ({ label, from, to: from + hit.length }));
    });
  }

  #firstDeclared(counts: ReadonlyMap<number, number>): LabelMatch {
    const json = this.#labels.find((_, label) => counts.has(label))?.json;
    return json === undefined ? NONE : { kind: 'match', json, cost: 2, flag: 'substring-match' };
  }

  #mostFrequent(counts: ReadonlyMap<number, number>): LabelMatch {
    const byValue = new Map<string, number>();
    for (const [label, count] of counts) {
      const json = this.#labels[label]?.json ?? 'null';
      byValue.set(json, (byValue.get(json) ?? 0) + count);
    }
    let best = 0;
    let winners: string[] = [];
    for (const [json, count] of byValue) {
      if (count > best) winners = [];
      if (count >= best) winners.push(json);
      best = Math.max(best, count);
    }
    if (winners.length > 1) return { kind: 'ambiguous', labels: winners };
    const json = winners[0];
    return json === undefined ? NONE : { kind: 'match', json, cost: 2 + (best - 1), flag: 'substring-match' };
  }
}

interface Hit {
  readonly label: number;
  readonly from: number;
  readonly to: number;
}

function findLabels(text: string, labels: readonly string[]): Hit[] {
  const hits: Hit[] = [];
  for (const [label, word] of labels.entries()) {
    if (word === '') continue;
    for (let from = text.indexOf(word); from >= 0; from = text.indexOf(word, from + word.length)) {
      hits.push({ label, from, to: from + word.length });
    }
  }
  return hits;
}

/** Counts the occurrences of each label. A longer label hides the shorter ones inside it. */
function countVisible(hits: readonly Hit[]): Map<number, number> {
  const counts = new Map<number, number>();
  let end = -1;
  for (const hit of hits.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (hit.from < end) continue;
    end = hit.to;
    counts.set(hit.label, (counts.get(hit.label) ?? 0) + 1);
  }
  return counts;
}

/** The ways to write a label: in any letter case, with or without accents, with hyphens or underscores for its spaces. */
class Spelling {
  /** The label in small letters, without accents and spaces. */
  readonly letters: string;
  readonly #text: string;
  #pattern: RegExp | undefined = undefined;

  constructor(text: string) {
    this.#text = text;
    this.letters = lower(text).replace(SPACES, '');
  }

  get pattern(): RegExp {
    return (this.#pattern ??= new RegExp(this.#words().join('[\\s_-]*'), 'giu'));
  }

  #words(): readonly string[] {
    return this.#text
      .split(SPACES)
      .filter((word) => word !== '')
      .map((word) => (isAscii(word) ? escaped(word) : `(?:${escaped(word)}|${escaped(foldAccents(word))})`));
  }
}

/** Escapes the characters that have a meaning in regular expressions. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}

const SPACES = /\s+/gu;

const WORD = /[\p{L}\p{N}_]/u;

function isWholeWord(text: string, from: number, to: number): boolean {
  return !isWordAt(text, from - 1) && !isWordAt(text, to);
}

function isWordAt(text: string, at: number): boolean {
  return at >= 0 && at < text.length && WORD.test(text.charAt(at));
}

/** Keeps only letters, digits, `-` and `_`. */
function stripPunctuation(text: string): string {
  return text.replace(/[^\p{L}\p{N}_-]+/gu, '');
}

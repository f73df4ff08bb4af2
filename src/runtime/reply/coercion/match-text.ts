import { foldAccents, stripPunctuation } from './fold-text.ts';

/** A text that stands for one value of an enum or one literal. */
export interface Label {
  readonly text: string;
  /** The JSON text of the value it stands for. */
  readonly json: string;
}

export type TextMatch =
  | { readonly kind: 'match'; readonly json: string; readonly cost: number; readonly flag: string | undefined }
  | { readonly kind: 'ambiguous'; readonly labels: readonly string[] }
  | { readonly kind: 'none' };

const NONE: TextMatch = { kind: 'none' };

type Fold = (text: string) => string;

const identity: Fold = (text) => text;
const lower: Fold = (text) => foldAccents(text.toLowerCase());
const bareLower: Fold = (text) => stripPunctuation(lower(text));

/** Ways to read both sides, from strict to loose, with what each costs. */
const ATTEMPTS: readonly { readonly fold: Fold; readonly cost: number; readonly flag: string | undefined }[] = [
  { fold: identity, cost: 0, flag: undefined },
  { fold: foldAccents, cost: 1, flag: 'accents' },
  { fold: stripPunctuation, cost: 3, flag: 'punctuation' },
  { fold: lower, cost: 3, flag: 'letter-case' },
  { fold: bareLower, cost: 3, flag: 'punctuation' },
];

/**
 * Finds the label that a text means: the whole text first, read ever more loosely, then a label inside the text.
 * Folded forms are made on first use and kept.
 */
export class LabelMatcher {
  readonly #labels: readonly Label[];
  readonly #exact = new Map<string, string>();
  readonly #folded: (readonly string[] | undefined)[] = [];

  constructor(labels: readonly Label[]) {
    this.#labels = labels;
    for (const label of labels) if (!this.#exact.has(label.text)) this.#exact.set(label.text, label.json);
  }

  /** The value whose label is exactly this text. */
  exact(text: string): string | undefined {
    return this.#exact.get(text);
  }

  match(raw: string): TextMatch {
    const text = raw.trim();
    const whole = this.#wholeText(text);
    if (whole.kind !== 'none') return whole;
    for (const attempt of [0, 1, 3]) {
      const found = this.#inside(text, attempt);
      if (found.kind !== 'none') return found;
    }
    return this.#inside(text, 4);
  }

  #wholeText(text: string): TextMatch {
    for (const [index, attempt] of ATTEMPTS.entries()) {
      const folded = attempt.fold(text);
      if (folded === '') continue;
      const at = this.#foldedLabels(index).indexOf(folded);
      const json = this.#labels[at]?.json;
      if (json !== undefined) return { kind: 'match', json, cost: attempt.cost, flag: attempt.flag };
    }
    return NONE;
  }

  #foldedLabels(attempt: number): readonly string[] {
    const known = this.#folded[attempt];
    if (known !== undefined) return known;
    const fold = ATTEMPTS[attempt]?.fold ?? identity;
    const folded = this.#labels.map((label) => fold(label.text));
    this.#folded[attempt] = folded;
    return folded;
  }

  /** Labels inside the text: whole words first, then anywhere; the one that occurs most often. */
  #inside(text: string, attempt: number): TextMatch {
    const folded = (ATTEMPTS[attempt]?.fold ?? identity)(text);
    const labels = this.#foldedLabels(attempt);
    const words = countLabels(folded, labels, true);
    const counts = words.size > 0 ? words : countLabels(folded, labels, false);
    return this.#mostFrequent(counts);
  }

  #mostFrequent(counts: ReadonlyMap<number, number>): TextMatch {
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

/** How often each label occurs, where a longer label hides the shorter ones inside it. */
function countLabels(text: string, labels: readonly string[], wholeWords: boolean): Map<number, number> {
  const hits: Hit[] = [];
  for (const [label, word] of labels.entries()) {
    if (word === '') continue;
    for (let from = text.indexOf(word); from >= 0; from = text.indexOf(word, from + word.length)) {
      const to = from + word.length;
      if (!wholeWords || standsAlone(text, from, to)) hits.push({ label, from, to });
    }
  }
  hits.sort((a, b) => a.from - b.from || b.to - a.to);
  return countVisible(hits);
}

function countVisible(hits: readonly Hit[]): Map<number, number> {
  const counts = new Map<number, number>();
  let end = -1;
  for (const hit of hits) {
    if (hit.from < end) continue;
    end = hit.to;
    counts.set(hit.label, (counts.get(hit.label) ?? 0) + 1);
  }
  return counts;
}

const WORD = /[\p{L}\p{N}_]/u;

function standsAlone(text: string, from: number, to: number): boolean {
  return !isWordAt(text, from - 1) && !isWordAt(text, to);
}

function isWordAt(text: string, at: number): boolean {
  return at >= 0 && at < text.length && WORD.test(text.charAt(at));
}

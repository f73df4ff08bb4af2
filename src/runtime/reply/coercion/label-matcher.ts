import { AnswerName } from '../answer-name.ts';
import { answerAmong, isNegated, isSetOff, searchedPart, type Hit } from './answer-in-text.ts';
import { foldAccents, foldCase, foldPunctuation, foldSeparators, withoutDecoration } from './folding.ts';
import { HAS_WORD, type Sought } from '../cues.ts';
import { NearNames } from './near-names.ts';
import { spend } from './step-budget.ts';

/** A string that represents one value of an enum, or one literal. */
export interface Label {
  readonly text: string;
  /** The JSON text of the value. */
  readonly json: string;
}

export type LabelMatch =
  | { readonly kind: 'match'; readonly json: string; readonly cost: number; readonly flags: readonly string[] }
  | { readonly kind: 'ambiguous'; readonly labels: readonly string[] }
  | { readonly kind: 'none' };

const NONE: LabelMatch = { kind: 'none' };

interface Fold {
  readonly fold: (text: string) => string;
  /** The same for labels, if it differs. */
  readonly foldLabel?: (label: string) => string;
  readonly cost: number;
  readonly flags: readonly string[];
}

/** The ways to compare a string with a label, from strict to loose, with their costs. */
const FOLDS: readonly Fold[] = [
  { fold: (text) => text, cost: 0, flags: [] },
  { fold: foldAccents, cost: 1, flags: ['accents'] },
  { fold: foldCase, cost: 3, flags: ['letter-case'] },
  { fold: (text) => foldCase(withoutDecoration(text)), cost: 3, flags: ['punctuation'] },
  { fold: foldWords, cost: 3, flags: ['punctuation'] },
  { fold: foldPunctuation, cost: 3, flags: ['punctuation'] },
  { fold: (text) => foldPunctuation(text.replace(/\p{So}/gu, '')), cost: 3, flags: ['punctuation'] },
  { fold: (text) => foldWords(text.replace(QUALIFIER, '')), foldLabel: foldWords, cost: 3, flags: ['punctuation'] },
];

/** `!SPAM`, as in a program. */
const NEGATED = /^[!¬]\s*[\p{L}_]/u;

function foldWords(text: string): string {
  return foldSeparators(withoutDecoration(text));
}

/** The name of the enum before a value: `Color.RED`. */
const QUALIFIER = /^[\s"'`*]*[\p{L}\p{N}_]+(?:\.|::)(?=[\p{L}_])/u;

/**
 * Finds the label that a string means: first as the whole string, from the strictest to the loosest fold, then as words
 * inside the string. A spelling that several values have in common belongs to none of them. Tables that depend only on
 * the labels are created on first use.
 */
export class LabelMatcher {
  readonly #labels: readonly Label[];
  readonly #exact = new Map<string, string>();
  /** The values by the folded spellings of their labels, for each of FOLDS. */
  readonly #folded: (ReadonlyMap<string, readonly string[]> | undefined)[] = [];
  readonly #near: NearNames;
  readonly #sought: Sought;
  #inside: LabelPattern | undefined = undefined;

  /** `names`: those of the enums, which can introduce a label in a text. */
  constructor(labels: readonly Label[], names: readonly string[] = []) {
    this.#labels = labels;
    this.#sought = { name: new AnswerName(names), isNumber: false };
    this.#near = new NearNames(labels.map(({ text }) => text));
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

  /** `quoted`: a string of the reply, instead of its text. */
  match(raw: string, quoted = false): LabelMatch {
    spend(this.#labels.length + raw.length);
    const text = raw.trim();
    if (NEGATED.test(text)) return NONE;
    const whole = this.whole(text);
    if (whole.kind !== 'none') return whole;
    const near = this.#labels[this.#near.positionOf(text, { plurals: false })];
    if (near !== undefined) return { kind: 'match', json: near.json, cost: 4, flags: ['similar-value'] };
    return this.#insideOf(text, quoted);
  }

  /** Compares the labels with the whole string. */
  whole(text: string): LabelMatch {
    const json = this.exact(text);
    if (json !== undefined) return { kind: 'match', json, cost: 0, flags: [] };
    if (text.length > MAX_LONGER + 2 * this.longest) return NONE;
    for (const [index, { fold, cost, flags }] of FOLDS.entries()) {
      const [first, ...others] = this.#foldedLabels(index).get(fold(text)) ?? [];
      if (first !== undefined) {
        return others.length > 0
          ? { kind: 'ambiguous', labels: [first, ...others] }
          : { kind: 'match', json: first, cost, flags };
      }
    }
    return NONE;
  }

  /** Compares the labels with a word, or with its singular. */
  #word(text: string): LabelMatch {
    const match = this.whole(text);
    return match.kind === 'none' ? this.whole(text.replace(/s$/iu, '')) : match;
  }

  #foldedLabels(index: number): ReadonlyMap<string, readonly string[]> {
    const known = this.#folded[index];
    if (known !== undefined) return known;
    const values = new Map<string, readonly string[]>();
    for (const { text, json } of this.#labels) {
      const folded = foldedLabel(FOLDS[index], text);
      const others = values.get(folded) ?? [];
      if (folded !== '' && !others.includes(json)) values.set(folded, [...others, json]);
    }
    this.#folded[index] = values;
    return values;
  }

  /** Finds labels inside the text, as whole words that no negation precedes. */
  #insideOf(raw: string, quoted: boolean): LabelMatch {
    const text = foldAccents(searchedPart(raw));
    const pattern = (this.#inside ??= new LabelPattern(this.#labels));
    const hits = pattern.find(text).flatMap((hit): readonly Hit[] => {
      const match = isNegated(text, hit) ? NONE : this.#word(hit.text);
      const values = match.kind === 'match' ? [match.json] : match.kind === 'none' ? [] : match.labels;
      return values.map((json) => ({ json, from: hit.from, to: hit.to, distinct: hit.distinct }));
    });
    const [first] = hits;
    // A string can begin with the value `ERROR`, as the text of a reply would if it stated a failure.
    const isFirst =
      quoted && first !== undefined && first.distinct === true && !HAS_WORD.test(text.slice(0, first.from));
    const answer = answerAmong(text, hits, this.#sought, isFirst ? first.to : 0);
    if (answer.kind === 'none') return NONE;
    if (answer.kind === 'several') return { kind: 'ambiguous', labels: answer.values };
    const flags = answer.cued ? ['substring-match', 'answer-cue'] : ['substring-match'];
    return { kind: 'match', json: answer.json, cost: 2, flags };
  }
}

function foldedLabel(fold: Fold | undefined, label: string): string {
  return (fold?.foldLabel ?? fold?.fold)?.(label) ?? label;
}

/** A string that is longer than the longest label by more than twice this is not a label with marks around it. */
const MAX_LONGER = 100;

// --- labels inside a text --------------------------------------------------------------------------------------------

interface LabelHit {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly distinct: boolean;
}

/** Finds the spellings of labels in a text, of which the longest counts: `Not guilty` is not `guilty`. */
class LabelPattern {
  readonly #pattern: RegExp | undefined;
  readonly #distinct: ReadonlySet<string>;

  constructor(labels: readonly Label[]) {
    const texts = [...new Set(labels.map(({ text }) => foldAccents(text.trim())))].filter((text) => text !== '');
    const sources = texts.toSorted((a, b) => b.length - a.length).map(sourceOf);
    this.#pattern = sources.length === 0 ? undefined : new RegExp(sources.join('|'), 'giu');
    this.#distinct = new Set(texts.filter((text) => DISTINCT.test(text)));
  }

  /** `text`: without accents. */
  find(text: string): readonly LabelHit[] {
    if (this.#pattern === undefined) return [];
    const hits = [...text.matchAll(this.#pattern)].map((match) => {
      const [hit] = match;
      return { text: hit, from: match.index, to: match.index + hit.length, distinct: this.#distinct.has(hit) };
    });
    const words = hits.filter((hit) => isAnswerWord(text, hit));
    // In a text in capitals, nothing else looks like an ordinary word.
    const areWords = words.every(({ distinct, text: hit }) => distinct || hit === hit.toLowerCase());
    return areWords ? words : words.map((hit) => ({ ...hit, distinct: false }));
  }
}

/** A label that does not look like an ordinary word: in capitals, or with an underscore. */
const DISTINCT = /^(?:[\p{Lu}\p{N}_-]*\p{Lu}[\p{Lu}\p{N}_-]+|.*_.*)$/u;

/** Returns the pattern of a label as whole words, with any separators between them. */
function sourceOf(label: string): string {
  const words = label.split(/[\s_-]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((word) => word !== '');
  if (words.length === 0) return escaped(label);
  const first = label.charAt(0);
  const last = label.charAt(label.length - 1);
  const before = !SPACED.test(first)
    ? ''
    : String.raw`(?<![\p{L}\p{N}_]|[\p{L}\p{N}]-${/\d/u.test(first) ? String.raw`|\d[.,]` : ''})`;
  // A plural names the value as well.
  const plural = /\p{L}$/u.test(label) && words.join('').length > 2 ? 's?' : '';
  const after = SPACED.test(last)
    ? `(?!${AFTER_WORD}${/\d/u.test(last) ? String.raw`|[.,]\d` : ''}${words.join('').length === 1 ? '|[-+#]' : ''})`
    : '';
  const inner = words.map(escaped).join(String.raw`[\s_\-\\]{0,3}`);
  return before + inner + trailingMarks(label) + plural + after;
}

/** Returns the separators at the end of a label, which belong to it: `A-`. */
function trailingMarks(label: string): string {
  return escaped(/[_-]*$/u.exec(label)?.[0] ?? '');
}

/** The characters after a label that make it the first part of a longer word. */
const AFTER_WORD = String.raw`[\p{L}\p{N}_]|-[\p{L}\p{N}]|['’](?!s\b)\p{L}`;

/** A letter or digit of a script that separates words by spaces. */
const SPACED = /(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}]/u;

/** Escapes the characters that have a meaning in regular expressions. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}

// --- ordinary words --------------------------------------------------------------------------------------------------

/** Labels that are common words as well: in a sentence, they are answers only if marks or an introduction set them off. */
const COMMON: ReadonlySet<string> = new Set(
  'a an i no yes on off in out up down it is us or and all any other can will may do go'.split(' '),
);

/** False for a common word in the middle of a sentence, such as `no` in `no doubt`. */
function isAnswerWord(text: string, { text: hit, from, to, distinct }: LabelHit): boolean {
  const isLetter = hit.length === 1 && hit.toLowerCase() !== hit.toUpperCase();
  if (isLetter && hit === hit.toLowerCase()) return /[)\].:]/u.test(text.charAt(to)) && isSetOff(text, { from, to });
  if (isLetter && hit !== 'A' && hit !== 'I') return true;
  return distinct || !COMMON.has(hit.toLowerCase()) || isSetOff(text, { from, to });
}

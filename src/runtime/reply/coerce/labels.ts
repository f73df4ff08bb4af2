import { COMMON_WORDS, SET_OFF } from '../phrases.ts';
import { DOUBLE_QUOTE } from '../candidates/scan/characters.ts';
import type { ReplyNode } from '../candidates/scan/reply-node.ts';
import { answerInText, type Hit } from './answer-in-text.ts';
import { coercionError, mismatch } from './coercion-error.ts';
import { foldAccents, foldCase, foldPunctuation, foldWords, withoutDecoration } from './spelling.ts';
import { ANSWER_CUE, asWritten, GUESS, guessedFrom, type CoercionOutcome } from './outcome.ts';
import { INEXACT } from './plan.ts';
import { DonePlan, fromComposite } from './scalars.ts';
import type { Reading } from './step-budget.ts';

/** A string that represents one value of an enum, or one literal. */
export interface Label {
  readonly text: string;
  /** The JSON text of the value. */
  readonly json: string;
}

export type LabelMatch =
  | { readonly kind: 'match'; readonly json: string; readonly weight: number; readonly flags: readonly string[] }
  | { readonly kind: 'ambiguous'; readonly labels: readonly string[] }
  | { readonly kind: 'none' };

const NONE: LabelMatch = { kind: 'none' };

/** The ways to compare a string with a label, from strict to loose, with their flags. */
const FOLDS: readonly (readonly [fold: (text: string) => string, flag: string])[] = [
  [foldAccents, 'accents'],
  [foldCase, 'letter-case'],
  [(text) => foldCase(withoutDecoration(text)), 'punctuation'],
  [foldWords, 'punctuation'],
  [foldPunctuation, 'punctuation'],
];

/** A string that is longer than the longest label by more than this is not a label with marks around it. */
const MAX_LONGER = 100;

/** The labels of an enum, or of the literals of a union, with their tables. All plans with the enum share one, and build a table on first use. */
export class LabelSet {
  readonly labels: readonly Label[];
  readonly longest: number;
  readonly #exact = new Map<string, string>();
  /** The values by the folded spellings of their labels, for each of FOLDS. */
  readonly #folded: (ReadonlyMap<string, readonly string[]> | undefined)[] = [];
  #words: LabelWords | undefined = undefined;

  constructor(labels: readonly Label[]) {
    this.labels = labels;
    this.longest = labels.reduce((longest, { text }) => Math.max(longest, text.length), 0);
    for (const { text, json } of labels) if (!this.#exact.has(text)) this.#exact.set(text, json);
  }

  /** Returns the value whose label is exactly this string. */
  exact(text: string): string | undefined {
    return this.#exact.get(text);
  }

  /** Returns the values with a label that one of FOLDS folds to this string. */
  folded(index: number, fold: (text: string) => string, folded: string): readonly string[] | undefined {
    return (this.#folded[index] ??= valuesByFold(this.labels, fold)).get(folded);
  }

  get words(): LabelWords {
    return (this.#words ??= new LabelWords(this.labels));
  }
}

function valuesByFold(
  labels: readonly Label[],
  fold: (text: string) => string,
): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, Set<string>>();
  for (const { text, json } of labels) {
    const folded = fold(text);
    const others = values.get(folded);
    if (others !== undefined) others.add(json);
    else if (folded !== '') values.set(folded, new Set([json]));
  }
  return new Map(Array.from(values, ([folded, all]) => [folded, [...all]]));
}

/**
 * Finds the label that a string means: first as the whole string, from the strictest to the loosest fold, then as words
 * inside the string. A spelling that several values have in common belongs to none of them.
 */
export class LabelMatcher {
  readonly longest: number;
  readonly #sets: readonly LabelSet[];
  /** The values of the labels that replies have contained, so that they take one look-up for any number of sets. */
  readonly #known = new Map<string, string>();

  constructor(sets: readonly LabelSet[]) {
    this.#sets = sets;
    this.longest = Math.max(0, ...sets.map(({ longest }) => longest));
  }

  /** Returns the value whose label is exactly this string. */
  exact(text: string): string | undefined {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    for (const set of this.#sets) {
      const json = set.exact(text);
      if (json === undefined) continue;
      this.#known.set(text, json);
      return json;
    }
    return undefined;
  }

  /** True if a label begins with the text. */
  mayBecome(text: string): boolean {
    return this.#sets.some(({ labels }) => labels.some((label) => label.text.startsWith(text)));
  }

  match(raw: string, reading: Reading): LabelMatch {
    reading.spend(1 + raw.length);
    const text = raw.trim();
    const whole = this.whole(text);
    return whole.kind === 'none' ? this.#insideOf(text, reading) : whole;
  }

  /** Compares the labels with the whole string. */
  whole(text: string): LabelMatch {
    const json = this.exact(text);
    if (json !== undefined) return { kind: 'match', json, weight: 0, flags: [] };
    if (text.length > MAX_LONGER + 2 * this.longest) return NONE;
    for (const [index, [fold, flag]] of FOLDS.entries()) {
      const folded = fold(text);
      let found: readonly string[] | undefined;
      for (const set of this.#sets) {
        const values = set.folded(index, fold, folded);
        if (values !== undefined) found = found === undefined ? values : [...new Set([...found, ...values])];
      }
      if (found === undefined) continue;
      const [first = ''] = found;
      return found.length > 1
        ? { kind: 'ambiguous', labels: found }
        : { kind: 'match', json: first, weight: GUESS.spelling, flags: [flag] };
    }
    return NONE;
  }

  /** Finds labels inside the text, as whole words. */
  #insideOf(text: string, reading: Reading): LabelMatch {
    const answer = answerInText(foldAccents(text), (part) => findLabels(part, this.#sets, reading));
    if (answer.kind === 'none') return NONE;
    if (answer.kind === 'several') return { kind: 'ambiguous', labels: answer.values };
    const flags = answer.cued ? ['substring-match', ANSWER_CUE] : ['substring-match'];
    return { kind: 'match', json: answer.json, weight: GUESS.scalar, flags };
  }
}

// --- labels inside a text --------------------------------------------------------------------------------------------

/** The scripts that have no spaces between words. */
const UNSPACED = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]`;
/** Words, split where letters change to capitals or digits; one character of a script without spaces. */
const WORD = new RegExp(
  String.raw`${UNSPACED}|\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|[\p{Lo}\p{Lm}\p{Lt}\p{M}]+|\p{N}+`,
  'gu',
);
/** The marks that can be between two words of a label, and those that belong to the end of one: `C#`, `A-`. */
const GAP = /^[\s_\-./\\'’]{0,3}$/u;
const TAIL = /(?<![+#*-])[+#*-]+$/u;
/** The boundaries of a label. In `-5` and `1.5`, the digit is a part of another number. */
const BEGINS = new RegExp(
  String.raw`(?=${UNSPACED})|(?<![\p{L}\p{N}_]|[\p{L}\p{N}]-)(?!\p{N}(?<=(?:[-−]|\p{N}[.,])\p{N}))`,
  'uy',
);
const ENDS = new RegExp(String.raw`(?<=${UNSPACED})|(?![\p{L}\p{N}_]|-[\p{L}\p{N}]|['’](?!s\b)\p{L})`, 'uy');

function holdsAt(boundary: RegExp, text: string, at: number): boolean {
  boundary.lastIndex = at;
  return boundary.test(text);
}

interface WordLabel {
  readonly text: string;
  readonly json: string;
  /** The marks at its end. */
  readonly tail: string;
}

/** A trie of the words of labels. Its nodes are numbers, and the root is 0: an object for each would take ten times the memory. */
class LabelWords {
  /** The nodes by the node before them and the word between the two: `0 not`. */
  readonly #next = new Map<string, number>();
  /** The labels that end at a node. */
  readonly #labels = new Map<number, WordLabel[]>();

  constructor(labels: readonly Label[]) {
    for (const { text, json } of labels) {
      const label = text.trim();
      const folded = foldAccents(label);
      if (/^[-+]/u.test(folded)) continue; // `-1` and `+` are found only as a whole.
      let node = 0;
      for (const [word] of folded.matchAll(WORD)) node = this.#add(node, foldCase(word));
      if (node === 0) continue;
      const ending = this.#labels.get(node) ?? [];
      ending.push({ text: label, json, tail: TAIL.exec(label)?.[0] ?? '' });
      this.#labels.set(node, ending);
    }
  }

  #add(node: number, word: string): number {
    const key = `${node} ${word}`;
    const next = this.#next.get(key) ?? this.#next.size + 1;
    this.#next.set(key, next);
    return next;
  }

  /** Returns the node after a node and a word; undefined if no label has the word there. */
  after(node: number, word: string): number | undefined {
    return this.#next.get(`${node} ${word}`);
  }

  labelsAt(node: number): readonly WordLabel[] {
    return this.#labels.get(node) ?? [];
  }
}

/** The steps of reading the words around a label in a text. */
const HIT_STEPS = 30;

/** Finds labels as whole words. The longest label at a place counts: `Not guilty` is not `guilty`. */
function findLabels(text: string, sets: readonly LabelSet[], reading: Reading): readonly Hit[] {
  reading.spend(text.length);
  const words = Array.from(text.matchAll(WORD), ({ 0: word, index }): Word => {
    return { folded: foldCase(word), from: index, to: index + word.length };
  });
  reading.spend((sets.length - 1) * words.length);
  const all: Hit[] = [];
  for (let at = 0; at < words.length;) {
    let found: LabelsAt = { hits: [], next: at + 1 };
    for (const set of sets) {
      const { hits, next } = longestAt({ text, words, start: at }, set.words, reading);
      if (hits.length > 0 && next > found.next) found = { hits, next };
      else if (next === found.next) found = { hits: [...found.hits, ...hits], next };
    }
    all.push(...found.hits);
    at = found.next;
  }
  return all;
}

interface Place {
  readonly text: string;
  readonly words: readonly Word[];
  /** The index of the first word. */
  readonly start: number;
}

function longestAt({ text, words, start }: Place, labels: LabelWords, reading: Reading): LabelsAt {
  let found: LabelsAt = { hits: [], next: start + 1 };
  const from = words[start]?.from ?? 0;
  let node: number | undefined = 0;
  for (let at = start; ; at += 1) {
    const word = words[at];
    node = word === undefined ? undefined : labels.after(node, word.folded);
    if (word === undefined || node === undefined) return found;
    const isJoined = at === start ? holdsAt(BEGINS, text, from) : GAP.test(text.slice(words[at - 1]?.to, word.from));
    if (!isJoined) return found;
    const ending = labels.labelsAt(node);
    reading.spend(1 + ending.length);
    const hits = ending.flatMap((label) => hitOf(text, from, word.to, label));
    reading.spend(HIT_STEPS * hits.length);
    if (hits.length > 0) found = { hits, next: at + 1 };
  }
}

/** A word of a text, by offsets. */
interface Word {
  readonly folded: string;
  readonly from: number;
  readonly to: number;
}

interface LabelsAt {
  readonly hits: readonly Hit[];
  /** The index of the word after them. */
  readonly next: number;
}

/** Returns the label whose words end at `to`, if the signs of its end follow: `C#` and `A+` are other names than `C` and `A`. */
function hitOf(text: string, from: number, to: number, { text: label, json, tail }: WordLabel): readonly Hit[] {
  const hit = { from, to: to + tail.length, json };
  const isNamed = tail === '' ? !/[+#]/u.test(text.charAt(to)) : text.startsWith(tail, to);
  return isNamed && holdsAt(ENDS, text, hit.to) && isAnswerWord(text, hit, label) ? [hit] : [];
}

/** False for a common word in the middle of a sentence, such as `no` in `no doubt`. */
function isAnswerWord(text: string, { from, to }: Hit, label: string): boolean {
  const written = text.slice(from, to);
  const isShort = label.length === 1;
  if (isShort && (written !== label || /^[.,]\d/u.test(text.slice(to, to + 2)))) return false;
  const isCapital = isShort && label !== 'A' && label !== 'I' && label !== label.toLowerCase();
  const isDigit = isShort && /\p{N}/u.test(label);
  if (isCapital || isDigit || !(isShort || COMMON_WORDS.has(written.toLowerCase()))) return true;
  if (written === label && label.length > 1 && label === label.toUpperCase()) return true;
  return INTRODUCED.test(text.slice(Math.max(0, from - MAX_BEFORE), from)) && SET_OFF.test(text.slice(to, to + 5));
}

const MAX_BEFORE = 10;
const INTRODUCED = /(?:^|[.,:;!?\n([{>=|"'`*-]|\b(?:and|or|answer|option|choice))\s*$/iu;

// --- the plan --------------------------------------------------------------------------------------------------------

/** An enum, or the string literals of a union: one of a list of values, each with its labels. */
export class LabelPlan extends DonePlan {
  readonly name: string;
  override readonly longestLabel: number;
  readonly #matcher: LabelMatcher;

  constructor(name: string, labels: readonly LabelSet[]) {
    super();
    this.name = name;
    this.#matcher = new LabelMatcher(labels);
    this.longestLabel = this.#matcher.longest;
  }

  override mayBecome(text: string): boolean {
    return this.#matcher.mayBecome(text);
  }

  override exact(source: string): string | undefined {
    if (source.charCodeAt(0) !== DOUBLE_QUOTE || source.includes('\\')) return undefined;
    return this.#matcher.exact(source.slice(1, -1));
  }

  protected coerceOnce(node: ReplyNode, reading: Reading, strict: boolean): CoercionOutcome {
    // A label can be spelled like a word for null.
    const isString = node.kind === 'string' || (node.kind === 'null' && node.text !== 'null');
    const exact = isString ? this.#matcher.exact(node.text) : undefined;
    if (exact !== undefined) return asWritten(exact, node);
    if (strict) return INEXACT;
    // `None` can be a value in another letter case.
    const isNull = node.kind === 'null' && (node.text === 'null' || this.#matcher.whole(node.text).kind === 'none');
    if (isNull) return coercionError(`expected ${this.name}, got null`);
    return node.isScalar ? this.#match(node, reading) : fromComposite(this, node, reading);
  }

  #match(node: ReplyNode, reading: Reading): CoercionOutcome {
    const match = this.#matcher.match(node.text, reading);
    if (match.kind === 'ambiguous') {
      const values = match.labels.join(', ');
      return coercionError(`expected ${this.name}, got a string that matches several values: ${values}`);
    }
    if (match.kind === 'none') return mismatch(this.name, node);
    return guessedFrom(node, match.json, match.weight, ...match.flags);
  }
}

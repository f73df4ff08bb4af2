import { HAS_WORD, lineBefore, type CueSpan } from '../cues.ts';

/*
 * The words and signs next to a number in a text, which make it a part of something else, or an aside.
 */

/** Words that a text contains anywhere. Most texts have none of them, so that their numbers take fewer steps. */
export interface WordsInText {
  readonly dates: boolean;
  readonly confidence: boolean;
  /** True if the text contains a year and the type has decimals. For an integer type, a year can be the value. */
  readonly years: boolean;
  /** True if the value is an age. */
  readonly isAge: boolean;
}

/** `decimals`: the type has them. `isAge`: the value is an age. */
export function wordsInText(text: string, { decimals, isAge }: { decimals: boolean; isAge: boolean }): WordsInText {
  const years = decimals && YEAR_WORD.test(text);
  return { dates: isAge || DATE_WORD.test(text), confidence: CONFIDENCE_WORD.test(text), years, isAge };
}

/** The characters before and after a number that are read. */
export const NEARBY = 40;

/** True for an operand of a calculation, a bound, the number of a list item, and a part of a phone number. */
export function isOtherwiseUsed(before: string, after: string): boolean {
  return (
    OPERAND_BEFORE.test(before) ||
    OPERAND_AFTER.test(after) ||
    isBound(before) ||
    /^\+(?![\p{L}\p{N}])/u.test(after) ||
    isItemNumber(before, after)
  );
}

/** True before a bound: `at least 5`. */
export function isBound(before: string): boolean {
  return BOUND.test(before);
}

const OPERAND_BEFORE =
  /(?:[\d)\]}]\s*[+*×·÷/^]|[\d)\]}][\p{L}%]*\s+[-−–])\s*$|\b(?:plus|minus|times|divided by)\s$|\(\d+\)\s?$|\\frac\{(?:[^{}]{0,30}\}\{)?$/iu;
const OPERAND_AFTER =
  /^\s*(?:=(?![=>])|[+*×·÷/^]\s*[\d(])|^\s+[-−–]\s+[\d(]|^\s(?:plus|minus|times|divided by)\s|^\)\s?\d|^\s?\(\d+\)\s?\d|^\s\d{1,3}\s?\/\s?\d/iu;
const BOUND =
  /(?:<|≤|≥|(?:^|\s)>=?|\b(?:at least|at most|(?:less|more|fewer|greater|higher|lower) than|no (?:more|less|fewer) than|up to|minimum of|maximum of))\s*[$€£]?$/iu;

/** `1. Text` or `1) Text` at the start of a line. */
function isItemNumber(before: string, after: string): boolean {
  return /(?:^|\n)[ \t>*_#-]*$/u.test(before) && /^[.)]\**[ \t]+\S/u.test(after);
}

/** True for the day of a date in words, the year after a day (`5 May 2024`, `March 5th, 2024`), and a decade (`in his 30s`). */
export function isInDate(before: string, word: string, after: string, isAge: boolean): boolean {
  if (YEAR.test(word)) return isAge || YEAR_AFTER_DAY.test(before);
  if (word.endsWith('0s')) return DECADE.test(before);
  if (!IS_DAY.test(word)) return false;
  return (
    DAY_AFTER_MONTH.test(before) || MONTH_AFTER_DAY.test(after) || (MONTH_ALONE.test(before) && !HAS_WORD.test(after))
  );
}

const MONTH =
  '(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)';
/** `in his 30s`, `the mid 1990s`: otherwise, `30s` is a time. */
const DECADE = /\b(?:early|mid|late|the|his|her|their)[ -]$/iu;
const DATE_WORD = new RegExp(String.raw`\b${MONTH}\b|\d0s\b`, 'u');
const DAY = String.raw`\d{1,2}(?:st|nd|rd|th)?`;
const IS_DAY = new RegExp(`^${DAY}$`, 'u');
const YEAR = /^\d{4}$/u;
const DAY_AFTER_MONTH = new RegExp(
  String.raw`\b(?:[Oo]n|[Bb]y|[Uu]ntil|[Oo]f|[Ff]rom|[Ss]ince|[Bb]efore|[Aa]fter|is)\s${MONTH}\.?\s$`,
  'u',
);
const MONTH_ALONE = new RegExp(String.raw`^\s{0,4}${MONTH}\.? $`, 'u');
const MONTH_AFTER_DAY = new RegExp(String.raw`^\.? (?:of )?${MONTH}\b(?! (?:be|have|not)\b)`, 'u');
const YEAR_AFTER_DAY = new RegExp(String.raw`\b(?:${MONTH}\.? ${DAY},?|${DAY}\.? (?:of )?${MONTH},?) $`, 'u');
/** `in 2023`, `FY 2023` */
const IN_YEAR = /\b(?:in|of|since|by|until|from|during|for|after|before|year|FY) ?$/iu;
const YEAR_WORD = /\b(?:1[5-9]|20)\d\d\b/u;
/** The year after a month: `March 1848`. */
const IN_MONTH = new RegExp(String.raw`\b${MONTH},? $`, 'u');

/** True for the number of a step or a page, and for a number in parentheses: values only if the text has no others. */
export function isAside(text: string, { from, to }: CueSpan, words: WordsInText): boolean {
  const before = text.slice(Math.max(0, from - NEARBY), from);
  if (ASIDE.test(before)) return true;
  if (words.years && IN_YEAR.test(before) && YEAR.test(text.slice(from, to))) return true;
  if (words.dates && IN_MONTH.test(before) && YEAR.test(text.slice(from, to))) return true;
  if (words.confidence && (CONFIDENCE.test(before) || CONFIDENT.test(text.slice(to, to + NEARBY)))) return true;
  const open = NOTE.exec(text.slice(Math.max(0, from - MAX_NOTE), from));
  if (open === null || !/^[^()]*\)/u.test(text.slice(to, to + MAX_NOTE))) return false;
  const start = from - open[0].length;
  return /\d[^()]*$/u.test(text.slice(Math.max(0, start - MAX_NOTE), start));
}

const ASIDE =
  /\b(?:steps?|items?|questions?|examples?|figures?|tables?|sections?|chapters?|pages?|parts?|lines?|notes?|sources?|option|case|day|week|phase|no\.|number)\s+#?$|\[$/iu;
/** The beginning of a note in parentheses that does not state an alternative. */
const NOTE = /\((?!\s*(?:or|and|to)\b)[^()]*$/u;
/** `[confidence 93%]`, `| confidence=0.93`, `Confidence: 9/10` */
const CONFIDENCE = /\b(?:confidence|certainty|probability)\b[^.\n\d]{0,12}$/iu;
const CONFIDENCE_WORD = /confiden|certain|probability|sure\b/iu;
/** `85% confident` */
const CONFIDENT = /^\s?(?:%\s?|percent )?(?:confident|confidence|certain|certainty|sure)\b/iu;
const MAX_NOTE = 80;

/** True for a text that begins with a label of a confidence and its value, while the other numbers are inside sentences. */
export function beginsWithConfidence(text: string, others: readonly CueSpan[]): boolean {
  return CONFIDENCE_LABEL.test(text) && others.every(({ from }) => IN_SENTENCE.test(lineBefore(text, from)));
}

const CONFIDENCE_LABEL =
  /^[\s*_#>"'`-]{0,8}(?:confidence|certainty|probability)(?: (?:score|level))?[*_]{0,3}[:=][*_ ]{0,4}[\d.]+%?[*_]{0,3}\s*\n/iu;
const IN_SENTENCE = /\p{L}\s+\p{L}[^:=]*$/u;

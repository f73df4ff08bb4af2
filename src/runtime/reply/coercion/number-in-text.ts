import type { AnswerName } from '../answer-name.ts';
import { HAS_WORD } from '../cues.ts';
import { jsonNumberOf } from '../text/json-number.ts';
import { answerAmong, isNegated, searchedPart, type Hit } from './answer-in-text.ts';
import { withoutDecoration } from './folding.ts';
import { ANY_SCALE, scaleOf } from './number-scales.ts';
import {
  beginsWithConfidence,
  isAside,
  isBound,
  isInDate,
  isOtherwiseUsed,
  NEARBY,
  wordsInText,
  type WordsInText,
} from './number-surroundings.ts';
import { NUMBER_WORDS, numberOfWords } from './number-words.ts';
import { spend } from './step-budget.ts';

export interface FoundNumber {
  /** The number as JSON writes it. An integer can have more digits than a float holds. */
  readonly text: string;
  /** True if the string contains only the number. */
  readonly exact: boolean;
  /** True if a cue singles out the number among others. */
  readonly cued: boolean;
}

/** The notations that depend on where a number is. */
export interface NumberContext {
  /** True if the type has decimals. */
  readonly decimals: boolean;
  /** True for a string in quotes, whose commas do not separate members. */
  readonly quoted: boolean;
  /** The name of the type, such as the alias `Confidence`. */
  readonly name?: AnswerName;
  /** True for an age, which is not the year of a birth. */
  readonly isAge?: boolean;
}

/** As an integer, `1.200` can be 1200 or 1. */
const POINT_OR_COMMA = /^[+-]?[1-9]\d{0,2}\.\d{3}$/u;
/** A list is not one number. */
const LIST = /^\[[^\]]*,[^\]]*\]$/u;
const FRACTION = /^([+-]?\d+(?:\.\d+)?)\s*\/\s*(\d+(?:\.\d+)?)$/u;
/** `2 1/2` */
const MIXED = /^(\d+)\s+(\d+)\s*\/\s*(\d+)$/u;
/** A decimal comma, which is not the one of a group of thousands. */
const WITH_COMMA = String.raw`(?:0,\d+|[1-9]\d*,(?:\d{1,2}|\d{4,}))`;
const DECIMAL_COMMA = new RegExp(`^[+-]?${WITH_COMMA}$`, 'u');
/** A decimal comma even without quotes: no group of thousands begins with zero. With fewer digits, `0,5` can be two members. */
const BELOW_ONE = /^[+-]?0,\d{3,}$/u;

/** Finds the number that a string means; undefined if there is none, or several of which none is the answer. */
export function findNumber(source: string, context: NumberContext): FoundNumber | undefined {
  const signed = source.trimStart().replace(UNDERSCORES, '$2').replace(LONG_MINUS, '-').replace(SPACED_MINUS, '-');
  const raw = withOneNotation(withExponents(signed).replaceAll(LATEX_FRACTION, '$1/$2'), context);
  const trimmed = raw.length > MAX_WHOLE ? '' : asciiDigits(raw.trim().replace(/,+$/u, ''));
  if (!context.decimals && POINT_OR_COMMA.test(trimmed)) return undefined;
  if (LIST.test(trimmed)) return undefined;
  const whole = numberOf(trimmed);
  if (whole !== undefined) return { text: whole, exact: true, cued: false };
  const stars = pictured(trimmed);
  if (stars !== undefined) return starNumber(stars, context);
  const other = trimmed === '' ? undefined : wholeNumber(trimmed, context);
  if (other !== undefined) return { text: other, exact: false, cued: false };
  if (!context.decimals) {
    const found = numberInside(withoutScales(searchedPart(raw)), context);
    return POINT_OR_COMMA.test(found?.text ?? '') ? undefined : found;
  }
  return numberInside(COMMA_AND_UNIT.test(trimmed) ? trimmed.replace(',', '.') : searchedPart(raw), context);
}

/** A number with a decimal comma, an optional scale, and a unit of one word: `-4,5 °C`, `2,5 Mio. Euro`. */
const COMMA_AND_UNIT = new RegExp(
  String.raw`^[+\-−]?${WITH_COMMA}\s?(?:(?:${ANY_SCALE})\.?\s)?[\p{L}°%‰€$£¥][\p{L}²³/·.]{0,19}$`,
  'iu',
);

function starNumber(text: string, { decimals }: NumberContext): FoundNumber | undefined {
  return text === 'none' || (!decimals && text.includes('.')) ? undefined : { text, exact: false, cued: false };
}

/** `\frac{3}{4}` */
const LATEX_FRACTION = /\\[dt]?frac\{(\d{1,15})\}\{(\d{1,15})\}/gu;

/** Blanks one of two notations of a value: the percentage beside a decimal, or the decimal if the type has no decimals. */
function withOneNotation(text: string, { decimals }: NumberContext): string {
  if (!text.includes('%')) return text;
  const oneOf = (whole: string, first: string, last: string): string => {
    const [decimal, percent] = first.includes('%') ? [last, first] : [first, last];
    if (Math.abs(Number(decimal) * 100 - Number.parseFloat(percent)) > 1e-9) return whole;
    return decimals === first.includes('%') ? last.padStart(whole.length) : first.padEnd(whole.length);
  };
  return text.replaceAll(DECIMAL_FIRST, oneOf).replaceAll(PERCENT_FIRST, oneOf);
}

const ALSO = String.raw`[*_,)]{0,3}\s?(?:[(=≈]|i\.e\.,?|that is,?|or|which is|equivalent to|equal to)\s?[*_]{0,3}`;
const DECIMAL_FIRST = new RegExp(String.raw`(?<![\d.,])([01]?\.\d{1,6})${ALSO}(\d{1,3}(?:\.\d{1,4})?\s?%)`, 'gu');
const PERCENT_FIRST = new RegExp(
  String.raw`(?<![\d.,])(\d{1,3}(?:\.\d{1,4})?\s?%)${ALSO}([01]?\.\d{1,6})(?![\d.]*\d)`,
  'gu',
);

/** Markdown's emphasis around the whole string: `__42__`. */
const UNDERSCORES = /^(__?)([^_\n]{1,60})\1\s*$/u;

/** Writes `1.2 × 10^3` as `1.2e3`. */
function withExponents(text: string): string {
  if (!/10\s*(?:\^|[⁰¹²³⁴-⁹⁻])/u.test(text)) return text;
  return text.replaceAll(POWER, (_whole, digits: string, plain: string | undefined, raised = '') => {
    const exponent = plain ?? [...raised].map((digit) => '0123456789-'.charAt(SUPERSCRIPTS.indexOf(digit))).join('');
    return `${digits}e${exponent.replace('−', '-')}`;
  });
}

const POWER =
  /\$?(\d{1,30}(?:\.\d{1,30})?)\s*(?:×|x|\*|·|⋅|\\times|\\cdot)\s*10(?:\s*\^\s*\{?\s*([+\-−]?\d{1,3})(?:\s*\})?|([⁻]?[⁰¹²³⁴-⁹]{1,3}))\$?/gu;
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹⁻';

/** Blanks the scale of a rating, so that the points remain: `Rating: 9/10`, `a 9 out of ten`. */
function withoutScales(text: string): string {
  return text.replaceAll(SCALE, (whole, points: string, most: string) =>
    Number(points) <= (SCALE_WORDS[most.toLowerCase()] ?? Number(most)) ? points.padEnd(whole.length) : whole,
  );
}

const SCALE =
  /(?<![\d/.,-])(\d{1,3}(?:\.\d)?)(?:\s?\/\s?|\s+out of\s+|\s+of\s+(?=\w+\W*$))(5|10|100|five|ten)(?![\d/.,-]*\d|\w)/giu;
const SCALE_WORDS: Readonly<Record<string, number>> = { five: 5, ten: 10 };

/** A dash as the sign of the first number. */
const LONG_MINUS = /^[–‒—﹣－](?=[$€£]?[\d.])/u;
/** A dash and a space, if only a number follows, optionally with `%`, `°C` or a currency sign. Before words, it can be a bullet. */
const SPACED_MINUS = /^[–‒—−﹣－]\s(?=[$€£]?\.?\d[\d.,]*(?:\s?[%€$£]|\s?°\s?[CFK]?)?\s*$)/u;

/** Replaces full-width digits by ASCII digits. */
function asciiDigits(text: string): string {
  return /[０-９]/u.test(text) ? text.normalize('NFKC') : text;
}

/** Returns the rating that a string states: `4/5`, `4 out of 5`, `★★★★☆`; undefined for any other. */
export function findRating(text: string): string | undefined {
  if (text.length > MAX_RATING) return undefined;
  const [, points, of] = RATING.exec(text.trim()) ?? [];
  if (points !== undefined) return Number(points) <= Number(of) ? String(Number(points)) : undefined;
  const stars = pictured(text.trim());
  return stars === 'none' ? undefined : stars;
}

const MAX_RATING = 40;
const RATING = /^(\d{1,3})\s*(?:\/|out of)\s*(5|10|100)(?:\s*(?:stars?|points?))?$/iu;

/**
 * Returns the number of full stars or other marks: `★★★★☆`, `●●●○○`, `★★★½`; `none` if the text after them has another
 * number, and undefined for any other text.
 */
function pictured(text: string): string | undefined {
  if (text.length > MAX_PICTURED) return undefined;
  const [, marks = '', half = '', empty = '', rest = ''] = MARKS.exec(text.replaceAll('\ufe0f', '')) ?? [];
  const full = [...marks];
  const most = full.length + half.length + [...empty].length;
  const isScale = most === 5 || most === 10;
  const isRating = isScale || (full.length > 0 && (empty !== '' || STAR.test(marks)));
  const isMixed = new Set(full).size > 1 || new Set(empty).size > 1;
  if (!isRating || most > 10 || isMixed) return undefined;
  const points = String(full.length + half.length / 2);
  const number = /\d+(?:\.\d+)?/u.exec(rest)?.[0] ?? points;
  if (Number(number) === Number(points)) return points;
  return most > 1 ? 'none' : undefined;
}

const MAX_PICTURED = 120;
const STAR = /^[★⭐🌟]/u;
const MARKS =
  /^([★⭐🌟●■♥❤]{0,10})([½◐]?)([☆✩○□♡🤍]{0,10})(?:\s{0,3}(?:out of|\/)\s{0,3}(?:5|10|five|ten)(?: stars)?)?(\s{0,3}[([–—:,\d-][^★⭐●■]*)?$/u;

/** No string that is a number as a whole has more characters. */
const MAX_WHOLE = 1000;

/** Returns the JSON text of a number, without leading zeros. */
function numberOf(text: string): string | undefined {
  return jsonNumberOf(text.replace(/^([+\-−]?)0+(?=\d)/u, '$1'));
}

function wholeNumber(text: string, { decimals, quoted }: NumberContext): string | undefined {
  const fraction = decimals ? FRACTION.exec(text) : null;
  if (fraction !== null) return finite(Number(fraction[1]) / Number(fraction[2]));
  const [, whole, part, of] = (decimals ? MIXED.exec(text) : null) ?? [];
  if (whole !== undefined) return finite(Number(whole) + Number(part) / Number(of));
  if (decimals && (quoted ? DECIMAL_COMMA : BELOW_ONE).test(text)) return numberOf(text.replace(',', '.'));
  const words = withoutDecoration(text).toLowerCase();
  const rating = decimals ? undefined : wordRating(words);
  return rating ?? numberOfWords(words.replace(STATED, ''));
}

/** `Answer: seven`, `the total is seven`. */
const STATED = /^(?:(?:the |my )?(?:final )?(?:answer|result|total|count|number|rating|score)(?: is|:|=)[ *]*)/u;

/** `nine out of ten`, `two stars` */
function wordRating(text: string): string | undefined {
  const words = /^([a-z]+) (?:out of (?:five|ten|a hundred|5|10|100)|stars?)$/u.exec(text.replace(STATED, ''))?.[1];
  return words === undefined ? undefined : numberOfWords(words);
}

function finite(value: number): string | undefined {
  return Number.isFinite(value) ? JSON.stringify(value) : undefined;
}

// --- numbers among words ---------------------------------------------------------------------------------------------

/** A number, and the words and signs next to it. */
interface NumberHit extends Hit {
  readonly role: 'value' | 'aside';
}

function numberInside(text: string, { decimals, name, isAge }: NumberContext): FoundNumber | undefined {
  spend(text.length);
  const words = wordsInText(text, { decimals, isAge: isAge === true });
  const hits = HAS_DIGIT.test(text)
    ? [...text.matchAll(RUN)].flatMap((run) => numberHit(text, run, words))
    : spelledHits(text);
  const values = hits.filter(({ role }) => role === 'value');
  const isNamed =
    (name !== undefined && name.labelsIn(text).length > 0) || (decimals && beginsWithConfidence(text, values));
  const sought = { isNumber: true, ...(name !== undefined && { name }) };
  const answer = answerAmong(text, values.length > 0 && !isNamed ? values : hits, sought);
  return answer.kind === 'answer' ? { text: answer.json, exact: false, cued: answer.cued } : undefined;
}

const HAS_DIGIT = /\d/u;

/** Finds the number that a text of one sentence spells, or that it begins with: `There were twenty-three.`, `Zero — no row matches.` */
function spelledHits(text: string): readonly NumberHit[] {
  if (text.length > MAX_SPELLED) return [];
  const runs = [...text.matchAll(SPELLED)];
  const hits = runs.flatMap((run): readonly NumberHit[] => {
    const [word] = run;
    const json = numberOfWords(word.toLowerCase());
    const [before, after] = [text.slice(0, run.index), text.slice(run.index + word.length)];
    const isFirst = !HAS_WORD.test(before) && /^[*_"]{0,4}\s?[—–:;.,(]/u.test(after);
    const isOnly = runs.length === 1 && !/[.!?:]\s+\S/u.test(text) && !/^one$/iu.test(word);
    const span = { from: run.index, to: run.index + word.length };
    if (json === undefined || !(isFirst || isOnly) || KNOWN_NUMBER.test(before) || OTHER_NUMBER.test(after)) return [];
    return isBound(before) || isNegated(text, span) ? [] : [{ ...span, json, role: 'value' }];
  });
  return hits.slice(0, 1);
}

const MAX_SPELLED = 300;
const DIGIT_WORD = `(?:${NUMBER_WORDS.join('|')})`;
const SPELLED = new RegExp(
  String.raw`(?<![\p{L}\p{N}_-])${DIGIT_WORD}(?:(?:[ -]| and )(?:${DIGIT_WORD}|hundred|thousand|million|billion))*(?![\p{L}\p{N}_-])`,
  'giu',
);
/** Words before a number word that counts something already known or numbers a part: `these two values`, `step two`. */
const KNOWN_NUMBER =
  /\b(?:the|these|those|both|other|first|last|next|every|each|any|either|one of|steps?|pages?|options?|items?|parts?|chapters?) $/iu;
/** `two thirds` */
const OTHER_NUMBER =
  /^[\s,-]{1,2}(?:thirds?|halves|half|quarters?|fifths?|sixths?|eighths?|tenths?|hundredths?|more|or|to)\b/iu;

/**
 * Digits and letters with single marks between them: `1,234.5`, `2024-01-05`, `A-17`, `5kg`, `1e-3`; or groups of three
 * digits with spaces between them.
 */
const RUN =
  /(?<![\p{L}\p{N}_])(?:\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?:[.,]\d+)?(?![\p{L}\p{N}_]|[ ]?\d|[.,:/-]\d)|\d+(?:\.\d+)?[eE]\+\d+(?![\p{L}\p{N}_])|[\p{L}\p{N}_]+(?:[.,:/'’\-–‑][\p{L}\p{N}]+)*)/gu;

function numberHit(text: string, run: RegExpExecArray, words: WordsInText): readonly NumberHit[] {
  const [word] = run;
  if (word.length > MAX_WORD || !/\d/u.test(word)) return [];
  const to = run.index + word.length;
  const before = text.slice(Math.max(0, run.index - NEARBY), run.index);
  const after = text.slice(to, to + NEARBY);
  const prefix = PREFIX.exec(before)?.[0] ?? '';
  const suffix = SUFFIX.exec(after)?.[0] ?? '';
  const from = run.index - prefix.length;
  const json = valueOf(prefix, word, suffix);
  if (json === undefined || isOtherwiseUsed(before.slice(0, before.length - prefix.length), after)) return [];
  if (words.dates && isInDate(before, word, after, words.isAge)) return [];
  const span = { from, to: to + suffix.length };
  if (isNegated(text, span)) return [];
  return [{ ...span, json, role: isAside(text, span, words) ? 'aside' : 'value' }];
}

/** No number has more characters. */
const MAX_WORD = 400;

/** A sign, a currency and a leading point, which no letter or digit precedes. */
const PREFIX = /(?:(?<![\p{L}\p{N}_)])[+\-−](?=[\s$€£¥₹.]*$)(?!\s))?(?:[$€£¥₹]\s?)?[+\-−]?(?:(?<![\p{L}\p{N}.])\.)?$/u;
const SUFFIX = new RegExp(String.raw`^\s?[%€£$¥₹](?![\p{L}\p{N}])|^\s(?:${ANY_SCALE})(?![\p{L}\p{N}_])`, 'iu');

function valueOf(prefix: string, word: string, suffix: string): string | undefined {
  const money = /[$€£¥₹]/u.test(prefix + suffix);
  const point = prefix.endsWith('.') ? '.' : '';
  const sign = /[-−]/u.test(prefix) ? '-' : '';
  const body = withoutUnit(word, money);
  if (body === undefined) return undefined;
  const digits = plainDigits(point + body.digits, money || suffix.includes('%'));
  if (digits === undefined) return undefined;
  return scaled(sign + digits, body.scale * (scaleOf(suffix.trim()) ?? 1));
}

function scaled(text: string, scale: number): string | undefined {
  const number = numberOf(text);
  if (number === undefined || scale === 1) return number;
  // The product of a decimal and a power of ten has no more digits than the decimal.
  return finite(Number((Number(number) * scale).toPrecision(15)));
}

/** Removes a unit from a number: `5kg`, `3rd`, `USD500`, `10k`, `5-star`; undefined if the letters make it another word. */
function withoutUnit(word: string, money: boolean): { readonly digits: string; readonly scale: number } | undefined {
  const parts = UNIT.exec(word);
  if (parts === null) return undefined;
  const digits = parts[1] ?? '';
  const unit = parts[2] ?? '';
  if (/^k$/iu.test(unit)) return { digits, scale: 1e3 };
  if (!money) return isUnit(unit) ? { digits, scale: 1 } : undefined;
  const scale = MONEY_SCALES[unit.toLowerCase()];
  return scale === undefined ? undefined : { digits, scale };
}

function isUnit(text: string): boolean {
  // `5M` can be five million, and `5G` is a name.
  const isOneLetter = text.length === 1 && text !== text.toLowerCase();
  return text === '' || text.startsWith('-') || UNITS.has(isOneLetter ? text : text.toLowerCase());
}

const UNIT =
  /^(?:USD|EUR|GBP|CHF|JPY|INR|Rs\.?)?(\d(?:[\d.,'’_ \u00a0\u2009\u202f]*\d)?(?:[eE][+-]?\d+)?)([a-zA-Zµ]{1,4}|-[a-z]{3,}(?:-[a-z]+)*)?$/u;

/** The letters after an amount of money. */
const MONEY_SCALES: Readonly<Record<string, number>> = { '': 1, m: 1e6, mn: 1e6, b: 1e9, bn: 1e9 };

const UNITS: ReadonlySet<string> = new Set(
  (
    'x st nd rd th s ms us ns min mins h hr hrs km m cm mm mi ft in yd kg g mg lb lbs oz t l ml dl px pt em rem vh vw ' +
    'kb mb gb tb kib mib gib b hz khz mhz ghz w kw kwh mw v mv a ma c f V W A C F L usd eur gbp chf jpy inr pct deg fps dpi rpm'
  ).split(' '),
);

/**
 * Returns a number without the marks between its groups of thousands, the first of which never begins with zero; undefined for
 * a date, a version, or a list of numbers.
 */
function plainDigits(text: string, commaIsPoint: boolean): string | undefined {
  if (/^(?:\d+|\d*\.\d+)(?:e[+-]?\d+)?$/iu.test(text)) return text;
  if (/^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/u.test(text) || /^[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?$/u.test(text)) {
    return text.replaceAll(',', '');
  }
  if (/^[1-9]\d{0,2}(?:[ \u00a0\u2009\u202f'’_]\d{3})+(?:\.\d+)?$/u.test(text)) return text.replace(/[^\d.]/gu, '');
  if (/^[1-9]\d{0,2}(?:[ \u00a0\u2009\u202f'’.]\d{3})+,\d+$/u.test(text)) {
    return text.replace(/[^\d,]/gu, '').replace(',', '.');
  }
  return commaIsPoint && /^(?:\d+,\d{1,2}|0,\d+)$/u.test(text) ? text.replace(',', '.') : undefined;
}

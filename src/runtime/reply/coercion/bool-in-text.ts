import { answerAmong, isNegated, isSetOff, searchedPart, type Hit } from './answer-in-text.ts';
import { HAS_WORD, type CueSpan } from '../cues.ts';
import { withoutDecoration } from './folding.ts';

export interface FoundBool {
  readonly json: 'true' | 'false';
  /** True if the string contains only the word. */
  readonly exact: boolean;
  /** True if a cue singles out the word among others. */
  readonly cued: boolean;
  /** True for the word of a state, such as `enabled`. */
  readonly isState?: boolean;
}

/** The flag of a bool that the word of a state means. */
export const STATE_WORD = 'state-to-bool';

type BoolText = FoundBool['json'];

const WORDS: ReadonlyMap<string, BoolText> = new Map([
  ...['true', 'yes', 'on', '✅', '✓', '✔', '☑', '🟢', '👍'].map((word) => [word, 'true'] as const),
  ...['false', 'no', 'off', '❌', '✗', '✘', '☐', '👎'].map((word) => [word, 'false'] as const),
]);

/** Words that state a bool if they are the whole string. */
const WHOLE: ReadonlyMap<string, BoolText> = new Map([
  ...WORDS,
  ...wordsOf(
    'y t yep yeah yup yes! affirmative oui ja sí si sim да 是 是的 はい 예 네 vrai wahr verdadero vero verdadeiro verdade',
    'true',
  ),
  ...wordsOf('n f nope nah non nein não нет 否 不是 不 いいえ 아니요 faux falsch falso ложь', 'false'),
]);

/** Words for the states of something, which mean a bool if they are the whole string. */
const STATES: ReadonlyMap<string, BoolText> = new Map([
  ...wordsOf('enabled active activated checked', 'true'),
  ...wordsOf('disabled inactive deactivated unchecked', 'false'),
]);

function wordsOf(words: string, json: BoolText): readonly (readonly [string, BoolText])[] {
  return words.split(' ').map((word) => [word, json] as const);
}

/** The box of a list of tasks. */
const BOX = /^\s*(?:[-*]\s+)?\[([ xX✓✔]?)\]\s*$/u;

function wholeBool(raw: string): BoolText | undefined {
  if (raw.length > MAX_WHOLE) return undefined;
  const box = BOX.exec(raw)?.[1];
  if (box !== undefined) return box.trim() === '' ? 'false' : 'true';
  const text = withoutDecoration(raw.replaceAll('\ufe0f', '')).toLowerCase();
  const [word = '', sign, ...more] = text.split(/\s+/u);
  if (sign === undefined) return WHOLE.get(text);
  return more.length === 0 && WHOLE.get(word) === WORDS.get(sign) ? WHOLE.get(word) : undefined;
}

/**
 * Finds the bool that a string means: `true`, `false`, and `not true`, as whole words in any letter case; `yes` and `no`
 * as the whole string, or where marks set them off, since `no` is a common word. Undefined if there is none, or if both
 * occur and none of them is the answer.
 */
export function findBool(raw: string): FoundBool | undefined {
  const whole = wholeBool(raw);
  if (whole !== undefined) return { json: whole, exact: true, cued: false };
  const labelled = raw.length > MAX_WHOLE ? undefined : wholeBool(raw.replace(LABEL, ''));
  if (labelled !== undefined) return { json: labelled, exact: false, cued: false };
  const state = raw.length > MAX_WHOLE ? undefined : STATES.get(withoutDecoration(raw).toLowerCase());
  if (state !== undefined) return { json: state, exact: false, cued: false, isState: true };
  const letter = LETTER.exec(raw.slice(0, MAX_WHOLE));
  if (letter !== null) return { json: /y/iu.test(letter[1] ?? '') ? 'true' : 'false', exact: false, cued: false };
  const text = searchedPart(raw);
  const answer = answerAmong(text, boolsIn(text), { isNumber: false });
  if (answer.kind !== 'answer') return undefined;
  return { json: answer.json === 'true' ? 'true' : 'false', exact: false, cued: answer.cued };
}

/** `Answer: ✅` */
const LABEL = /^\W*(?:the )?(?:final )?(?:answer|result|verdict|output)[*_]{0,3}(?::| is\b)[*_]{0,3}/iu;

/** `Answer: Y`, `N - it differs`. */
const LETTER = /^\W*(?:(?:the )?(?:final )?(?:answer|result|output)\W{1,6})?([YN])\W*(?:$|\n|\s[-–—:(]\s?|[:,;]\s)/u;

/** No word with marks around it has more characters. */
const MAX_WHOLE = 100;

const PATTERN = /(?<![\p{L}\p{N}_]|[\p{L}\p{N}]-)(?:true|false|yes|no)(?![\p{L}\p{N}_]|-[\p{L}\p{N}]|['’]\p{L})/giu;

function boolsIn(text: string): readonly Hit[] {
  const hits = [...text.matchAll(PATTERN)].flatMap((match) => boolHits(text, match));
  // `It is true that …, but the claim is false.`
  const [first, ...others] = hits;
  if (first !== undefined && others.length > 0 && CONCESSION.test(text.slice(first.to, others[0]?.from))) return others;
  const foreign = FOREIGN.exec(text.slice(0, MAX_WHOLE));
  const json = WHOLE.get(foreign?.[1]?.toLowerCase() ?? '');
  return json === undefined ? hits : [{ from: 0, to: foreign?.[0].length ?? 0, json }, ...hits];
}

const CONCESSION = /^[*_"'`]{0,4} that [^.\n]{1,200}\b(?:but|however|yet)\b/iu;
/** Yes or no in another language before an explanation that does not restrict it: `Nein, das stimmt nicht.` */
const FOREIGN =
  /^[\s*_#>"'`]{0,8}(oui|ja|sí|да|はい|是的|是|예|네|nein|non|não|нет|否|不是|いいえ|아니요)[*_]{0,3}\s?[,.!;:–—、。，！](?!\W*(?:aber|allerdings|jedoch|nur|teil\w*|mais|seulement|en partie|partiel\w*|pero|s[oó]lo|mas|só|но|только|但|ただ))/iu;

function boolHits(text: string, match: RegExpExecArray): readonly Hit[] {
  const word = match[0].toLowerCase();
  const json = WORDS.get(word);
  const span = { from: match.index, to: match.index + word.length };
  if (json === undefined || TEST_RESULT.test(text.slice(span.to, span.to + MAX_NOT))) return [];
  if (word === 'yes' || word === 'no')
    return isSetOff(text, span) || isExplained(text, span) ? [{ ...span, json }] : [];
  if (NOT.test(text.slice(Math.max(0, span.from - MAX_NOT), span.from))) return [{ ...span, json: opposite(json) }];
  return isNegated(text, span) || isHedged(text, span) ? [] : [{ ...span, json }];
}

/** True for a word at the start of a text with an explanation after it, which does not restrict it: `No (not mentioned)`. */
function isExplained(text: string, { from, to }: CueSpan): boolean {
  return from < MAX_NOT && !HAS_WORD.test(text.slice(0, from)) && EXPLAINED.test(text.slice(to, to + MAX_EXPLAINED));
}

const MAX_EXPLAINED = 40;
const EXPLAINED =
  /^[*_"'`]{0,4}\s{0,4}(?:[([]|→|->|=>|\/\/|\b(?:because|since|as)\b)(?!\W{0,4}(?:but|except|only|unless|if|part\w*|most\w*|maybe|perhaps|sometimes|soon)\b)/iu;

/** True for a word that the words before it leave open (`partly true`, `may be true`, `whether it is true or false`), and in `a true friend`. */
function isHedged(text: string, { from, to }: CueSpan): boolean {
  const before = text.slice(Math.max(0, from - MAX_HEDGE), from);
  return (
    HEDGE.test(before.replace(FIRST_OF_TWO, ' ')) ||
    (ARTICLE.test(before) && /^ \p{L}{3}/u.test(text.slice(to, to + MAX_HEDGE)))
  );
}

const MAX_HEDGE = 60;
const ARTICLE = /\b(?:an?|the|this|any|every) $/iu;
/** Both words of `true or false` depend on the words before the first one. */
const FIRST_OF_TWO = /\s[*_"'`]{0,4}(?:true|false|yes|no)[*_"'`]{0,4} or(?: even)? [*_"'`]{0,4}$/iu;
const HEDGE =
  /\b(?:partially|partly|half|almost|nearly|only|somewhat|sometimes|used to be|good to be|(?<!\b(?:answer|verdict|result|conclusion|guess|assessment) )(?:may|might|could|can|would)(?: well| also| still| only)? (?:be|have been)|(?:if|whether|unless)(?: (?:it|this|that|(?:the|this|that) \w{1,30}))?(?: (?:is|was|were|be))?)\s+[*_"'`]{0,4}$/iu;

const MAX_NOT = 20;
/** `A false positive` is not a bool. */
const TEST_RESULT = /^[ -](?:positives?|negatives?|alarms?)\b/iu;
const NOT = /(?:\bnot|n['’]t)\s+[*_"'`]*$/iu;

function opposite(json: BoolText): BoolText {
  return json === 'true' ? 'false' : 'true';
}

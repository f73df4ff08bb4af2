import { answerAmong, isNegated, isSetOff, searchedPart, type Hit } from './answer-in-text.ts';
import { withoutDecoration } from './folding.ts';

export interface FoundBool {
  readonly json: 'true' | 'false';
  /** True if the string contains only the word. */
  readonly exact: boolean;
  /** True if a cue singles out the word among others. */
  readonly cued: boolean;
}

type BoolText = FoundBool['json'];

const WORDS: ReadonlyMap<string, BoolText> = new Map([
  ['true', 'true'],
  ['yes', 'true'],
  ['false', 'false'],
  ['no', 'false'],
  ['on', 'true'],
  ['off', 'false'],
  ['✅', 'true'],
  ['✓', 'true'],
  ['✔', 'true'],
  ['❌', 'false'],
  ['✗', 'false'],
  ['✘', 'false'],
]);

/**
 * Finds the bool that a string means: `true`, `false`, and `not true`, as whole words in any letter case; `yes` and `no`
 * as the whole string, or where marks set them off, since `no` is a common word. Undefined if there is none, or if both
 * occur and none of them is the answer.
 */
export function findBool(raw: string): FoundBool | undefined {
  const whole = raw.length > MAX_WHOLE ? undefined : WORDS.get(withoutDecoration(raw).toLowerCase());
  if (whole !== undefined) return { json: whole, exact: true, cued: false };
  const text = searchedPart(raw);
  const answer = answerAmong(
    text,
    [...text.matchAll(PATTERN)].flatMap((match) => boolHits(text, match)),
  );
  if (answer.kind !== 'answer') return undefined;
  return { json: answer.json === 'true' ? 'true' : 'false', exact: false, cued: answer.cued };
}

/** No word with marks around it has more characters. */
const MAX_WHOLE = 100;

const PATTERN = /(?<![\p{L}\p{N}_]|[\p{L}\p{N}]-)(?:true|false|yes|no)(?![\p{L}\p{N}_]|-[\p{L}\p{N}]|['’]\p{L})/giu;

function boolHits(text: string, match: RegExpExecArray): readonly Hit[] {
  const word = match[0].toLowerCase();
  const json = WORDS.get(word);
  const span = { from: match.index, to: match.index + word.length };
  if (json === undefined) return [];
  if (word === 'yes' || word === 'no') return isSetOff(text, span) ? [{ ...span, json }] : [];
  if (NOT.test(text.slice(Math.max(0, span.from - MAX_NOT), span.from))) return [{ ...span, json: opposite(json) }];
  return isNegated(text, span) ? [] : [{ ...span, json }];
}

const MAX_NOT = 20;
const NOT = /(?:\bnot|n['’]t)\s+[*_"'`]*$/iu;

function opposite(json: BoolText): BoolText {
  return json === 'true' ? 'false' : 'true';
}

import { cuedHits, isSingledOut, type CueSpan, type Sought } from '../cues.ts';
import { pointsElsewhere, statesAbsence, statesFailure } from './failure-text.ts';

/** A value that occurs in a text. */
export interface Hit extends CueSpan {
  /** The JSON text of the value. */
  readonly json: string;
  /** True for a spelling that no ordinary word has, such as `IN_PROGRESS`. */
  readonly distinct?: boolean;
}

export type TextAnswer =
  | { readonly kind: 'answer'; readonly json: string; readonly cued: boolean; readonly count: number }
  | { readonly kind: 'several'; readonly values: readonly string[] }
  | { readonly kind: 'none' };

/**
 * Determines which of the values in a text is the answer: the only one; the one that a cue singles out; the one after a
 * word of correction; or the one that is spelled as declared while the others are ordinary words. If several values
 * remain, none of them is the answer, however often each occurs. `hits`: in the order of the text. `from`: the offset after which
 * the text can state a failure.
 */
export function answerAmong(text: string, hits: readonly Hit[], sought: Sought, from = 0): TextAnswer {
  if (hits.length === 0 || pointsElsewhere(text)) return { kind: 'none' };
  const isFailure = statesFailure(text.slice(from)) || (sought.isNumber && statesAbsence(text));
  if (isFailure && !isSingledOut(text, hits, sought) && !namesFailure(text, hits)) return { kind: 'none' };
  const cued = cuedHits(text, hits, sought);
  const choices = [
    corrected(text, hits, STRONG),
    cued,
    corrected(text, cued, STRONG),
    distinctOf(cued),
    corrected(text, cued, RETRACTION),
  ];
  for (const remaining of choices) {
    const [json, ...others] = valuesOf(remaining);
    if (json === undefined || others.length > 0) continue;
    const isOnly = remaining.length === hits.length || valuesOf(hits).length === 1;
    return { kind: 'answer', json, cued: !isOnly, count: remaining.length };
  }
  return { kind: 'several', values: valuesOf(cued) };
}

/** True if one of the values is itself a failure, such as `"I don't know"`. */
function namesFailure(text: string, hits: readonly Hit[]): boolean {
  return hits.some(({ from, to }) => statesFailure(text.slice(from, to)));
}

function valuesOf(hits: readonly Hit[]): readonly string[] {
  return [...new Set(hits.map(({ json }) => json))];
}

function distinctOf(hits: readonly Hit[]): readonly Hit[] {
  return hits.filter((hit) => hit.distinct === true);
}

/** Returns the last value if the text between it and the value before states that it corrects that. */
function corrected(text: string, hits: readonly Hit[], words: RegExp): readonly Hit[] {
  const last = hits.at(-1);
  const before = hits.findLast((hit) => hit.json !== last?.json);
  if (last === undefined || before === undefined) return [];
  const between = text.slice(Math.max(before.to, last.from - MAX_BETWEEN), last.from);
  return words.test(between) ? [last] : [];
}

const MAX_BETWEEN = 200;
/** Words that only correct, directly before the correct value. */
const STRONG =
  /(?:\b(?:wait|oops|sorry|correction|edit(?:ed)?|update[d]?|scratch that|strike that|on second thoughts?|i mean(?:t)?|actually|my mistake)[,.:!–—-]+\s*(?:no,?\s+|actually,?\s+)*(?:(?:(?:it|that|this|the \w+)(?:['’]s| is| should be| must be| should have been)|make (?:it|that))\s+)?|\b(?:it|that|this) should (?:actually |instead |really )?(?:be|have been)\s+|\b(?:but|however|though),? (?:it|this|that|the \w+)(?:['’]s| is| was) (?:actually|really|in fact) )[*_"'`]*$/iu;
const RETRACTION =
  /\b(?:wait|oops|correction|scratch that|strike that|on second thoughts?|i mean(?:t)?|sorry)\b|(?:^|[.;!?\n,–—-])\s*(?:no|actually)\b,?/iu;

// --- the part of a text that is searched -----------------------------------------------------------------------------

/** The ends of a long text are searched: an answer is at the beginning or at the end. */
const MAX_SEARCHED = 50_000;

/** Returns the part of a text in which values are searched. */
export function searchedPart(text: string): string {
  return text.length <= 2 * MAX_SEARCHED ? text : `${text.slice(0, MAX_SEARCHED)}\n${text.slice(-MAX_SEARCHED)}`;
}

// --- negation --------------------------------------------------------------------------------------------------------

/** The characters before and after a word in which a negation of it can be. */
const MAX_NEGATION = 80;

/** True if the text states that the words from one offset to another are not the value: `not RED`, `RED is wrong`. */
export function isNegated(text: string, { from, to }: CueSpan): boolean {
  const before = text.slice(Math.max(0, from - MAX_NEGATION), from);
  const clause = before.slice(lastBoundary(before));
  return NEGATION.test(clause) || DENIAL.test(text.slice(to, to + MAX_NEGATION));
}

/** Returns the offset of the last clause. */
function lastBoundary(text: string): number {
  const last = [...text.matchAll(BOUNDARY)].at(-1);
  return last === undefined ? 0 : last.index + last[0].length;
}

const BOUNDARY =
  /[.,;:!?()\n]|\s[-–—]+\s|\b(?:but|so|because|since|thus|therefore|hence|although|though|while|yet|which|instead(?! of)|then)\b/giu;
/** A negation and up to six words after it; `no` negates at most the second word. */
const NEGATION =
  /(?:\b(?:nothing|not(?!\s+(?:only|just|merely)\b)|never|neither|nor|cannot|without(?!\s+(?:a )?doubt)|rather than|instead of|(?:\w{2,}er|less|more) than|except|excluding|unlike|hardly|barely|scarcely|far from|no way|no (?:reasons?|need|evidence|indications?|signs?|grounds?) (?:to|for|of|that)|none of|stretch to|(?<!\b(?:no|without|without an?y?|beyond|beyond an?y?|little) )doubt(?:s|ed|ful)?|(?:wrong|incorrect|false|misleading) to|(?:unlikely|impossible|improbable) (?:that|to))\b|n['’]t\b)(?:[\s*_"'`]+[^\s*_"'`]+){0,6}[\s*_"'`]*$|\b(?:no|non)\b(?!\s+(?:doubt|question|or|and)\b)(?:\s+[^\s*_"'`]+)?[\s*_"'`]*$/iu;
const DENIAL =
  /^[\s*_"'`]*(?:\?\s*(?:no|nope|false)\W*$|(?:is|was|are|does|do|did|would|can|could|should|may|might)\s*(?:not\b|n['’]t\b)|(?:can|ca|wo)n['’]?t\b|cannot\b|(?:is|was|seems|would be|can be|could be)\s+(?:wrong|incorrect|ruled out|unlikely|impossible|excluded|inappropriate))/iu;

// --- words in answer positions ---------------------------------------------------------------------------------------

/** The characters around a word that can set it off. */
const MAX_SET_OFF = 20;

/** True for a word that marks, the ends of the text, or an introduction separate from the sentence: `Yes, …`, `option A`. */
export function isSetOff(text: string, { from, to }: CueSpan): boolean {
  return (
    INTRODUCED.test(text.slice(Math.max(0, from - MAX_SET_OFF), from)) && ENDED.test(text.slice(to, to + MAX_SET_OFF))
  );
}

const INTRODUCED =
  /(?:^|[.,:;!?\n([{>=|"'`*-]|\b(?:is|be|answer|option|choice|letter|say|choose|pick|select|or|and|probably|definitely|certainly|absolutely)|→)\s*$/iu;
const ENDED = /^\s*(?:$|(?:or|and)\b|[.,:;!?\n)\]}<|"'`*–—-])/u;

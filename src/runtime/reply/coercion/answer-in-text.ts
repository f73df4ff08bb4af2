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
 * remain, none of them is the answer, however often each occurs. `found`: in the order of the text. `from`: the offset after which
 * the text can state a failure.
 */
export function answerAmong(text: string, found: readonly Hit[], sought: Sought, from = 0): TextAnswer {
  if (found.length === 0 || pointsElsewhere(text)) return { kind: 'none' };
  const hits = withoutQuestion(text, found);
  if (hits.length === 0) return { kind: 'none' };
  const isFailure = statesFailure(text.slice(from)) || (sought.isNumber && statesAbsence(text));
  if (isFailure && !isSingledOut(text, hits, sought) && !namesFailure(text, hits)) return { kind: 'none' };
  const cued = cuedHits(text, hits, sought);
  const choices = [
    corrected(text, hits, STRONG),
    cued,
    corrected(text, cued, STRONG),
    changed(text, cued),
    distinctOf(cued),
    corrected(text, cued, RETRACTION),
  ];
  for (const remaining of choices) {
    const [json, ...others] = valuesOf(remaining);
    if (json === undefined || others.length > 0) continue;
    const isOnly = remaining.length === found.length || valuesOf(found).length === 1;
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

/** Returns the last value if the text states that all other values are earlier states: `It was OPEN, but is now DONE.` */
function changed(text: string, hits: readonly Hit[]): readonly Hit[] {
  const last = hits.at(-1);
  const others = hits.filter((hit) => hit.json !== last?.json);
  if (last === undefined || others.length === 0 || !ENDED_STATE.test(text.slice(last.to, last.to + MAX_SET_OFF)))
    return [];
  if (!NOW.test(text.slice(Math.max(0, last.from - MAX_STATE), last.from))) return [];
  return others.every(({ from }) => EARLIER.test(text.slice(Math.max(0, from - MAX_STATE), from))) ? [last] : [];
}

const MAX_STATE = 60;
/** The end of a state. Any other word after it can be a noun that the state describes: `DONE tickets`. */
const ENDED_STATE =
  /^[*_"'`%)]{0,4}\s*(?:$|[.,;:!?)\n–—-]|(?:again|already|instead|because|since|after|as|at|and|but|with)\b)/iu;
const NOW = /\b(?:now|currently|since then)(?: (?:is|at))? [*_"'`]{0,4}$/iu;
const EARLIER = /\b(?:was|were|had been|used to be|previously|originally|initially|formerly)\b[^.;\n]{0,30}$/iu;

/**
 * Drops the values of a question that the text begins with, if a statement follows that does not only confirm it: `True or
 * false? False.`
 */
function withoutQuestion(text: string, hits: readonly Hit[]): readonly Hit[] {
  const end = QUESTION.exec(text.slice(0, MAX_QUESTION))?.[0].length ?? -1;
  const asked = hits.filter(({ to }) => to <= end);
  if (asked.length === 0) return hits;
  const isConfirmed = CONFIRMED.test(text.slice(end, end + MAX_STATE));
  if (asked.length === hits.length) return isConfirmed ? hits : [];
  const stated = hits.filter(({ from, to }) => from >= end && !IN_QUESTION.test(text.slice(to, to + MAX_QUESTION)));
  // `Is it false? Yes.` leaves open what `yes` confirms, and so does `Is it OPEN? Yes. DONE would be wrong.`
  const isOther = asked.some(({ json }) => !stated.some((hit) => hit.json === json));
  const isOpen = isConfirmed && isOther && !ALTERNATIVES.test(text.slice(0, end));
  return isOpen || stated.length === 0 ? hits : stated;
}

/** No statement follows, or one that confirms the question or offers another value. */
const CONFIRMED =
  /^[^\p{L}\p{N}]*(?:$|(?:or|yes|yep|yeah|correct|right|indeed|sure|probably|likely|certainly|definitely|i (?:think|guess|believe|suppose) so|it is\W*$|that is right)\b)/iu;
const ALTERNATIVES = /\b(?:true|yes) or (?:false|no)\b/iu;
const MAX_QUESTION = 300;
const QUESTION =
  /^[\s*_#>"'`]{0,8}(?:(?:q|question)[*_]{0,3}[:.]|(?:is|are|was|were|do|does|did|has|have|can|could|should|would|will|how|what|which|who|when|where|why|true or false|yes or no)\b)(?:[^\n.!?;]|\.(?=\d))*\?/iu;
const IN_QUESTION = /^[^\n.!?;]*\?/u;

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
  /(?:\b(?:nothing|not(?!\s+(?:only|just|merely)\b)|never|neither|nor|cannot|without(?!\s+(?:a )?doubt)|rather than|instead of|(?:\w{2,}er|less|more) than(?! likely)|(?:more|rather|closer|better) [^.,;:\n]{1,40} than(?! likely)|except|excluding|unlike|hardly|barely|scarcely|far from|no way|no (?:reasons?|need|evidence|indications?|signs?|grounds?) (?:to|for|of|that)|none of|stretch to|(?<!\b(?:no|without|without an?y?|beyond|beyond an?y?|little) )doubt(?:s|ed|ful)?|(?:wrong|incorrect|false|misleading) to|(?:unlikely|impossible|improbable) (?:that|to))\b|n['’]t\b)(?:[\s*_"'`]+[^\s*_"'`]+){0,6}[\s*_"'`]*$|\b(?:no|non)\b(?!\s+(?:doubt|question|or|and)\b)(?:\s+[^\s*_"'`]+)?[\s*_"'`]*$/iu;
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
  /(?:^|[.,:;!?\n([{>=|"'`*-]|\b(?:is|be|answer|option|choice|letter|say|choose|pick|select|or|and|so|thus|hence|therefore|probably|definitely|certainly|absolutely)|→)\s*$/iu;
const ENDED = /^\s*(?:$|(?:or|and)\b|[.,:;!?\n)\]}<|"'`*–—-])/u;

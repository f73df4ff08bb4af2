/*
 * The only English of the reply reader. A reply in another language is read by the fit of its values and by their places
 * alone. Every pattern runs on a bounded text and is linear in it.
 */

/** The role that a label gives to the value after it. */
export type Role = 'final' | 'draft' | 'example';

const FINAL = /\b(?:final|correct(?:ed|ion)?|revised|updated|fixed|improved)\b/iu;
const ANSWER = /\b(?:answer|result|output|solution|response|conclusion|after|new)\b/iu;
const DRAFT =
  /\b(?:draft|(?:first|initial|earlier) (?:try|attempt|guess|pass|version|thought|idea|answer)|wrong|incorrect|invalid|preliminary|tentative|rough|before|old|previous|original|outdated|superseded|discarded)\b/iu;
const EXAMPLE =
  /\b(?:example|e\.g|for instance|sample|schema|template|format|structure|placeholder|hypothetical|input|instructions?|alternative(?:ly)?|could (?:be|look)|would look)\b/iu;
const NOT_FINAL =
  /\b(?:(?:not|isn't|never) (?:yet )?(?:the )?(?:final|correct|right)|before (?:the )?(?:correction|revision|fix|update|change))\b/iu;

/** Returns the role that the words of a label give: `Final answer:`, `First draft:`, `An example of the format:`. */
export function roleOfLabel(label: string): Role | undefined {
  if (NOT_FINAL.test(label)) return 'draft';
  if (FINAL.test(label)) return 'final';
  if (DRAFT.test(label)) return 'draft';
  // `The result in the requested format:` introduces an answer.
  if (EXAMPLE.test(label)) return ANSWER.test(label) ? undefined : 'example';
  return ANSWER.test(label) ? 'final' : undefined;
}

const CORRECTION =
  /\b(?:wait|oops|sorry|apologies|actually|correction|corrected|scratch that|strike that|on second thought|on reflection|disregard|ignore (?:that|the above)|i made (?:a|an) (?:mistake|error)|let me (?:fix|correct|redo|revise|re-?check|try (?:that |this )?again)|(?:that|this|it)(?:'s| is| was) (?:not (?:quite )?right|wrong|incorrect)|should (?:be|have been))\b|(?:^|[.!?\n][^\S\n]*)(?:no|hmm+)\b[,.:!]/iu;

/** True for words between two values that make the second one correct the first. */
export function isCorrection(between: string): boolean {
  return CORRECTION.test(between);
}

// --- scalars in prose ------------------------------------------------------------------------------------------------

/** A label before the answer, or the beginning of a sentence that states it. The answer follows on the line, or on the next one. */
export const FINAL_LABEL =
  /(?:^[ \t\u00a0>*_#-]*|[.!?;:,]\s+|\b(?:so|thus|hence|therefore|then|and|that)\s+)(?:(?:final|my|the|correct|overall)\s+){0,2}(?:answer|result|output|classification|category|verdict|conclusion)[*_"'`]{0,4}\s*(?:\bis\b\s*:?|[:=])/gimu;

/** The name of a tag around an answer. */
export const ANSWER_TAG = '(?:final_?)?(?:answer|result|output|response)';

/** Words in front of a value that negate it or leave it open, inside its clause. */
export const NEGATION =
  /(?:\b(?:not(?!\s+(?:only|just|merely)\b)|no(?!\s+(?:doubt|question)\b)|never|neither|nor|non|nothing|none of|cannot|without(?!\s+(?:a )?doubt)|except|unlike|instead of|(?:rather|less|more|fewer|\w{2,}er) than|far from|hardly|barely|scarcely|part(?:ial)?ly|if|whether|(?<!\b(?:no|without|without a|beyond) )doubt|wrong to)\b|n['’]t\b)/iu;

/** Words directly after a value that negate it. */
export const DENIAL =
  /^[\s*_"'`]*(?:(?:is|was|are|does|do|did|would|can|could|should|may|might|seems)\s*(?:not\b|n['’]t\b|(?:be\s+)?(?:wrong|incorrect|ruled out|unlikely|impossible|excluded)\b)|(?:can|ca|wo)n['’]?t\b|cannot\b)/iu;

/** Labels that are ordinary words as well: in a sentence, they are values only where marks set them off. */
export const COMMON_WORDS: ReadonlySet<string> = new Set(
  'a an i no yes on off in out up down it is us or and all any other can will may do go'.split(' '),
);

/** Words after digits that multiply them: `5 million` is not 5. */
export const SCALE_WORD =
  /^\s?(?:hundred|thousand|milli?on|billi?on|trillion|dozen|mil|mio|mln|mn|mrd|bn|lakh|crore)/iu;

/** The text after a word that marks, the end of the text or an alternative set off from its sentence. */
export const SET_OFF = /^\s*(?:$|(?:or|and)\b|[.,:;!?\n)\]}<|"'`*–—-])/iu;

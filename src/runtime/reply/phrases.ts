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
  /\b(?:wait|oops|sorry|apologies|actually|correction|corrected|scratch that|strike that|on second thought|on reflection|disregard|ignore (?:that|the above)|i made (?:a|an) (?:mistake|error)|let me (?:fix|correct|redo|revise|re-?check|try (?:that |this )?again)|(?:that|this|it)(?:'s| is| was) (?:not (?:quite )?right|wrong|incorrect)|should (?:be|have been))\b|(?:^|[.!?\n]\s*)(?:no|hmm+)\b[,.:!]/iu;

/** True for words between two values that make the second one correct the first. */
export function isCorrection(between: string): boolean {
  return CORRECTION.test(between);
}

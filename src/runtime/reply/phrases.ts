/*
 * The English that svc reads in replies. Other languages are read by the fit of their values alone.
 */

/** A label before the answer, or the beginning of a sentence that states it. The answer follows on the line, or on the next one. */
export const FINAL_LABEL =
  /(?:^[\s>*_#-]*|[.!?;:,]\s+|\b(?:so|thus|hence|therefore|then|and|that)\s+)(?:(?:final|my|the|correct|overall)\s+){0,2}(?:answer|result|output|classification|category|verdict|conclusion)[*_"'`]{0,4}\s*(?:\bis\b\s*:?|[:=])/gimu;

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

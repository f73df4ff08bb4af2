/*
 * The English phrases behind the cues, as patterns: each line lists alternatives with one meaning. No pattern nests one
 * unbounded repetition in another, so that every search is linear in its text.
 */

/** Joins the lines of a template to one group of alternatives. */
function anyOf(lines: TemplateStringsArray, ...parts: readonly string[]): string {
  const alternatives = String.raw(lines, ...parts)
    .trim()
    .split(/\n\s*/u);
  return `(?:${alternatives.join('|')})`;
}

/** Matches these phrases as whole words. */
function words(phrases: string): RegExp {
  return new RegExp(String.raw`\b${phrases}\b`, 'iu');
}

// --- the roles of labels -------------------------------------------------------------------------------------------------

const READ = anyOf`
  (?:review|check|re-?check|re-?read|analy[sz]|look|compar|consider|examin|verify|process|pars)(?:e|ed|es|ing|s)?(?: at)?
  in|to|with|per|as|follow(?:s|ing)?|match(?:es|ing)?|using|under|by|against|of|for|from|on
  fits?|fitting|according to|conform(?:s|ing)? to|based on
`;
const WHOSE = anyOf`
  the|your|this|that|an?|my|its|same|given|following
  requested|required|specified|provided|expected|desired|above
  json|output|response|answer
`;
const TASK = anyOf`
  schema|format|structure|template|interface|type|example|sample
  input|text|instruction|definition|source|context|prompt|request|question
`;

/** `In the format of your example`, `following the schema`: these words belong to an answer. */
export const AS_REQUESTED = new RegExp(String.raw`\b${READ} (?:${WHOSE} ){1,5}${TASK}s?\b`, 'giu');

export const NOT_FINAL =
  /\b(?:(?:not|isn't|never) (?:yet )?(?:the )?(?:final|correct|right)|before (?:the )?(?:correction|revision|fix|update|change|edit)s?)\b/iu;

export const FINAL = words(anyOf`
  final(?:ly|i[sz]ed)?
  correct|corrected|corrections?|fixed
  revised|updated|improved|refined
`);

export const DRAFT = words(anyOf`
  drafts?
  (?:first|initial|early|earlier) (?:try|attempt|guess|pass|version|draft|thought|idea|estimate|answer|result|output)
  (?:wrong|incorrect|invalid|bad|rejected) (?:answer|result|output|version|value|record|json)
  rough|preliminary|tentative(?:ly)?|scratch(?:pad| work)?
  superseded|outdated|obsolete|do not use|don't use|discarded
`);

export const ASIDE = words(anyOf`
  examples?|e\.g|for (?:instance|illustration)|samples?
  schemas?|templates?|skeleton|placeholders?
  hypothetical(?:ly)?|suppose|if (?:it|he|she|this|that|there|the \w+) (?:was|were)|i considered
  alternatives?|alternatively|another (?:example|one|option|possibility|possible|version|way)
  unlike|confused with
  mock|dummy|test data|defaults?
  (?<=^\W{0,12})(?:excluded|omitted|skipped|ignored|rejected|filtered out|irrelevant|unrelated|not (?:included|relevant|matching))
`);

export const MADE_UP = words(anyOf`
  made-?up|invented|fictional|fictitious|fake|dummy|imaginary
  (?:example|sample|placeholder|illustrative) (?:values?|data) only
  (?:only|just|merely) (?:an? )?(?:example|illustration|placeholder)
`);

/** A sentence after an example. */
export const IS_MADE_UP = words(anyOf`
  (?<!\b(?:no|none of (?:the|these|it)|nor) )(?:values?|data|names?|details|it|this|that|above|output|example|record|json) (?:here |above )?(?:is|are|was|were) (?:all |just |only |merely |purely |entirely |completely )?(?:made-?up|invented|fictional|fictitious|fake|dummy|imaginary|placeholders?|(?:an? )?(?:examples?|illustrations?))
  i (?:made (?:up|(?:it|this|them|these) up)|invented) (?:the|these|this|all|it|them)?
`);

/** The line before a value that only shows the form of an answer. */
export const FORM_OF_ANSWER = words(anyOf`
  (?:how|what) (?:the|my|your|an?) (?:final )?(?:output|answer|result|response|json)s? (?:will|would|could|might|should) look
`);

/** The same, in a reply that states that its input is missing. */
export const FORM_OR_EXAMPLE = words(anyOf`
  examples?|samples?|illustrations?|placeholders?|templates?|something like|like (?:this|so)
  (?:will|would|can|could|i'll|i’ll) (?:then |be able to )?(?:return|respond|reply|output|look|give|produce|provide|extract)
`);

const INPUT =
  '(?:texts?|inputs?|documents?|messages?|attachments?|attached|files?|images?|content|articles?|transcripts?|data|passages?|conversations?|reviews?|invoices?|receipts?|resumes?)';
const GIVEN = '(?:provided|given|included|attached|supplied|sent|shared|pasted|uploaded|received|found)';
const GIVE = '(?:provide|share|attach|include|send|paste|upload|supply|give)';
/** Words that state that the input of the task is missing. */
export const MISSING_INPUT = words(anyOf`
  (?:don't|don’t|do not|didn't|didn’t|did not|can't|can’t|cannot|couldn't|couldn’t) (?:actually )?(?:see|find|have|receive|detect|access) (?:(?:any|the|an?|your|actual|input|source) ){0,3}${INPUT}
  no (?:input |source )?${INPUT} (?:was|were|is|are|has been|have been) ${GIVEN}
  (?:contains?|contained|has|had|with|included) no (?:actual |input |source )?${INPUT}
  (?:haven't|haven’t|have not|didn't|didn’t|did not) (?:actually )?(?:${GIVE}|${GIVEN})
  (?:once|when|after|as soon as) you(?:'ve|’ve| have)? (?:${GIVE}|${GIVEN}|do\b)
  (?:please|could you|can you) ${GIVE}(?: me)?(?: with)? (?:the|your|an?) (?:\w+ )?${INPUT}
  ${GIVE} me the ${INPUT}
  ${INPUT} (?:is|was|seems|appears)(?: to be)? (?:missing|empty|blank)
`);

/** In longer labels, these words are often about something else: `After careful analysis of the input, I found:`. */
export const SHORT_DRAFT = words(anyOf`
  workings?|analysis|reasoning|thoughts?|thinking|brainstorm(?:ing)?|intermediate
  incorrect|wrong|invalid|mistaken|rejected
  before|old|previous(?:ly)?|original(?:ly)?
`);

export const SHORT_ASIDE = words(anyOf`
  structures?|formats?|interfaces?|definitions?
  inputs?|prompt|instructions?
  references?|sources?|citations?|footnotes?|bibliography|further reading
  usage|validation|metadata|notes?
  another|options?|other
  raw|unused
`);

/** In longer labels, these words are often about something else: `On the right:`. */
export const SHORT_ANSWER = words(anyOf`
  right|good|current|chosen|selected|choice
`);

export const ANSWER = /\b(?:answers?|results?|outputs?|solution|conclusion|verdict|response|after|new|now)\b/iu;

// --- the words directly before and after a value ---------------------------------------------------------------------------

/** The end of the words before a value: its quotes, brackets and marks. */
const END = String.raw`[\s:"'\x60*(]*$`;

const IS_WRONG = anyOf`
  (?:would|could|is|was|were|are|looks?|seems?)(?: be| have been| also)? (?:wrong|incorrect|invalid|not\b)
  (?:would|could|is|was|were|are|looks?|seems?)(?: be| have been| also)? (?:only |just )?an? (?:example|placeholder|draft|mistake)
  isn't|wasn't|would not|wouldn't
  \?
`;
export const DISMISSED = new RegExp(String.raw`^[\s"'\x60*)]*(?:,? (?:but|though) )?${IS_WRONG}`, 'iu');

const NOT_THIS = anyOf`
  \b(?:not|instead of|rather than|unlike|maybe|perhaps|first thought)
  n't(?: be)?
`;
export const INSTEAD = new RegExp(`${NOT_THIS}${END}`, 'iu');

const FOR_EXAMPLE = anyOf`
  such as|like|e\.g\.,?|for example,?|for instance,?
  if (?:it|there) (?:is|was|were)|would have (?:been|returned|written|used)
`;
export const SUCH_AS = new RegExp(String.raw`\b${FOR_EXAMPLE}${END}`, 'iu');

const RATHER = anyOf`
  (?:should|must)(?: actually| instead| really)? (?:be|have been|read)
  (?:correct|final|right|actual|real)(?: answer| value| version| result| output| json| object| list| one| record)? (?:is|would be)
  (?:answer|result|output) is
  but(?: rather)?|no[,.:]?|correction|actually,?|make that|i mean
`;
export const SHOULD_BE = new RegExp(String.raw`\b${RATHER}${END}`, 'iu');

/**
 * A line that begins another task, which a model makes up after its answer: `Input: …`, `### Instruction:`, `## Exercise 2 (harder)`,
 * `<|user|>`.
 */
export const NEXT_TASK =
  /^[ \t>*_#]*(?:(?:(?:next|new) )?(?:input|instructions?|user|human|question|q|query|prompt)(?: \d+)?[*_]*[ \t]*:|<\|(?:im_start\|>)?user\b|\[INST\])|^#{1,6}[ \t]*(?:(?:next|new|another) )?(?:instruction|exercise|question|problem|task|prompt|input)s? \d{1,2}\b[^\n]{0,60}$/imu;

/** A line with the input of another task, which has the name of a text, and the label of an output at the end of these words. */
export const NEXT_INPUT =
  /^[ \t>*_#]*(?:(?:next|new|another) )?(?:(?:input |source )?text|sentence|paragraph|passage|document|article|review|email|message|comment|tweet|post|ticket|transcript|conversation|dialogue|snippet|description|abstract|example|sample|case)(?: \d{1,2})?[*_]*[ \t]*:/imu;
export const OUTPUT_LABEL =
  /(?:^|\n)[ \t>*_#]{0,8}(?:output|response|answer|result|json|extract(?:ion|ed)(?: data)?|assistant)(?: \d{1,2})?[*_]{0,2}[ \t]{0,3}:?[*_]{0,2}\s{0,8}(?:```\w{0,12}\s{0,8})?$/iu;

// --- the words between two values ----------------------------------------------------------------------------------------

export const BEGINS_CORRECTION =
  /^\W*(?:wait|oops|whoops|sorry|apologies|actually|no[,.:]|hmm+|scratch that|on second thought|correction)\b/iu;

const CORRECTS = anyOf`
  wait|oops|whoops|sorry|apolog(?:y|ies|i[sz]e)|my (?:bad|mistake|error)|mistakes?|errors?
  actually|on reflection|on second thought|scratch that|strike that
  disregard|ignore (?:that|the above|the previous)
  let me (?:fix|correct|redo|revise|re-?check|re-?do|retry|try (?:that |this )?again|update|reconsider|adjust|refine|improve)
  i (?:made|missed|forgot|misread|overlooked|misunderstood|should have|need to (?:fix|correct))
  i should (?:change|fix|correct|update)|should (?:be|have been|instead be)
  (?:that|this|it|which|one)(?:'s| is| was|,? however,? is) (?:not (?:quite )?(?:right|correct)|wrong|incorrect|off|invalid|inaccurate)
  not quite|instead|better|improved
  re-?(?:reading|checking|examining|considering)
  (?:think|look|check|read)(?:ing)?\b[^.\n]{0,40}\b(?:again|once more|more (?:closely|carefully))
  correction|corrected|correcting|fixed|fixing|revised?|revision|revising
`;
export const CORRECTION = new RegExp(String.raw`\b${CORRECTS}\b|(?:^|[.!?\n]\s*|[-–—]\s*)(?:no|hmm+)\b[,.:!]?`, 'iu');

/** Words around one of several lists that set it apart from the others, or make it a version of another one. */
export const SETS_APART = words(anyOf`
  remov\w+|delet\w+|drop(?:ped)?|exclud\w+|without|skipped|omitted|ignored|irrelevant|unrelated|rejected|filtered
  alternatively|replac\w+|not (?:included|relevant|part|used|counted|matching)|does not (?:match|belong)|would (?:be|have|look)
  versions?|whole|full|complete|entire|combined|merged|consolidated|summar\w+|short(?:er|ened|list)?|simplif\w+|condensed|detailed
  normali[sz]\w+|clean(?:ed|ing)?|translat\w+|rewritten|rephrased|in (?:english|german|french|spanish|italian|dutch)
  english|german|french|spanish|italian|dutch|deutsch|englisch|franz[öo]sisch
  entwurf|korrektur|korrigiert\w*|beispiel\w*|ergebnis|antwort|endg[üu]ltig\w*|vorher|nachher|bereinigt\w*
  brouillon|corrig\w+|exemple|ejemplo|esempio|voorbeeld|r[ée]sultat|r[ée]ponse|respuesta|resultado|avant|apr[èe]s
`);

/** The name of a version on a line of its own: `Candidate 1:`, `### Option B`. */
export const NUMBERED_VERSION =
  /^\W*(?:candidate|option|version|attempt|draft|variant|alternative)\s+(?:\d{1,2}|[a-d])\b\W*$/iu;

/** A sentence on lines of its own that announces another start, and the bracket after it. */
export const RESTART =
  /\n\s*\n[^\n"]{0,60}\b(?:re-?start|start (?:over|again)|try (?:that |this )?again|re-?do|begin again)\b[^\n"]{0,40}\n\s*\n\s*[[{]/iu;

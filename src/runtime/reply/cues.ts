/*
 * The words with which models point at their answer. They are English; a reply in another language is read by the fit of
 * its values and by their places alone. Every pattern runs on a bounded text and is linear in it.
 */

// --- values in a text --------------------------------------------------------------------------------------------------

/** A part of a text, by offsets. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The most characters of a text that a search for cues reads, half of them at either end. */
const MAX_READ = 20_000;

/**
 * Returns the values in a text that the strongest cue singles out, and all of them if there is no cue. The cues, from
 * strong to weak: `\boxed{5}`; `<answer>5</answer>`; a final answer (`Final answer: 5`); an answer
 * (`The answer is 5`); the only bold value; a value alone on its line; a conclusion (`So the total is 5`). `hits`: the
 * values, in the order of the text.
 */
export function cuedHits<T extends Span>(text: string, hits: readonly T[]): readonly T[] {
  if (hits.length < 2 || text.length > MAX_READ) return hits;
  for (const cue of CUES) {
    const spans = cue(text);
    const inside = hits.filter((hit) => spans.some((span) => hit.from >= span.from && hit.to <= span.to));
    if (inside.length > 0) return inside;
  }
  return aloneOnLine(text, hits) ?? concluding(text, hits) ?? hits;
}

type Cue = (text: string) => readonly Span[];

const CUES: readonly Cue[] = [
  (text) => lastOf(groupSpans(text, /\\boxed\{([^{}]*)\}/gu)),
  (text) => lastOf(groupSpans(text, /<(?:final_?)?(?:answer|result|output|response|label|value)>([^<]*)<\//giu)),
  (text) => lastOf(labelled(text, FINAL_LABEL)),
  (text) => lastOf(labelled(text, ANSWER_LABEL)),
  (text) => onlyOne(groupSpans(text, /\*\*([^*\n]+)\*\*/gu)),
];

const NOUN =
  '(?:answer|result|verdict|classification|category|label|class|value|total|conclusion|decision|output|solution|sentiment|rating|score|choice)';
const IS = String.raw`[*_"']*[ \t]*(?::|=|→|->|\bis\b:?|\bwould be\b|\bmust be\b|\bshould be\b)`;
const FINAL_LABEL = new RegExp(
  String.raw`\b(?:final|correct|corrected|revised|updated)(?:[ \t]+\w+)?[ \t]+${NOUN}\b${IS}|^[#*_ \t]*(?:final answer|final|conclusion|verdict)[*_ \t]*:?[*_ \t]*$`,
  'gimu',
);
const CHOOSE = String.raw`\bI(?:['’]d| would| will|['’]ll)? (?:choose|pick|select|go with)\b|\b(?:classified|classify (?:it|this|that)|labell?ed|categori[sz]ed|rated) as\b:?`;
const ANSWER_LABEL = new RegExp(String.raw`\b${NOUN}\b${IS}|${CHOOSE}|^[#*_ \t]*${NOUN}[*_ \t]*:?[*_ \t]*$`, 'gimu');

/** Returns the clauses that follow these labels: the rest of the line, or the next line that is not empty. */
function labelled(text: string, label: RegExp): readonly Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(label)) {
    const from = nextWord(text, match.index + match[0].length);
    const clause = CLAUSE.exec(text.slice(from, from + MAX_CLAUSE))?.[0] ?? '';
    if (!NEGATION.test(clause)) spans.push({ from, to: from + clause.length });
  }
  return spans;
}

const MAX_CLAUSE = 300;
/** The text up to the end of the sentence, or to a word that begins its reason or an alternative. */
const CLAUSE =
  /^(?:(?!\.\s|[\n;(]| because\b| since\b|,? (?:and |but )?not\b|,? rather than\b| instead of\b| out of\b|, as\b)[^])*/iu;
const NEGATION = /^(?:not|n't|never|neither)\b/iu;

function nextWord(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[\s*_`"':#]/u.test(text.charAt(at))) at += 1;
  return at;
}

function groupSpans(text: string, pattern: RegExp): readonly Span[] {
  return [...text.matchAll(pattern)].map((match) => {
    const from = match.index + match[0].indexOf(match[1] ?? '');
    return { from, to: from + (match[1] ?? '').length };
  });
}

function lastOf(spans: readonly Span[]): readonly Span[] {
  return spans.slice(-1);
}

function onlyOne(spans: readonly Span[]): readonly Span[] {
  return spans.length === 1 ? spans : [];
}

/** Returns the values that are, apart from punctuation, all of their lines. */
function aloneOnLine<T extends Span>(text: string, hits: readonly T[]): readonly T[] | undefined {
  if (!text.includes('\n')) return undefined;
  const alone = hits.filter(
    (hit) => !HAS_WORD.test(lineBefore(text, hit.from)) && !HAS_WORD.test(lineAfter(text, hit.to)),
  );
  return alone.length > 0 ? alone : undefined;
}

/** Returns the values in the sentences of the last paragraph that begin with a word of conclusion. */
function concluding<T extends Span>(text: string, hits: readonly T[]): readonly T[] | undefined {
  const from = Math.max(0, text.trimEnd().lastIndexOf('\n'));
  const last = [...text.slice(from).matchAll(CONCLUSION)].at(-1);
  if (last === undefined) return undefined;
  const inside = hits.filter((hit) => hit.from >= from + last.index);
  return inside.length > 0 ? inside : undefined;
}

const CONCLUSION =
  /(?:^|[.!?]\s+|\n\s*)(?:therefore|thus|so|hence|in conclusion|to conclude|overall|in summary|finally)\b/giu;
const HAS_WORD = /[\p{L}\p{N}]/u;

/** The characters of a line that are read on either side of a value. */
const MAX_LINE = 400;

/** Returns the text between the start of its line, or `limit`, and an offset. */
export function lineBefore(text: string, at: number, limit = 0): string {
  const head = text.slice(Math.max(limit, at - MAX_LINE), at);
  return head.slice(head.lastIndexOf('\n') + 1);
}

/** Returns the text between an offset and the end of its line, or `limit`. */
export function lineAfter(text: string, at: number, limit = text.length): string {
  const tail = text.slice(at, Math.min(limit, at + MAX_LINE));
  const end = tail.indexOf('\n');
  return end < 0 ? tail : tail.slice(0, end);
}

// --- the words that introduce a value ------------------------------------------------------------------------------------

/**
 * The role that the words before a value give it: the answer; a draft, which something later replaces; or an aside, such
 * as an example, a schema, the input or a source.
 */
export type Role = 'answer' | 'draft' | 'aside';

/** Returns the role that a heading, a label or the name of a tag gives the value after it. */
export function roleOfLabel(label: string): Role | undefined {
  const text = label.replaceAll('_', ' ').replace(AS_REQUESTED, ' ');
  if (NOT_FINAL.test(text)) return 'draft';
  if (FINAL.test(text)) return 'answer';
  const isShort = text.trim().split(/\s+/u).length <= MAX_SHORT_WORDS;
  if (DRAFT.test(text) || (isShort && SHORT_DRAFT.test(text))) return 'draft';
  if (ASIDE.test(text) || (isShort && SHORT_ASIDE.test(text))) return 'aside';
  return ANSWER.test(text) ? 'answer' : undefined;
}

/** `In the format of your example`, `following the schema`: these words belong to an answer. */
const AS_REQUESTED =
  /\b(?:(?:review|check|re-?check|re-?read|analy[sz]|look|compar|consider|examin|verify|process|pars)(?:e|ed|es|ing|s)?(?: at)?|in|to|with|per|as|follow(?:s|ing)?|match(?:es|ing)?|using|under|by|against|of|for|from|on|fits?|fitting|according to|conform(?:s|ing)? to|based on) (?:(?:the|your|this|that|an?|my|its|same|given|following|requested|required|specified|provided|expected|desired|above|json|output|response|answer) ){1,5}(?:schema|format|structure|template|interface|type|example|sample|input|text|instruction|definition|source|context|prompt|request|question)s?\b/giu;

const NOT_FINAL = /\b(?:not|isn't|never) (?:yet )?(?:the )?(?:final|correct|right)\b/iu;
const FINAL = /\b(?:final(?:ly|i[sz]ed)?|correct|corrected|corrections?|fixed|revised|updated|improved|refined)\b/iu;
const DRAFT =
  /\b(?:drafts?|(?:first|initial|early|earlier) (?:try|attempt|guess|pass|version|draft|thought|idea|estimate|answer|result|output)|(?:wrong|incorrect|invalid|bad|rejected) (?:answer|result|output|version|value|record|json)|rough|preliminary|tentative(?:ly)?|scratch(?:pad| work)?)\b/iu;
const ASIDE =
  /\b(?:examples?|e\.g|for (?:instance|illustration)|samples?|schemas?|templates?|skeleton|placeholders?|hypothetical(?:ly)?|alternatives?|alternatively|another (?:example|one|option|possibility|possible|version|way)|mock|dummy|unlike|confused with|suppose|if (?:it|he|she|this|that|there|the \w+) (?:was|were)|i considered|test data|defaults?)\b/iu;
/** In longer labels, these words are often about something else: `After careful analysis of the input, I found:`. */
const SHORT_DRAFT =
  /\b(?:workings?|analysis|reasoning|thoughts?|thinking|brainstorm(?:ing)?|intermediate|incorrect|wrong|invalid|mistaken|rejected|before|old|previous(?:ly)?|original(?:ly)?)\b/iu;
const SHORT_ASIDE =
  /\b(?:structures?|formats?|interfaces?|definitions?|inputs?|prompt|instructions?|references?|sources?|citations?|footnotes?|bibliography|further reading|usage|validation|metadata|notes?|another|options?|raw|unused|other)\b/iu;
const MAX_SHORT_WORDS = 4;
const ANSWER = /\b(?:answers?|results?|outputs?|solution|conclusion|verdict|response|after|new|now)\b/iu;

/** Returns the role that the words directly before a value give it, inside a sentence. */
export function roleInSentence(before: string, after: string): Role | undefined {
  const head = before.slice(-MAX_DIRECT);
  if (DISMISSED.test(after)) return 'draft';
  if (INSTEAD.test(head)) return 'draft';
  if (SUCH_AS.test(head)) return 'aside';
  return SHOULD_BE.test(head) ? 'answer' : undefined;
}

const MAX_DIRECT = 60;
const END = String.raw`[\s:"'\x60*(]*$`;
const DISMISSED =
  /^[\s"'`*)]*(?:,? (?:but|though) )?(?:(?:would|could|is|was|were|are|looks?|seems?)(?: be| have been| also)? (?:wrong|incorrect|invalid|not\b|(?:only |just )?an? (?:example|placeholder|draft|mistake))|isn't|wasn't|would not|wouldn't|\?)/iu;
const INSTEAD = new RegExp(
  String.raw`(?:\b(?:not|instead of|rather than|unlike|maybe|perhaps|first thought)|n't(?: be)?)${END}`,
  'iu',
);
const SUCH_AS = new RegExp(
  String.raw`(?:\b(?:such as|like|e\.g\.,?|for example,?|for instance,?|if (?:it|there) (?:is|was|were))|\bwould have (?:been|returned|written|used))${END}`,
  'iu',
);
const SHOULD_BE = new RegExp(
  String.raw`(?:\b(?:(?:should|must)(?: actually| instead| really)? (?:be|have been|read)|(?:correct|final|right|actual|real)(?: answer| value| version| result| output| json| object| list| one| record)? (?:is|would be)|(?:answer|result|output) is|but(?: rather)?|no[,.:]|correction|actually,?|make that|i mean)|\bno)${END}`,
  'iu',
);

// --- the words between two values ----------------------------------------------------------------------------------------

/** True for a label that begins with words of correction: what else it names is the value before it. */
export function beginsCorrection(label: string): boolean {
  return BEGINS_CORRECTION.test(label);
}

const BEGINS_CORRECTION =
  /^\W*(?:wait|oops|whoops|sorry|apologies|actually|no[,.:]|hmm+|scratch that|on second thought|correction)\b/iu;

/** True if the text between two values states that the later one corrects the earlier one. */
export function isCorrection(between: string): boolean {
  return between.length > MAX_READ
    ? CORRECTION.test(between.slice(0, MAX_READ / 2)) || CORRECTION.test(between.slice(-MAX_READ / 2))
    : CORRECTION.test(between);
}

const CORRECTION =
  /\b(?:wait|oops|whoops|sorry|apolog(?:y|ies|i[sz]e)|my (?:bad|mistake|error)|actually|correction|corrected|correcting|scratch that|strike that|disregard|ignore (?:that|the above|the previous)|on second thought|let me (?:fix|correct|redo|revise|re-?check|re-?do|retry|try (?:that |this )?again|update|reconsider|adjust|refine|improve)|i (?:made|missed|forgot|misread|overlooked|misunderstood|should have|need to (?:fix|correct))|mistakes?|errors?|(?:that|this|it|which|one)(?:'s| is| was|,? however,? is) (?:not (?:quite )?(?:right|correct)|wrong|incorrect|off|invalid|inaccurate)|not quite|should (?:be|have been|instead be)|i should (?:change|fix|correct|update)|on reflection|re-?(?:reading|checking|examining|considering)|(?:think|look|check|read)(?:ing)?\b[^.\n]{0,40}\b(?:again|once more|more (?:closely|carefully))|fixed|fixing|revised?|revision|revising|better|improved|instead)\b|(?:^|[.!?\n]\s*|[-–—]\s*)(?:no|hmm+)\b[,.:!]?/iu;

/** True if there are only separators between two values. */
export function isNothingBetween(between: string): boolean {
  const words = between.replace(/```[^\n]*/gu, '').replace(/^\s*\d+[.)]\s*$/gmu, '');
  return !(HAS_WORD.test(words) || ARROW.test(words)) || /^\s*(?:or|and)\s*$/iu.test(words);
}

const ARROW = /[→⇒➡]|[=-]>/u;

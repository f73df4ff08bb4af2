import type { AnswerName } from './answer-name.ts';
import {
  ANSWER,
  AS_REQUESTED,
  ASIDE,
  BEGINS_CORRECTION,
  CORRECTION,
  DISMISSED,
  DRAFT,
  FINAL,
  FORM_OF_ANSWER,
  FORM_OR_EXAMPLE,
  INSTEAD,
  IS_MADE_UP,
  MADE_UP,
  MISSING_INPUT,
  NEXT_INPUT,
  NEXT_TASK,
  NOT_FINAL,
  OUTPUT_LABEL,
  SHORT_ANSWER,
  SHORT_ASIDE,
  SHORT_DRAFT,
  SHOULD_BE,
  SUCH_AS,
} from './cue-phrases.ts';

/*
 * The words with which models point at their answer. They are English; a reply in another language is read by the fit of
 * its values and by their places alone. Every pattern runs on a bounded text and is linear in it.
 */

// --- values in a text --------------------------------------------------------------------------------------------------

/** A part of a text, by offsets. */
export interface CueSpan {
  readonly from: number;
  readonly to: number;
}

/** The most characters of a text that a search for cues reads, half of them at either end. */
const MAX_READ = 20_000;

/** The type of the values in a text. */
export interface Sought {
  /** The names of the type, which introduce a value as the word `answer` does. */
  readonly name?: AnswerName;
  /** True for numbers: a text can state numbers of anything, such as an average rating. */
  readonly isNumber: boolean;
}

/**
 * Returns the values that the strongest cue in a text singles out, or all of them if the text has no cue. The cues, from
 * strong to weak: `\boxed{5}`; `<answer>5</answer>`; a final answer (`Final answer: 5`); the name of the type
 * (`Priority: HIGH`); an answer (`The answer is 5`); the only bold value; a value alone on its line; a conclusion
 * (`So the total is 5`). Of several values in a tag, the next cue singles out one. `hits`: the values, in the order of the text.
 */
export function cuedHits<T extends CueSpan>(text: string, hits: readonly T[], sought: Sought): readonly T[] {
  if (hits.length < 2 || text.length > MAX_READ) return hits;
  let kept = hits;
  for (const cue of CUES) {
    const spans = cue(text, sought);
    const inside = kept.filter((hit) => spans.some((span) => hit.from >= span.from && hit.to <= span.to));
    if (inside.length === 1) return inside;
    if (inside.length > 1 && cue !== tagged) return sought.isNumber ? inside : explainedHit(text, inside, spans);
    if (inside.length > 1) kept = inside;
  }
  return aloneOnLine(text, kept) ?? concluding(text, kept) ?? resulting(text, kept, sought) ?? kept;
}

/** Returns the value directly after a label if its explanation contains the others: `The sentiment is mixed: positive about …`. */
function explainedHit<T extends CueSpan>(text: string, hits: readonly T[], spans: readonly CueSpan[]): readonly T[] {
  const [first, second] = hits;
  if (first === undefined || second === undefined || spans.length !== 1 || spans[0]?.from !== first.from) return hits;
  return EXPLANATION.test(text.slice(first.to, second.to)) ? [first] : hits;
}

const EXPLANATION = /^[*_"'`]{0,4}(?::\s|\s[–—-]\s+(?:[^\s–—-]+\s+){2})/u;

/** True if a box, a tag or a label states that one of the values is the answer, or one is alone on the last line. */
export function isSingledOut(text: string, hits: readonly CueSpan[], sought: Sought): boolean {
  if (text.length > MAX_READ || HTML.test(text)) return false;
  const isInside = (hit: CueSpan) => (span: CueSpan) => hit.from >= span.from && hit.to <= span.to;
  const last = hits.at(-1);
  if (last !== undefined && !HAS_WORD.test(lineBefore(text, last.from)) && !HAS_WORD.test(text.slice(last.to))) {
    return text.slice(0, last.from).includes('\n');
  }
  return CUES.slice(0, -1).some((cue) => hits.some((hit) => cue(text, sought).some(isInside(hit))));
}

const HTML = /<(?:html|head|body|title)\b/iu;

type Cue = (text: string, sought: Sought) => readonly CueSpan[];

/** `Final answer:` in other languages. */
const FOREIGN_LABEL =
  /^[#*_ \t]*(?:r[ée]ponse(?: finale)?|(?:endg[üu]ltige |finale )?antwort|endergebnis|ergebnis|respuesta(?: final)?|resultado(?: final)?|risposta(?: finale)?|risultato(?: finale)?|resposta(?: final)?|r[ée]sultat(?: final)?|antwoord|odpowied[źz]|(?:итоговый |окончательный )?ответ|результат|(?:最终|最終)?(?:答案|回答|結果|结果|的な答え)|答え|정답|답)[*_]*\s*(?:[:：]|(?=$))[*_]*/gimu;

const CUES: readonly Cue[] = [
  (text) => lastOf(groupSpans(text, /\\boxed\{([^{}]*)\}/gu)),
  tagged,
  (text) => lastOf(labelled(text, text.matchAll(FINAL_LABEL))),
  (text, { name }) => labelled(text, name?.labelsIn(text) ?? []),
  (text, { isNumber }) => lastOf(isNumber ? numberLabelled(text) : labelled(text, text.matchAll(ANSWER_LABEL))),
  (text) => lastOf(labelled(text, text.matchAll(FOREIGN_LABEL))),
  (text) => onlyOne(groupSpans(text, /\*\*([^*\n]+)\*\*/gu)),
];

const NOUN =
  '(?:answer|result|verdict|classification|category|label|class|value|total|conclusion|decision|output|solution|sentiment|rating|score|choice)';
const IS = String.raw`[*_"']*[ \t]*(?::|=|→|->|\bis\b:?|\bwould be\b|\bmust be\b|\bshould be\b)`;
const FINAL_LABEL = new RegExp(
  String.raw`\b(?:final|correct|corrected|revised|updated)(?:[ \t]+\w+)?[ \t]+${NOUN}\b${IS}|^[#*_ \t]*(?:final answer|final|conclusion|verdict)[*_ \t]*:?[*_ \t]*$`,
  'gimu',
);
const CHOOSE = String.raw`\bI(?:['’]d| would| will|['’]ll)? (?:choose|chose|pick(?:ed)?|select(?:ed)?|go with|went with|settled on)\b|\b(?:ultimately|finally|eventually) (?:choose|chose|pick(?:ed)?|select(?:ed)?|went with|settled on)\b|\b(?:classified|classify (?:it|this|that)|labell?ed|categori[sz]ed|rated) as\b:?`;
const RATE = String.raw`\bI(?:['’]d| would| will|['’]ll)? (?:(?:rate|score|estimate)(?: (?:this|it|that|the \w{1,30}(?: \w{1,30})?))?|give (?:this|it|that|the \w{1,30})(?= an? | [\d.]{1,5}(?:\/| out of| stars?| points?)))(?: (?:as|at|to be|an?)\b){0,2}:?(?= )`;
const ALONE = String.raw`^[#*_ \t]*${NOUN}[*_ \t]*:?[*_ \t]*$`;
const ANSWER_LABEL = new RegExp(String.raw`\b${NOUN}\b${IS}|${CHOOSE}|${ALONE}`, 'gimu');

/** The beginning of a clause whose subject is the answer itself, and not a part of another name (`the average rating`). */
const SUBJECT = String.raw`(?:^[ \t>*_#•-]{0,20}|[.!?:;,][*_]{0,4}\s|\b(?:so|thus|hence|therefore|then|and|that|means) )[*_"']{0,4}`;
const QUALIFIER = '(?:overall|correct|numeric|numerical|direct|short|resulting|combined|grand)';
const ANSWER_NOUN =
  '(?:answer|result|verdict|conclusion|decision|output|solution|choice|total|sum|difference|product|remainder|overall (?:score|rating|value)|total (?:score|count|sum))';
const OF_TASK = String.raw`(?: (?:to|for|of) (?:the|your|this|that) \w{1,30}(?: \w{1,30})?)?`;
/** `The sum of 3 and 4 is`, which states numbers before its result. */
const AGGREGATE = String.raw`\b(?:sum|total|average|mean|median|product|difference|quotient|maximum|minimum) of (?=[^.\n]{0,20}\d)[^\n;:=]{1,120}? (?:is|equals)\b`;
/** `The answer is 5`, `the answer to your question is 5`. */
const NUMBER_LABEL = new RegExp(
  String.raw`${SUBJECT}(?:(?:the|my|your|this) )?(?:${QUALIFIER} )?${ANSWER_NOUN}\b${OF_TASK}${IS}|${AGGREGATE}|${CHOOSE}|${RATE}|${ALONE}`,
  'gimu',
);
/** `Score: 7` on a line of its own. */
const MEASURE_LABEL = new RegExp(
  String.raw`^[ \t>*_#•-]{0,20}(?:(?:the|my|your|this) )?(?:${NOUN}|confidence|certainty|probability)[*_"']{0,4}[ \t]*(?:[:=→]|->)`,
  'gimu',
);
/** A line that begins with a number after a label. */
const LABELLED_NUMBER = /^[ \t>*_#•-]{0,20}\p{L}[^\n:=]{0,60}[:=][ \t*_"'$€£-]{0,8}\d/gimu;

/** Returns the clauses after a label of the answer. A measure such as a score is the answer only if no other line labels a number. */
function numberLabelled(text: string): readonly CueSpan[] {
  const answers = labelled(text, text.matchAll(NUMBER_LABEL));
  if (answers.length > 0 || [...text.matchAll(LABELLED_NUMBER)].length > 1) return answers;
  return labelled(text, text.matchAll(MEASURE_LABEL));
}

/** Returns the content of the last tag around an answer: `<answer>5</answer>`. */
function tagged(text: string): readonly CueSpan[] {
  return lastOf(groupSpans(text, /<(?:final_?)?(?:answer|result|output|response|label|value)>([^<]*)<\//giu));
}

/** Returns the clauses that follow these labels: the rest of the line, or the next line that is not empty. */
function labelled(text: string, labels: Iterable<RegExpExecArray>): readonly CueSpan[] {
  const spans: CueSpan[] = [];
  for (const match of labels) {
    const from = nextWord(text, match.index + match[0].length);
    const clause = CLAUSE.exec(text.slice(from, from + MAX_CLAUSE))?.[0] ?? '';
    if (!NEGATION.test(clause)) spans.push({ from, to: from + clause.length });
  }
  return spans;
}

const MAX_CLAUSE = 300;
/** The text up to the end of the sentence, or to a word that begins its reason or an alternative. */
const CLAUSE =
  /^(?:(?!\.\s|[\n;(]| because\b| since\b|,? (?:and |but )?not\b|,? rather than\b| instead of\b| out of\b|, as\b|,? (?:even |al)?though\b|, (?:while|whereas)\b|,\s?[a-z]{1,20}(?: [a-z]{1,20})?:)[^])*/iu;
const NEGATION = /^(?:not|n't|never|neither)\b/iu;

function nextWord(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[\s*_`"':#]/u.test(text.charAt(at))) at += 1;
  return at;
}

function groupSpans(text: string, pattern: RegExp): readonly CueSpan[] {
  return [...text.matchAll(pattern)].map((match) => {
    const from = match.index + match[0].indexOf(match[1] ?? '');
    return { from, to: from + (match[1] ?? '').length };
  });
}

function lastOf(spans: readonly CueSpan[]): readonly CueSpan[] {
  return spans.slice(-1);
}

function onlyOne(spans: readonly CueSpan[]): readonly CueSpan[] {
  return spans.length === 1 ? spans : [];
}

/** Returns the values that are, apart from punctuation, all of their lines. */
function aloneOnLine<T extends CueSpan>(text: string, hits: readonly T[]): readonly T[] | undefined {
  if (!text.includes('\n')) return undefined;
  const alone = hits.filter(
    (hit) => !HAS_WORD.test(lineBefore(text, hit.from)) && !HAS_WORD.test(lineAfter(text, hit.to)),
  );
  return alone.length > 0 ? alone : undefined;
}

/** Returns the values in the sentences of the last paragraph that begin with a word of conclusion. */
function concluding<T extends CueSpan>(text: string, hits: readonly T[]): readonly T[] | undefined {
  const from = Math.max(0, text.trimEnd().lastIndexOf('\n'));
  const last = [...text.slice(from).matchAll(CONCLUSION)].at(-1);
  if (last === undefined) return undefined;
  const inside = hits.filter((hit) => hit.from >= from + last.index);
  return inside.length > 0 ? inside : undefined;
}

/** Returns the value that ends the text, apart from the unit of a number, if it is the result of a calculation: `Adding 3 and 4 gives 7.` */
function resulting<T extends CueSpan>(
  text: string,
  hits: readonly T[],
  { isNumber }: Sought,
): readonly T[] | undefined {
  const last = hits.at(-1);
  if (last === undefined) return undefined;
  const rest = text.slice(last.to);
  if (HAS_WORD.test(isNumber ? rest.replace(LAST_UNIT, '') : rest)) return undefined;
  // In `x = 5, y = 7`, neither is the result.
  if (hits.filter(({ from }) => ASSIGNED.test(text.slice(Math.max(0, from - MAX_RESULT), from))).length > 1)
    return undefined;
  return RESULT.test(text.slice(Math.max(0, last.from - MAX_RESULT), last.from)) ? [last] : undefined;
}

const MAX_RESULT = 30;
const LAST_UNIT = /^ \p{L}{1,20}(?=[.!*_]{0,4}\s*$)/u;
const ASSIGNED = /\p{L}\s*=\s*$/u;
const RESULT =
  /(?:(?:\d|\w)\s*=|\b(?:gives?(?: (?:us|a total of|a result of))?|yields?|equals?|totals?|makes|comes (?:out )?to|adds? up to|amounts? to|results? in)|,\s*(?:so|thus|hence|therefore|which is|that is|making)(?:\s+(?:it(?:['’]s| is)|that(?:['’]s| is)|the \w+ is))?)\s*[*_"'`$]*$/iu;

const CONCLUSION =
  /(?:^|[.!?]\s+|\n\s*)(?:therefore|thus|so|hence|in conclusion|to conclude|overall|in summary|finally)\b/giu;
/** The text contains a letter or a digit. */
export const HAS_WORD = /[\p{L}\p{N}]/u;

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
  return ANSWER.test(text) || (isShort && SHORT_ANSWER.test(text)) ? 'answer' : undefined;
}

const MAX_SHORT_WORDS = 4;

/** Returns the role that the words directly before a value give it, inside a sentence. */
export function roleInSentence(before: string, after: string): Role | undefined {
  const head = before.slice(-MAX_DIRECT);
  if (DISMISSED.test(after) || INSTEAD.test(head)) return 'draft';
  if (SUCH_AS.test(head)) return 'aside';
  return SHOULD_BE.test(head) ? 'answer' : undefined;
}

const MAX_DIRECT = 60;

// --- the words between two values ----------------------------------------------------------------------------------------

/** True for a label that begins with words of correction: what else it names is the value before it. */
export function beginsCorrection(label: string): boolean {
  return BEGINS_CORRECTION.test(label);
}

/** True if the text between two values states that the later one corrects the earlier one. */
export function isCorrection(between: string): boolean {
  return between.length > MAX_READ
    ? CORRECTION.test(between.slice(0, MAX_READ / 2)) || CORRECTION.test(between.slice(-MAX_READ / 2))
    : CORRECTION.test(between);
}

/**
 * True if the words around a value state that it is made up, or that it only shows the form of an answer whose input is
 * missing. `isExample`: the words before it introduce it as an example.
 */
export function isMadeUp(text: string, { from, to }: CueSpan, isExample: boolean): boolean {
  const before = text.slice(Math.max(0, from - MAX_AROUND), from).replaceAll(FENCE_LINE, '');
  const lead = before.split('\n').findLast((line) => HAS_WORD.test(line)) ?? '';
  if (FORM_OF_ANSWER.test(lead) || (isExample && MADE_UP.test(lead))) return true;
  const after = text.slice(to, to + MAX_AROUND);
  if (isExample && IS_MADE_UP.test(after)) return true;
  return FORM_OR_EXAMPLE.test(lead) && (MISSING_INPUT.test(before) || MISSING_INPUT.test(after));
}

/** The characters on either side of a value that can call it made up. */
const MAX_AROUND = 1000;
const FENCE_LINE = /```\w{0,20}/gu;

/** The characters at the end of a text in which the label of a value can be. */
const MAX_LABEL = 80;

/** True if a line of the text begins another task. */
export function beginsTask(text: string): boolean {
  const head = text.slice(0, MAX_READ);
  return NEXT_TASK.test(head) || (OUTPUT_LABEL.test(text.slice(-MAX_LABEL)) && NEXT_INPUT.test(head));
}

/** The characters before a value in which the label of an option can be. */
const MAX_OPTION = 120;
const NAME = '(?:option|alternative|possibility|reading|interpretation|variant|candidate)';
const NUMBERS = ['1 a one first', '2 b two second', '3 c three third', '4 d four fourth'].map((words) =>
  words.split(' '),
);
const OPTION = new RegExp(String.raw`(?:^|\n)[\s>*_#-]*${NAME}\s+(\w+)[^\n]{0,60}\n?\s*(?:\x60\x60\x60\w*\s*)?$`, 'iu');
const TAKEN = new RegExp(String.raw`\b${NAME}\s+(\w+)|\bthe (first|second|third|fourth)\b`, 'iu');
const TAKES =
  /\b(?:choose|chose|pick|prefer|recommend|go with|going with|select|favou?r|use|best|better|correct|right|likely|plausible|final|answer)\b/iu;

/** Returns the number of the option (`Option 2:`) that the value at an offset is; -1 if it is none. */
export function optionAt(text: string, from: number): number {
  return numberOfOption(OPTION.exec(text.slice(Math.max(0, from - MAX_OPTION), from))?.[1]);
}

/** Returns the number of the option that the text after all of them takes; -1 if it takes none. A question takes none. */
export function takenOption(text: string, from: number): number {
  const sentences = text.slice(from, from + MAX_READ).split(/(?<=[.!?\n])\s/u);
  const taking = sentences.findLast((sentence) => TAKES.test(sentence) && TAKEN.test(sentence) && !ASKS.test(sentence));
  const [, number, ordinal] = TAKEN.exec(taking ?? '') ?? [];
  return numberOfOption(number ?? ordinal);
}

const ASKS = /\?|\byou\b/u;

function numberOfOption(word = ''): number {
  return NUMBERS.findIndex((words) => words.includes(word.toLowerCase()));
}

/** True if there are only separators between two values. */
export function isNothingBetween(between: string): boolean {
  const words = between.replace(/```[^\n]*/gu, '').replace(/^\s*\d+[.)]\s*$/gmu, '');
  return !(HAS_WORD.test(words) || ARROW.test(words)) || /^\s*(?:or|and)\s*$/iu.test(words);
}

const ARROW = /[→⇒➡]|[=-]>/u;

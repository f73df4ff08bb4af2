import { isJsonObject } from '../../base/json.ts';
import { coercionError, shorten, type CoercionError } from './coerce/coercion-error.ts';
import { DraftValues } from './draft-values.ts';
import type { Candidate } from './text/candidate-finder.ts';
import type { ReplyNode } from './text/reply-node.ts';

/*
 * Corrections in words: after its value, a model states that a part of it is wrong (`Correction: age should be 36`), or
 * gives the whole value again in another notation. Words that only explain the value are not corrections: a sentence counts
 * if it states a change of something in the value. The words are English.
 */

/** A correction that follows a value. Offsets count from the start of the reply. */
export interface StatedCorrection {
  readonly from: number;
  /** The end of its first line, after which the whole value can follow in another notation. */
  readonly lineEnd: number;
  /** False for a label such as `Final answer:`, which can also precede a summary in prose. */
  readonly certain: boolean;
}

/** The text after a value that is searched, and the sentences of it. */
const MAX_TAIL = 4000;
const MAX_SENTENCES = 60;

/** True if the text after a value has a word that a correction needs. */
export function mayCorrect(text: string, from: number): boolean {
  return from < text.length && CUE.test(text.slice(from, from + MAX_TAIL));
}

const CUE =
  /\b(?:wait|oops|whoops|sorry|apolog\w*|actually|scratch|strike|no[,.:]|hmm+|correct\w*|corrigendum|errat\w+|edit(?:ed)?|updated?|fix(?:ed)?|amend\w*|revis\w*|final\w*|mis(?:read|take|spelled|typed|counted|sed)\w*|forgot|errors?|missing|overlooked|second thought|reflection|change|set|replace|make|remove|delete|drop|add|append|insert|include|use|swap|rename|ignore|disregard|discard|plus|typo|meant?|fact|rather|better|also|wrong|incorrect|re-?read\w*|re-?check\w*|review|new|however|except|should|must|not|instead)\b|→|->|=>|~~|s\//iu;

/** Returns the first correction of a value after it. `values`: all objects and lists of the reply. */
export function statedCorrection(
  { to, node }: { readonly to: number; readonly node: ReplyNode },
  values: readonly Candidate<ReplyNode>[],
  text: string,
): StatedCorrection | undefined {
  const next = values.find(({ from }) => from >= to);
  const stated = correctionAfter(text, to, next?.from ?? text.length, node);
  if (stated !== undefined || next === undefined || !isPatch(next.value)) return stated;
  return { from: next.from, lineEnd: next.to, certain: true };
}

/** True for the operations of a JSON Patch (RFC 6902). */
function isPatch({ kind, items, keys }: ReplyNode): boolean {
  if (kind === 'list') return items.length > 0 && items.every((item) => item.kind === 'object' && isPatch(item));
  return keys.includes('op') && keys.includes('path');
}

/** Returns the error of a value that a certain correction follows. */
export function correctionError(correction: StatedCorrection | undefined, text: string): CoercionError | undefined {
  if (correction?.certain !== true) return undefined;
  const line = text.slice(correction.from, correction.lineEnd).trim();
  return coercionError(`a correction follows the value: ${JSON.stringify(shorten(line))}`);
}

function correctionAfter(text: string, to: number, end: number, value: ReplyNode): StatedCorrection | undefined {
  if (!mayCorrect(text, to)) return undefined;
  const tail = text.slice(to, Math.min(end, to + MAX_TAIL));
  const draft = new DraftValues(value);
  let retracted = false;
  for (const sentence of sentencesOf(tail)) {
    if (sentence.startsParagraph && sentence.follows !== 'label') retracted = false;
    const verdict = verdictOf(sentence, draft, retracted);
    if (verdict === 'retraction') retracted = true;
    else if (verdict !== 'none') {
      const from = to + sentence.from;
      const newline = text.indexOf('\n', from);
      return { from, lineEnd: newline < 0 ? text.length : newline, certain: verdict === 'correction' };
    }
  }
  return undefined;
}

// --- sentences -----------------------------------------------------------------------------------------------------------

interface Sentence {
  readonly from: number;
  readonly text: string;
  /** The text after the sentence. */
  readonly rest: string;
  readonly startsParagraph: boolean;
  /** The sentence before ends in a colon. */
  readonly follows: 'label' | 'other';
}

/** The ends of sentences and lines. A full stop inside a number or a name is none. */
const END = /\n|[.!?](?=\s)|$/gu;
const MARKS = /^[\s>*_#`"'()•–—-]+/u;

function sentencesOf(tail: string): readonly Sentence[] {
  const sentences: Sentence[] = [];
  let start = 0;
  let before = '';
  for (const end of tail.matchAll(END)) {
    if (sentences.length === MAX_SENTENCES) break;
    const raw = tail.slice(start, end.index);
    const marks = MARKS.exec(raw)?.[0].length ?? 0;
    const text = raw.slice(marks).replace(/[\s*_`"']+$/u, '');
    const from = start + marks;
    start = end.index + 1;
    if (!/[\p{L}\p{N}]/u.test(text)) continue;
    const startsParagraph = /\n\s*$/u.test(tail.slice(0, from - marks)) && sentences.length > 0;
    const follows = before.endsWith(':') ? 'label' : 'other';
    sentences.push({ from, text, rest: tail.slice(start), startsParagraph, follows });
    before = text;
  }
  return sentences;
}

// --- verdicts ------------------------------------------------------------------------------------------------------------

type SentenceVerdict = 'correction' | 'final' | 'retraction' | 'none';

const LABEL =
  /^(?:(?:a|an|one|small|minor|quick|final|my|the|second|another|important) ){0,2}(correction|corrections|corrigendum|erratum|errata|edit|edited|update|updated|fix|fixed|amendment|amended|revision|revised|corrected|patch)\b(?![^:\n]* (?:made|applied|done|log|history|date|notes?)\b)[^:\n]{0,40}(?:[:：]|\s[–—-]\s)\**\s*(.*)$/iu;
const STRONG_LABEL = /^(?:correction|corrections|corrigendum|erratum|errata)$/iu;
/** A correction that changes nothing of the value. */
const NO_CHANGE =
  /^(?:none|no|nothing|n\/a|not (?:needed|required|necessary)|format\w*|typos?|spelling|wording|grammar|clarity|json|quotes|trailing|(?:I )?(?:removed|fixed|corrected|cleaned|improved)\b)/iu;
const FINAL_LABEL = /^(?:the )?final(?: \w+){0,3}\**[:：]\**$/iu;
/** The words that begin a correction. Others of these words begin an addition, or a statement of what is correct. */
const RETRACTION =
  /^(?:wait\b(?=[\s,.:!…–—-]*(?:$|[,.:!…–—-]|no\b|i\b|that\b|the\b|it\b))|oops|whoops|sorry|(?:my )?apologies|i apologi[sz]e|my (?:bad|mistake|error)|actually|scratch that|strike that|hmm+|on second thoughts?|on reflection|no[,.:!]|(?:one|a|small|quick) (?:fix|correction|change)\b|typo\b|i mean(?:t)?\b|in fact\b|rather\b[,:]?|better\b[,:]|(?:after |on |upon )?re-?(?:reading|checking|reviewing|view)\b[^,]*,|(?:upon|on|after) review\b,?|let me (?:fix|correct|update|change|revise|adjust|amend) (?:that|this|it)?|i (?:need|want|have|would like) to (?:correct|fix|change|update)\b|that['’]s (?:not right|wrong)\b)/iu;
const ADDENDUM =
  /^(?:however|but|except(?: that)?|although|one more thing|p\.?s\.?|(?:the )?(?:correct(?:ed)?|right|actual|real|true|new|revised|updated|fixed|proper)(?= [\p{L}_]+\b))/iu;
/** The model states a mistake of its own. */
const ADMISSION =
  /\bI (?:forgot(?! nothing)|missed(?! nothing)|overlooked|misread|misspelled|mistyped|miscounted|misinterpreted|mixed up|got \S+(?: \S+)? wrong|made (?:a|an) (?:mistake|error|typo))\b/iu;

function verdictOf({ text, rest }: Sentence, draft: DraftValues, retracted: boolean): SentenceVerdict {
  const [label, name = '', content = ''] = LABEL.exec(text) ?? [];
  if (label !== undefined) return labelVerdict(name, content, rest, draft);
  if (FINAL_LABEL.test(text)) return 'final';
  const retraction = RETRACTION.exec(text)?.[0];
  const isRetracted = retracted || retraction !== undefined;
  const said = withoutStart(text, retraction ?? '');
  if (draft.isChangedBy(said, isRetracted)) return 'correction';
  const addendum = ADDENDUM.exec(said)?.[0];
  if (addendum !== undefined && draft.isRestatedBy(withoutStart(said, addendum))) return 'correction';
  if (ADMISSION.test(text) || (isRetracted && draft.isExtendedBy(said))) return 'correction';
  if (isRetracted && /[:：]$/u.test(text)) return 'correction';
  return retraction === undefined ? 'none' : 'retraction';
}

function withoutStart(text: string, start: string): string {
  return text.slice(start.length).replace(/^[\s,.:;!…–—-]+/u, '');
}

function labelVerdict(name: string, content: string, rest: string, draft: DraftValues): SentenceVerdict {
  const said = content.trim() === '' ? rest.trim() : content;
  if (NO_CHANGE.test(said)) return 'none';
  if (STRONG_LABEL.test(name) || content === '') return 'correction';
  const lines = said.slice(0, MAX_SAID).split('\n');
  const isChange = lines.some((line) => draft.isChangedBy(line, true) || draft.isExtendedBy(line));
  return isChange ? 'correction' : 'none';
}

/** The text after a label that is read with it. */
const MAX_SAID = 600;

// --- parts of a value ------------------------------------------------------------------------------------------------------

/** Words that announce what is added to a value, or taken from it. */
const PARTIAL =
  /\b(?:forgot|missed|missing|overlooked|also|add(?:ed|ing|ition\w*)?|plus|remov\w+|without|one more|another one|extra)\b/iu;

/** True if the text between two values states that the later one adds to the earlier one. */
export function isAddition(between: string): boolean {
  return between.length < MAX_SAID && PARTIAL.test(between);
}

/**
 * True if a correction does not state the whole value: it announces an addition, and has nothing in common with the
 * draft, or it has only some of the keys of the draft, or a single item of many. Both values are JSON texts.
 */
export function isPartOf(corrected: string, draft: string, announcement: string): boolean {
  const [one, all] = [membersOf(corrected), membersOf(draft)];
  if (one === undefined || all === undefined) return false;
  const common = one.filter((member) => all.includes(member));
  if (PARTIAL.test(announcement) && common.length < Math.min(one.length, all.length)) return true;
  return corrected.startsWith('{')
    ? common.length === one.length && one.length < all.length
    : one.length === 1 && all.length > 2;
}

/** Returns the keys of an object, or the items of a list as JSON texts. */
function membersOf(json: string): readonly string[] | undefined {
  const value: unknown = JSON.parse(json);
  if (Array.isArray(value)) return value.map((item) => JSON.stringify(item));
  return isJsonObject(value) ? Object.keys(value) : undefined;
}

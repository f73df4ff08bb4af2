import { coercionError, CoercionError, shorten } from './coerce/coercion-error.ts';
import { type CoercedValue, type CoercionOutcome, isKept, isText, lossOf } from './coerce/outcome.ts';
import { spend } from './coerce/step-budget.ts';
import { correctionError, isAddition, isPartOf, statedCorrection, type StatedCorrection } from './corrections.ts';
import { beginsTask, isCorrection, isMadeUp, isNothingBetween, optionAt, takenOption } from './cues.ts';
import { listInParts } from './list-parts.ts';
import { severalPart, type RankedPart, type ReplyPart, type ReplyParts, type Standing } from './reply-parts.ts';
import type { ReplyType } from './reply-type.ts';
import { templateIn } from './template-values.ts';
import type { ReplyNode } from './text/reply-node.ts';

/*
 * The choice among the parts of a reply that match the type. The criteria, from strong to weak:
 *
 *   1. A value that contains something of the reply comes before one that contains hardly anything.
 *   2. The answer comes before a thought, and a value before the text as a whole.
 *   3. A value comes before a part of which one field or one member is the value.
 *   4. An answer comes before a draft, an example, a template, code, and an empty value.
 *   5. A value without losses comes before one with losses, and one that needs no guess before one that needs some.
 *   6. A value that words point at as the answer comes before another.
 *   7. A value alone on its lines comes before one after a label, and both before one inside a sentence.
 *   8. A value with fewer extra keys and failed checks comes before one with more.
 *   9. A later value comes before an earlier one if there is a word between them; otherwise, the earlier one wins.
 *
 * Omitted optional fields, repairs of the text, and fences do not count. Two scalars that differ only in the last
 * criterion are two answers: the reply is refused.
 */

/** The choice among the parts of a reply. */
export interface Choice {
  /** The parts in the order of their ends, with their standing. */
  readonly standings: readonly Standing[];
  readonly best: RankedPart | undefined;
  /** The reason why no part is the answer, apart from the mismatches of the parts. */
  readonly refusal: CoercionError | undefined;
  /** The words after the best part with which the model corrects it. */
  readonly correction?: StatedCorrection | undefined;
}

/** The verdict about a reply, and all that led to it. */
export interface Judgement {
  readonly outcome: CoercionOutcome;
  readonly read: ReplyParts;
  readonly choice: Choice;
  /** True if the thoughts were read as well. */
  readonly ofThoughts: boolean;
}

export function chooseOutcome(read: ReplyParts, text: string, type: ReplyType): Choice {
  const parts = standingsOf(read.parts, text, type);
  const list = listInParts(parts, text, type, read.coerced === 0);
  const several = list ?? severalPart(members(read, parts), read.parts, type);
  const standings = several === undefined ? parts : [...besideOf(several, parts, type), standingOf(several, '', type)];
  const ranked = standings.filter((standing) => standing.value !== undefined);
  const option = optionTaken(ranked, text);
  if (option instanceof CoercionError) return { standings, best: bestOf(ranked, text), refusal: option };
  if (option !== undefined) return { standings, best: option, refusal: undefined };
  const best = bestOf(ranked, text);
  if (best === undefined) return { standings, best, refusal: undefined };
  const correction = best.part.kind === 'text' ? undefined : statedCorrection(best.part, read.values, text);
  const refusal =
    conflict(best, ranked) ??
    failedCorrection(best, standings, text) ??
    correctionError(correction, text) ??
    statedAddition(best, ranked, text) ??
    onlyExample(best, text) ??
    onlyTemplate(best);
  return { standings, best, refusal, correction };
}

/** Returns the parts beside several values: if these are one object or map, or a list in parts, each of them is only a member. */
function besideOf({ from, to, joins }: ReplyPart, parts: readonly Standing[], type: ReplyType): readonly Standing[] {
  const isMember = (part: ReplyPart) => part.kind !== 'text' && part.from >= from && part.to <= to;
  if (type.hasList && joins === undefined) return parts;
  return parts.map((each) => (isMember(each.part) ? standingOf(each.part, 'one member of it', type) : each));
}

// --- the standing of each part -----------------------------------------------------------------------------------------

function standingsOf(parts: readonly ReplyPart[], text: string, type: ReplyType): readonly Standing[] {
  // Options can be the members of a list.
  const isMember = ({ role, from }: ReplyPart) => type.hasList && role === 'aside' && optionAt(text, from) >= 0;
  const first = parts.map((part) => standingOf(part, isMember(part) ? '' : demotionOf(part), type));
  const start = supersededEnd(first, text);
  const end = nextTaskStart(first, text);
  return first.map((standing) => {
    const { part, demotion } = standing;
    if (part.kind === 'text' || (part.to > start && part.from < end)) return standing;
    return standingOf(part, demotion || (part.from < end ? SUPERSEDED : NEXT_TASK), type);
  });
}

const SUPERSEDED = 'an earlier draft: a correction follows';
const NEXT_TASK = 'it answers another input, which the model made up';
const EMPTY = 'it is empty';

function demotionOf({ kind, node, role }: ReplyPart): string {
  if (kind === 'text' || (kind === 'whole' && role !== 'draft')) return '';
  if (role === 'code') return 'it is part of code';
  if (role === 'draft') return 'the text introduces it as a draft';
  if (role === 'aside') return 'the text introduces it as an example, a source or the like';
  if (templateIn(node) !== 'none') return 'its strings are placeholders or the names of types';
  return !node.isScalar && node.items.length === 0 && role !== 'answer' ? EMPTY : '';
}

/** Returns the end of the last value that a later value corrects, as the words between them state. */
function supersededEnd(standings: readonly Standing[], text: string): number {
  let end = -1;
  let previous: ReplyPart | undefined;
  for (const { part, value, demotion } of standings) {
    if (value === undefined || part.kind === 'text' || !isKept(value)) continue;
    const isAnswer = demotion === '' || demotion === EMPTY;
    const isStandalone = part.place !== 'sentence' || part.role === 'answer';
    if (previous !== undefined && isAnswer && isStandalone && isCorrection(text.slice(previous.to, part.from))) {
      end = previous.to;
    }
    previous = part;
  }
  return end;
}

/** Returns the start of the first value after a line that begins another task, if no such line introduces the answer. */
function nextTaskStart(standings: readonly Standing[], text: string): number {
  const at = standings.findIndex(({ value, demotion, part }) => isLikely(part, value, demotion));
  const answer = standings[at]?.part;
  if (answer === undefined || beginsTask(text.slice(0, answer.from))) return Infinity;
  let previous = answer;
  for (const { part } of standings.slice(at + 1)) {
    if (part.kind === 'text') continue;
    if (part.from >= previous.to && beginsTask(text.slice(previous.to, part.from))) return part.from;
    previous = part;
  }
  return Infinity;
}

function isLikely(part: ReplyPart, value: CoercedValue | undefined, demotion: string): boolean {
  return value !== undefined && part.kind !== 'text' && demotion === '' && part.place !== 'sentence' && isKept(value);
}

/** Returns the values that can be the members of a list: those in sentences count only if no other does. */
function members({ values }: ReplyParts, standings: readonly Standing[]): ReplyParts['values'] {
  const likely = standings.filter(
    ({ demotion, part }) => demotion === '' && part.kind !== 'text' && part.place !== 'sentence',
  );
  const excluded = new Set<unknown>();
  for (const { part, demotion } of standings) {
    if (demotion !== '' || (likely.length > 0 && part.place === 'sentence')) excluded.add(part.node);
  }
  return excluded.size === 0 ? values : values.filter(({ value }) => !excluded.has(value));
}

// --- ranks ---------------------------------------------------------------------------------------------------------------

function standingOf(part: ReplyPart, demotion: string, type: ReplyType): Standing {
  const { outcome } = part;
  if (!outcome.ok) return { part, value: undefined, demotion };
  return { part, value: outcome, demotion, ranks: ranksOf(part, outcome, demotion, type) };
}

/** The positions of the criteria in the ranks of a part. */
const CRITERION = {
  kept: 0,
  thought: 1,
  text: 2,
  partly: 3,
  demoted: 4,
  marks: 5,
  losses: 6,
  guess: 7,
  role: 8,
  place: 9,
  extra: 10,
};

/** From this loss on, a value is only a part of its source, or reads it as another kind of value. */
const PARTLY = 3;

function ranksOf(part: ReplyPart, value: CoercedValue, demotion: string, type: ReplyType): readonly number[] {
  const loss = lossOf(value);
  return [
    Number(!isKept(value)),
    Number(part.inThought),
    Number(part.kind === 'text' && type.hasComposite),
    Number(loss >= PARTLY),
    demotion === '' ? 0 : demotion === EMPTY ? 1 : 2,
    loss,
    value.losses.dropped + value.losses.defaulted,
    Number(guessIn(value) !== undefined),
    Number(part.role !== 'answer'),
    PLACES.indexOf(part.place),
    value.cost.extra,
  ];
}

const PLACES: readonly ReplyPart['place'][] = ['alone', 'label', 'sentence'];

/** The flags of values that the model did not write as such. */
const GUESSES: ReadonlySet<string> = new Set([
  'first-of-list',
  'implied-key',
  'json-in-text',
  'number-in-text',
  'rounded',
  'single-to-list',
  'substring-match',
  'to-string',
  'unwrapped',
  'unwrapped-list',
]);

function guessIn({ flags }: CoercedValue): string | undefined {
  return flags.find(({ flag }) => GUESSES.has(flag))?.flag;
}

function firstDifference(a: RankedPart, b: RankedPart): number {
  return a.ranks.findIndex((rank, index) => rank !== b.ranks[index]);
}

function compare(a: RankedPart, b: RankedPart): number {
  const at = firstDifference(a, b);
  return at < 0 ? 0 : (a.ranks[at] ?? 0) - (b.ranks[at] ?? 0);
}

// --- the best part -------------------------------------------------------------------------------------------------------

function bestOf(ranked: readonly RankedPart[], text: string): RankedPart | undefined {
  let best: RankedPart | undefined;
  /** The last part of the same rank as the best. */
  let previous: RankedPart | undefined;
  for (const next of ranked) {
    const order = best === undefined || previous === undefined ? -1 : compare(next, best);
    if (order > 0) continue;
    const isEarlier =
      order === 0 &&
      isNothingBetween(text.slice(previous?.part.to ?? 0, next.part.from)) &&
      !(best !== undefined && isLaterState(next, best));
    if (!isEarlier) best = next;
    previous = next;
  }
  return best;
}

function isLaterState({ part, value }: RankedPart, earlier: RankedPart): boolean {
  const isLater = part.from >= earlier.part.to;
  return isLater && !part.node.isScalar && value.json !== earlier.value.json && grows(earlier.part.node, part.node);
}

/** True if a value can be a later state of another: it has all of it, and more at the ends of texts, lists or objects. */
function grows(earlier: ReplyNode, later: ReplyNode): boolean {
  if (earlier.kind === 'null') return true;
  if (earlier.isScalar || later.isScalar)
    return earlier.isScalar && later.isScalar && later.text.startsWith(earlier.text);
  if (earlier.kind !== later.kind || earlier.items.length > later.items.length) return false;
  spend(earlier.items.length);
  return earlier.items.every((item, at) => {
    const index = earlier.kind === 'list' ? at : later.keys.indexOf(earlier.keys[at] ?? '', at);
    const other = index < 0 ? undefined : later.items[index];
    return other !== undefined && grows(item, other);
  });
}

/** Returns the error of two scalars of equal standing. */
function conflict(best: RankedPart, ranked: readonly RankedPart[]): CoercionError | undefined {
  if (isText(best.value) || best.value.json.startsWith('{') || best.value.json.startsWith('[')) return undefined;
  const other = ranked.find((each) => each.value.json !== best.value.json && compare(each, best) === 0);
  if (other === undefined) return undefined;
  const [first, second] = other.part.from < best.part.from ? [other, best] : [best, other];
  return coercionError(`the reply contains different answers: ${first.value.json} and ${second.value.json}`);
}

/** Returns the error of a later version of the best value, which does not match: its draft is not the answer. */
function failedCorrection(best: RankedPart, standings: readonly Standing[], text: string): CoercionError | undefined {
  const { node, to } = best.part;
  const later = standings.findLast(
    ({ part, value, demotion }) =>
      value === undefined &&
      part.from >= to &&
      demotion === '' &&
      part.place !== 'sentence' &&
      isVersion(part.node, node),
  );
  if (later === undefined || later.part.outcome.ok) return undefined;
  const corrects = best.demotion !== '' || isCorrection(text.slice(to, later.part.from));
  return corrects ? later.part.outcome : undefined;
}

/** Returns the error of a list or map that only adds to an earlier one, as the words between the two state. */
function statedAddition(
  { part, value }: RankedPart,
  ranked: readonly RankedPart[],
  text: string,
): CoercionError | undefined {
  const draft = ranked.findLast((each) => each.part.kind !== 'text' && each.part.to <= part.from);
  if (draft?.demotion !== SUPERSEDED && draft?.part.node.kind !== part.node.kind) return undefined;
  const between = text.slice(draft.part.to, part.from);
  if (!isAddition(between) || !isPartOf(value.json, draft.value.json, between)) return undefined;
  return coercionError(`only additions to the value follow: ${JSON.stringify(shorten(between.trim()))}`);
}

/** Returns the error of a value that the words around it call made up, in a reply that has no other. */
function onlyExample({ part, demotion }: RankedPart, text: string): CoercionError | undefined {
  if (part.kind === 'text' || !isMadeUp(text, part, demotion !== '')) return undefined;
  return coercionError('the reply contains only an example, which the words around it call made up');
}

/** Returns the error of a value that repeats the structure of the answer, in a reply that has no other. */
function onlyTemplate({ part }: RankedPart): CoercionError | undefined {
  if (part.node.isScalar || templateIn(part.node) !== 'certain') return undefined;
  return coercionError('the reply contains only a template: placeholders or the names of types in place of values');
}

/** True for two objects with a key in common, and for two lists. */
function isVersion(a: ReplyNode, b: ReplyNode): boolean {
  if (a.kind !== b.kind || a.isScalar) return false;
  return a.kind === 'list' || a.keys.some((key) => b.keys.includes(key));
}

/** Returns the error of the part that is most likely to be the answer; among equal ones, of the last. */
export function likeliestError(standings: readonly Standing[]): CoercionError | undefined {
  let best: { readonly rank: number; readonly error: CoercionError } | undefined;
  for (const { part, demotion } of standings) {
    if (part.outcome.ok) continue;
    const rank = part.kind === 'text' ? 10 : (demotion === '' ? 0 : 5) + PLACES.indexOf(part.place);
    if (best === undefined || rank <= best.rank) best = { rank, error: part.outcome };
  }
  return best?.error;
}

// --- the reasons ---------------------------------------------------------------------------------------------------------

/** Returns the criterion by which a part that matches the type is not the best one. */
export function criterionOf(passed: RankedPart, best: RankedPart): string {
  if (passed.value.json === best.value.json) return 'the same value';
  switch (firstDifference(passed, best)) {
    case CRITERION.kept:
      return 'it contains hardly anything of the reply';
    case CRITERION.thought:
      return 'it is inside a thought';
    case CRITERION.text:
      return 'the text counts only if no part of it is a value';
    case CRITERION.demoted:
      return passed.demotion;
    case CRITERION.losses:
      return `fits worse: ${passed.value.losses.dropped} dropped, ${passed.value.losses.defaulted} defaulted`;
    case CRITERION.partly:
    case CRITERION.marks:
      return 'fits worse: only a part of it, or more than it, is the value';
    case CRITERION.guess:
      return `fits worse: ${guessIn(passed.value) ?? 'a guess'}`;
    case CRITERION.role:
      return 'no words introduce it as the answer';
    case CRITERION.place:
      return passed.part.place === 'label' ? 'after a label on its line' : 'inside a sentence';
    case CRITERION.extra:
      return 'fits worse: more keys that belong to no field, or checks that fail';
    default:
      return passed.part.from < best.part.from ? 'a later value follows' : 'only the first of several values counts';
  }
}

// --- several options -------------------------------------------------------------------------------------------------

/** Returns the option that the words after several options take, or the error of options of which they take none. */
function optionTaken(ranked: readonly RankedPart[], text: string): RankedPart | CoercionError | undefined {
  const options = ranked.filter(
    ({ part }) => part.kind !== 'text' && part.kind !== 'several' && optionAt(text, part.from) >= 0,
  );
  const [first] = options;
  // The options can be the members of a list.
  if (ranked.some(({ part }) => part.kind === 'several')) return undefined;
  if (first === undefined || options.every(({ value }) => value.json === first.value.json)) return undefined;
  if (ranked.some((each) => each.demotion === '' && each.part.kind !== 'text' && !options.includes(each)))
    return undefined;
  const taken = takenOption(text, Math.max(...options.map(({ part }) => part.to)));
  const option = options.find(({ part }) => taken >= 0 && optionAt(text, part.from) === taken);
  return option ?? coercionError('the reply contains several options, and no words choose one of them');
}

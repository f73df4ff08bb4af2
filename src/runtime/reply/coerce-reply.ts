import type { DefinitionIndex } from '../../schema/definition-index.ts';
import type { Type } from '../../schema/type.ts';
import { coercionError, type CoercionError } from './coercion/coercion-error.ts';
import { isKept, isText, lossOf, MARK, type CoercedValue, type CoercionOutcome } from './coercion/outcome.ts';
import type { Plan } from './coercion/plan.ts';
import { FastPath } from './fast-path/fast-path.ts';
import { CandidateFinder, type Candidate, type FenceBody } from './text/candidate-finder.ts';
import { MAX_DEPTH, ReplyNode, stringNode } from './text/reply-node.ts';
import { Scanner } from './text/scanner.ts';
import { TreeSink } from './text/tree-sink.ts';
import { fenceBody, fencedString, scalarNode } from './text/whole-text.ts';

// --- the return type -------------------------------------------------------------------------------------------------

/** The properties of a return type that decide which parts of a reply can be the answer. */
export interface ReplyType {
  /** The type is `string`, which takes the reply as it is, or `string?`, which takes it without quotes or a fence. */
  readonly asString: 'no' | 'yes' | 'or-null';
  /** The type includes strings, and is not a list of them. */
  readonly takesText: boolean;
  readonly hasComposite: boolean;
  readonly hasScalar: boolean;
  /** The type includes null. */
  readonly nullable: boolean;
  /** The type is a list or a union with one. */
  readonly hasList: boolean;
  /** The type is a list of lists or a union with one: `[1, 2]` can be one of several rows. */
  readonly hasRows: boolean;
}

export function describeReplyType(type: Type, definitions: DefinitionIndex): ReplyType {
  const kinds = new Set<string>();
  collectKinds(type, definitions, kinds);
  const composite = ['class', 'list', 'map'].filter((kind) => kinds.has(kind));
  const nullable = kinds.delete('null');
  const takesText = kinds.has('string');
  const onlyString = takesText && kinds.size === 1;
  return {
    asString: !onlyString ? 'no' : nullable ? 'or-null' : 'yes',
    takesText,
    hasComposite: composite.length > 0,
    hasScalar: kinds.size > composite.length || (nullable && kinds.size === 0),
    nullable,
    hasList: kinds.has('list'),
    hasRows: isListOfLists(type, definitions),
  };
}

function isListOfLists(type: Type, definitions: DefinitionIndex): boolean {
  if (type.kind === 'union') return type.members.some((member) => isListOfLists(member, definitions));
  if (type.kind !== 'list') return false;
  const kinds = new Set<string>();
  collectKinds(type.element, definitions, kinds);
  kinds.delete('null');
  return kinds.size === 1 && kinds.has('list');
}

function collectKinds(type: Type, definitions: DefinitionIndex, kinds: Set<string>): void {
  if (type.kind === 'union') {
    for (const member of type.members) collectKinds(member, definitions, kinds);
  } else if (type.kind === 'alias') {
    const mark = `alias ${type.name}`;
    const target = definitions.aliases.get(type.name);
    if (target === undefined || kinds.has(mark)) return;
    kinds.add(mark);
    collectKinds(target.type, definitions, kinds);
    kinds.delete(mark);
  } else {
    kinds.add(type.kind);
  }
}

// --- the reply -------------------------------------------------------------------------------------------------------

/**
 * Coerces a whole reply. The fast path takes most replies; for the others, every part of the reply that can be the answer
 * is a candidate, and the best outcome wins. Of equal ones the last wins, since models correct themselves forwards.
 * `fastPath`: has read the reply already.
 */
export function coerceReply(text: string, plan: Plan, type: ReplyType, fastPath?: FastPath): CoercionOutcome {
  if (type.asString !== 'no') return coerceString(text, plan, type);
  const value = type.hasComposite ? (fastPath ?? fastPathOf(text, plan)).finish(text) : undefined;
  if (value !== undefined) return value;
  const outcome = coerceCandidates(text, plan, type, false);
  if (outcome.ok || !text.includes('<')) return outcome;
  const fromThoughts = coerceCandidates(text, plan, type, true);
  return fromThoughts.ok ? fromThoughts : outcome;
}

function coerceString(text: string, plan: Plan, type: ReplyType): CoercionOutcome {
  if (type.asString === 'yes') return plan.coerce(stringNode(text));
  const inFence = fencedString(text);
  const node = inFence === undefined ? scalarNode(text, true) : stringNode(inFence);
  return plan.coerce(node.kind === 'null' ? node : stringNode(node.text));
}

function fastPathOf(text: string, plan: Plan): FastPath {
  const fastPath = new FastPath(plan);
  fastPath.push(text);
  return fastPath;
}

type NodeFinder = CandidateFinder<ReplyNode>;

function coerceCandidates(text: string, plan: Plan, type: ReplyType, readThoughts: boolean): CoercionOutcome {
  const finder = new CandidateFinder(new Scanner(new TreeSink()), readThoughts);
  finder.push(text);
  finder.finish();
  const outcomes = [...compositeOutcomes(finder, text, plan), ...textOutcomes(finder, text, plan, type)];
  const list = type.hasList
    ? (joinedOutcome(finder, plan, type, outcomes) ?? listOfLists(finder, plan, type))
    : undefined;
  if (list !== undefined) outcomes.push(list);
  const isLost = finder.gaveUp && !type.hasScalar;
  return (isLost ? undefined : bestOutcome(outcomes)) ?? failure(outcomes, finder, plan);
}

// --- candidates ------------------------------------------------------------------------------------------------------

/** The parts of a reply, in the order in which they are likely to be the answer. */
const PART = { whole: 0, fence: 1, scalarText: 2, prose: 3, text: 4 } as const;

/** The outcome of one part of the reply. */
interface PartOutcome {
  readonly outcome: CoercionOutcome;
  /** A value of PART. */
  readonly part: number;
  /** The part is before the end of a thought. */
  readonly inThought: boolean;
}

/** Coerces the objects and lists in the reply. */
function compositeOutcomes(finder: NodeFinder, text: string, plan: Plan): PartOutcome[] {
  const edges = edgesOf(text);
  const isFence = fenceBody(text) !== undefined;
  return mostLikely(finder.candidates).flatMap((candidate) => {
    const part = candidate.fence > 0 ? PART.fence : isWhole(candidate, edges) ? PART.whole : PART.prose;
    const outcome = plan.coerce(candidate.value);
    // The string of a union is the reply as a whole: a part of it would lose the rest.
    if (part !== PART.whole && !isFence && isText(outcome)) return [];
    return {
      outcome: part === PART.whole ? outcome : withFlag(outcome, part === PART.fence ? 'markdown' : 'prose'),
      part,
      inThought: candidate.to <= finder.thoughtsEnd,
    };
  });
}

/** A reply with more values than this is a list of them, or noise: only those at the ends are coerced. */
const MAX_LIKELY = 100;

function mostLikely<T>(all: readonly T[]): readonly T[] {
  if (all.length <= MAX_LIKELY) return all;
  return [...all.slice(0, MAX_LIKELY / 2), ...all.slice(-MAX_LIKELY / 2)];
}

/** The offsets at which the text begins and ends without the spaces around it. */
interface Edges {
  readonly from: number;
  readonly to: number;
}

function edgesOf(text: string): Edges {
  return { from: text.length - text.trimStart().length, to: text.trimEnd().length };
}

function isWhole(candidate: Candidate<ReplyNode>, edges: Edges): boolean {
  return candidate.from <= edges.from && candidate.to >= edges.to;
}

function withFlag(outcome: CoercionOutcome, flag: string): CoercionOutcome {
  if (!outcome.ok) return outcome;
  return outcome.as(outcome.score, outcome.marks, [{ flag, path: '' }, ...outcome.flags]);
}

/** Coerces several objects as the members of a list. An empty pair of braces is not a member. */
function joinedOutcome(
  finder: NodeFinder,
  plan: Plan,
  { takesText }: ReplyType,
  outcomes: readonly PartOutcome[],
): PartOutcome | undefined {
  const objects = finder.candidates.filter(({ value }) => value.kind === 'object' && value.items.length > 0);
  if (objects.length < 2 || outcomes.some((outcome) => isCleanList(outcome))) return undefined;
  const outcome = plan.coerce(joined(objects));
  // As with a single object, strings made of parts of a reply would lose the rest.
  if (takesText && outcome.ok && outcome.flags.some(({ flag }) => flag === 'to-string')) return undefined;
  const inFence = objects.some((candidate) => candidate.fence > 0);
  return {
    outcome: withFlag(outcome, 'several-objects'),
    part: inFence ? PART.fence : PART.prose,
    inThought: false,
  };
}

/** Reads `[1, 2], [3, 4]` as the members of a list, if they match as they are. */
function listOfLists({ candidates }: NodeFinder, plan: Plan, { takesText }: ReplyType): PartOutcome | undefined {
  const lists = candidates.filter(({ value }) => value.kind === 'list');
  if (takesText || lists.length < 2 || lists.some(({ value }) => plan.cast(value) !== undefined)) return undefined;
  const outcome = plan.cast(joined(lists));
  if (outcome === undefined) return undefined;
  return { outcome: withFlag(outcome, 'several-lists'), part: PART.whole, inThought: false };
}

function joined(candidates: readonly Candidate<ReplyNode>[]): ReplyNode {
  const list = new ReplyNode('list');
  list.complete = true;
  for (const candidate of candidates) list.add(candidate.value);
  return list;
}

function isCleanList({ outcome, part }: PartOutcome): boolean {
  return part < PART.text && outcome.ok && lossOf(outcome) === 0;
}

/** Coerces text that is neither an object nor a list: the contents of fences, and the answer as a whole. */
function textOutcomes(finder: NodeFinder, text: string, plan: Plan, type: ReplyType): PartOutcome[] {
  const outcomes: PartOutcome[] = [];
  if (type.hasScalar || type.nullable) {
    const used = new Set(finder.candidates.map((candidate) => candidate.fence));
    const unused = finder.fences.filter((fence) => !used.has(fence.number));
    for (const fence of mostLikely(unused)) outcomes.push(...fenceOutcome(fence, text, plan, finder));
  }
  const answer = text.slice(finder.thoughtsEnd, Math.min(finder.openThought, text.length));
  const edges = edgesOf(text);
  const isComposite = finder.candidates.some((candidate) => isWhole(candidate, edges));
  if (isComposite || (answer.trim() === '' && edges.to > 0)) return outcomes;
  const node = scalarNode(answer, type.takesText);
  const outcome = plan.coerce(node);
  if (!outcome.ok && edges.to === 0) return outcomes;
  const isGuess = node.kind === 'string' && !type.hasScalar && outcome.ok && (outcome.marks & MARK.implied) !== 0;
  if (isGuess) return outcomes;
  outcomes.push({
    outcome: finder.thoughtsEnd > 0 ? withFlag(outcome, 'thought') : outcome,
    part: type.hasComposite ? PART.text : PART.scalarText,
    inThought: false,
  });
  return outcomes;
}

/** Text in a fence, such as code, is the string of a union only if it is in quotes and the reply has no other fence. */
function fenceOutcome(fence: FenceBody, text: string, plan: Plan, finder: NodeFinder): PartOutcome[] {
  const node = scalarNode(text.slice(fence.from, fence.to));
  const outcome = plan.coerce(node);
  if (isText(outcome) && (!node.quoted || finder.fences.length > 1)) return [];
  return [{ outcome: withFlag(outcome, 'markdown'), part: PART.fence, inThought: fence.to <= finder.thoughtsEnd }];
}

// --- the choice ------------------------------------------------------------------------------------------------------

interface RankedValue extends PartOutcome {
  readonly outcome: CoercedValue;
}

function bestOutcome(outcomes: readonly PartOutcome[]): CoercedValue | undefined {
  let best: RankedValue | undefined;
  for (const { outcome, part, inThought } of outcomes) {
    if (!outcome.ok) continue;
    const next = { outcome, part, inThought };
    if (best === undefined || compare(next, best) <= 0) best = next;
  }
  return best === undefined ? undefined : flagOthers(best, outcomes);
}

/** Flags that other values in the reply match as well and are not drafts in a thought. */
function flagOthers(best: RankedValue, outcomes: readonly PartOutcome[]): CoercedValue {
  const value = best.outcome;
  const loss = lossOf(value);
  const others = outcomes.filter(
    ({ outcome, part, inThought }) =>
      outcome.ok &&
      outcome.json !== value.json &&
      part < PART.text &&
      inThought === best.inThought &&
      lossOf(outcome) <= loss,
  );
  if (others.length === 0) return value;
  const flag = { flag: 'other-values', path: '', detail: `${others.length} more values of the reply match` };
  return value.as(value.score, value.marks, [...value.flags, flag]);
}

function compare(a: RankedValue, b: RankedValue): number {
  const lossA = lossOf(a.outcome);
  const lossB = lossOf(b.outcome);
  return (
    Number(isKept(b.outcome)) - Number(isKept(a.outcome)) ||
    Number(a.inThought) - Number(b.inThought) ||
    a.part - b.part ||
    lossA - lossB ||
    a.outcome.score - b.outcome.score
  );
}

/** Returns the error of the part that is most likely to be the answer. */
function failure(outcomes: readonly PartOutcome[], finder: NodeFinder, plan: Plan): CoercionError {
  if (finder.gaveUp) return coercionError(`the reply nests deeper than ${MAX_DEPTH} levels`);
  let best: { readonly part: number; readonly outcome: CoercionError } | undefined;
  for (const { outcome, part } of outcomes) {
    if (outcome.ok || (best !== undefined && part > best.part)) continue;
    best = { part, outcome };
  }
  return best?.outcome ?? coercionError(`expected ${plan.name}, but the reply contains no value`);
}

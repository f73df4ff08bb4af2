import { settleBareToken } from './text/bare-token.ts';
import { CandidateFinder, type Candidate, type FenceBody } from './text/candidate-finder.ts';
import { closersOf } from './text/characters.ts';
import { stringNode, ValueNode } from './text/value-node.ts';
import { MAX_DEPTH } from './text/open-containers.ts';
import { MARK, type Coerced, misfit, type Misfit, type Outcome } from './coercion/outcome.ts';
import type { Plan } from './coercion/plan.ts';
import { readingWeight } from './coercion/rank.ts';
import type { ReplyType } from './reply-type.ts';
import { StraightReading } from './fast-path/straight-reading.ts';
import { ValueReader } from './text/value-reader.ts';

/** Where in a reply a reading was found: lower is the likelier place of an answer. */
const TIER = { whole: 0, fence: 1, scalarText: 2, prose: 3, text: 4 } as const;

type NodeFinder = CandidateFinder<ValueNode>;

interface Reading {
  readonly outcome: Outcome;
  readonly tier: number;
  /** It stands before the end of a thought. */
  readonly thought: boolean;
}

/**
 * The value that a whole reply means: every part of it that may be the answer is read as the type, and the best
 * reading wins; of equals the last one, since models correct themselves forwards. `straight`: what was read straight
 * from the text already; without it that is tried first.
 */
export function chooseReading(text: string, plan: Plan, type: ReplyType, straight?: StraightReading): Outcome {
  const value = type.hasComposite ? (straight ?? readStraight(text, plan)).finish(text) : undefined;
  if (value !== undefined) return value;
  const outcome = readReply(text, plan, type, false);
  if (outcome.ok || !text.includes('<')) return outcome;
  const withThoughts = readReply(text, plan, type, true);
  return withThoughts.ok ? withThoughts : outcome;
}

function readStraight(text: string, plan: Plan): StraightReading {
  const reading = new StraightReading(plan);
  reading.push(text);
  return reading;
}

function readReply(text: string, plan: Plan, type: ReplyType, readThoughts: boolean): Outcome {
  const finder = new CandidateFinder(new ValueReader(), readThoughts);
  finder.push(text);
  finder.finish();
  const readings = [...structuredReadings(finder, text, plan), ...textReadings(finder, text, plan, type)];
  const list = type.isList ? joinedReading(finder.candidates, plan, readings) : undefined;
  if (list !== undefined) readings.push(list);
  const lost = finder.gaveUp && !type.hasScalar;
  return (lost ? undefined : bestReading(readings)) ?? failure(readings, finder, plan);
}

// --- what there is to choose from -----------------------------------------------------------------------------------

function structuredReadings(finder: NodeFinder, text: string, plan: Plan): Reading[] {
  const readings: Reading[] = [];
  const edges = edgesOf(text);
  for (const candidate of likely(finder.candidates)) {
    const tier = candidate.fence > 0 ? TIER.fence : isWhole(candidate, edges) ? TIER.whole : TIER.prose;
    const outcome = plan.coerce(candidate.value);
    readings.push({
      outcome: tier === TIER.whole ? outcome : withFlag(outcome, tier === TIER.fence ? 'markdown' : 'prose'),
      tier,
      thought: candidate.to <= finder.thoughtsEnd,
    });
  }
  return readings;
}

/** A reply with more values than this is a list of them, or noise: of the rest only the ends are looked at. */
const MAX_LIKELY = 100;

function likely<T>(places: readonly T[]): readonly T[] {
  if (places.length <= MAX_LIKELY) return places;
  return [...places.slice(0, MAX_LIKELY / 2), ...places.slice(-MAX_LIKELY / 2)];
}

/** Where the text begins and ends when the spaces around it are left out. */
interface Edges {
  readonly from: number;
  readonly to: number;
}

function edgesOf(text: string): Edges {
  return { from: text.length - text.trimStart().length, to: text.trimEnd().length };
}

function isWhole(candidate: Candidate<ValueNode>, edges: Edges): boolean {
  return candidate.from <= edges.from && candidate.to >= edges.to;
}

function withFlag(outcome: Outcome, flag: string): Outcome {
  if (!outcome.ok) return outcome;
  return outcome.as(outcome.score, outcome.marks, [{ flag, path: '' }, ...outcome.notes]);
}

/** Several objects where a list is wanted: its members. An empty pair of braces says nothing. */
function joinedReading(
  candidates: readonly Candidate<ValueNode>[],
  plan: Plan,
  readings: readonly Reading[],
): Reading | undefined {
  const objects = candidates.filter(({ value }) => value.kind === 'object' && value.items.length > 0);
  if (objects.length < 2 || readings.some((reading) => isCleanList(reading))) return undefined;
  const list = new ValueNode('list');
  list.complete = true;
  for (const candidate of objects) list.add(candidate.value);
  const inFence = objects.some((candidate) => candidate.fence > 0);
  return {
    outcome: withFlag(plan.coerce(list), 'several-objects'),
    tier: inFence ? TIER.fence : TIER.prose,
    thought: false,
  };
}

function isCleanList(reading: Reading): boolean {
  return reading.tier < TIER.text && reading.outcome.ok && readingWeight(reading.outcome) === 0;
}

function textReadings(finder: NodeFinder, text: string, plan: Plan, type: ReplyType): Reading[] {
  const readings: Reading[] = [];
  if (type.hasScalar || type.nullable) {
    const used = new Set(finder.candidates.map((candidate) => candidate.fence));
    const unused = finder.fences.filter((fence) => !used.has(fence.number));
    for (const fence of likely(unused)) readings.push(fenceReading(fence, text, plan, finder));
  }
  const answer = text.slice(finder.thoughtsEnd, Math.min(finder.openThought, text.length));
  const edges = edgesOf(text);
  const isStructured = finder.candidates.some((candidate) => isWhole(candidate, edges));
  if (isStructured || answer.trim() === '') return readings;
  const tier = type.hasComposite ? TIER.text : TIER.scalarText;
  const node = textNode(answer);
  const outcome = plan.coerce(node);
  const isGuess = node.kind === 'string' && !type.hasScalar && outcome.ok && (outcome.marks & MARK.implied) !== 0;
  if (isGuess) return readings;
  readings.push({ outcome: finder.thoughtsEnd > 0 ? withFlag(outcome, 'thought') : outcome, tier, thought: false });
  return readings;
}

function fenceReading(fence: FenceBody, text: string, plan: Plan, finder: NodeFinder): Reading {
  return {
    outcome: withFlag(plan.coerce(textNode(text.slice(fence.from, fence.to))), 'markdown'),
    tier: TIER.fence,
    thought: fence.to <= finder.thoughtsEnd,
  };
}

/** A text as a value: what JSON would make of it when it is a scalar, otherwise the text itself. */
export function textNode(raw: string): ValueNode {
  const text = raw.trim();
  if (text.length > 1 && closersOf(text.charCodeAt(0)).includes(text.charAt(text.length - 1))) {
    const inner = quotedText(text);
    if (inner !== undefined) return stringNode(inner);
  }
  const node = new ValueNode('bare');
  node.text = text;
  settleBareToken(node);
  node.repairs = 0;
  return node;
}

function quotedText(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    const inner = text.slice(1, -1);
    return inner.includes(text.charAt(0)) || inner.includes('\n') ? undefined : inner;
  }
}

// --- the choice -----------------------------------------------------------------------------------------------------

/** From this weight on a reading holds hardly anything of what was written. */
const HOLLOW_WEIGHT = 3;

function bestReading(readings: readonly Reading[]): Coerced | undefined {
  let best: { readonly reading: Reading; readonly value: Coerced } | undefined;
  for (const reading of readings) {
    if (!reading.outcome.ok) continue;
    const next = { reading, value: reading.outcome };
    if (best === undefined || compare(next, best) <= 0) best = next;
  }
  return best === undefined ? undefined : withOthers(best, readings);
}

/** The reply holds more values that fit as well, and are no drafts of a thought: that is said. */
function withOthers({ reading, value }: Ranked, readings: readonly Reading[]): Coerced {
  const weight = readingWeight(value);
  const others = readings.filter(
    ({ outcome, tier, thought }) =>
      outcome.ok &&
      outcome.json !== value.json &&
      tier < TIER.text &&
      thought === reading.thought &&
      readingWeight(outcome) <= weight,
  );
  if (others.length === 0) return value;
  const note = { flag: 'other-values', path: '', detail: `${others.length} more of the reply's values fit` };
  return value.as(value.score, value.marks, [...value.notes, note]);
}

type Ranked = { readonly reading: Reading; readonly value: Coerced };

function compare(a: Ranked, b: Ranked): number {
  const weightA = readingWeight(a.value);
  const weightB = readingWeight(b.value);
  return (
    Number(weightA >= HOLLOW_WEIGHT) - Number(weightB >= HOLLOW_WEIGHT) ||
    Number(a.reading.thought) - Number(b.reading.thought) ||
    a.reading.tier - b.reading.tier ||
    weightA - weightB ||
    a.value.score - b.value.score
  );
}

/** Why no reading fits: the reasons of the likeliest place. */
function failure(readings: readonly Reading[], finder: NodeFinder, plan: Plan): Misfit {
  if (finder.gaveUp) return misfit(`the reply nests deeper than ${MAX_DEPTH} levels`);
  let best: { readonly tier: number; readonly outcome: Misfit } | undefined;
  for (const reading of readings) {
    if (reading.outcome.ok || (best !== undefined && reading.tier > best.tier)) continue;
    best = { tier: reading.tier, outcome: reading.outcome };
  }
  return best?.outcome ?? misfit(`expected ${plan.name}, but the reply holds no value`);
}

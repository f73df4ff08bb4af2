import { isAside, type Candidates, type ReplyCandidate } from './candidates/read-candidates.ts';
import { coercionError, type CoercionError } from './coerce/coercion-error.ts';
import { isText, type CoercedValue } from './coerce/outcome.ts';
import { isCorrection } from './phrases.ts';
import type { ReplyType } from './reply-type.ts';

/*
 * The choice among the candidates of a reply that match the type. The criteria, from strong to weak:
 *
 *   1. A value that contains something of the reply comes before one that contains hardly anything.
 *   2. A value comes before the text as a whole, and an answer before a draft, an example, and code.
 *   3. JSON alone on its lines comes before an outline, a table or XML, and these before JSON inside a line.
 *   4. The lower cost wins: what is lost, then what is guessed.
 *   5. A value with the label of an answer comes before one without.
 *   6. A value alone on its lines comes before one after a label, and both before one inside a sentence.
 *   7. A value with fewer extra keys and failed checks comes before one with more.
 *   8. A value whose frame was removed comes before one that the frame contains, and several values before one of them.
 *
 * Two candidates that are equal by all of these, but have unequal values, are two answers: the reply is refused.
 */

/** A candidate with its ranks by each criterion: lower is better. */
export interface RankedCandidate {
  readonly candidate: ReplyCandidate;
  readonly value: CoercedValue;
  readonly ranks: readonly number[];
}

export interface Choice {
  readonly ranked: readonly RankedCandidate[];
  readonly best: RankedCandidate | undefined;
  /** The reason why none of the candidates is the answer, although some match. */
  readonly refusal: CoercionError | undefined;
}

/** The names of the criteria, in their order, for explanations. */
export const CRITERIA = [
  'it contains hardly anything of the reply',
  'the text counts only if no part of it is a value',
  'the text introduces it as a draft, an example or code',
  'JSON comes before lines of text, and a value alone on its lines before one inside a line',
  'fits worse: it loses more',
  'fits worse: it takes more guesses',
  'no words introduce it as the answer',
  'not alone on its lines',
  'fits worse: more keys that belong to no field, or checks that fail',
  'it is inside a frame',
  'it is one of several values',
] as const;

export function choose({ all }: Pick<Candidates, 'all'>, text: string, type: ReplyType): Choice {
  const superseded = supersededEnd(all, text);
  const several = all.find(({ kind, outcome }) => kind === 'several' && outcome.ok && outcome.kept);
  const ranked = all.flatMap((candidate) => {
    const { outcome } = candidate;
    if (!outcome.ok) return [];
    return [
      {
        candidate,
        value: outcome,
        ranks: ranksOf(candidate, outcome, candidate.to <= superseded || isMember(candidate, outcome, several), type),
      },
    ];
  });
  let best: RankedCandidate | undefined;
  for (const each of ranked) if (best === undefined || compareRanks(each, best) <= 0) best = each;
  return { ranked, best, refusal: best && (conflict(best, ranked) ?? failedCorrection(best, all, superseded)) };
}

/** Returns the error of a value that corrects the best one, but does not match. */
function failedCorrection(
  { candidate }: RankedCandidate,
  all: readonly ReplyCandidate[],
  superseded: number,
): CoercionError | undefined {
  if (candidate.kind === 'text' || candidate.to > superseded) return undefined;
  const later = all.find(({ from, outcome }) => from >= superseded && !outcome.ok);
  return later?.outcome.ok === false ? later.outcome : undefined;
}

/** True for a value that became a list of one, where several values are the members of the list. */
function isMember({ from, to }: ReplyCandidate, { flags }: CoercedValue, several: ReplyCandidate | undefined): boolean {
  if (several === undefined || from < several.from || to > several.to) return false;
  return flags.some(({ flag, path }) => flag === 'single-to-list' && path === '');
}

/** Returns the end of the last value that a later value corrects, as the words between the two state. */
function supersededEnd(all: readonly ReplyCandidate[], text: string): number {
  const values = all.filter(
    ({ kind, outcome }) => (kind === 'fence' || kind === 'prose') && (!outcome.ok || outcome.kept),
  );
  let end = -1;
  for (const [at, { from, place, role }] of values.entries()) {
    const before = values[at - 1];
    if (before === undefined || before.to > from || (place === 'sentence' && role !== 'final')) continue;
    if (isCorrection(text.slice(Math.max(before.to, from - MAX_BETWEEN), from))) end = before.to;
  }
  return end;
}

/** The text before a value in which words of correction count. */
const MAX_BETWEEN = 1000;

/** JSON alone on its lines, and lines. JSON inside a line can also be the value of a key of lines. */
function kindOf({ kind, node, place }: ReplyCandidate): number {
  if (kind !== 'lines') return place === 'alone' ? 0 : 1;
  return node.kind === 'object' || node.items.every((item) => item.kind === 'object') ? 1 : 2;
}

const PLACES: readonly ReplyCandidate['place'][] = ['alone', 'label', 'sentence'];

function ranksOf(
  candidate: ReplyCandidate,
  value: CoercedValue,
  isPassed: boolean,
  type: ReplyType,
): readonly number[] {
  const { kind, node, role, place, notations } = candidate;
  return [
    Number(!value.kept || (place !== 'alone' && !node.isScalar && node.items.length === 0)),
    Number(kind === 'text' && type.hasComposite),
    Number(isPassed || isAside(candidate)),
    kindOf(candidate),
    value.cost.lost,
    value.cost.guessed,
    Number(role !== 'final'),
    PLACES.indexOf(place),
    value.cost.extra,
    -notations.length,
    Number(kind !== 'several'),
  ];
}

export function firstDifference(a: RankedCandidate, b: RankedCandidate): number {
  return a.ranks.findIndex((rank, index) => rank !== b.ranks[index]);
}

function compareRanks(a: RankedCandidate, b: RankedCandidate): number {
  const at = firstDifference(a, b);
  return at < 0 ? 0 : (a.ranks[at] ?? 0) - (b.ranks[at] ?? 0);
}

/** Returns the error of two answers of equal rank. */
function conflict(best: RankedCandidate, ranked: readonly RankedCandidate[]): CoercionError | undefined {
  const other = ranked.find((each) => each.value.json !== best.value.json && compareRanks(each, best) === 0);
  // The readings of the same lines come from the least to the most general one.
  if (other === undefined || best.candidate.kind === 'lines' || isText(best.value)) return undefined;
  const [first, second] = other.candidate.from < best.candidate.from ? [other, best] : [best, other];
  return coercionError(`the reply contains different answers: ${shortened(first)} and ${shortened(second)}`);
}

const MAX_SHOWN = 60;

function shortened({ value: { json } }: RankedCandidate): string {
  return json.length <= MAX_SHOWN ? json : `${json.slice(0, MAX_SHOWN)}…`;
}

import type { ValueNode } from '../text/value-node.ts';
import { MARK, misfit, type Coerced, type Outcome } from './outcome.ts';
import type { Plan } from './plan.ts';

/** Negative when `a` is the better reading of a value. */
export function compareReadings(a: Coerced, b: Coerced): number {
  return readingWeight(a) - readingWeight(b) || a.score - b.score;
}

/** Readings that throw away or make up more than others lose whatever their score. */
export function readingWeight(reading: Coerced): number {
  const marks = reading.marks;
  if ((marks & MARK.nullForMisfit) !== 0) return 5;
  if ((marks & MARK.onlyDefaults) !== 0) return 4;
  if ((marks & MARK.emptied) !== 0) return 3;
  if ((marks & MARK.implied) !== 0) return 2;
  return (marks & (MARK.singleToList | MARK.fromComposite)) === 0 ? 0 : 1;
}

/** The member of a list that reads best as one value of the type. */
export function bestMember(plan: Plan, list: ValueNode): Outcome {
  let best: Coerced | undefined;
  for (const item of list.items) {
    const outcome = plan.coerce(item);
    if (outcome.ok && (best === undefined || compareReadings(outcome, best) < 0)) best = outcome;
  }
  if (best === undefined) return misfit(`expected ${plan.name}, got a list in which none fits`);
  return best.as(best.score + 1, best.marks, [{ flag: 'first-of-list', path: '' }, ...best.notes]);
}

import type { Violation } from '../../schema/violation.ts';
import type { Losses } from '../../schema/explanation.ts';
import type { ParsedReply } from '../reply/reply-parser.ts';

/** Whether a call returns a value that lacks a part of the reply, or fails. */
export type OnLoss = (typeof ON_LOSS)[number];

export const ON_LOSS = ['accept', 'refuse'] as const;

/** One part of the reply that the value lacks. */
export interface Warning {
  /** The path to the place in the value, such as `people[2].email`; empty for the whole value. */
  readonly path: string;
  /** The reason. */
  readonly message: string;
  /** `dropped`: a list member or map entry. `defaulted`: a value that became null. */
  readonly kind: keyof Losses;
}

/** The most losses that one answer lists; `more` counts the others. */
const MAX_WARNINGS = 100;

export interface Warnings {
  /** In the order of the value; at most 100. */
  readonly list: readonly Warning[];
  /** The number of losses that the list does not report. */
  readonly more: number;
}

export function isLossy({ dropped, defaulted }: Losses): boolean {
  return dropped + defaulted > 0;
}

/** Returns the counts that are not zero, such as `dropped=2, defaulted=1`. */
export function lossesText({ dropped, defaulted }: Losses): string {
  const counts = { dropped, defaulted };
  return Object.entries(counts)
    .flatMap(([kind, count]) => (count === 0 ? [] : [`${kind}=${count}`]))
    .join(', ');
}

export function warningsOf({ flags, losses }: ParsedReply): Warnings {
  const list: Warning[] = [];
  let more = losses.dropped + losses.defaulted;
  for (const { path, detail = '', losses: lost } of flags) {
    if (lost === undefined || list.length === MAX_WARNINGS) continue;
    list.push({ path, message: detail, kind: lost.dropped > 0 ? 'dropped' : 'defaulted' });
    more -= lost.dropped + lost.defaulted;
  }
  return { list, more };
}

const VERBS = { dropped: 'was dropped', defaulted: 'became null' };

/** Returns what the value of a refused reply lacks. */
export function lossDetails({ list, more }: Warnings): readonly Violation[] {
  const details = list.map(({ path, message, kind }) => ({ path, message: `${VERBS[kind]}: ${message}` }));
  return more === 0
    ? details
    : [...details, { path: '', message: `and ${more} more ${more === 1 ? 'loss' : 'losses'}` }];
}

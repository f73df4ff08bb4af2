import type { Violation } from '../../schema/violation.ts';
import type { Losses } from '../../schema/explanation.ts';
import { MADE_UP, type ParsedReply } from '../reply/reply-parser.ts';

/** Whether a call returns a value that lacks a part of the reply, or fails. */
export type OnLoss = (typeof ON_LOSS)[number];

export const ON_LOSS = ['accept', 'refuse'] as const;

/** One part of the reply that the value lacks, or another reason not to rely on the value. */
export interface Warning {
  /** The path to the place in the value, such as `people[2].email`; empty for the whole value. */
  readonly path: string;
  /** The reason. */
  readonly message: string;
  /**
   * `dropped`: a list member or map entry. `defaulted`: a value that became null. `truncated`: the end of the reply. `made_up`: no loss,
   * but no one wrote the reply.
   */
  readonly kind: keyof Losses | 'made_up';
}

/** The most losses that one answer lists; `more` counts the others. */
const MAX_WARNINGS = 100;

export interface Warnings {
  /** In the order of the value; at most 100. */
  readonly list: readonly Warning[];
  /** The number of losses that the list does not report. */
  readonly more: number;
}

export function isLossy(losses: Losses): boolean {
  return countOf(losses) > 0;
}

function countOf({ dropped, defaulted, truncated = 0 }: Losses): number {
  return dropped + defaulted + truncated;
}

/** Returns the counts that are not zero, such as `dropped=2, defaulted=1`. */
export function lossesText({ dropped, defaulted, truncated = 0 }: Losses): string {
  const counts = { dropped, defaulted, truncated };
  return Object.entries(counts)
    .flatMap(([kind, count]) => (count === 0 ? [] : [`${kind}=${count}`]))
    .join(', ');
}

export function warningsOf({ flags, losses }: ParsedReply): Warnings {
  const list: Warning[] = [];
  let more = countOf(losses);
  for (const { flag, path, detail = '', losses: lost } of flags) {
    if (flag === MADE_UP) list.push({ path, message: detail, kind: 'made_up' });
    if (lost === undefined || list.length === MAX_WARNINGS) continue;
    list.push({ path, message: detail, kind: kindOf(lost) });
    more -= countOf(lost);
  }
  return { list, more };
}

function kindOf({ dropped, truncated }: Losses): keyof Losses {
  return truncated === undefined ? (dropped > 0 ? 'dropped' : 'defaulted') : 'truncated';
}

const VERBS = { made_up: 'was made up', dropped: 'was dropped', defaulted: 'became null', truncated: 'is not whole' };

/** Returns what the value of a refused reply lacks. */
export function lossDetails({ list, more }: Warnings): readonly Violation[] {
  const details = list.map(({ path, message, kind }) => ({ path, message: `${VERBS[kind]}: ${message}` }));
  return more === 0
    ? details
    : [...details, { path: '', message: `and ${more} more ${more === 1 ? 'loss' : 'losses'}` }];
}

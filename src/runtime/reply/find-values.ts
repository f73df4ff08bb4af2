import { CandidateFinder, type Candidate, type FenceBody } from './text/candidate-finder.ts';
import type { ReplyNode } from './text/reply-node.ts';
import { Scanner } from './text/scanner.ts';
import { TreeSink } from './text/tree-sink.ts';

/** The objects, lists and fences in a reply, in the order of their starts. */
export interface FoundValues {
  readonly candidates: readonly Candidate<ReplyNode>[];
  /** The fence with the number n is at n - 1. */
  readonly fences: readonly FenceBody[];
  /** A value that breaks off; the values that follow were read as a part of it. */
  readonly broken: Candidate<ReplyNode> | undefined;
  readonly thoughtsEnd: number;
  readonly openThought: number;
  readonly gaveUp: boolean;
}

/** Reads a whole reply. `readThoughts`: look inside thoughts as well. */
export function findValues(text: string, readThoughts: boolean): FoundValues {
  const { candidates, fences, thoughtsEnd, openThought, gaveUp } = find(text, readThoughts);
  const last = candidates.at(-1);
  const restart = last === undefined ? -1 : restartIn(text, last);
  if (restart < 0) return { candidates, fences, broken: undefined, thoughtsEnd, openThought, gaveUp };
  const rest = find(text.slice(restart), readThoughts);
  return {
    candidates: [
      ...candidates,
      ...rest.candidates.map(({ value, from, to, fence }) => ({
        value,
        from: from + restart,
        to: to + restart,
        fence: fence === 0 ? 0 : fence + fences.length,
      })),
    ],
    fences: [
      ...fences,
      ...rest.fences.map(({ from, to, number }) => ({
        from: from + restart,
        to: to + restart,
        number: number + fences.length,
      })),
    ],
    broken: last,
    thoughtsEnd,
    openThought,
    gaveUp: gaveUp || rest.gaveUp,
  };
}

function find(text: string, readThoughts: boolean): CandidateFinder<ReplyNode> {
  const finder = new CandidateFinder(new Scanner(new TreeSink()), readThoughts);
  finder.push(text);
  finder.finish();
  return finder;
}

/**
 * Returns the start of the last fence that opens inside a value after the value's own fence has closed: the model broke
 * off, closed the fence and started again, but the string that it left open goes on. -1 if there is none.
 */
function restartIn(text: string, { from, to, fence }: Candidate<ReplyNode>): number {
  if (fence === 0) return -1;
  const source = text.slice(from, to);
  const end = /\n[ \t]*```[ \t]*\r?\n/u.exec(source);
  if (end === null) return -1;
  const after = end.index + end[0].length - 1;
  const openings = [...source.slice(after).matchAll(/\n[ \t]*```[ \t]*\w*[ \t]*\r?\n\s*[{[]/gu)];
  const last = openings.at(-1);
  return last === undefined ? -1 : from + after + last.index + 1;
}

import type { ExplainedCandidate, Explanation } from '../../schema/explanation.ts';

/** A part of a reply, and what svc decided about it. */
export interface ReplySegment {
  readonly text: string;
  readonly verdict?: ExplainedCandidate['verdict'];
}

/** The better the verdict, the later: it covers the ones before. */
const ORDER = ['mismatch', 'passed-over', 'taken'] as const;

/** Cuts a reply where candidates begin and end. A candidate that is the whole reply, or several parts of it, marks nothing. */
export function replySegments(reply: string, explanation: Explanation | undefined): readonly ReplySegment[] {
  const parts = (explanation?.candidates ?? []).filter(
    ({ place, from, to }) => PARTS.has(place) && from < to && to - from < reply.trim().length,
  );
  const ends = new Set([0, reply.length, ...parts.flatMap(({ from, to }) => [from, to])]);
  const cuts = [...ends].filter((at) => at <= reply.length).toSorted((a, b) => a - b);
  return cuts.slice(1).map((to, at) => {
    const from = cuts[at] ?? 0;
    const covering = parts.filter((part) => part.from <= from && to <= part.to);
    const verdict = ORDER.findLast((each) => covering.some((part) => part.verdict === each));
    return { text: reply.slice(from, to), ...(verdict !== undefined && { verdict }) };
  });
}

const PARTS: ReadonlySet<string> = new Set(['fence', 'prose', 'thought']);

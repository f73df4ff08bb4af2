import { endOf } from './snapshots.ts';

const FENCE = /^[ \t]*```\w*[ \t]*\n([^]*?)^[ \t]*```[ \t]*$/gmu;

/** A value in more pieces than this is something else. */
const MAX_PIECES = 20;

/**
 * Joins the fences of a value that a model wrote in several pieces: the first one leaves brackets open, and the last one closes
 * all of them. The words between the fences are left out.
 */
export function joinFences(text: string): string | undefined {
  const fences = [...text.matchAll(FENCE)];
  const [first, ...others] = fences;
  if (first === undefined || others.length === 0 || others.length >= MAX_PIECES) return undefined;
  let body = first[1] ?? '';
  if (endOf(body).depth <= 0) return undefined;
  for (const fence of others) {
    const piece = fence[1] ?? '';
    const isRest = endOf(piece).depth < 0 || /^\s*["',]/u.test(piece);
    if (!isRest) return undefined;
    body += piece;
    if (endOf(body).depth > 0) continue;
    const to = fence.index + fence[0].length;
    return `${text.slice(0, first.index)}\`\`\`\n${body}\`\`\`${text.slice(to)}`;
  }
  return undefined;
}

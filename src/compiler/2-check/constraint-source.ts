import type { ExpressionNode } from '../1-parse/syntax-nodes.ts';
import type { TemplateSource } from '../1-parse/template-source.ts';

/** A backslash that escapes neither a quote nor another backslash. */
const LONE_BACKSLASH = /\\(?:["'\\]|)/g;

/**
 * The text of a constraint as the expression that it stands for. In constraints a backslash is an ordinary character, so
 * that a pattern can be written as it is (`regex_match("\d+")`); in expressions it is written twice.
 */
export function constraintSource(node: ExpressionNode): TemplateSource {
  const added: number[] = [];
  let text = '';
  let from = 0;
  for (const match of node.source.matchAll(LONE_BACKSLASH)) {
    if (match[0].length > 1) continue;
    text += `${node.source.slice(from, match.index)}\\`;
    added.push(text.length - 1);
    from = match.index;
  }
  text += node.source.slice(from);
  const toFileOffset = (offset: number): number => node.contentStart + offset - countBelow(added, offset);
  return { file: node.span.file, text, toFileOffset };
}

/** How many of the ascending numbers are below the limit. */
function countBelow(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

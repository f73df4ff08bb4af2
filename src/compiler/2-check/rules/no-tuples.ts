import type { Rule } from '../check-context.ts';

/** `(A, B)` can be written but neither be shown to a model nor be parsed. */
export const noTuples: Rule = ({ types, report }) => {
  for (const type of types) if (type.kind === 'tuple') report('check/tuple-type', type.span, {});
};

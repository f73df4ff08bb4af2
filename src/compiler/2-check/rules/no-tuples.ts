import type { Rule } from '../check-context.ts';
import { eachType } from '../walk-types.ts';

/** `(A, B)` can be written but neither be shown to a model nor be parsed. */
export const noTuples: Rule = ({ scope, report }) => {
  eachType(scope, (type) => {
    if (type.kind === 'tuple') report('check/tuple-type', type.span, {});
  });
};

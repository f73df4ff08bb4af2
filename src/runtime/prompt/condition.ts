import type { Result } from '../../base/result.ts';

/**
 * An `@assert` or `@check` expression, ready to run. `self` is the value it speaks of as `this`.
 * The failure is the reason why the expression itself could not be evaluated.
 */
export type Condition = (self: unknown) => Result<boolean, string>;

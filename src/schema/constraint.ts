import type { Result } from '../base/result.ts';
import type { Expression } from './template.ts';

/** `@assert(label?, {{ … }})` fails the value; `@check(label, {{ … }})` only reports. `this` is the value. */
export interface Constraint {
  readonly level: 'assert' | 'check';
  /** Always there for `check`. */
  readonly label?: string;
  /** The text between the braces, trimmed: shown in check results and failures. */
  readonly source: string;
  readonly expression: Expression;
}

/**
 * An `@assert` or `@check` expression, ready to run. `self` is the value that the expression calls `this`.
 * The failure is the reason why the expression itself could not be evaluated.
 */
export type Condition = (self: unknown) => Result<boolean, string>;

/** Compiles the expression of a constraint. The rooms that check constraints get it from `runtime/call`. */
export type CompileCondition = (expression: Expression) => Condition;

import type { JsonObject } from '../base/json.ts';
import type { Result } from '../base/result.ts';
import type { Expression } from './template.ts';

/** `@assert(label?, {{ … }})` fails the value; `@check(label, {{ … }})` only reports. `this` is the value. */
export interface Constraint {
  readonly level: 'assert' | 'check';
  /** Always present for `check`. */
  readonly label?: string;
  /** The trimmed text between the braces, as it appears in check results and failures. */
  readonly source: string;
  readonly expression: Expression;
  /** The keyword of JSON Schema with the same meaning, if the constraint comes from a JSON Schema: `{"minLength": 1}`. */
  readonly keyword?: JsonObject;
}

/**
 * A compiled `@assert` or `@check` expression. `self` is the value of `this` in the expression. The failure is the reason
 * why the evaluation failed.
 */
export type Condition = (self: unknown) => Result<boolean, string>;

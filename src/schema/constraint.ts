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

import type { Condition } from './constraint.ts';
import type { DefinitionIndex } from './definition-index.ts';
import type { Expression } from './template.ts';
import type { Type } from './type.ts';

/** The type of the values of a constraint, in whose definitions svc finds the floats. */
export interface ConstrainedType {
  readonly type: Type;
  readonly definitions: DefinitionIndex;
}

/**
 * Compiles the expression of a constraint, for values of this type. The rooms that check constraints receive it from
 * `runtime/call`.
 */
export type CompileCondition = (expression: Expression, of: ConstrainedType) => Condition;

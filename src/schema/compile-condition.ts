import type { Condition } from './constraint.ts';
import type { DefinitionIndex } from './program.ts';
import type { Expression } from './template.ts';
import type { Type } from './type.ts';

/** The type that a constraint applies to, and the definitions that contain its classes, enums and aliases. */
export interface ConstrainedType {
  readonly type: Type;
  readonly definitions: DefinitionIndex;
}

/**
 * Compiles the expression of a constraint, for values of this type. The rooms that check constraints receive it from
 * `runtime/call`.
 */
export type CompileCondition = (expression: Expression, of: ConstrainedType) => Condition;

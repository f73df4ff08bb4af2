import type { Misfit } from './outcome.ts';
import type { Plan } from './plan.ts';

/** How one field of a class is read and written. */
export interface FieldPlan {
  readonly name: string;
  /** `"name":` as it stands in the output. */
  readonly jsonKey: string;
  /** The same behind another field. */
  readonly nextJsonKey: string;
  /** The key that the model writes. */
  readonly key: string;
  /** The same as JSON writes it, with its colon. */
  readonly writtenKey: string;
  readonly plan: Plan;
  readonly skip: boolean;
  readonly streamNotNull: boolean;
  /** What is wrong with an object that lacks the field. */
  readonly missing: Misfit;
}

/** The class that an object is read into. */
export interface Fields {
  readonly fields: readonly FieldPlan[];
  /** Positions of the fields that results show. */
  readonly shown: readonly number[];
  /** The field that a key means; -1 when none. */
  fieldOf(key: string): number;
}

import type { CompileCondition } from '../../schema/compile-condition.ts';
import { compileChargedCondition } from '../prompt/compile-condition.ts';
import { TemplateFault } from '../prompt/template-fault.ts';
import { spend } from '../reply/coerce/step-budget.ts';

/** A unit of the work of templates takes up to 300 ns, and a step of coercion about 100 ns. */
const STEPS_PER_UNIT = 3;

/** At most 15 ms. */
const MAX_UNITS = 50_000;

/**
 * Compiles the constraints in the types of a request, for replies. Their work counts as steps of the coercion, because a reply can
 * have thousands of values with the same constraint.
 */
export const compileCountedCondition: CompileCondition = (expression, of) =>
  compileChargedCondition(expression, of, (units) => spend(units * STEPS_PER_UNIT));

/** Compiles the constraints in the types of a request, for arguments. */
export function compileBoundedCondition(limit: WorkLimit): CompileCondition {
  return (expression, of) => compileChargedCondition(expression, of, (units) => limit.spend(units));
}

/** Limits the work of all constraints of one argument object, which are checked in the event loop. */
export class WorkLimit {
  #left = MAX_UNITS;

  reset(): void {
    this.#left = MAX_UNITS;
  }

  spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new TemplateFault('the asserts of the arguments take too many steps');
  }
}

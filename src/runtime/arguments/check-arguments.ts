import type { CompileCondition } from '../../schema/constraint.ts';
import { indexDefinitions } from '../../schema/definition-index.ts';
import type { FunctionType } from '../../schema/function.ts';
import type { Definitions } from '../../schema/program.ts';
import type { Violation } from '../../schema/violation.ts';
import { ArgumentAsserts } from './argument-asserts.ts';
import { explainArguments } from './explain-arguments.ts';
import type { ArgumentValidators } from './load-validators.ts';

/** Every violation of a function's signature by an argument object; empty when it fits. Never throws for any data. */
export type ArgumentChecker = (fn: FunctionType, args: Readonly<Record<string, unknown>>) => readonly Violation[];

/** The validator decides, so a refusal that the walk could not explain is a refusal too. */
const REFUSED: readonly Violation[] = [{ path: '', message: 'the arguments do not fit the signature' }];

/**
 * Creates the argument checker of a program. The compiled validator of the function decides; only after a no, a walk finds
 * the violations and words them. Arguments that fit are checked against their asserts. The options key is not checked.
 */
export function createArgumentChecker(
  definitions: Definitions,
  validators: Pick<ArgumentValidators, 'of'>,
  compileCondition: CompileCondition,
): ArgumentChecker {
  const index = indexDefinitions(definitions);
  const asserts = new ArgumentAsserts(index, compileCondition);
  return (fn, args) => {
    const ofFunction = validators.of(fn.name);
    if (ofFunction.accepts(args)) return asserts.violations(fn, args, ofFunction);
    const violations = explainArguments(fn, args, { index, fits: ofFunction.createFits() });
    return violations.length > 0 ? violations : REFUSED;
  };
}

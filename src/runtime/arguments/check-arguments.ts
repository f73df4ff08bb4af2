import type { CompileCondition } from '../../schema/constraint.ts';
import { indexDefinitions } from '../../schema/definition-index.ts';
import type { FunctionType } from '../../schema/function.ts';
import type { Program } from '../../schema/program.ts';
import { loadValidators } from './load-validators.ts';
import type { ArgumentPredicate } from './load-validators.ts';
import { ArgumentAsserts } from './argument-asserts.ts';
import { argumentFaults } from './argument-faults.ts';
import type { Violation } from '../../schema/violation.ts';

/** Every fault of an argument object against a function's signature; empty when it fits. Never throws for any data. */
export type ArgumentChecker = (fn: FunctionType, args: Readonly<Record<string, unknown>>) => readonly Violation[];

const NO_FAULTS: readonly Violation[] = [];

/**
 * The argument checker of a program, made once per worker. The compiled predicate answers for arguments that fit,
 * which is nearly all of them; the walk that explains runs only for the others. Where all types fit, asserts are
 * evaluated. What stands under the options key is not looked at.
 */
export function createArgumentChecker(program: Program, compileCondition: CompileCondition): ArgumentChecker {
  const predicates = loadValidators(program.validatorSource);
  const index = indexDefinitions(program);
  const asserts = new ArgumentAsserts(index, compileCondition);
  return (fn, args) => {
    const faults = accepts(predicates.get(fn.name), args) ? NO_FAULTS : argumentFaults(fn, args, index);
    return faults.length > 0 ? faults : asserts.faults(fn, args);
  };
}

function accepts(predicate: ArgumentPredicate | undefined, args: unknown): boolean {
  if (predicate === undefined) return false;
  try {
    return predicate(args);
  } catch (error) {
    // Compiled predicates recurse with the value: too deep a value overflows the stack, and the walk says so.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

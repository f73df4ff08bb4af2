import { ValidatorCompiler } from '../../src/compiler/3-emit/validator-compiler.ts';
import { ArgumentValidators } from '../../src/runtime/arguments/load-validators.ts';
import type { Definitions } from '../../src/schema/program.ts';
import type { FitsType } from '../../src/schema/type.ts';

/** Compiles validators in this process. */
export function validatorSource(definitions: Definitions): (functionName: string) => string {
  const compiler = new ValidatorCompiler(definitions);
  return (functionName) => compiler.source(functionName);
}

/** The validators of a program, compiled and loaded in this process. */
export function validatorsOf(definitions: Definitions): ArgumentValidators {
  return new ArgumentValidators(validatorSource(definitions));
}

/** The types of a program's functions, in the form that its prompt renderer needs. */
export function fitsOf(definitions: Definitions): (functionName: string) => FitsType {
  const validators = validatorsOf(definitions);
  return (functionName) => validators.of(functionName).createFits();
}

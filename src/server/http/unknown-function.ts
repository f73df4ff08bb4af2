import { didYouMean, nearestNames } from '../../base/suggestion.ts';
import type { FunctionRuntime } from '../../runtime/call/runtime.ts';
import type { Caller } from './caller.ts';
import { problem, problemOf, type Problem } from './problem.ts';

type Functions = Pick<FunctionRuntime, 'functionNames'>;

/** No function has this name. Suggests only functions that the caller can call. */
export function unknownFunctionProblem(
  caller: Caller | undefined,
  name: string,
  { functionNames }: Functions,
): Problem {
  const visible = visibleNames(caller, functionNames);
  const message = `There is no function "${name}". ${didYouMean(name, visible)}`;
  return problemOf({ code: 'function_not_found', message: message.trim(), suggestions: nearestNames(name, visible) });
}

/** The answer is the same whether the function exists or not. */
export function forbidden(caller: Caller, name: string, { functionNames }: Functions): Problem {
  const near = didYouMean(name, visibleNames(caller, functionNames));
  return problem('Forbidden', `The key "${caller.name}" cannot call the function "${name}". ${near}`.trim());
}

/** The names of the functions that the caller can call. */
export function visibleNames(caller: Caller | undefined, names: readonly string[]): readonly string[] {
  return caller === undefined ? names : names.filter((name) => caller.mayCall(name));
}

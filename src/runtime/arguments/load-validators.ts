import { compileFunction } from 'node:vm';

/** True when the argument object fits the function's signature. */
export type ArgumentPredicate = (args: unknown) => boolean;

/**
 * Loads the module that the compiler emitted as `Program.validatorSource`: the predicates by function name. It sees
 * `exports` and nothing else of ours. Functions that it holds no predicate for are checked by the walk alone.
 */
export function loadValidators(source: string): ReadonlyMap<string, ArgumentPredicate> {
  const exported: Record<string, ArgumentPredicate> = Object.create(null);
  compileFunction(source, ['exports'], { filename: 'svc-validators.cjs' })(exported);
  return new Map(Object.entries(exported));
}

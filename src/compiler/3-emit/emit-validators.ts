import type { DefinitionIndex } from '../../schema/definition-index.ts';
import { AmbiguousRecursion } from './ambiguous-recursion.ts';
import { PredicateSource } from './predicate-source.ts';

/**
 * The source of `Program.validatorSource`: the body of a CommonJS module with one predicate per function, by its name.
 * Functions whose types would make a predicate's time explode (see AmbiguousRecursion) have none: the walk of the
 * serving plane, which remembers what it has seen, checks their arguments alone.
 */
export function emitValidators(index: DefinitionIndex): string {
  const source = new PredicateSource(index);
  const ambiguous = new AmbiguousRecursion(index);
  for (const fn of index.functions.values()) if (!ambiguous.reachableFrom(fn)) source.export(fn);
  return source.toString();
}

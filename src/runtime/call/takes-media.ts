import type { DefinitionIndex } from '../../schema/definition-index.ts';
import type { FunctionType } from '../../schema/function.ts';
import { namesIn, partsOf, reachedFrom, withInside } from '../../schema/type-graph.ts';

/** Whether arguments of the function can hold media at any depth. */
export function takesMedia(fn: FunctionType, index: DefinitionIndex): boolean {
  const own = fn.parameters.map((parameter) => parameter.type);
  const reached = reachedFrom(own.flatMap(namesIn), index);
  const types = [...own, ...[...reached].flatMap((name) => partsOf(name, index))];
  return types.flatMap(withInside).some((type) => type.kind === 'media');
}

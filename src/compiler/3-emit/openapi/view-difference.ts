import { acceptsNull } from '../../../schema/accepts-null.ts';
import type { Constraint } from '../../../schema/constraint.ts';
import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { Type } from '../../../schema/type.ts';
import { namesIn, partsOf, reachedFrom, withInside } from '../../../schema/type-graph.ts';

/**
 * True when the class, enum or alias is not written alike as an argument and as a result: optional fields may be left
 * out of arguments but stand as null in results, skipped fields and values never come out, checked values are wrapped.
 */
export function differsAsInput(name: string, index: DefinitionIndex): boolean {
  return [...reachedFrom([name], index)].some((one) => differsHere(one, index));
}

function differsHere(name: string, index: DefinitionIndex): boolean {
  const enumType = index.enums.get(name);
  if (enumType !== undefined) return hasCheck(enumType) || enumType.values.some((value) => value.skip);
  if (partsOf(name, index).flatMap(withInside).some(hasCheck)) return true;
  const type = index.classes.get(name);
  if (type === undefined) return false;
  return hasCheck(type) || type.fields.some((field) => field.skip || acceptsNull(field.type, index.aliases));
}

function hasCheck({ constraints = [] }: { readonly constraints?: readonly Constraint[] }): boolean {
  return constraints.some((constraint) => constraint.level === 'check');
}

/** True when a value of the type can hold `@stream.with_state` wrappers below its top. */
export function showsState(type: Type, index: DefinitionIndex): boolean {
  const below = [...reachedFrom(namesIn(type), index)].flatMap((name) => partsOf(name, index));
  return [type, ...below].flatMap(withInside).some((one) => one !== type && one.stream?.withState === true);
}

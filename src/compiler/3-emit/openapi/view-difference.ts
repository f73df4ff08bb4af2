import { acceptsNull, leadingTo, namesIn, partsOf, withInside } from '../../../schema/type-graph.ts';
import type { Constraint } from '../../../schema/constraint.ts';
import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { Type } from '../../../schema/type.ts';

/**
 * The classes, enums and aliases that are not written alike as an argument and as a result: optional fields may be left
 * out of arguments but stand as null in results, skipped fields and values never come out, checked values are wrapped.
 */
export function namesWithOwnInput(index: DefinitionIndex): ReadonlySet<string> {
  return leadingTo((name) => differsHere(name, index), index);
}

/** The classes, enums and aliases whose values can hold `@stream.with_state` wrappers. */
export function namesWithState(index: DefinitionIndex): ReadonlySet<string> {
  return leadingTo((name) => partsOf(name, index).flatMap(withInside).some(hasState), index);
}

/** True when a value of the type can hold `@stream.with_state` wrappers below its top. */
export function showsState(type: Type, withState: ReadonlySet<string>): boolean {
  const inside = withInside(type).some((one) => one !== type && hasState(one));
  return inside || namesIn(type).some((name) => withState.has(name));
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

function hasState({ stream }: Type): boolean {
  return stream?.withState === true;
}

import { acceptsNull } from '../../../schema/accepts-null.ts';
import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { Type } from '../../../schema/type.ts';

/**
 * True when the class, enum or alias is not written alike as an argument and as a result: optional fields may be left
 * out of arguments but stand as null in results, skipped fields and values never come out, checked values are wrapped.
 */
export function differsAsInput(name: string, index: DefinitionIndex): boolean {
  const reached = new Set([name]);
  for (const one of reached) {
    const types = partsOf(one, index);
    if (differsHere(one, index) || types.some(hasCheck)) return true;
    for (const next of types.flatMap(namesIn)) reached.add(next);
  }
  return false;
}

function differsHere(name: string, index: DefinitionIndex): boolean {
  const type = index.classes.get(name);
  if (type === undefined) return index.enums.get(name)?.values.some((value) => value.skip) ?? false;
  if (type.constraints.some((constraint) => constraint.level === 'check')) return true;
  return type.fields.some((field) => field.skip || acceptsNull(field.type, index.aliases));
}

function partsOf(name: string, index: DefinitionIndex): readonly Type[] {
  const alias = index.aliases.get(name);
  return alias === undefined ? (index.classes.get(name)?.fields.map((field) => field.type) ?? []) : [alias.type];
}

function namesIn(type: Type): readonly string[] {
  if (type.kind === 'class' || type.kind === 'enum' || type.kind === 'alias') return [type.name];
  return insideOf(type).flatMap(namesIn);
}

function hasCheck(type: Type): boolean {
  const here = type.constraints?.some((constraint) => constraint.level === 'check') ?? false;
  return here || insideOf(type).some(hasCheck);
}

function insideOf(type: Type): readonly Type[] {
  if (type.kind === 'list') return [type.element];
  if (type.kind === 'map') return [type.key, type.value];
  return type.kind === 'union' ? type.members : [];
}

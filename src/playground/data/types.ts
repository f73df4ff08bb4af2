import type {
  PlaygroundAlias,
  PlaygroundClass,
  PlaygroundDocument,
  PlaygroundEnum,
} from '../../schema/playground-document.ts';
import type { Type, UnionType } from '../../schema/type.ts';

/** The named types of a program. */
export interface Types {
  readonly classes: ReadonlyMap<string, PlaygroundClass>;
  readonly enums: ReadonlyMap<string, PlaygroundEnum>;
  readonly aliases: ReadonlyMap<string, PlaygroundAlias>;
}

export function typesOf({ classes, enums, aliases }: PlaygroundDocument): Types {
  return { classes: byName(classes), enums: byName(enums), aliases: byName(aliases) };
}

function byName<T extends { readonly name: string }>(list: readonly T[]): ReadonlyMap<string, T> {
  return new Map(list.map((each) => [each.name, each]));
}

/** True for the type of a parameter or field that can be absent: null is one of its values. */
export function isOptional(type: Type, types: Types): boolean {
  const target = targetOf(type, types);
  return target.kind === 'null' || (target.kind === 'union' && target.members.some((one) => isOptional(one, types)));
}

/** The type behind recursive aliases; null for an alias of itself. */
export function targetOf(type: Type, types: Types): Type {
  const seen = new Set<string>();
  let at = type;
  while (at.kind === 'alias') {
    const next = seen.has(at.name) ? undefined : types.aliases.get(at.name)?.type;
    seen.add(at.name);
    at = next ?? { kind: 'null' };
  }
  return at;
}

/** The members of a union other than null. */
export function presentMembers(union: UnionType): readonly Type[] {
  return union.members.filter((member) => member.kind !== 'null');
}

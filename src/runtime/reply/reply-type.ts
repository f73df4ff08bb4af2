import type { DefinitionIndex } from '../../schema/program.ts';
import type { Type } from '../../schema/type.ts';
import type { Plan } from './coerce/plan.ts';

/** A return type: the plan by which it coerces values, and the properties that decide which parts of a reply can be the answer. */
export interface ReplyType {
  readonly plan: Plan;
  /** The type is `string`, which takes the reply as it is, or `string?`, which takes it without quotes or a fence. */
  readonly asString: 'no' | 'yes' | 'or-null';
  /** True if the type includes strings and is not a list of them. */
  readonly takesText: boolean;
  readonly hasComposite: boolean;
  readonly hasScalar: boolean;
  /** The type includes null. */
  readonly nullable: boolean;
  /** The type is a list or a union with one. */
  readonly hasList: boolean;
  /** The type is a list of lists or a union with one: `[1, 2]` can be one of several rows. */
  readonly hasRows: boolean;
}

export function describeReplyType(type: Type, definitions: DefinitionIndex, plan: Plan): ReplyType {
  const kinds = new Set<string>();
  collectKinds(type, definitions, kinds);
  const composite = ['class', 'list', 'map'].filter((kind) => kinds.has(kind));
  const nullable = kinds.delete('null');
  const takesText = kinds.has('string');
  const onlyString = takesText && kinds.size === 1;
  return {
    plan,
    asString: !onlyString ? 'no' : nullable ? 'or-null' : 'yes',
    takesText,
    hasComposite: composite.length > 0,
    hasScalar: kinds.size > composite.length || (nullable && kinds.size === 0),
    nullable,
    hasList: kinds.has('list'),
    hasRows: isListOf('list', type, definitions),
  };
}

function isListOf(kind: Type['kind'], type: Type, definitions: DefinitionIndex): boolean {
  if (type.kind === 'union') return type.members.some((member) => isListOf(kind, member, definitions));
  if (type.kind !== 'list') return false;
  const kinds = new Set<string>();
  collectKinds(type.element, definitions, kinds);
  kinds.delete('null');
  return kinds.size === 1 && kinds.has(kind);
}

function collectKinds(type: Type, definitions: DefinitionIndex, kinds: Set<string>): void {
  if (type.kind === 'union') {
    for (const member of type.members) collectKinds(member, definitions, kinds);
  } else if (type.kind === 'alias') {
    const mark = `alias ${type.name}`;
    const target = definitions.aliases.get(type.name);
    if (target === undefined || kinds.has(mark)) return;
    kinds.add(mark);
    collectKinds(target.type, definitions, kinds);
    kinds.delete(mark);
  } else {
    kinds.add(type.kind);
  }
}

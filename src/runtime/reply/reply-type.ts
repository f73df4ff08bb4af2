import type { DefinitionIndex } from '../../schema/definition-index.ts';
import type { Type } from '../../schema/type.ts';

/** What a return type wants from a reply: this decides which part of the text is looked at first. */
export interface ReplyType {
  /** `string`, or `string?`: the reply as it is. */
  readonly text: 'no' | 'yes' | 'or-null';
  readonly hasComposite: boolean;
  readonly hasScalar: boolean;
  /** Null is a value of the type. */
  readonly nullable: boolean;
  /** A list, or a list or null. */
  readonly isList: boolean;
}

export function describeReplyType(type: Type, definitions: DefinitionIndex): ReplyType {
  const kinds = new Set<string>();
  collectKinds(type, definitions, kinds);
  const composite = ['class', 'list', 'map'].filter((kind) => kinds.has(kind));
  const nullable = kinds.delete('null');
  const onlyText = kinds.size === 1 && kinds.has('string');
  return {
    text: !onlyText ? 'no' : nullable ? 'or-null' : 'yes',
    hasComposite: composite.length > 0,
    hasScalar: kinds.size > composite.length || (nullable && kinds.size === 0),
    nullable,
    isList: kinds.size === 1 && kinds.has('list'),
  };
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

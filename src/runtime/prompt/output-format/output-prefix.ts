import type { Type } from '../../../schema/type.ts';

interface TargetNaming {
  /** The target is defined above and only named. */
  readonly hoisted: boolean;
  /** What a definition is called; empty for `schema`. */
  readonly word: string;
}

/** The sentence before the type, by the kind of type. */
export function outputPrefix(target: Type, { hoisted, word }: TargetNaming): string {
  switch (target.kind) {
    case 'string':
      return '';
    case 'int':
      return 'Answer as an ';
    case 'float':
    case 'bool':
      return 'Answer as a ';
    case 'null':
      return 'Answer ONLY with null:\n';
    case 'literal':
      return 'Answer using this specific value:\n';
    case 'enum':
      return 'Answer with any of the categories:\n';
    case 'list':
      return 'Answer with a JSON Array using this schema:\n';
    case 'class':
      return `Answer in JSON using this ${word === '' ? 'schema' : word}:${hoisted ? ' ' : '\n'}`;
    case 'alias':
      return 'Answer in JSON using this schema: ';
    case 'map':
    case 'media':
      return 'Answer in JSON using this schema:\n';
    case 'union':
      return isOptional(target.members)
        ? 'Answer in JSON using this schema:\n'
        : 'Answer in JSON using any of these schemas:\n';
  }
}

function isOptional(members: readonly Type[]): boolean {
  return members.filter((member) => member.kind !== 'null').length < 2;
}

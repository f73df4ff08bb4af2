import type { Type } from './type.ts';

/**
 * Returns the type in the syntax of definition files, without attributes: `(int | string)[]`, `map<string, Resume>?`.
 */
export function typeText(type: Type): string {
  switch (type.kind) {
    case 'class':
    case 'enum':
    case 'alias':
      return type.name;
    case 'media':
      return type.media;
    case 'literal':
      return JSON.stringify(type.value);
    case 'list':
      return `${elementText(type.element)}[]`;
    case 'map':
      return `map<${typeText(type.key)}, ${typeText(type.value)}>`;
    case 'union':
      return unionText(type.members);
    case 'string':
    case 'int':
    case 'float':
    case 'bool':
    case 'null':
      return type.kind;
  }
}

function unionText(members: readonly Type[]): string {
  const [first, second] = members;
  if (members.length === 2 && first !== undefined && second?.kind === 'null') return `${elementText(first)}?`;
  return members.map(typeText).join(' | ');
}

function elementText(type: Type): string {
  return type.kind === 'union' ? `(${typeText(type)})` : typeText(type);
}

import type { TypeNode } from '../1-parse/syntax-nodes.ts';

/** A type as text that is equal for equal types, whatever the white space. Attributes count. */
export function typeText(type: TypeNode): string {
  const attributes = type.attributes.map((node) => ` @${node.name}`).join('');
  return `${shapeText(type)}${attributes}`;
}

function shapeText(type: TypeNode): string {
  switch (type.kind) {
    case 'name':
      return type.name;
    case 'literal':
      return JSON.stringify(type.value);
    case 'list':
      return `(${typeText(type.element)})[]`;
    case 'optional':
      return `(${typeText(type.type)})?`;
    case 'map':
      return `map<${typeText(type.key)}, ${typeText(type.value)}>`;
    case 'union':
      return type.members.map(typeText).join(' | ');
    case 'tuple':
      return `(${type.members.map(typeText).join(', ')})`;
    case 'broken':
      return `? ${type.span.start}`;
  }
}

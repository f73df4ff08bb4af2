import type { ClassNode, TypeNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';

/**
 * Members of a union are different types, and classes among them have different fields: otherwise a reply matches
 * several.
 */
export const unionMembers: Rule = (context) => {
  const shapes = new Map<ClassNode, string>();
  for (const type of context.types) {
    if (type.kind !== 'union') continue;
    reportDuplicates(context, type.members);
    reportAmbiguous(context, type.members, shapes);
  }
};

function reportDuplicates({ report }: CheckContext, members: readonly TypeNode[]): void {
  const seen = new Map<string, TypeNode>();
  for (const member of members) {
    const text = typeText(member);
    const first = seen.get(text);
    if (first === undefined) seen.set(text, member);
    else report('check/duplicate-union-member', member.span, {}, [{ span: first.span, message: 'the first one' }]);
  }
}

function reportAmbiguous(
  { scope, report }: CheckContext,
  members: readonly TypeNode[],
  shapes: Map<ClassNode, string>,
): void {
  const seen = new Map<string, ClassNode>();
  for (const member of members) {
    const node = member.kind === 'name' ? scope.classes.get(member.name) : undefined;
    if (node === undefined) continue;
    const shape = shapes.get(node) ?? shapeOf(node);
    shapes.set(node, shape);
    const first = seen.get(shape);
    if (first === undefined) seen.set(shape, node);
    else if (first !== node) {
      const related = [{ span: first.name.span, message: `"${first.name.text}" is declared here` }];
      const names = { first: first.name.text, second: node.name.text };
      report('check/ambiguous-union', member.span, names, related);
    }
  }
}

/** Returns the same string for classes that match the same replies. */
function shapeOf(node: ClassNode): string {
  const fields = node.fields.map((field) => {
    const attributes = field.attributes.map((attribute) => `${attribute.name}(${argumentText(attribute.arguments)})`);
    return `${field.name.text} ${field.type === undefined ? '' : typeText(field.type)} ${attributes.join(' ')}`;
  });
  return fields.toSorted().join('\n');
}

function argumentText(values: readonly object[]): string {
  return values.map((value) => JSON.stringify({ ...value, span: undefined, contentStart: undefined })).join();
}

/** Returns the same string for equal types, regardless of white space. Attributes count. */
function typeText(type: TypeNode): string {
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

import type { ClassNode, TypeNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { eachDuplicate } from '../node-values.ts';

/**
 * Members of a union are different types, and classes among them have different fields: otherwise a reply matches
 * several.
 */
export const unionMembers: Rule = (context) => {
  const keys = new Map<ClassNode, string>();
  for (const type of context.types) {
    if (type.kind !== 'union') continue;
    reportDuplicates(context, type.members);
    reportAmbiguous(context, type.members, keys);
  }
};

function reportDuplicates({ report }: CheckContext, members: readonly TypeNode[]): void {
  eachDuplicate(members, typeKey, (member, first) => {
    report('check/duplicate-union-member', member.span, {}, [{ span: first.span, message: 'the first one' }]);
  });
}

function reportAmbiguous(
  { scope, report }: CheckContext,
  members: readonly TypeNode[],
  keys: Map<ClassNode, string>,
): void {
  const classes = members.flatMap((member) => {
    const node = member.kind === 'name' ? scope.classes.get(member.name) : undefined;
    return node === undefined ? [] : [{ node, span: member.span }];
  });
  const keyOf = ({ node }: { readonly node: ClassNode }): string => {
    const key = keys.get(node) ?? classKey(node);
    keys.set(node, key);
    return key;
  };
  eachDuplicate(classes, keyOf, ({ node: { name }, span }, { node: { name: first } }) => {
    if (first === name) return;
    const related = [{ span: first.span, message: `"${first.text}" is declared here` }];
    report('check/ambiguous-union', span, { first: first.text, second: name.text }, related);
  });
}

/** Returns the same string for classes that match the same replies. */
function classKey(node: ClassNode): string {
  const fields = node.fields.map((field) => {
    const attributes = field.attributes.map((attribute) => `${attribute.name}(${argumentsKey(attribute.arguments)})`);
    return `${field.name.text} ${field.type === undefined ? '' : typeKey(field.type)} ${attributes.join(' ')}`;
  });
  return fields.toSorted().join('\n');
}

function argumentsKey(values: readonly object[]): string {
  return values.map((value) => JSON.stringify({ ...value, span: undefined, contentStart: undefined })).join();
}

/** Returns the same string for equal types, regardless of white space. Attributes count. */
function typeKey(type: TypeNode): string {
  const attributes = type.attributes.map((node) => ` @${node.name}`).join('');
  return `${shapeKey(type)}${attributes}`;
}

function shapeKey(type: TypeNode): string {
  switch (type.kind) {
    case 'name':
      return type.name;
    case 'literal':
      return JSON.stringify(type.value);
    case 'list':
      return `(${typeKey(type.element)})[]`;
    case 'optional':
      return `(${typeKey(type.type)})?`;
    case 'map':
      return `map<${typeKey(type.key)}, ${typeKey(type.value)}>`;
    case 'union':
      return type.members.map(typeKey).join(' | ');
    case 'tuple':
      return `(${type.members.map(typeKey).join(', ')})`;
    case 'broken':
      return `? ${type.span.start}`;
  }
}

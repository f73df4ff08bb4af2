import type { ClassType, EnumType, EnumValueType, FieldType } from '../../../schema/type.ts';
import type { ClassNode, EnumNode, EnumValueNode, FieldNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext } from '../check-context.ts';
import { buildConstraints } from './build-constraints.ts';
import type { TypeBuilder } from './build-type.ts';
import { attributeText, hasAttribute } from './text-of.ts';

export function buildClass(node: ClassNode, types: TypeBuilder, context: CheckContext): ClassType {
  const description = attributeText(node.attributes, 'description');
  const alias = attributeText(node.attributes, 'alias');
  return {
    name: node.name.text,
    fields: node.fields.map((field) => buildField(field, types)),
    ...(description !== undefined && { description }),
    ...documented(node),
    ...(alias !== undefined && { alias }),
    constraints: buildConstraints(node.attributes, context.templates),
    streamDone: hasAttribute(node.attributes, 'stream.done'),
    // Of a class with unreadable fields nobody can say which fields it lacks.
    dynamic: hasAttribute(node.attributes, 'dynamic') || node.broken === true,
  };
}

export function buildEnum(node: EnumNode, context: CheckContext): EnumType {
  const constraints = buildConstraints(node.attributes, context.templates);
  return {
    name: node.name.text,
    values: node.values.map(buildEnumValue),
    ...named(node.attributes),
    ...documented(node),
    ...(constraints.length > 0 && { constraints }),
    dynamic: hasAttribute(node.attributes, 'dynamic'),
  };
}

function buildField(node: FieldNode, types: TypeBuilder): FieldType {
  return {
    name: node.name.text,
    type: types.build(node.type, node.attributes),
    ...named(node.attributes),
    ...documented(node),
    skip: hasAttribute(node.attributes, 'skip'),
    streamNotNull: hasAttribute(node.attributes, 'stream.not_null'),
  };
}

function buildEnumValue(node: EnumValueNode): EnumValueType {
  const skip = hasAttribute(node.attributes, 'skip');
  return { name: node.name.text, ...named(node.attributes), ...documented(node), skip };
}

function named(attributes: FieldNode['attributes']): { readonly alias?: string; readonly description?: string } {
  const alias = attributeText(attributes, 'alias');
  const description = attributeText(attributes, 'description');
  return { ...(alias !== undefined && { alias }), ...(description !== undefined && { description }) };
}

function documented(node: { readonly documentation?: string }): { readonly documentation?: string } {
  return node.documentation === undefined ? {} : { documentation: node.documentation };
}

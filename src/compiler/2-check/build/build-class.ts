import type { ClassType, EnumType, EnumValueType, FieldType } from '../../../schema/type.ts';
import type { Variables } from '../../compile-options.ts';
import type { ClassNode, EnumNode, EnumValueNode, FieldNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext } from '../check-context.ts';
import type { TypeBuilder } from './build-type.ts';
import { attributeString, hasAttribute } from '../node-values.ts';

export function buildClass(node: ClassNode, types: TypeBuilder, context: CheckContext): ClassType {
  const { variables } = context.options;
  const description = attributeString(node.attributes, 'description', variables);
  const alias = attributeString(node.attributes, 'alias', variables);
  return {
    name: node.name.text,
    fields: node.fields.map((field) => buildField(field, types, variables)),
    ...(description !== undefined && { description }),
    ...documented(node),
    ...(alias !== undefined && { alias }),
    constraints: context.templates.constraints(node.attributes),
    streamDone: hasAttribute(node.attributes, 'stream.done'),
    // A class with unreadable fields can have any field.
    dynamic: hasAttribute(node.attributes, 'dynamic') || node.broken === true,
  };
}

export function buildEnum(node: EnumNode, context: CheckContext): EnumType {
  const constraints = context.templates.constraints(node.attributes);
  return {
    name: node.name.text,
    values: node.values.map((value) => buildEnumValue(value, context.options.variables)),
    ...named(node.attributes, context.options.variables),
    ...documented(node),
    ...(constraints.length > 0 && { constraints }),
    dynamic: hasAttribute(node.attributes, 'dynamic'),
  };
}

function buildField(node: FieldNode, types: TypeBuilder, variables: Variables | undefined): FieldType {
  return {
    name: node.name.text,
    type: types.build(node.type, node.attributes),
    ...named(node.attributes, variables),
    ...documented(node),
    skip: hasAttribute(node.attributes, 'skip'),
    streamNotNull: hasAttribute(node.attributes, 'stream.not_null'),
  };
}

function buildEnumValue(node: EnumValueNode, variables: Variables | undefined): EnumValueType {
  const skip = hasAttribute(node.attributes, 'skip');
  return { name: node.name.text, ...named(node.attributes, variables), ...documented(node), skip };
}

function named(
  attributes: FieldNode['attributes'],
  variables: Variables | undefined,
): { readonly alias?: string; readonly description?: string } {
  const alias = attributeString(attributes, 'alias', variables);
  const description = attributeString(attributes, 'description', variables);
  return { ...(alias !== undefined && { alias }), ...(description !== undefined && { description }) };
}

function documented(node: { readonly documentation?: string }): { readonly documentation?: string } {
  return node.documentation === undefined ? {} : { documentation: node.documentation };
}

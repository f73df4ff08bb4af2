import { resolveValue, variablesIn } from '../../../schema/client.ts';
import type {
  FunctionExample,
  FunctionType,
  ParameterType,
  TemplateStringType,
  Definitions,
} from '../../../schema/program.ts';
import type { Template } from '../../../schema/template.ts';
import type { ClassType, EnumType, EnumValueType, FieldType } from '../../../schema/type.ts';
import type {
  ClassNode,
  EnumNode,
  EnumValueNode,
  FieldNode,
  FunctionNode,
  ParameterNode,
  TemplateStringNode,
  TestNode,
} from '../../1-parse/syntax-nodes.ts';
import type { Variables } from '../../compile-options.ts';
import type { CheckContext } from '../check-context.ts';
import { attributeString, entryValue, hasAttribute, isReadable, lastEntries, stringOf } from '../node-values.ts';
import type { DefinitionScope } from '../scope.ts';
import { argumentMismatch } from '../value-mismatch.ts';
import { buildClient, buildEntry, buildRetryPolicy } from './build-client.ts';
import { TypeBuilder } from './build-type.ts';

/**
 * Builds the checked definitions. A placeholder replaces each part that breaks a rule, so that the rules for templates
 * can run.
 */
export function buildDefinitions(context: CheckContext): Definitions {
  const { scope, aliases } = context;
  const types = new TypeBuilder(context);
  const recursive = [...scope.aliases.values()].filter((node) => aliases.recursive.has(node.name.text));
  return {
    classes: [...scope.classes.values()].map((node) => buildClass(node, types, context)),
    enums: [...scope.enums.values()].map((node) => buildEnum(node, context)),
    aliases: recursive.map((node) => ({
      name: node.name.text,
      type: types.alias(node.name.text),
      ...documented(node),
    })),
    functions: [...scope.functions.values()].map((node) => buildFunction(node, types, context)),
    templateStrings: [...scope.templateStrings.values()].map((node) => buildTemplateString(node, types, context)),
    clients: [...scope.clients.values()].flatMap((node) => buildClient(node) ?? []),
    retryPolicies: [...scope.retryPolicies.values()].map(buildRetryPolicy),
  };
}

// --- functions -------------------------------------------------------------------------------------------------------

function buildFunction(node: FunctionNode, types: TypeBuilder, context: CheckContext): FunctionType {
  const returnsAlias = types.aliasOf(node.returns);
  return {
    name: node.name.text,
    parameters: buildParameters(node.parameters, types),
    returns: types.build(node.returns, node.returnAttributes),
    ...(returnsAlias !== undefined && { returnsAlias }),
    client: stringOf(entryValue(node.entries, 'client')) ?? '',
    prompt: promptOf(node, context),
    ...documented(node),
    examples: (context.scope.testsOf.get(node.name.text) ?? []).flatMap((test) => exampleOf(test, node, context.scope)),
  };
}

function buildTemplateString(node: TemplateStringNode, types: TypeBuilder, context: CheckContext): TemplateStringType {
  const template = context.templates.templateString(node.body);
  return { name: node.name.text, parameters: buildParameters(node.parameters, types), template };
}

function buildParameters(nodes: readonly ParameterNode[], types: TypeBuilder): readonly ParameterType[] {
  return nodes.map((node) => ({ name: node.name.text, type: types.build(node.type, node.attributes) }));
}

function promptOf(node: FunctionNode, context: CheckContext): Template {
  const prompt = entryValue(node.entries, 'prompt');
  if (prompt?.kind === 'raw-string') return context.templates.prompt(prompt);
  return { file: node.span.file, body: [] };
}

/**
 * Returns the arguments of a test if they match the types and are plain JSON, without environment variables and
 * expressions.
 */
function exampleOf(test: TestNode, node: FunctionNode, scope: DefinitionScope): readonly FunctionExample[] {
  const args = entryValue(test.entries, 'args');
  if (args?.kind !== 'map' || !isReadable(args)) return [];
  if (args.entries.some((entry) => argumentMismatch(entry, node, scope) !== undefined)) return [];
  const entries = lastEntries(args.entries).map(buildEntry);
  if (entries.some(({ value }) => variablesIn(value).length > 0)) return [];
  const plain = entries.map(({ key, value }) => [key, resolveValue(value, () => null)] as const);
  return [{ name: test.name.text, args: Object.fromEntries(plain) }];
}

// --- classes and enums -----------------------------------------------------------------------------------------------

function buildClass(node: ClassNode, types: TypeBuilder, context: CheckContext): ClassType {
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

function buildEnum(node: EnumNode, context: CheckContext): EnumType {
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

import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { FunctionExample, FunctionType, ParameterType, TemplateStringType } from '../../../schema/function.ts';
import type { Template } from '../../../schema/template.ts';
import type {
  EntryNode,
  FunctionNode,
  ParameterNode,
  TemplateStringNode,
  TestNode,
  ValueNode,
} from '../../1-parse/syntax-nodes.ts';
import type { CheckContext } from '../check-context.ts';
import type { DefinitionScope } from '../scope.ts';
import { argumentMismatch } from '../value-mismatch.ts';
import type { TypeBuilder } from './build-type.ts';
import { entryValue, stringOf } from '../node-values.ts';

export function buildFunction(node: FunctionNode, types: TypeBuilder, context: CheckContext): FunctionType {
  const { documentation } = node;
  return {
    name: node.name.text,
    parameters: buildParameters(node.parameters, types),
    returns: types.build(node.returns, node.returnAttributes),
    client: stringOf(entryValue(node.entries, 'client')) ?? '',
    prompt: promptOf(node, context),
    ...(documentation !== undefined && { documentation }),
    examples: (context.scope.testsOf.get(node.name.text) ?? []).flatMap((test) => exampleOf(test, node, context.scope)),
  };
}

export function buildTemplateString(
  node: TemplateStringNode,
  types: TypeBuilder,
  context: CheckContext,
): TemplateStringType {
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
  if (args?.kind !== 'map' || args.broken === true) return [];
  if (args.entries.some((entry) => argumentMismatch(entry, node, scope) !== undefined)) return [];
  const plain = plainEntries(args.entries);
  return plain === undefined ? [] : [{ name: test.name.text, args: plain }];
}

/** Returns the entries as a JSON object, or undefined if one of them is not plain JSON. */
function plainEntries(entries: readonly EntryNode[]): JsonObject | undefined {
  const values = entries.map((entry) => [entry.key.text, plainValue(entry.value)] as const);
  const plain = values.filter((pair): pair is readonly [string, JsonValue] => pair[1] !== undefined);
  return plain.length === values.length ? Object.fromEntries(plain) : undefined;
}

function plainValue(node: ValueNode | undefined): JsonValue | undefined {
  switch (node?.kind) {
    case 'string':
    case 'raw-string':
      return stringOf(node);
    case 'number':
    case 'boolean':
      return node.value;
    case 'null':
      return null;
    case 'list':
      return plainItems(node.items);
    case 'map':
      return plainEntries(node.entries);
    case 'env':
    case 'expression':
    case 'broken':
    case undefined:
      return undefined;
  }
}

function plainItems(items: readonly ValueNode[]): readonly JsonValue[] | undefined {
  const values = items.map(plainValue).filter((value) => value !== undefined);
  return values.length === items.length ? values : undefined;
}

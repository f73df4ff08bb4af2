import type { JsonObject } from '../../../base/json.ts';
import type { FunctionExample, FunctionType, ParameterType, TemplateStringType } from '../../../schema/function.ts';
import type { Template } from '../../../schema/template.ts';
import type { FunctionNode, ParameterNode, TemplateStringNode, TestNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext } from '../check-context.ts';
import type { Scope } from '../scope.ts';
import { argumentMisfit } from '../value-misfit.ts';
import { plainEntries } from './build-plain-value.ts';
import type { TypeBuilder } from './build-type.ts';
import { textOf, valueOf } from './text-of.ts';

export function buildFunction(node: FunctionNode, types: TypeBuilder, context: CheckContext): FunctionType {
  const { documentation } = node;
  return {
    name: node.name.text,
    parameters: buildParameters(node.parameters, types),
    returns: types.build(node.returns, node.returnAttributes),
    client: textOf(valueOf(node.entries, 'client')) ?? '',
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
  const prompt = valueOf(node.entries, 'prompt');
  if (prompt?.kind === 'raw-string') return context.templates.prompt(prompt);
  return { file: node.span.file, body: [] };
}

/** Only arguments that fit and are plain JSON make an example: no environment, no expressions. */
function exampleOf(test: TestNode, node: FunctionNode, scope: Scope): readonly FunctionExample[] {
  const args = valueOf(test.entries, 'args');
  const entries = args?.kind === 'map' ? args.entries : [];
  if (entries.some((entry) => argumentMisfit(entry, node, scope) !== undefined)) return [];
  const plain: JsonObject | undefined = args?.kind === 'map' ? plainEntries(args.entries) : undefined;
  return plain === undefined ? [] : [{ name: test.name.text, args: plain }];
}

import type { Definitions } from '../../schema/program.ts';
import { buildClass, buildEnum } from './build/build-class.ts';
import { buildClient, buildRetryPolicy } from './build/build-client.ts';
import { buildFunction, buildTemplateString } from './build/build-function.ts';
import { TypeBuilder } from './build/build-type.ts';
import type { CheckContext } from './check-context.ts';

/** The checked definitions. Where a law was broken something stands in for it, so that the other laws can go on. */
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
      ...(node.documentation !== undefined && { documentation: node.documentation }),
    })),
    functions: [...scope.functions.values()].map((node) => buildFunction(node, types, context)),
    templateStrings: [...scope.templateStrings.values()].map((node) => buildTemplateString(node, types, context)),
    clients: [...scope.clients.values()].flatMap((node) => buildClient(node) ?? []),
    retryPolicies: [...scope.retryPolicies.values()].map(buildRetryPolicy),
  };
}

import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Definitions } from '../../schema/program.ts';
import type { DocumentNode } from '../1-parse/syntax-nodes.ts';
import type { CompileOptions } from '../compile-options.ts';
import { CheckContext } from './check-context.ts';
import { checkTemplates } from './check-templates.ts';
import { typeSize } from './rules/type-size.ts';
import { RULES } from './rules.ts';
import { buildClass, buildEnum } from './build/build-class.ts';
import { buildClient, buildRetryPolicy } from './build/build-client.ts';
import { buildFunction, buildTemplateString } from './build/build-function.ts';
import { TypeBuilder } from './build/build-type.ts';

export interface Checked {
  readonly diagnostics: readonly Diagnostic[];
  /** Valid only if no diagnostic is an error; absent if a type is too large to build. */
  readonly definitions?: Definitions;
}

/** Applies every rule to the definitions of all files together, and resolves names and types. Never throws. */
export function check(documents: readonly DocumentNode[], options: CompileOptions): Checked {
  const context = new CheckContext(documents, options);
  typeSize(context);
  if (context.diagnostics.length > 0) return { diagnostics: context.diagnostics };
  for (const rule of RULES) rule(context);
  const definitions = buildDefinitions(context);
  checkTemplates(context, definitions);
  return { definitions, diagnostics: [...context.diagnostics, ...context.templates.diagnostics] };
}

/**
 * Builds the checked definitions. A placeholder replaces each part that breaks a rule, so that the rules for templates
 * can run.
 */
function buildDefinitions(context: CheckContext): Definitions {
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

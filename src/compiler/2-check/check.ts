import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { indexDefinitions } from '../../schema/definition-index.ts';
import type { Definitions } from '../../schema/program.ts';
import { structuredClients } from '../../schema/structured-clients.ts';
import type { TestType } from '../../schema/test.ts';
import { lenient } from '../1-parse/lenient.ts';
import type { DocumentNode } from '../1-parse/syntax-nodes.ts';
import type { CompileOptions } from '../compile-options.ts';
import { CheckContext, type Rule } from './check-context.ts';
import { checkTemplates } from './check-templates.ts';
import { checkTestConditions } from './check-test-conditions.ts';
import { buildDefinitions } from './build/build-definitions.ts';
import { buildTest } from './build/build-test.ts';
import { aliasCollisions, attributeArguments, knownAttributes, skippedFields } from './rules/attributes.ts';
import { functionParts, knownKeys } from './rules/block-keys.ts';
import { checkStructuredOutput, clientParts, environmentVariables, knownClients, strategies } from './rules/clients.ts';
import { constraintForm, constraintSyntax, parameterChecks, repeatedLabels } from './rules/constraints.ts';
import { generators } from './rules/generators.ts';
import {
  capitalizedNames,
  parameterNames,
  reservedNames,
  uniqueAttributes,
  uniqueKeys,
  uniqueMembers,
  uniqueNames,
  uniqueTests,
} from './rules/names.ts';
import { optionValues } from './rules/option-values.ts';
import { retryPolicies } from './rules/retry-policies.ts';
import { builtTypes, tests } from './rules/tests.ts';
import {
  aliasCycles,
  classCycles,
  emptyEnums,
  mapKeys,
  mediaOutput,
  noTuples,
  typeSize,
  unknownType,
} from './rules/types.ts';
import { unionMembers } from './rules/union-members.ts';

/**
 * All rules except the size of types, which runs first. Their order does not matter, because diagnostics are sorted by
 * position.
 */
const RULES: readonly Rule[] = [
  uniqueNames,
  uniqueMembers,
  uniqueKeys,
  uniqueTests,
  uniqueAttributes,
  capitalizedNames,
  reservedNames,
  parameterNames,
  unknownType,
  noTuples,
  mapKeys,
  aliasCycles,
  classCycles,
  mediaOutput,
  unionMembers,
  emptyEnums,
  knownAttributes,
  attributeArguments,
  constraintForm,
  constraintSyntax,
  repeatedLabels,
  parameterChecks,
  aliasCollisions,
  skippedFields,
  knownKeys,
  functionParts,
  knownClients,
  clientParts,
  optionValues,
  strategies,
  environmentVariables,
  retryPolicies,
  generators,
  tests,
  builtTypes,
];

export interface Checked {
  readonly diagnostics: readonly Diagnostic[];
  /** Valid only if no diagnostic is an error; absent if a type is too large to build. */
  readonly definitions?: Definitions;
  /** The `test` blocks, in the order of files and lines. */
  readonly tests: readonly TestType[];
}

/** Applies every rule to the definitions of all files together, and resolves names and types. Never throws. */
export function check(documents: readonly DocumentNode[], options: CompileOptions): Checked {
  const context = new CheckContext(documents, options);
  typeSize(context);
  if (context.diagnostics.length > 0) return { diagnostics: lenient(context.diagnostics, documents), tests: [] };
  for (const rule of RULES) rule(context);
  const definitions = buildDefinitions(context);
  const built = context.scope.tests.map((node) => buildTest(node, context));
  const index = indexDefinitions(definitions);
  const clientsOf = new Map(definitions.functions.map((fn) => [fn.name, structuredClients(fn, index)]));
  checkTemplates(context, definitions, { index, clientsOf });
  checkStructuredOutput(context, index, clientsOf);
  checkTestConditions(context, definitions, built);
  const diagnostics = [...context.diagnostics, ...context.templates.diagnostics];
  return { definitions, tests: built, diagnostics: lenient(diagnostics, documents) };
}

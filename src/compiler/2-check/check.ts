import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type Definitions, type TestType, indexDefinitions } from '../../schema/program.ts';
import type { DocumentNode } from '../1-parse/syntax-nodes.ts';
import type { CompileOptions } from '../compile-options.ts';
import { lenient } from '../1-parse/lenient.ts';
import { CheckContext, type Rule } from './check-context.ts';
import { structuredClients } from '../../schema/structured-output.ts';
import { checkStructuredOutput } from './check-structured-output.ts';
import { checkTemplates } from './check-templates.ts';
import { checkTestConditions } from './check-test-conditions.ts';
import { buildDefinitions } from './build/build-definitions.ts';
import { buildTest } from './build/build-test.ts';
import { aliasCollisions } from './rules/alias-collisions.ts';
import { attributeArguments } from './rules/attribute-arguments.ts';
import { builtTypes } from './rules/built-types.ts';
import { clientParts } from './rules/client-parts.ts';
import { constraintSyntax } from './rules/constraint-syntax.ts';
import { constraintForm, parameterChecks, repeatedLabels } from './rules/constraints.ts';
import { aliasCycles, classCycles } from './rules/cycles.ts';
import { environmentVariables } from './rules/environment-variables.ts';
import { functionParts } from './rules/function-parts.ts';
import { generators } from './rules/generators.ts';
import { knownAttributes } from './rules/known-attributes.ts';
import { knownClients } from './rules/known-clients.ts';
import { knownKeys } from './rules/known-keys.ts';
import { mapKeys } from './rules/map-keys.ts';
import { mediaOutput } from './rules/media-output.ts';
import { misplacedOptions } from './rules/misplaced-options.ts';
import { capitalizedNames, parameterNames, reservedNames } from './rules/names.ts';
import { optionValues } from './rules/option-values.ts';
import { retryPolicies } from './rules/retry-policies.ts';
import { skippedFields } from './rules/skipped-fields.ts';
import { strategies } from './rules/strategies.ts';
import { tests } from './rules/tests.ts';
import { typeSize } from './rules/type-size.ts';
import { emptyEnums, noTuples, unknownType } from './rules/types.ts';
import { unionMembers } from './rules/union-members.ts';
import { uniqueAttributes, uniqueKeys, uniqueMembers, uniqueNames, uniqueTests } from './rules/unique-names.ts';

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
  misplacedOptions,
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

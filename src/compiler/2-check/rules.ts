import type { Rule } from './check-context.ts';
import { aliasCollisions } from './rules/alias-collisions.ts';
import { aliasCycles, classCycles } from './rules/cycles.ts';
import { attributeArguments } from './rules/attribute-arguments.ts';
import { capitalizedNames, parameterNames, reservedNames } from './rules/names.ts';
import { optionValues } from './rules/option-values.ts';
import { clientParts } from './rules/client-parts.ts';
import { constraintForm, parameterChecks, repeatedLabels } from './rules/constraints.ts';
import { emptyEnums, noTuples, unknownType } from './rules/types.ts';
import { environmentVariables } from './rules/environment-variables.ts';
import { functionParts } from './rules/function-parts.ts';
import { generators } from './rules/generators.ts';
import { knownAttributes } from './rules/known-attributes.ts';
import { knownClients } from './rules/known-clients.ts';
import { knownKeys } from './rules/known-keys.ts';
import { mapKeys } from './rules/map-keys.ts';
import { mediaOutput } from './rules/media-output.ts';
import { retryPolicies } from './rules/retry-policies.ts';
import { skippedFields } from './rules/skipped-fields.ts';
import { strategies } from './rules/strategies.ts';
import { builtTypes } from './rules/built-types.ts';
import { tests } from './rules/tests.ts';
import { unionMembers } from './rules/union-members.ts';
import { uniqueAttributes, uniqueKeys, uniqueMembers, uniqueNames, uniqueTests } from './rules/unique-names.ts';

/**
 * All rules except the size of types, which runs first. Their order does not matter, because diagnostics are sorted by
 * position.
 */
export const RULES: readonly Rule[] = [
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

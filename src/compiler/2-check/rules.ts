import type { TemplateRule, TemplateRules } from './templates/template-walker.ts';
import type { DefinitionIndex } from '../../schema/program.ts';
import type { StructuredClient } from '../../schema/structured-output.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Template } from '../../schema/template.ts';
import type { CheckContext, Rule } from './check-context.ts';
import { aliasCollisions } from './rules/alias-collisions.ts';
import { attributeArguments } from './rules/attribute-arguments.ts';
import { builtTypes } from './rules/built-types.ts';
import { clientParts } from './rules/client-parts.ts';
import { constraintSyntax, constraintForm, parameterChecks, repeatedLabels } from './rules/constraints.ts';
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
import { checkStructuredOutput } from './rules/structured-output.ts';
import { callArgumentsRule, debugCallRule } from './rules/call-arguments.ts';
import { checkedValueRule } from './rules/checked-value.ts';
import { enumComparisonRule } from './rules/enum-comparison.ts';
import { formatConversionRule } from './rules/format-conversion.ts';
import { literalArgumentsRule } from './rules/literal-arguments.ts';
import { accessedObjectRule, filterOperandsRule, loopOperandRule, operandKindsRule } from './rules/operand-kinds.ts';
import { otherOptions } from './rules/other-options.ts';
import { outputFormatRule } from './rules/output-format.ts';
import { emptyFiles } from './rules/empty-files.ts';
import { unknownRoleRule } from './rules/roles.ts';
import { unknownFieldRule } from './rules/unknown-field.ts';
import { unknownFilterRule, unknownTestRule, unknownVariableRule } from './rules/unknown-names.ts';
import { unknownMethodRule } from './rules/unknown-method.ts';
import { unpackingRule } from './rules/unpacking.ts';
import { unusedParameters } from './rules/unused-parameters.ts';
import type { TemplateScope } from './templates/static-value.ts';

/** The input of the rules of each phase. */
interface Rules extends TemplateRules {
  /** The definitions, before anything that takes time in proportion to the size of their types. */
  readonly size: readonly Rule[];
  /** The definitions. */
  readonly definitions: readonly Rule[];
  /** The whole of a prompt or template_string. */
  readonly templates: readonly ((template: Template, scope: TemplateScope) => readonly Diagnostic[])[];
  /** Each expression of a condition of a test, after the rules for all expressions. */
  readonly conditions: readonly TemplateRule[];
  /** The clients, and those that each function uses. */
  readonly clients: readonly ((
    context: CheckContext,
    index: DefinitionIndex,
    clientsOf: ReadonlyMap<string, readonly StructuredClient[]>,
  ) => void)[];
}

/**
 * All rules, by phase. If the rules for size report a problem, no other phase runs. The order of the rules does not matter,
 * because diagnostics are sorted by position.
 */
export const RULES: Rules = {
  size: [typeSize],
  definitions: [
    emptyFiles,
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
    otherOptions,
    strategies,
    environmentVariables,
    retryPolicies,
    generators,
    tests,
    builtTypes,
  ],
  templates: [unusedParameters, outputFormatRule],
  expressions: [
    unknownVariableRule,
    unknownFieldRule,
    unknownMethodRule,
    unknownTestRule,
    callArgumentsRule,
    unknownRoleRule,
    debugCallRule,
    formatConversionRule,
    literalArgumentsRule,
    enumComparisonRule,
    operandKindsRule,
  ],
  filters: [unknownFilterRule, filterOperandsRule],
  accesses: [accessedObjectRule],
  loops: [loopOperandRule],
  assignments: [unpackingRule],
  conditions: [checkedValueRule],
  clients: [checkStructuredOutput],
};

import { resolveValue, variablesIn, type ClientType, type RetryPolicyType } from '../../schema/client.ts';
import type {
  FunctionExample,
  FunctionType,
  ParameterType,
  TemplateStringType,
  Definitions,
  TestType,
} from '../../schema/program.ts';
import type { Template } from '../../schema/template.ts';
import {
  MEDIA,
  PRIMITIVES,
  type ClassType,
  type EnumType,
  type EnumValueType,
  type FieldType,
  type StreamAttributes,
  type Type,
  type TypeAttributes,
} from '../../schema/type.ts';
import type {
  ClassNode,
  EnumNode,
  EnumValueNode,
  FieldNode,
  FunctionNode,
  ParameterNode,
  TemplateStringNode,
  TestNode,
  ClientNode,
  EntryNode,
  RetryPolicyNode,
  ValueNode,
  AttributeNode,
  TypeNode,
} from '../1-parse/syntax-nodes.ts';
import type { Variables } from '../compile-options.ts';
import type { CheckContext } from './check-context.ts';
import {
  attributeString,
  entryValue,
  hasAttribute,
  isReadable,
  lastEntries,
  stringOf,
  isConstraint,
  entryData,
  buildEntry,
  providerOf,
} from './node-values.ts';
import { type DefinitionScope, testedFunctions } from './scope.ts';
import { argumentMismatch } from './value-mismatch.ts';
import { readRetryPolicy } from '../../schema/providers/retry-policy.ts';
import type { Constraint } from '../../schema/constraint.ts';

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
  const unreadable = context.templates.unreadableConstraint(node, context.scope);
  return {
    name: node.name.text,
    parameters: buildParameters(node.parameters, types),
    returns: types.build(node.returns, node.returnAttributes),
    client: stringOf(entryValue(node.entries, 'client')) ?? '',
    prompt: promptOf(node, context),
    ...(unreadable !== undefined && { unreadable }),
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
  const entries = lastEntries(args.entries).map((entry) => buildEntry(entry));
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

/** Returns undefined if the provider is unknown. */
function buildClient(node: ClientNode): ClientType | undefined {
  const provider = providerOf(node);
  if (provider === undefined) return undefined;
  const retryPolicy = stringOf(entryValue(node.entries, 'retry_policy'));
  return {
    name: node.name.text,
    provider,
    options: optionsOf(node).map((entry) => buildEntry(entry)),
    ...(retryPolicy !== undefined && { retryPolicy }),
  };
}

/** Returns the entries in the `options` of a client, the last one of each key. */
export function optionsOf(node: { readonly entries: readonly EntryNode[] }): readonly EntryNode[] {
  const options = entryValue(node.entries, 'options');
  return options?.kind === 'map' ? lastEntries(options.entries) : [];
}

function buildRetryPolicy(node: RetryPolicyNode): RetryPolicyType {
  const { values } = readRetryPolicy(entryData(node.entries));
  const { max_retries: maxRetries, on_invalid_reply: onInvalidReply, strategy, statuses } = values;
  const { type, delay_ms: delayMs, multiplier, max_delay_ms: maxDelayMs } = strategy;
  return {
    name: node.name.text,
    maxRetries,
    strategy:
      type === 'exponential_backoff'
        ? { kind: 'exponential', delayMs, multiplier, maxDelayMs }
        : { kind: 'constant', delayMs },
    ...(statuses !== undefined && { statuses }),
    ...(onInvalidReply > 0 && { onInvalidReply }),
  };
}

/** Builds a test. Its mistakes are only warnings, so it can be incomplete. */
export function buildTest(node: TestNode, { templates }: CheckContext): TestType {
  const args = entryValue(node.entries, 'args');
  const entries = args?.kind === 'map' ? lastEntries(args.entries) : [];
  const conditions = node.attributes.filter(isConstraint);
  const constraints = templates.constraints(conditions);
  const unreadable = unreadablePart(node, args, entries) ?? unreadableCondition(conditions, constraints.length);
  return {
    name: node.name.text,
    span: node.name.span,
    functions: [...new Set(testedFunctions(node))],
    args: entries.map((entry) => buildEntry(entry)),
    constraints,
    buildsTypes: node.types.length > 0,
    ...(unreadable !== undefined && { unreadable }),
  };
}

function unreadablePart(
  node: TestNode,
  args: ValueNode | undefined,
  entries: readonly EntryNode[],
): string | undefined {
  if (args !== undefined && (args.kind !== 'map' || args.broken === true)) return '"args"';
  const entry = entries.find(({ value }) => !isReadable(value));
  if (entry !== undefined) return `the argument "${entry.key.text}"`;
  return node.broken === true ? 'a part of the block' : undefined;
}

/** A test without one of its conditions could pass by mistake. */
function unreadableCondition(conditions: readonly AttributeNode[], readable: number): string | undefined {
  return conditions.length === readable ? undefined : 'a condition';
}

/** Replaces a type that breaks a rule. It is unknown to the other rules, and svc never serves such a program. */
const PLACEHOLDER: Type = { kind: 'alias', name: '' };

/** Builds checked types from type nodes: resolves names, replaces aliases and flattens unions. */
class TypeBuilder {
  readonly #context: CheckContext;
  readonly #aliases = new Map<string, Type>();

  constructor(context: CheckContext) {
    this.#context = context;
    // Builds the used aliases first, so that a long chain of aliases does not become a deep recursion.
    for (const name of context.aliases.usedFirst) this.alias(name);
  }

  /** `attributes` are those of the field, parameter, alias or function with the type. */
  build(node: TypeNode | undefined, attributes: readonly AttributeNode[] = []): Type {
    if (node === undefined) return PLACEHOLDER;
    return withAttributes(this.#shape(node), this.#attributes([...node.attributes, ...attributes]));
  }

  /** Returns the target of an alias. */
  alias(name: string): Type {
    const known = this.#aliases.get(name);
    if (known !== undefined) return known;
    const node = this.#context.scope.aliases.get(name);
    this.#aliases.set(name, PLACEHOLDER);
    const type = node === undefined ? PLACEHOLDER : this.build(node.type, node.attributes);
    this.#aliases.set(name, type);
    return type;
  }

  #shape(node: TypeNode): Type {
    switch (node.kind) {
      case 'name':
        return this.#named(node.name);
      case 'literal':
        return { kind: 'literal', value: node.value };
      case 'list':
        return { kind: 'list', element: this.build(node.element) };
      case 'map':
        return { kind: 'map', key: keyOf(this.build(node.key)), value: this.build(node.value) };
      case 'optional':
        return unionOf([this.build(node.type), { kind: 'null' }]);
      case 'union':
        return unionOf(node.members.map((member) => this.build(member)));
      case 'tuple':
      case 'broken':
        return PLACEHOLDER;
    }
  }

  #named(name: string): Type {
    const { scope, aliases } = this.#context;
    if (scope.classes.has(name)) return { kind: 'class', name };
    if (scope.enums.has(name)) return { kind: 'enum', name };
    if (aliases.recursive.has(name)) return { kind: 'alias', name };
    if (scope.aliases.has(name)) return this.alias(name);
    const primitive = PRIMITIVES.find((known) => known === name);
    if (primitive !== undefined) return { kind: primitive };
    const media = MEDIA.find((known) => known === name);
    return media === undefined ? PLACEHOLDER : { kind: 'media', media };
  }

  #attributes(nodes: readonly AttributeNode[]): TypeAttributes {
    const constraints = this.#context.templates.constraints(nodes);
    const stream: StreamAttributes = {
      ...(hasAttribute(nodes, 'stream.done') && { done: true as const }),
      ...(hasAttribute(nodes, 'stream.with_state') && { withState: true as const }),
    };
    return {
      ...(constraints.length > 0 && { constraints }),
      ...((stream.done ?? stream.withState) && { stream }),
    };
  }
}

/** Keys of JSON objects are strings, even where a definition declares numbers. */
function keyOf(type: Type): Type {
  return type.kind === 'int' || type.kind === 'float' || type.kind === 'bool' ? { kind: 'string' } : type;
}

function withAttributes(type: Type, more: TypeAttributes): Type {
  const constraints: readonly Constraint[] = [...(type.constraints ?? []), ...(more.constraints ?? [])];
  const stream = { ...type.stream, ...more.stream };
  return {
    ...type,
    ...(constraints.length > 0 && { constraints }),
    ...(Object.keys(stream).length > 0 && { stream }),
  };
}

/** Normalizes a union: flat, without duplicates, null last. Returns the only member if one is left. */
function unionOf(members: readonly Type[]): Type {
  const distinct = new Map<string, Type>();
  for (const member of members.flatMap(flatten)) distinct.set(JSON.stringify(member), member);
  const all = [...distinct.values()];
  const ordered = [...all.filter((member) => !isNull(member)), ...all.filter(isNull)];
  const only = ordered[0];
  return ordered.length === 1 && only !== undefined ? only : { kind: 'union', members: ordered };
}

function flatten(type: Type): readonly Type[] {
  const bare = type.constraints === undefined && type.stream === undefined;
  return type.kind === 'union' && bare ? type.members : [type];
}

function isNull(type: Type): boolean {
  return type.kind === 'null';
}

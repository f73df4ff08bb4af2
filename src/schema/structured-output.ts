import {
  isJsonList,
  isJsonObject,
  objectAt,
  stringAt,
  type JsonObject,
  type JsonValue,
  ownValue,
} from '../base/json.ts';
import { err, ok, type Result } from '../base/result.ts';
import { stronglyConnected } from '../base/strongly-connected.ts';
import type { DefinitionIndex, FunctionType } from './program.ts';
import { closed, joined, JsonSchemas, NULL_SCHEMA, type SchemaReferences } from './json-schema.ts';
import type { SchemaLimits, StrictLimits, StructuredForm } from './providers/structured-output.ts';
import { acceptsNull, namesIn, partsOf, reachedFrom } from './type-graph.ts';
import type { FieldType, Type } from './type.ts';
import { resolveValue, strategyMembers, type ClientType } from './client.ts';
import { UNKNOWN_TEXT } from './providers/option-shapes.ts';
import { readOptions, type HttpFacts, type ReadOptions } from './providers/provider-description.ts';
import { isStrategy, PROVIDER_DESCRIPTIONS } from './providers/providers.ts';

/** The schema of the replies of one function, within the limits of a provider. */
export interface StructuredOutput {
  /** The name under which the provider receives it: that of the function. */
  readonly name: string;
  /** The description of the class, if it has one. */
  readonly description: string | undefined;
  /** The schema of an object, with all definitions that it refers to. */
  readonly schema: JsonObject;
  /** The provider guarantees that replies match the schema. */
  readonly strict: boolean;
  /** The only member of the object, which holds the value; undefined if the value is the object itself. */
  readonly wrapper: string | undefined;
}

/** The schemas for the replies of one function, by the limits of a provider. There are few, and each schema is created once. */
export class StructuredOutputs {
  readonly #fn: FunctionType;
  readonly #index: DefinitionIndex;
  readonly #known = new Map<SchemaLimits, ReturnType<typeof structuredOutput>>();

  constructor(fn: FunctionType, index: DefinitionIndex) {
    this.#fn = fn;
    this.#index = index;
  }

  /** As `structuredOutput`. */
  of(limits: SchemaLimits): ReturnType<typeof structuredOutput> {
    if (!this.#known.has(limits)) this.#known.set(limits, structuredOutput(this.#fn, this.#index, limits));
    return this.#known.get(limits);
  }
}

/**
 * Returns the schema for the replies of a function; undefined for a string, which needs none. The failure states why the provider
 * does not support the type, and completes a sentence that begins with the type.
 */
export function structuredOutput(
  { name, returns }: Pick<FunctionType, 'name' | 'returns'>,
  index: DefinitionIndex,
  limits: SchemaLimits,
): Result<StructuredOutput, string> | undefined {
  if (returns.kind === 'string') return undefined;
  const cycles = new Cycles(returns, index);
  if (limits.recursion === 'no' && cycles.exist) return err('is recursive');
  if (limits.recursion === 'in optional members' && cycles.areRequired) {
    return err('is recursive outside of optional fields, lists and maps of classes');
  }
  const document = new ReplyDocument(returns, index, {
    isOptional: limits.recursion === 'yes' ? () => false : cycles.has,
    ...(limits.bounds !== undefined && { bounds: limits.bounds }),
  });
  const inline = limits.definitions === 'inline';
  const written = inline ? document.inlined(limits.maxMembers ?? Infinity) : document.shared();
  if (written === undefined) return err(`has more than ${limits.maxMembers} fields after the expansion of its classes`);
  const schema = limits.noBooleanLiterals === true ? withDefinitions(written, withoutBooleanLiterals) : written;
  const problem = problemOf(schema, limits);
  if (problem !== undefined) return err(problem);
  const strict = limits.strict !== undefined && isStrict(schema, limits.strict);
  return ok({
    name: name.slice(0, MAX_NAME_LENGTH),
    description: stringAt(schema, 'description'),
    schema: inline ? bareRoot(schema) : schema,
    strict,
    wrapper: document.wrapper,
  });
}

/** All providers accept names of this length. The checker excludes letters that are not ASCII. */
const MAX_NAME_LENGTH = 64;

/**
 * Returns the name of the member that holds a value that is not an object; undefined for a class. No class that is part of
 * the value has a field of that name, so a reply without the wrapper is recognizable.
 */
export function wrapperOf(returns: Type, index: DefinitionIndex): string | undefined {
  if (returns.kind === 'class') return undefined;
  const keys = new Set<string>();
  for (const name of reachedFrom(namesIn(returns), index)) {
    for (const field of index.classes.get(name)?.fields ?? []) keys.add(field.alias ?? field.name);
  }
  let wrapper = 'result';
  while (keys.has(wrapper)) wrapper += '_';
  return wrapper;
}

// --- recursion ------------------------------------------------------------------------------------------------------

/** The classes and aliases of a type that contain themselves. */
class Cycles {
  readonly #index: DefinitionIndex;
  readonly #groupOf = new Map<string, number>();
  /** True if a type contains itself in a place that cannot be absent. */
  readonly areRequired: boolean;

  constructor(returns: Type, index: DefinitionIndex) {
    this.#index = index;
    const names = [...reachedFrom(namesIn(returns), index)];
    const groups = stronglyConnected(names, (name) => partsOf(name, index).flatMap(namesIn));
    for (const [group, members] of groups.entries()) for (const name of members) this.#groupOf.set(name, group);
    this.areRequired = stronglyConnected(names, (name) => this.#requiredParts(name)).length > 0;
  }

  get exist(): boolean {
    return this.#groupOf.size > 0;
  }

  /** True for a field that leads back to its class. */
  readonly has = (className: string, field: FieldType): boolean => {
    const group = this.#groupOf.get(className);
    return group !== undefined && namesIn(field.type).some((name) => this.#groupOf.get(name) === group);
  };

  #requiredParts(name: string): readonly string[] {
    const type = this.#index.classes.get(name);
    if (type === undefined) return partsOf(name, this.#index).flatMap(namesIn);
    const required = type.fields.filter((field) => !(this.has(name, field) && canBeAbsent(field.type, this.#index)));
    return required.flatMap((field) => namesIn(field.type));
  }
}

/** True if the parser reads an absent member as null, an empty list or an empty map. */
function canBeAbsent(type: Type, index: DefinitionIndex): boolean {
  return type.kind === 'list' || type.kind === 'map' || acceptsNull(type, index.aliases);
}

// --- the document ---------------------------------------------------------------------------------------------------

const DEFINITIONS = '#/$defs/';

interface ReplyForm extends Pick<SchemaReferences, 'bounds'> {
  /** A field that is not required, in addition to the schema of its class. */
  readonly isOptional: (className: string, field: FieldType) => boolean;
}

/** The schemas of a return type and of the types that it uses. */
class ReplyDocument {
  readonly wrapper: string | undefined;
  readonly #root: JsonObject;
  readonly #definitions = new Map<string, JsonObject>();

  constructor(returns: Type, index: DefinitionIndex, { isOptional, bounds }: ReplyForm) {
    const schemas = new JsonSchemas(index, {
      named: (name) => ({ $ref: DEFINITIONS + name }),
      // A model cannot answer with media, as the checker warns: an optional one is always null.
      media: () => NULL_SCHEMA,
      // Replies have no checks.
      check: () => ({}),
      propertyNames: false,
      ...(bounds !== undefined && { bounds }),
    });
    for (const name of reachedFrom(namesIn(returns), index)) {
      const fields = index.classes.get(name)?.fields ?? [];
      const optional = fields.filter((field) => isOptional(name, field)).map((field) => field.alias ?? field.name);
      const schema = withoutRequired(schemas.definition(name, 'reply'), optional);
      this.#definitions.set(name, withoutSiblings(schema));
    }
    this.wrapper = wrapperOf(returns, index);
    const own = withoutSiblings(schemas.of(returns, 'reply'));
    // The schema of a class is the root itself, because a root must not be a reference.
    this.#root = this.wrapper === undefined ? this.#resolved(own) : closed({ [this.wrapper]: own }, [this.wrapper]);
  }

  /** The schema, with `$defs` for all names to which it refers. */
  shared(): JsonObject {
    const used = new Set(referencesIn(this.#root));
    for (const name of used) for (const next of referencesIn(this.#definitions.get(name) ?? {})) used.add(next);
    if (used.size === 0) return this.#root;
    const definitions = [...this.#definitions].filter(([name]) => used.has(name));
    return { ...this.#root, $defs: Object.fromEntries(definitions) };
  }

  /** The schema without references; undefined if its objects have more members. The type must not be recursive. */
  inlined(maxMembers: number): JsonObject | undefined {
    let left = maxMembers;
    const inline = (schema: JsonObject): JsonObject => {
      const resolved = this.#resolved(schema);
      left -= membersOf(resolved).length;
      return left < 0 ? resolved : withoutLoneUnion(withParts(resolved, inline));
    };
    const whole = inline(this.#root);
    return left < 0 ? undefined : whole;
  }

  #resolved(schema: JsonObject): JsonObject {
    const name = referenceOf(schema);
    return name === undefined ? schema : (this.#definitions.get(name) ?? schema);
  }
}

function withoutRequired(schema: JsonObject, names: readonly string[]): JsonObject {
  const { required } = schema;
  if (names.length === 0 || !isJsonList(required)) return schema;
  return { ...schema, required: required.filter((name) => typeof name !== 'string' || !names.includes(name)) };
}

/** Providers reject other keys next to `$ref`, so a description belongs to a schema around the reference. */
function withoutSiblings(schema: JsonObject): JsonObject {
  const inner = withParts(schema, withoutSiblings);
  const { $ref, ...others } = inner;
  return $ref === undefined || Object.keys(others).length === 0 ? inner : { ...others, anyOf: [{ $ref }] };
}

/** A union with one member, whose only purpose is a description. */
function withoutLoneUnion(schema: JsonObject): JsonObject {
  const [only, ...others] = unionOf(schema);
  if (only === undefined || others.length > 0) return schema;
  const description = joined([stringAt(schema, 'description'), stringAt(only, 'description')]);
  return description === undefined ? only : { ...only, description };
}

/** Some models accept only these keys at the top of a schema. */
function bareRoot({ type, properties, required }: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries({ type, properties, required }).filter(
      (entry): entry is [string, JsonValue] => entry[1] !== undefined,
    ),
  );
}

/** Replaces the schema and each of its definitions. */
function withDefinitions(schema: JsonObject, replace: (part: JsonObject) => JsonObject): JsonObject {
  const root = replace(schema);
  const definitions = objectAt(schema, '$defs');
  if (definitions === undefined) return root;
  const replaced = Object.entries(definitions).map(([name, part]) => [name, isJsonObject(part) ? replace(part) : part]);
  return { ...root, $defs: Object.fromEntries(replaced) as JsonObject };
}

function withoutBooleanLiterals(schema: JsonObject): JsonObject {
  const inner = withParts(schema, withoutBooleanLiterals);
  const { enum: values, ...others } = inner;
  if (inner['type'] !== 'boolean' || !isJsonList(values)) return inner;
  const [only, ...more] = values;
  const stated = more.length > 0 ? undefined : `Always ${JSON.stringify(only)}.`;
  const description = joined([stringAt(inner, 'description'), stated]);
  return description === undefined ? others : { ...others, description };
}

// --- limits ---------------------------------------------------------------------------------------------------------

function problemOf(schema: JsonObject, { memberNames }: SchemaLimits): string | undefined {
  for (const each of withAllParts(schema)) {
    const refused = membersOf(each).find(([member]) => memberNames?.test(member) === false);
    if (refused !== undefined) return `has the key "${refused[0]}", which the provider does not accept`;
    if (isJsonList(each['enum']) && each['enum'].length === 0) return 'has an enum without values';
  }
  return undefined;
}

function isStrict(schema: JsonObject, limits: StrictLimits): boolean {
  const all = withAllParts(schema);
  const enums = all.map(({ enum: values }) => (isJsonList(values) ? values : []));
  const members = all.flatMap((each) => membersOf(each).map(([name]) => name));
  const definitions = Object.keys(objectAt(schema, '$defs') ?? {});
  const characters = sum([...members, ...definitions, ...enums.flat()].map(lengthOf));
  return (
    all.every(listsAllMembers) &&
    members.length <= limits.maxMembers &&
    characters <= limits.maxCharacters &&
    sum(enums.map((values) => values.length)) <= limits.maxEnumValues &&
    enums.every((values) => !isLong(values, limits.longEnum)) &&
    depthOf(schema) <= limits.maxDepth
  );
}

/** An object of a strict schema requires all its members and allows no others: it is not a map. */
function listsAllMembers(schema: JsonObject): boolean {
  if (schema['type'] !== 'object') return true;
  const { required } = schema;
  const count = isJsonList(required) ? required.length : 0;
  return schema['additionalProperties'] === false && membersOf(schema).length === count;
}

function lengthOf(value: JsonValue): number {
  return typeof value === 'string' ? value.length : JSON.stringify(value).length;
}

function isLong(values: readonly JsonValue[], { values: most, characters }: StrictLimits['longEnum']): boolean {
  return values.length > most && sum(values.map(lengthOf)) > characters;
}

/** Each reference leads to another level. A chain of classes can be longer than the stack. */
const MAX_REFERENCES = 100;

/** Counts the levels of objects and lists. The definitions of a cycle count once. */
function depthOf(root: JsonObject): number {
  const definitions = objectAt(root, '$defs') ?? {};
  const known = new Map<string, number>();
  const below = (schema: JsonObject, references: number): number => {
    const name = referenceOf(schema);
    if (name !== undefined) return ofDefinition(name, references + 1);
    const isLevel = schema['type'] === 'object' || schema['type'] === 'array';
    const depths = partsOfSchema(schema).map((part) => below(part, references));
    return Math.max(0, ...depths) + (isLevel ? 1 : 0);
  };
  const ofDefinition = (name: string, references: number): number => {
    const depth = known.get(name);
    if (depth !== undefined) return depth;
    if (references > MAX_REFERENCES) return Infinity;
    known.set(name, 0);
    const found = below(objectAt(definitions, name) ?? {}, references);
    known.set(name, found);
    return found;
  };
  return below(root, 0);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

// --- parts of schemas -----------------------------------------------------------------------------------------------

/** Replaces the schemas directly inside a schema. */
function withParts(schema: JsonObject, replace: (part: JsonObject) => JsonObject): JsonObject {
  const copy: Record<string, JsonValue> = { ...schema };
  const properties = objectAt(schema, 'properties');
  if (properties !== undefined) {
    copy['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, part]) => [name, isJsonObject(part) ? replace(part) : part]),
    );
  }
  for (const key of ['items', 'additionalProperties']) {
    const part = objectAt(schema, key);
    if (part !== undefined) copy[key] = replace(part);
  }
  if (isJsonList(schema['anyOf'])) copy['anyOf'] = unionOf(schema).map(replace);
  return copy;
}

function partsOfSchema(schema: JsonObject): readonly JsonObject[] {
  const parts: JsonObject[] = [];
  withParts(schema, (part) => {
    parts.push(part);
    return part;
  });
  return parts;
}

/** The schema, those inside it at any depth, and its definitions. */
function withAllParts(schema: JsonObject): readonly JsonObject[] {
  const found = [schema, ...Object.values(objectAt(schema, '$defs') ?? {}).filter((each) => isJsonObject(each))];
  for (const one of found) found.push(...partsOfSchema(one));
  return found;
}

function referencesIn(schema: JsonObject): readonly string[] {
  return withAllParts(schema).flatMap((part) => referenceOf(part) ?? []);
}

/** The name of the definition to which a schema refers. */
function referenceOf(schema: JsonObject): string | undefined {
  return stringAt(schema, '$ref')?.slice(DEFINITIONS.length);
}

function membersOf(schema: JsonObject): ReadonlyArray<readonly [string, JsonValue]> {
  return Object.entries(objectAt(schema, 'properties') ?? {});
}

function unionOf(schema: JsonObject): readonly JsonObject[] {
  const members = schema['anyOf'];
  return isJsonList(members) ? members.filter((each) => isJsonObject(each)) : [];
}

/**
 * The structured output of a client: none, a form, or the reason why the client cannot use one, which completes a sentence
 * that begins with the client.
 */
type ClientStructure =
  | { readonly kind: 'off' }
  | { readonly kind: 'unavailable'; readonly reason: string }
  | { readonly kind: 'form'; readonly form: StructuredForm };

const OFF: ClientStructure = { kind: 'off' };

/** Decides by the options of a client, for the checker and for calls. An option that the checker does not know does not exclude a form. */
export function structureOf(
  http: HttpFacts | undefined,
  { values, body }: Pick<ReadOptions, 'values' | 'body'>,
): ClientStructure {
  const mode = values['structured_output'];
  if (http === undefined || (mode !== 'auto' && mode !== 'on')) return OFF;
  const form = http.structured(values);
  const reason = unavailability(form, values, body) ?? (mode === 'auto' ? doubt(form, values) : undefined);
  return reason === undefined ? { kind: 'form', form } : { kind: 'unavailable', reason };
}

function unavailability(
  { excludedBy }: StructuredForm,
  values: Readonly<Record<string, unknown>>,
  body: ReadonlyMap<string, JsonValue>,
): string | undefined {
  if (values['client_response_type'] !== undefined)
    return 'sets "client_response_type", so svc does not know the provider';
  const own = excludedBy.find((path) => isSet(path, values, body));
  return own === undefined ? undefined : `sets "${own}" itself`;
}

function isSet(path: string, values: Readonly<Record<string, unknown>>, body: ReadonlyMap<string, JsonValue>): boolean {
  const [first = '', ...rest] = path.split('.');
  let value: unknown = body.get(first) ?? ownValue(values, first);
  for (const step of rest) value = isJsonObject(value) ? ownValue(value, step) : undefined;
  // `thinking { type "disabled" }` of Anthropic.
  return value !== undefined && value !== null && !(isJsonObject(value) && value['type'] === 'disabled');
}

/** The reason why `auto` does not use the form. */
function doubt(
  { unknownServer, without, only }: StructuredForm,
  values: Readonly<Record<string, unknown>>,
): string | undefined {
  if (unknownServer === true)
    return 'can use any server. If that server supports schemas, write `structured_output on`';
  const model = [values['model'], values['model_id']].find((each) => typeof each === 'string');
  if (typeof model !== 'string') return undefined;
  if (without?.test(model) === true) return `uses the model "${model}", which does not support schemas`;
  if (only?.test(model) === false) {
    return `uses the model "${model}", which svc does not know. If it supports schemas, write \`structured_output on\``;
  }
  return undefined;
}

/** Returns the names of the clients that a client can lead to, through strategies, each with its structured output. */
export function structuresOf(name: string, { clients }: DefinitionIndex): ReadonlyMap<string, ClientStructure> {
  const found = new Map<string, ClientStructure>();
  const names = new Set([name]);
  for (const each of names) {
    const client = clients.get(each);
    // A shorthand has no options.
    if (client === undefined) found.set(each, OFF);
    else if (isStrategy(client.provider)) for (const member of strategyMembers(client)) names.add(member);
    else found.set(each, structureOfClient(client));
  }
  return found;
}

/** A client that a function can call, and the structured output of its replies. */
export interface StructuredClient {
  readonly client: string;
  readonly structure: ClientStructure;
  /** The reason why the provider does not support the return type; completes a sentence that begins with the type. */
  readonly problem?: string;
}

/** Returns the clients of a function. Those with a form and without a problem send the schema of its return type. */
export function structuredClients(fn: FunctionType, index: DefinitionIndex): readonly StructuredClient[] {
  const outputs = new StructuredOutputs(fn, index);
  return [...structuresOf(fn.client, index)].map(([client, structure]) => {
    const output = structure.kind === 'form' ? outputs.of(structure.form.limits) : undefined;
    return { client, structure, ...(output?.ok === false ? { problem: output.failure } : {}) };
  });
}

/** True if every client of the function sends the schema of the return type. The prompt then need not describe it. */
export function isAlwaysStructured(clients: readonly StructuredClient[]): boolean {
  return (
    clients.length > 0 && clients.every(({ structure, problem }) => structure.kind === 'form' && problem === undefined)
  );
}

function structureOfClient({ provider, options }: ClientType): ClientStructure {
  if (!options.some(({ key }) => key === 'structured_output')) return OFF;
  const description = PROVIDER_DESCRIPTIONS[provider];
  const read = readOptions(
    description,
    new Map(options.map(({ key, value }) => [key, resolveValue(value, () => UNKNOWN_TEXT)])),
  );
  return structureOf(description.http, read);
}

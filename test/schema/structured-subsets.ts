import { isJsonObject } from '../../src/base/json.ts';
import type { StructuredForm } from '../../src/schema/providers/structured-output.ts';

/*
 * The subsets of JSON Schema that providers document, each as a validator of its own, which shares no code with the
 * program.
 */

type Schema = Readonly<Record<string, unknown>>;

interface Sent {
  readonly schema: Schema;
  readonly strict: boolean;
}

/** Returns what a provider would reject. */
export function rejected(kind: StructuredForm['kind'], sent: Sent): readonly string[] {
  const faults = [
    ...ofRoot(sent.schema),
    ...all(sent.schema).flatMap((each) => [...ofReference(each, sent.schema), ...ofLists(each)]),
  ];
  switch (kind) {
    case 'response-format':
    case 'text-format':
      return [...faults, ...(sent.strict ? ofOpenAi(sent.schema) : [])];
    case 'response-json-schema':
      return [...faults, ...ofGemini(sent.schema)];
    case 'tool':
      return [...faults, ...ofTool(sent.schema)];
    case 'tool-config':
      return [...faults, ...ofTool(sent.schema), ...ofBedrock(sent.schema)];
  }
}

/** All providers want an object at the root. */
function ofRoot(schema: Schema): readonly string[] {
  const faults = schema['type'] === 'object' ? [] : ['the root is not an object'];
  return ['anyOf', '$ref', 'enum'].some((key) => key in schema)
    ? [...faults, 'the root is not a plain object']
    : faults;
}

/** JSON Schema 2020-12, validation, 6.1.2 and 6.5.3. */
function ofLists(schema: Schema): readonly string[] {
  return ['enum', 'required'].filter((key) => repeats(schema[key])).map((key) => `${key} repeats an item`);
}

function repeats(list: unknown): boolean {
  return Array.isArray(list) && new Set(list).size < list.length;
}

function ofReference(schema: Schema, root: Schema): readonly string[] {
  const name = target(schema);
  if (name === undefined) return [];
  const isAlone = Object.keys(schema).every((key) => key.startsWith('$'));
  const definitions = root['$defs'];
  const exists = isJsonObject(definitions) && Object.hasOwn(definitions, name);
  return [...(isAlone ? [] : ['a reference has siblings']), ...(exists ? [] : [`there is no definition ${name}`])];
}

// --- OpenAI: "Structured model outputs", section "Supported schemas" --------------------------------------------------

const OPENAI_KEYS = [
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
  'enum',
  'description',
  '$ref',
];

function ofOpenAi(root: Schema): readonly string[] {
  const schemas = all(root);
  const faults = schemas.flatMap((schema) => [
    ...unknownKeys(schema, [...OPENAI_KEYS, '$defs']),
    ...(['type', 'anyOf', '$ref'].some((key) => key in schema) ? [] : ['a schema has no type']),
    ...ofClosedObject(schema),
  ]);
  const members = schemas.flatMap((schema) => Object.keys(properties(schema)));
  const enums = schemas.map(({ enum: values }) => (Array.isArray(values) ? values.map(String) : []));
  const characters = [...members, ...Object.keys(definitionsOf(root)), ...enums.flat()].join('').length;
  if (members.length > 5000) faults.push('more than 5000 members');
  if (enums.flat().length > 1000) faults.push('more than 1000 values of enums');
  if (enums.some((values) => values.length > 250 && values.join('').length > 15_000)) faults.push('a long enum');
  if (characters > 120_000) faults.push('more than 120,000 characters');
  if (deeper(root, root, 11, new Set())) faults.push('more than 10 levels');
  return faults;
}

function ofClosedObject(schema: Schema): readonly string[] {
  if (schema['type'] !== 'object') return [];
  const faults = schema['additionalProperties'] === false ? [] : ['an object is open'];
  const { required = [] } = schema;
  const isComplete =
    Array.isArray(required) && Object.keys(properties(schema)).every((name) => required.includes(name));
  return isComplete ? faults : [...faults, 'a member is not required'];
}

/** True if so many levels are nested; a definition inside itself adds none. */
function deeper(schema: Schema, root: Schema, levels: number, seen: ReadonlySet<string>): boolean {
  const name = target(schema);
  if (name !== undefined) {
    const inner = definitionsOf(root)[name];
    return !seen.has(name) && isJsonObject(inner) && deeper(inner, root, levels, new Set([...seen, name]));
  }
  const isLevel = schema['type'] === 'object' || schema['type'] === 'array';
  const left = levels - (isLevel ? 1 : 0);
  return left <= 0 || inside(schema).some((part) => deeper(part, root, left, seen));
}

// --- Google: "GenerationConfig", member `responseJsonSchema` ----------------------------------------------------------

const GEMINI_KEYS =
  '$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties additionalProperties required'.split(
    ' ',
  );

function ofGemini(root: Schema): readonly string[] {
  const faults = all(root).flatMap((schema) => unknownKeys(schema, GEMINI_KEYS));
  const enums = all(root).flatMap(({ enum: values }) => (Array.isArray(values) ? values : []));
  if (enums.some((value) => typeof value !== 'string' && typeof value !== 'number')) faults.push('an enum of others');
  if (Object.keys(definitionsOf(root)).some((name) => needsItself(name, root))) faults.push('a required cycle');
  return faults;
}

/** True for a definition that leads back to itself by more than members that can be absent. */
function needsItself(name: string, root: Schema): boolean {
  const reached = new Set<string>();
  const waiting = [name];
  for (const next of waiting) {
    for (const found of requiredNames(definitionsOf(root)[next])) {
      if (found === name) return true;
      if (reached.has(found)) continue;
      reached.add(found);
      waiting.push(found);
    }
  }
  return false;
}

/** The definitions in a schema that are not inside a member that can be absent. */
function requiredNames(schema: unknown): readonly string[] {
  if (!isJsonObject(schema)) return [];
  const name = target(schema);
  if (name !== undefined) return [name];
  const names = Array.isArray(schema['required']) ? schema['required'] : [];
  const members = Object.entries(properties(schema)).filter(([key]) => names.includes(key));
  const others = inside({ ...schema, properties: {} });
  return [...members.map(([, part]) => part), ...others].flatMap(requiredNames);
}

// --- Anthropic: "Define tools"; Amazon: "ToolInputSchema" and "Tool use with Amazon Nova" -------------------------------

function ofTool(root: Schema): readonly string[] {
  const names = all(root).flatMap((schema) => Object.keys(properties(schema)));
  return names.filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/u.test(name)).map((name) => `a member ${name}`);
}

function ofBedrock(root: Schema): readonly string[] {
  const faults = unknownKeys(root, ['type', 'properties', 'required']).slice();
  if (all(root).some((schema) => '$ref' in schema || '$defs' in schema)) faults.push('a reference');
  return faults;
}

// --- parts ------------------------------------------------------------------------------------------------------------

function unknownKeys(schema: Schema, known: readonly string[]): string[] {
  return Object.keys(schema)
    .filter((key) => !known.includes(key))
    .map((key) => `the key ${key}`);
}

function definitionsOf(root: Schema): Schema {
  return isJsonObject(root['$defs']) ? root['$defs'] : {};
}

function properties(schema: Schema): Schema {
  return isJsonObject(schema['properties']) ? schema['properties'] : {};
}

function target(schema: Schema): string | undefined {
  const { $ref } = schema;
  return typeof $ref === 'string' ? $ref.replace('#/$defs/', '') : undefined;
}

function inside(schema: Schema): readonly Schema[] {
  const { anyOf } = schema;
  const members = Array.isArray(anyOf) ? (anyOf as readonly unknown[]) : [];
  const parts = [...Object.values(properties(schema)), schema['items'], schema['additionalProperties'], ...members];
  return parts.filter(isJsonObject);
}

function all(root: Schema): readonly Schema[] {
  const found = [root, ...Object.values(definitionsOf(root)).filter(isJsonObject)];
  for (const schema of found) found.push(...inside(schema));
  return found;
}

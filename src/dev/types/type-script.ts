import { isJsonList, isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';

/** Names that need no quotes as keys of an object. */
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/u;

/** The TypeScript type of a JSON Schema of `schema/json-schema.ts`. A reference is the name of a type. */
export function typeOf(schema: JsonObject): string {
  const { $ref: reference, anyOf, enum: choices, type } = schema;
  if (typeof reference === 'string') return reference;
  if (isJsonList(anyOf)) return union(anyOf.filter((each) => isJsonObject(each)).map(typeOf));
  if (isJsonList(choices)) return union(choices.map((choice) => literal(choice)));
  switch (type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return arrayType(schema);
    case 'object':
      return objectType(schema);
    default:
      // `string`, `boolean` and `null` have the same names in both languages.
      return typeof type === 'string' ? type : 'unknown';
  }
}

/** The members of an object, one on each line, with their descriptions. */
export function membersOf({ properties, required }: JsonObject): readonly string[] {
  const names = new Set(isJsonList(required) ? required : []);
  return Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, schema]) => {
    if (!isJsonObject(schema)) return [];
    // The description of a map with listed keys repeats them.
    const text = schema['propertyNames'] === undefined ? schema['description'] : undefined;
    return [...documentation(text), `${member(name, schema, names.has(name))};`];
  });
}

/** A description as a comment; nothing if there is none. */
export function documentation(text: JsonValue | undefined): readonly string[] {
  if (typeof text !== 'string' || text.trim() === '') return [];
  const lines = text
    .trim()
    .replaceAll('*/', String.raw`*\/`)
    .split('\n');
  if (lines.length === 1) return [`/** ${lines[0] ?? ''} */`];
  return ['/**', ...lines.map((line) => ` * ${line}`.trimEnd()), ' */'];
}

function member(name: string, schema: JsonObject, isRequired: boolean): string {
  const key = IDENTIFIER.test(name) ? name : JSON.stringify(name);
  // A program can set an optional member to undefined, which means the same as leaving it out.
  return isRequired
    ? `readonly ${key}: ${typeOf(schema)}`
    : `readonly ${key}?: ${union([typeOf(schema), 'undefined'])}`;
}

function objectType(schema: JsonObject): string {
  const { properties, additionalProperties, propertyNames } = schema;
  if (isJsonObject(additionalProperties)) {
    const value = typeOf(additionalProperties);
    if (!isJsonObject(propertyNames) || typeOf(propertyNames) === 'string')
      return `{ readonly [key: string]: ${value} }`;
    return `{ readonly [key in ${typeOf(keySchema(propertyNames))}]?: ${value} }`;
  }
  const names = new Set(isJsonList(schema['required']) ? schema['required'] : []);
  const members = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, one]) =>
    isJsonObject(one) ? [member(name, one, names.has(name))] : [],
  );
  return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`;
}

/** Keys of JSON objects are strings, also those that a definition writes as numbers. */
function keySchema(schema: JsonObject): JsonObject {
  const { enum: choices, anyOf } = schema;
  if (isJsonList(choices)) return { ...schema, enum: choices.map(String) };
  return isJsonList(anyOf) ? { ...schema, anyOf: anyOf.filter((each) => isJsonObject(each)).map(keySchema) } : schema;
}

function arrayType({ items }: JsonObject): string {
  const element = isJsonObject(items) ? typeOf(items) : 'unknown';
  return `readonly ${/[ |]/u.test(element) && !element.startsWith('{') ? `(${element})` : element}[]`;
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  return distinct.length === 0 ? 'never' : distinct.join(' | ');
}

function literal(value: JsonValue): string {
  return typeof value === 'string' ? `'${escaped(value)}'` : JSON.stringify(value);
}

/** A string literal in single quotes. */
function escaped(text: string): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`);
}

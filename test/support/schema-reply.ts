import { isJsonObject } from '../../src/base/json.ts';
import type { Answer, RecordedRequest } from './fake-wire.ts';
import { reply } from './fake-provider.ts';

/** The maximum depth of values, because a schema can be recursive. */
const MAX_DEPTH = 4;

type Schema = Readonly<Record<string, unknown>>;

/** A value that matches a schema: the first member of each union and enum, and `items` items in each list. */
export function valueOfSchema(root: Schema, items = 2): unknown {
  const make = (schema: unknown, depth: number): unknown => {
    if (!isJsonObject(schema)) return null;
    const { $ref, anyOf, enum: values, type } = schema;
    if (typeof $ref === 'string') return make(definition(root, $ref), depth);
    if (Array.isArray(anyOf)) return make(anyOf[depth > MAX_DEPTH ? anyOf.length - 1 : 0], depth);
    if (Array.isArray(values)) return values[0];
    if (type === 'array') {
      const count = depth > MAX_DEPTH ? 0 : items;
      return Array.from({ length: count }, () => make(schema['items'], depth + 1));
    }
    if (type === 'object') return objectOf(schema, (part) => make(part, depth + 1));
    return SCALARS[String(type)] ?? null;
  };
  return make(root, 0);
}

const SCALARS: Readonly<Record<string, unknown>> = { string: 'text', integer: 7, number: 1.5, boolean: true };

function definition(root: Schema, reference: string): unknown {
  const definitions = root['$defs'];
  return isJsonObject(definitions) ? definitions[reference.replace('#/$defs/', '')] : undefined;
}

function objectOf({ properties, additionalProperties }: Schema, make: (schema: unknown) => unknown): unknown {
  const members = isJsonObject(properties) ? Object.entries(properties) : [];
  const more = isJsonObject(additionalProperties) ? [['key', additionalProperties] as const] : [];
  return Object.fromEntries([...members, ...more].map(([key, schema]) => [key, make(schema)]));
}

/** The schema in a request for a chat completion; undefined if it has none. */
export function requestedSchema(request: RecordedRequest): Schema | undefined {
  const format = member(member(member(request.json, 'response_format'), 'json_schema'), 'schema');
  return isJsonObject(format) ? format : undefined;
}

function member(value: unknown, key: string): unknown {
  return isJsonObject(value) ? value[key] : undefined;
}

/** Answers as the schema in the request requires, and with prose if there is none. */
export const honouringSchemas: Answer = (request, wire) => {
  const schema = requestedSchema(request);
  const text = schema === undefined ? 'I need a schema.' : JSON.stringify(valueOfSchema(schema));
  return reply(text)(request, wire);
};

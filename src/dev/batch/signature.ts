import { isJsonObject, ownValue, type JsonObject, OPTIONS_KEYS } from '../../base/json.ts';

/** The kinds of JSON values that a schema allows. */
export type ValueKind = 'string' | 'number' | 'boolean' | 'null' | 'list' | 'object';

export interface Signature {
  /** The kinds of values of each parameter, by its name. */
  readonly parameters: ReadonlyMap<string, ReadonlySet<ValueKind>>;
  readonly required: ReadonlySet<string>;
  /** The fields of the value if it is always an object with the same fields. */
  readonly fields?: readonly string[];
}

/**
 * Reads the signature of a function from the OpenAPI document of its program, which a server also publishes; undefined if the
 * document has no such function.
 */
export function signatureOf(openapi: JsonObject, functionName: string): Signature | undefined {
  const operation = at(openapi, 'paths', `/call/${functionName}`, 'post');
  if (operation === undefined) return undefined;
  const document = new SchemaReader(openapi);
  const request = document.resolve(at(operation, 'requestBody', 'content', 'application/json', 'schema') ?? {});
  const properties = Object.entries(objectOf(request['properties']));
  const required = Array.isArray(request['required']) ? request['required'].map(String) : [];
  const parameters = new Map(
    properties
      .filter(([name]) => !OPTIONS_KEYS.some((key) => key === name))
      .map(([name, schema]) => [name, document.kinds(schema)] as const),
  );
  const fields = document.fields(at(operation, 'responses', '200', 'content', 'application/json', 'schema') ?? {});
  return { parameters, required: new Set(required), ...(fields !== undefined && { fields }) };
}

/** The names of the functions in an OpenAPI document of svc. */
export function functionsIn(openapi: JsonObject): readonly string[] {
  return Object.keys(objectOf(openapi['paths'])).flatMap((path) => /^\/call\/(.+)$/u.exec(path)?.[1] ?? []);
}

type Schema = Readonly<Record<string, unknown>>;

class SchemaReader {
  readonly #openapi: JsonObject;

  constructor(openapi: JsonObject) {
    this.#openapi = openapi;
  }

  /** The schema behind a reference. */
  resolve(schema: Schema): Schema {
    const name = /^#\/components\/schemas\/(.+)$/u.exec(String(schema['$ref']))?.[1];
    return name === undefined ? schema : (at(this.#openapi, 'components', 'schemas', name) ?? {});
  }

  kinds(schema: unknown): ReadonlySet<ValueKind> {
    const found = new Set<ValueKind>();
    this.#collect(objectOf(schema), found, new Set());
    return found;
  }

  /** The names of the fields, unless the value can have others or be something else. */
  fields(schema: Schema): readonly string[] | undefined {
    const resolved = this.resolve(schema);
    if (resolved['type'] !== 'object' || resolved['nullable'] === true) return undefined;
    const open = resolved['additionalProperties'];
    const names = Object.keys(objectOf(resolved['properties']));
    return names.length === 0 || open === true || isJsonObject(open) ? undefined : names;
  }

  #collect(schema: Schema, found: Set<ValueKind>, seen: Set<Schema>): void {
    const resolved = this.resolve(schema);
    if (seen.has(resolved)) return;
    seen.add(resolved);
    if (schema['nullable'] === true || resolved['nullable'] === true) found.add('null');
    const kind = KINDS.get(String(resolved['type']));
    if (kind !== undefined) found.add(kind);
    for (const key of ['anyOf', 'oneOf', 'allOf']) {
      const members = resolved[key];
      if (Array.isArray(members)) for (const member of members) this.#collect(objectOf(member), found, seen);
    }
  }
}

const KINDS: ReadonlyMap<string, ValueKind> = new Map([
  ['string', 'string'],
  ['integer', 'number'],
  ['number', 'number'],
  ['boolean', 'boolean'],
  ['null', 'null'],
  ['array', 'list'],
  ['object', 'object'],
]);

/** The object at these keys; undefined if there is none. */
function at(value: Schema, ...keys: readonly string[]): Schema | undefined {
  let found: unknown = value;
  for (const key of keys) found = isJsonObject(found) ? ownValue(found, key) : undefined;
  return isJsonObject(found) ? found : undefined;
}

function objectOf(value: unknown): Schema {
  return isJsonObject(value) ? value : {};
}

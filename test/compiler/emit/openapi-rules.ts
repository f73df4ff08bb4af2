import { type JsonValue, isJsonObject } from '../../../src/base/json.ts';

/** Keywords of OpenAPI 3.1 and JSON Schema that a 3.0 document must not have. */
const FOREIGN_KEYWORDS = new Set(
  'const propertyNames patternProperties if then else prefixItems unevaluatedProperties $defs definitions $schema $id jsonSchemaDialect webhooks'.split(
    ' ',
  ),
);

interface Place {
  readonly path: string;
  readonly object: Readonly<Record<string, unknown>>;
  /** The kind of its keys: keywords of OpenAPI, names (of properties, schemas, …), or data (examples, enums). */
  readonly kind: 'keywords' | 'names';
}

const NAMED = new Set(['properties', 'schemas', 'responses', 'headers', 'paths', 'content', 'securitySchemes']);
const DATA = new Set(['example', 'examples', 'enum', 'default']);

/** Every way in which a document breaks the rules of OpenAPI 3.0.3 that generators stumble over. */
export function openApiFaults(document: JsonValue): readonly string[] {
  const places = [...walk(document, '#', 'keywords')];
  return [...places.flatMap((place) => placeFaults(place, document)), ...operationFaults(document)];
}

function* walk(value: unknown, path: string, kind: Place['kind']): Generator<Place> {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) yield* walk(item, `${path}/${at}`, 'keywords');
  }
  if (!isJsonObject(value)) return;
  yield { path, object: value, kind };
  for (const [key, member] of Object.entries(value)) {
    if (kind === 'keywords' && DATA.has(key)) continue;
    yield* walk(member, `${path}/${key}`, kind === 'keywords' && NAMED.has(key) ? 'names' : 'keywords');
  }
}

function placeFaults({ path, object, kind }: Place, document: JsonValue): readonly string[] {
  if (kind === 'names') return [];
  const faults = Object.keys(object)
    .filter((key) => FOREIGN_KEYWORDS.has(key))
    .map((key) => `${path}: "${key}" is not OpenAPI 3.0`);
  const { $ref: reference, type, nullable, enum: choices, required, properties, anyOf } = object;
  if (typeof reference === 'string') {
    if (Object.keys(object).length > 1) faults.push(`${path}: keys beside $ref are ignored`);
    if (!resolves(reference, document)) faults.push(`${path}: dangling ${reference}`);
  }
  if (Array.isArray(type) || type === 'null') faults.push(`${path}: type ${JSON.stringify(type)}`);
  if (nullable !== undefined && type === undefined) faults.push(`${path}: nullable without type`);
  if (Array.isArray(choices)) faults.push(...enumFaults(path, choices, type, nullable));
  if (Array.isArray(required) && path.includes('schema')) faults.push(...requiredFaults(path, required, properties));
  if (Array.isArray(anyOf) && new Set(anyOf.map((one) => JSON.stringify(one))).size < Math.max(2, anyOf.length)) {
    faults.push(`${path}: anyOf with equal members or a single one`);
  }
  if (type === 'array' && object['items'] === undefined) faults.push(`${path}: array without items`);
  return faults;
}

function enumFaults(path: string, choices: readonly unknown[], type: unknown, nullable: unknown): readonly string[] {
  const faults: string[] = [];
  if (choices.length === 0) faults.push(`${path}: empty enum`);
  if (new Set(choices).size < choices.length) faults.push(`${path}: equal choices`);
  for (const one of choices) {
    const fits = one === null ? nullable === true : typeof one === (type === 'integer' ? 'number' : type);
    if (!fits) faults.push(`${path}: ${JSON.stringify(one)} is not of type ${String(type)}`);
  }
  return faults;
}

function requiredFaults(path: string, required: readonly unknown[], properties: unknown): readonly string[] {
  if (required.length === 0) return [`${path}: empty required`];
  const known = isJsonObject(properties) ? Object.keys(properties) : [];
  return required
    .filter((name) => !known.includes(String(name)))
    .map((name) => `${path}: requires unknown ${String(name)}`);
}

function operationFaults(document: JsonValue): readonly string[] {
  const paths = isJsonObject(document) && isJsonObject(document['paths']) ? document['paths'] : {};
  const ids = Object.values(paths).flatMap((item) =>
    isJsonObject(item)
      ? Object.values(item).map((operation) => (isJsonObject(operation) ? operation['operationId'] : ''))
      : [],
  );
  const folded = ids.map((id) => (typeof id === 'string' ? id.toLowerCase() : ''));
  return folded.filter((id, at) => folded.indexOf(id) !== at).map((id) => `operationId ${id} is not unique`);
}

/** The target of a reference in the document. */
export function resolve(reference: string, document: JsonValue): unknown {
  let at: unknown = document;
  for (const step of reference.replace(/^#\//u, '').split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function resolves(reference: string, document: JsonValue): boolean {
  return resolve(reference, document) !== undefined;
}

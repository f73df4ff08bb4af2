import { isJsonObject } from '../../base/json.ts';
import { didYouMean } from '../../base/suggestion.ts';

/** The limit for brackets in definitions. */
export const MAX_SCHEMA_DEPTH = 64;

export type Schema = Readonly<Record<string, unknown>>;

/** Keywords that do not constrain the values. */
const ANNOTATIONS: ReadonlySet<string> = new Set(
  (
    'title description default examples example $comment $schema $id deprecated readOnly writeOnly ' +
    'contentEncoding contentMediaType discriminator externalDocs xml'
  ).split(' '),
);

/** The keywords with definitions, which only a whole schema can have. */
export const DEFINITION_KEYS = ['$defs', 'definitions', 'components'] as const;

const OF_ROOT: ReadonlySet<string> = new Set(DEFINITION_KEYS);

export function withoutDefinitions(schema: Schema): Schema {
  const { $defs: _a, definitions: _b, components: _c, ...own } = schema;
  return own;
}

const NUMBER = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'format'];

/** The keywords beside `type`, by type. */
export const BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  integer: NUMBER,
  number: NUMBER,
  boolean: [],
  null: [],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  object: ['properties', 'required', 'additionalProperties', 'propertyNames'],
};

/** The types of the language for types without parts. */
export const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'null',
};

/** Returns the keywords of a schema that are not in `allowed` and constrain its values. */
export function keywordFaults(
  schema: Schema,
  allowed: readonly string[],
): ReadonlyArray<{ readonly key: string; readonly message: string }> {
  return Object.keys(schema)
    .filter((key) => !allowed.includes(key) && !isAnnotation(key))
    .map((key) => {
      if (OF_ROOT.has(key)) return { key, message: 'is allowed only at the top of a schema' };
      const near = didYouMean(key, allowed);
      const advice = near === '' ? 'Remove it' : near;
      return { key, message: `is not supported here; allowed: ${allowed.join(', ')}. ${advice}` };
    });
}

/** Extensions of OpenAPI begin with `x-`. */
export function isAnnotation(key: string): boolean {
  return ANNOTATIONS.has(key) || key.startsWith('x-');
}

/** The formats of the strings in a schema, without those in its own classes. */
export function stringFormats(schema: unknown): readonly string[] {
  const found = new Set<string>();
  const collect = (part: unknown, depth: number): void => {
    if (!isJsonObject(part) || depth > MAX_SCHEMA_DEPTH) return;
    const { type, format } = part;
    const isString = type === 'string' || (Array.isArray(type) && type.includes('string'));
    if (isString && typeof format === 'string' && format !== '') found.add(format);
    for (const key of ['items', 'additionalProperties']) collect(part[key], depth + 1);
    for (const key of ['anyOf', 'oneOf', 'allOf']) {
      const members: unknown = part[key];
      if (Array.isArray(members)) for (const member of members) collect(member, depth + 1);
    }
  };
  collect(schema, 0);
  return [...found];
}

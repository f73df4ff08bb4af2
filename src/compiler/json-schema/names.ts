import { isJsonObject, ownValue } from '../../base/json.ts';
import { percentDecoded } from '../../base/percent-encoding.ts';
import { pathStep, type ValuePath } from '../../base/value-path.ts';
import { didYouMean } from '../../base/suggestion.ts';

/** The kind of the definition with that name, if there is one. */
export type KindOf = (name: string) => string | undefined;

/** A name in the definition language. The check of the snippet covers the first letter and reserved words. */
export const NAME = /^[A-Za-z]\w*$/u;

/** A schema that others can refer to. */
interface NamedSchema {
  readonly schema: Schema;
  readonly path: ValuePath;
  /** The name that stands for `#` in it. */
  readonly owner: string;
}

const REFERENCE = /^#\/(?:\$defs|definitions|components\/schemas)\/([^/]+)$/u;

/** The names of JSON Schemas, and the names that their types get. */
export class SchemaNames {
  readonly #kindOf: KindOf;
  readonly #schemas = new Map<string, NamedSchema>();
  readonly #types = new Map<string, string>();
  readonly #taken = new Set<string>();
  /** The type for each `$id`. */
  readonly #ids = new Map<string, string>();

  constructor(schemas: Readonly<Record<string, unknown>>, root: ValuePath, kindOf: KindOf) {
    this.#kindOf = kindOf;
    const all: (readonly [string, NamedSchema])[] = [];
    for (const [name, schema] of Object.entries(schemas)) {
      if (!isJsonObject(schema)) continue;
      const path = pathStep(root, name);
      all.push([name, { schema, path, owner: name }]);
      for (const [inner, part, at] of innerSchemas(schema, path)) {
        if (isJsonObject(part)) all.push([inner, { schema: part, path: at, owner: name }]);
      }
    }
    for (const [name, named] of all) {
      this.#taken.add(name);
      if (!this.#schemas.has(name)) this.#schemas.set(name, named);
    }
    for (const [name, { schema }] of all)
      this.identify(schema, Object.hasOwn(schemas, name) ? name : this.typeOf(name));
  }

  /** The name of the type for a definition in a schema: generators also write names that no type can have. */
  typeOf(name: string): string {
    if (/^[A-Z]\w*$/u.test(name) || this.#kindOf(name) !== undefined) return name;
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const plain = name.replaceAll(/\W/gu, '_').replace(/^[\d_]+/u, '');
    const type = this.take(plain === '' ? 'Type' : plain.charAt(0).toUpperCase() + plain.slice(1));
    this.#types.set(name, type);
    return type;
  }

  /** Returns a name that no definition has, and keeps it from others. */
  take(wanted: string): string {
    let name = wanted;
    for (let number = 2; this.#taken.has(name) || this.#kindOf(name) !== undefined; number += 1) {
      name = `${wanted}_${number}`;
    }
    this.#taken.add(name);
    return name;
  }

  /** From now on, references to the `$id` of a schema are references to this type. */
  identify({ $id }: Schema, type: string): void {
    if (typeof $id === 'string' && !this.#ids.has($id)) this.#ids.set($id, type);
  }

  /** The type that a `$ref` names; undefined if it has another form. */
  referred(reference: unknown, owner: string): string | undefined {
    if (typeof reference !== 'string') return undefined;
    if (reference === '#') return owner;
    const name = nameIn(reference);
    if (name === undefined) return this.#ids.get(reference);
    return NAME.test(name) || this.#schemas.has(name) ? this.typeOf(name) : undefined;
  }

  /** The schema behind a `$ref`, if this request has it. */
  schemaOf(reference: unknown, owner: string): NamedSchema | undefined {
    if (typeof reference !== 'string') return undefined;
    const name = reference === '#' ? owner : (nameIn(reference) ?? this.#ids.get(reference));
    return name === undefined ? undefined : this.#schemas.get(name);
  }
}

/** The definitions in a schema, with their paths. */
export function innerSchemas(schema: Schema, path: ValuePath): ReadonlyArray<readonly [string, unknown, ValuePath]> {
  const components = ownValue(schema, 'components');
  const places: ReadonlyArray<readonly [unknown, ValuePath]> = [
    [ownValue(schema, '$defs'), pathStep(path, '$defs')],
    [ownValue(schema, 'definitions'), pathStep(path, 'definitions')],
    [
      isJsonObject(components) ? ownValue(components, 'schemas') : undefined,
      pathStep(pathStep(path, 'components'), 'schemas'),
    ],
  ];
  return places.flatMap(([definitions, at]) =>
    isJsonObject(definitions)
      ? Object.entries(definitions).map(([name, part]) => [name, part, pathStep(at, name)] as const)
      : [],
  );
}

/** The name in a reference, which is a JSON pointer (RFC 6901) in a URI fragment. */
function nameIn(reference: string): string | undefined {
  const name = REFERENCE.exec(reference)?.[1];
  return name === undefined ? undefined : percentDecoded(name)?.replaceAll('~1', '/').replaceAll('~0', '~');
}

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

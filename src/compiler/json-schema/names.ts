import { isJsonObject, ownValue } from '../../base/json.ts';
import { percentDecoded } from '../../base/percent-encoding.ts';
import { pathStep, type ValuePath } from '../../base/value-path.ts';
import type { Schema } from './keywords.ts';

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

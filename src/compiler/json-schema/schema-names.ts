import { isJsonObject, ownValue } from '../../base/json.ts';
import { percentDecoded } from '../../base/percent-encoding.ts';
import { pathStep, type ValuePath } from '../../base/value-path.ts';
import { TYPE_NAMES } from '../2-check/rules/names.ts';
import type { Schema } from './bounds.ts';

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

/** A schema that defines a type. */
interface TypeSchema extends NamedSchema {
  readonly type: string;
}

const REFERENCE = /^#\/(?:\$defs|definitions|components\/schemas)\/([^/]+)$/u;

/** The names of JSON Schemas, and the names that their types get. */
export class SchemaNames {
  readonly kindOf: KindOf;
  readonly #schemas = new Map<string, NamedSchema>();
  readonly #types = new Map<string, string>();
  readonly #taken = new Set(TYPE_NAMES);
  /** The next number to try for each name. Thousands of names can differ only in characters that no type can have. */
  readonly #numbers = new Map<string, number>();
  /** The type for each `$id`. */
  readonly #ids = new Map<string, string>();
  /** The types of the parts to which JSON pointers refer. */
  readonly #pointed = new Map<Schema, TypeSchema>();
  /** The definitions inside schemas, by type, until a reference to them. */
  readonly #unused = new Map<string, TypeSchema[]>();
  /** The definitions inside schemas that have an effect: they extend a type of the definition files, or something refers to them. */
  readonly used: TypeSchema[] = [];

  constructor(schemas: Readonly<Record<string, unknown>>, root: ValuePath, kindOf: KindOf) {
    this.kindOf = kindOf;
    const all: (readonly [string, NamedSchema])[] = [];
    for (const [name, schema] of Object.entries(schemas)) {
      if (!isJsonObject(schema)) continue;
      const path = pathStep(root, name);
      all.push([name, { schema, path, owner: name }]);
      for (const [inner, part, at] of innerSchemas(schema, path))
        all.push([inner, { schema: part, path: at, owner: name }]);
    }
    for (const [name, named] of all) {
      this.#taken.add(name);
      if (!this.#schemas.has(name)) this.#schemas.set(name, named);
    }
    for (const [name, named] of all) {
      const isWhole = schemas[named.owner] === named.schema;
      const type = isWhole ? name : this.typeOf(name);
      this.identify(named.schema, type);
      if (!isWhole) this.#keep({ ...named, type });
      if (kindOf(type) !== undefined) this.#use(type);
    }
    for (const [name, schema] of Object.entries(schemas)) {
      if (isJsonObject(schema)) this.#readPointers(schema, { schema, path: pathStep(root, name), owner: name });
    }
  }

  #keep(schema: TypeSchema): void {
    const others = this.#unused.get(schema.type);
    if (others === undefined) this.#unused.set(schema.type, [schema]);
    else others.push(schema);
  }

  #use(type: string): string {
    this.used.push(...(this.#unused.get(type) ?? []));
    this.#unused.delete(type);
    return type;
  }

  /** Names the parts of a schema to which references in it point. */
  #readPointers(part: unknown, whole: NamedSchema): void {
    if (Array.isArray(part)) for (const each of part) this.#readPointers(each, whole);
    if (!isJsonObject(part)) return;
    const { $ref } = part;
    const steps = typeof $ref === 'string' && nameIn($ref) === undefined ? pointerSteps($ref) : undefined;
    const target = steps && partAt(whole, steps);
    if (target !== undefined && target.schema !== whole.schema && !this.#pointed.has(target.schema)) {
      const words = steps?.filter((step) => step !== 'properties') ?? [];
      const type = this.take([whole.owner, ...words].map(asWord).join('_'));
      this.#pointed.set(target.schema, { ...target, type });
      this.#keep({ ...target, type });
    }
    for (const each of Object.values(part)) this.#readPointers(each, whole);
  }

  /** The type of a part to which a JSON pointer refers: it is the same type in its own place. */
  pointed(schema: Schema): string | undefined {
    const type = this.#pointed.get(schema)?.type;
    return type === undefined ? undefined : this.#use(type);
  }

  /** The name of the type for a definition in a schema: generators also write names that no type can have. */
  typeOf(name: string): string {
    if ((/^[A-Z]\w*$/u.test(name) && !TYPE_NAMES.has(name)) || this.kindOf(name) !== undefined) return name;
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const plain = asWord(name).replace(/^[\d_]+/u, '');
    const type = this.take(plain === '' ? 'Type' : plain.charAt(0).toUpperCase() + plain.slice(1));
    this.#types.set(name, type);
    return type;
  }

  /** Returns a name that no definition has, and keeps it from others. */
  take(wanted: string): string {
    let number = this.#numbers.get(wanted) ?? 1;
    let name = number === 1 ? wanted : `${wanted}_${number}`;
    while (this.#taken.has(name) || this.kindOf(name) !== undefined) {
      number += 1;
      name = `${wanted}_${number}`;
    }
    this.#numbers.set(wanted, number + 1);
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
    if (name === undefined) {
      const type = this.#ids.get(reference) ?? this.#target(reference, owner)?.type;
      return type === undefined ? undefined : this.#use(type);
    }
    return NAME.test(name) || this.#schemas.has(name) ? this.#use(this.typeOf(name)) : undefined;
  }

  /** The schema behind a `$ref`, if this request has it. */
  schemaOf(reference: unknown, owner: string): NamedSchema | undefined {
    if (typeof reference !== 'string') return undefined;
    const name = reference === '#' ? owner : (nameIn(reference) ?? this.#ids.get(reference));
    return name === undefined ? this.#target(reference, owner) : this.#schemas.get(name);
  }

  #target(reference: string, owner: string): TypeSchema | undefined {
    const whole = this.#schemas.get(owner);
    const steps = pointerSteps(reference);
    const target = whole && steps && partAt(whole, steps);
    return target && this.#pointed.get(target.schema);
  }
}

/** The definitions in a schema and in its definitions, with their paths. */
function innerSchemas(schema: Schema, path: ValuePath): ReadonlyArray<readonly [string, Schema, ValuePath]> {
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
    Object.entries(isJsonObject(definitions) ? definitions : {}).flatMap(([name, part]) => {
      if (!isJsonObject(part)) return [];
      const below = pathStep(at, name);
      return [[name, part, below] as const, ...innerSchemas(part, below)];
    }),
  );
}

/** The name in a reference, which is a JSON pointer (RFC 6901) in a URI fragment. */
function nameIn(reference: string): string | undefined {
  const name = REFERENCE.exec(reference)?.[1];
  return name === undefined ? undefined : pointerStep(name);
}

/** The members to which such a reference leads, from the outermost one; undefined for other references. */
function pointerSteps(reference: string): readonly string[] | undefined {
  if (!reference.startsWith('#/')) return undefined;
  const steps = reference.slice(2).split('/').map(pointerStep);
  return steps.every((step) => step !== undefined) ? steps : undefined;
}

function pointerStep(text: string): string | undefined {
  return percentDecoded(text)?.replaceAll('~1', '/').replaceAll('~0', '~');
}

function partAt(whole: NamedSchema, steps: readonly string[]): NamedSchema | undefined {
  let part: unknown = whole.schema;
  let { path } = whole;
  for (const step of steps) {
    const isIndex = Array.isArray(part) && /^\d+$/u.test(step);
    part = isIndex || isJsonObject(part) ? ownValue(part as Schema, step) : undefined;
    path = pathStep(path, isIndex ? Number(step) : step);
  }
  return isJsonObject(part) ? { schema: part, path, owner: whole.owner } : undefined;
}

/** A part of a name in the definition language. */
export function asWord(text: string): string {
  return text.replaceAll(/\W/gu, '_');
}

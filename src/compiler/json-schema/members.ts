import { canonicalJson, isJsonObject } from '../../base/json.ts';
import { pathStep, pathText, type ValuePath } from '../../base/value-path.ts';
import { isAnnotation, keywordFaults, MAX_SCHEMA_DEPTH, withoutDefinitions, type Schema } from './keywords.ts';
import type { SchemaNames } from './names.ts';
import type { ViolationList } from '../../schema/violation.ts';

/** Twice the fields that a snippet can have: this bounds what schemas that repeat each other add up to. */
const MAX_PROPERTIES = 1_000;

interface Property {
  readonly key: string;
  readonly schema: unknown;
  readonly path: ValuePath;
  required: boolean;
}

const KEYWORDS = ['type', 'properties', 'required', 'additionalProperties', 'allOf'];

/** Reads the properties of classes, also those that `allOf` merges. */
export class SchemaMembers {
  readonly #names: SchemaNames;
  readonly #faults: ViolationList;
  #read = 0;

  constructor(names: SchemaNames, faults: ViolationList) {
    this.#names = names;
    this.#faults = faults;
  }

  /** The properties of a schema; those of `allOf` come first. `owner`: the type that `#` denotes. */
  of(schema: Schema, path: ValuePath, owner: string): readonly Property[] {
    const reader = new MemberReader(this.#names, this.#faults, () => {
      this.#read += 1;
      return this.#read <= MAX_PROPERTIES;
    });
    reader.read(schema, path, owner);
    return reader.finish();
  }
}

class MemberReader {
  readonly #names: SchemaNames;
  readonly #faults: ViolationList;
  readonly #count: () => boolean;
  readonly #properties = new Map<string, Property>();
  readonly #required: (readonly [unknown, ValuePath])[] = [];
  /** The schemas that were read by reference. */
  readonly #seen = new Set<Schema>();

  constructor(names: SchemaNames, faults: ViolationList, count: () => boolean) {
    this.#names = names;
    this.#faults = faults;
    this.#count = count;
  }

  read(schema: unknown, path: ValuePath, owner: string): void {
    if (!isJsonObject(schema)) return this.#fault(path, 'has to be a JSON Schema: an object');
    if (path.depth > MAX_SCHEMA_DEPTH || this.#seen.size > MAX_SCHEMA_DEPTH) {
      return this.#fault(path, `is nested deeper than ${MAX_SCHEMA_DEPTH} levels`);
    }
    if (schema['$ref'] !== undefined) return this.#readReferred(schema, path, owner);
    if (schema['type'] !== undefined && schema['type'] !== 'object') {
      return this.#fault(pathStep(path, 'type'), 'has to be "object", because it describes a class');
    }
    for (const { key, message } of keywordFaults(withoutDefinitions(schema), KEYWORDS))
      this.#fault(pathStep(path, key), message);
    if (schema['additionalProperties'] !== undefined && schema['additionalProperties'] !== false) {
      this.#fault(
        pathStep(path, 'additionalProperties'),
        'has to be false beside "properties": a class has no other fields',
      );
    }
    this.#readAll(schema['allOf'], pathStep(path, 'allOf'), owner);
    this.#readProperties(schema['properties'] ?? {}, pathStep(path, 'properties'));
    this.#readRequired(schema['required'] ?? [], pathStep(path, 'required'));
  }

  finish(): readonly Property[] {
    for (const [name, path] of this.#required) {
      const property = typeof name === 'string' ? this.#properties.get(name) : undefined;
      if (property === undefined) this.#fault(path, 'has to be the name of one of the "properties"');
      else property.required = true;
    }
    return [...this.#properties.values()];
  }

  #readReferred(schema: Schema, path: ValuePath, owner: string): void {
    for (const { key, message } of keywordFaults(schema, ['$ref'])) this.#fault(pathStep(path, key), message);
    const named = this.#names.schemaOf(schema['$ref'], owner);
    if (named === undefined) {
      this.#fault(
        pathStep(path, '$ref'),
        'has to name a schema in this "json_schema", because its properties are merged',
      );
    } else if (!this.#seen.has(named.schema)) {
      this.#seen.add(named.schema);
      this.read(withoutDefinitions(named.schema), named.path, named.owner);
    }
  }

  #readAll(parts: unknown, path: ValuePath, owner: string): void {
    if (parts === undefined) return;
    if (!Array.isArray(parts) || parts.length === 0) {
      return this.#fault(path, 'has to be a list with at least one entry');
    }
    for (const [index, part] of parts.entries()) this.read(part, pathStep(path, index), owner);
  }

  #readProperties(properties: unknown, at: ValuePath): void {
    if (!isJsonObject(properties)) return this.#fault(at, 'has to be an object');
    for (const [key, schema] of Object.entries(properties)) {
      const path = pathStep(at, key);
      if (!this.#count()) return this.#fault(path, 'is one of more than 500 fields');
      const known = this.#properties.get(key);
      if (known === undefined) this.#properties.set(key, { key, schema, path, required: false });
      else if (canonicalJson(known.schema) !== canonicalJson(schema)) {
        this.#fault(path, `differs from ${pathText(known.path)}, and "allOf" cannot merge them`);
      }
    }
  }

  #readRequired(required: unknown, at: ValuePath): void {
    if (!Array.isArray(required)) return this.#fault(at, 'has to be a list');
    for (const [index, name] of required.entries()) this.#required.push([name, pathStep(at, index)]);
  }

  #fault(path: ValuePath, message: string): void {
    this.#faults.add({ path: pathText(path), message });
  }
}

/** True for a schema whose properties become a class: it has some of its own, or merges schemas. */
export function isClass(schema: Schema): boolean {
  const { type, properties, allOf } = schema;
  if (properties !== undefined) return type === undefined || type === 'object';
  return allOf !== undefined && onlyPart(schema) === undefined;
}

/** The one element of an `allOf` without other keywords: generators write it to describe a reference. */
export function onlyPart({ allOf, ...more }: Schema): unknown {
  if (!Array.isArray(allOf) || allOf.length !== 1) return undefined;
  return Object.keys(more).every((key) => isAnnotation(key)) ? (allOf[0] as unknown) : undefined;
}

import { isJsonObject, canonicalJson } from '../../base/json.ts';
import { pathStep, type ValuePath, pathText } from '../../base/value-path.ts';
import { didYouMean } from '../../base/suggestion.ts';
import { boundsOf, type Schema } from './bounds.ts';
import { asWord, NAME, SchemaNames, type KindOf } from './schema-names.ts';
import type { KeywordsOfAsserts } from '../compile-options.ts';
import type { ViolationList } from '../../schema/violation.ts';

/** The limit for brackets in definitions. */
const MAX_SCHEMA_DEPTH = 64;

/** Keywords that do not constrain the values. */
const ANNOTATIONS: ReadonlySet<string> = new Set(
  (
    'title description default examples example $comment $schema $id deprecated readOnly writeOnly ' +
    'format contentEncoding contentMediaType discriminator externalDocs xml'
  ).split(' '),
);

/** The keywords with definitions, which only a whole schema can have. */
const DEFINITION_KEYS = ['$defs', 'definitions', 'components'] as const;

const OF_ROOT: ReadonlySet<string> = new Set(DEFINITION_KEYS);

function withoutDefinitions(schema: Schema): Schema {
  const { $defs: _a, definitions: _b, components: _c, ...own } = schema;
  return own;
}

const NUMBER = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];

/** The keywords beside `type`, by type. */
const BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern'],
  integer: NUMBER,
  number: NUMBER,
  boolean: [],
  null: [],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  object: ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
};

/** The types that a reference can give further bounds, as effect does. */
const BOUNDED: ReadonlySet<string> = new Set(['string', 'integer', 'number']);

/** The types of the language for types without parts. */
const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'null',
};

/** Reports the keywords of a schema that are not in `allowed` and constrain its values. */
function checkKeywords(schema: Schema, allowed: readonly string[], path: ValuePath, faults: ViolationList): void {
  for (const key of Object.keys(schema)) {
    if (allowed.includes(key) || isAnnotation(key)) continue;
    const advice = didYouMean(key, allowed) || 'Remove it';
    const message = OF_ROOT.has(key)
      ? 'is allowed only at the top of a schema'
      : `is not supported here; allowed: ${allowed.join(', ')}. ${advice}`;
    faults.add({ path: pathText(pathStep(path, key)), message });
  }
}

/** Extensions of OpenAPI begin with `x-`. */
function isAnnotation(key: string): boolean {
  return ANNOTATIONS.has(key) || key.startsWith('x-');
}

/** The formats of the strings in a schema, without those in its own classes. */
function stringFormats(schema: unknown): readonly string[] {
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

/** Definitions as a request sends them. */
export interface Snippet {
  readonly text: string;
  /** The origin of each line of the text, if it comes from JSON Schemas. */
  readonly lines?: readonly SnippetLine[];
  /** The keywords of JSON Schema behind asserts, by label and expression. */
  readonly keywords?: KeywordsOfAsserts;
}

export interface SnippetLine {
  /** The path of the JSON Schema. */
  readonly path: string;
  /** The name of the field in this line: that of the property, which can be any string. The text has a placeholder. */
  readonly property?: string;
}

/**
 * Writes named JSON Schemas as a snippet of definitions: the schema of a defined class or enum extends it, and each other one
 * defines a type. Reports every part that the language cannot express, with its path below `json_schema`; after a report, the
 * snippet is incomplete.
 */
export function writeSnippet(schemas: unknown, kindOf: KindOf, faults: ViolationList): Snippet {
  const root = pathStep(undefined, 'json_schema');
  if (!isJsonObject(schemas)) {
    faults.add({ path: pathText(root), message: 'has to be an object that maps names of types to JSON Schemas' });
    return { text: '' };
  }
  const names = new SchemaNames(schemas, root, kindOf);
  const writer = new SnippetWriter(names, faults);
  for (const [name, schema] of Object.entries(schemas))
    writer.definition(name, schema, { path: pathStep(root, name), owner: name });
  // Each one can use further ones. Not recursive: a chain of definitions can be longer than the stack is deep.
  for (const { type, schema, path, owner } of names.used) writer.definition(type, schema, { path, owner });
  return { text: writer.texts.join('\n'), lines: writer.lines, keywords: writer.keywords };
}

interface Place {
  readonly path: ValuePath;
  /** The type that `#` denotes. */
  readonly owner: string;
  /** The name for a class that is defined here. */
  readonly name: string;
}

/** A type as text. */
interface WrittenType {
  readonly text: string;
  readonly nullable: boolean;
}

/** A field of a class, with its type as text. */
interface Field {
  readonly key: string;
  readonly text: string;
  readonly path: ValuePath;
}

/** The name of every field in the text. */
const PLACEHOLDER = 'x';

const UNREADABLE: WrittenType = { text: 'string', nullable: true };

class SnippetWriter {
  readonly texts: string[] = [];
  readonly lines: SnippetLine[] = [];
  readonly keywords = new Map<string, Readonly<Record<string, string | number | boolean>>>();
  readonly #names: SchemaNames;
  readonly #faults: ViolationList;
  /** Of all classes together. */
  readonly #budget = { properties: MAX_PROPERTIES };
  /** The schema of each name, as canonical JSON. */
  readonly #known = new Map<string, string>();

  constructor(names: SchemaNames, faults: ViolationList) {
    this.#names = names;
    this.#faults = faults;
  }

  definition(name: string, schema: unknown, { path, owner }: Omit<Place, 'name'>): void {
    if (!NAME.test(name)) {
      this.#fault(path, 'is not a name: names consist of letters, digits and "_", and begin with a letter');
      return;
    }
    if (!isJsonObject(schema)) {
      this.#fault(path, 'has to be a JSON Schema: an object');
      return;
    }
    if (this.#isRepeated(name, schema, path)) return;
    this.#checkDefinitions(schema, path);
    const rest = withoutDefinitions(schema);
    const place = { path, owner, name };
    const kind = this.#names.kindOf(name);
    if (kind === 'enum') this.#enum(rest, place);
    else if (kind === 'class' || isClass(rest)) this.#class(rest, place, kind === 'class');
    else {
      const { text } = this.#type(rest, place);
      this.#line(`type ${name} = ${text}`, path);
    }
  }

  /** Generated schemas repeat the definitions that they share. */
  #isRepeated(name: string, schema: Schema, path: ValuePath): boolean {
    const json = canonicalJson(schema);
    const known = this.#known.get(name);
    if (known === undefined) {
      this.#known.set(name, json);
      return false;
    }
    if (known !== json) this.#fault(path, `differs from another schema with the name "${name}"`);
    return true;
  }

  #checkDefinitions(schema: Schema, path: ValuePath): void {
    for (const key of DEFINITION_KEYS) {
      if (schema[key] !== undefined && !isJsonObject(schema[key])) {
        this.#fault(pathStep(path, key), 'has to be an object that maps names of types to JSON Schemas');
      }
    }
  }

  #enum(schema: Schema, { path, name }: Place): void {
    this.#checkKeywords(schema, ['type', 'enum'], path);
    if (schema['type'] !== undefined && schema['type'] !== 'string')
      this.#fault(pathStep(path, 'type'), 'has to be "string"');
    const values = this.#list(schema['enum'], pathStep(path, 'enum'));
    this.#line(`dynamic enum ${name} {`, path);
    for (const [index, value] of values.entries()) {
      const at = pathStep(pathStep(path, 'enum'), index);
      if (typeof value === 'string' && NAME.test(value)) this.#line(`  ${value}`, at);
      else this.#fault(at, `is not a name, but the values of the enum "${name}" are names`);
    }
    this.#line('}', path);
  }

  #class(schema: Schema, { path, owner, name }: Place, extended: boolean): void {
    const { description } = schema;
    const reader = new MemberReader(this.#names, this.#faults, this.#budget);
    reader.read(schema, path, owner);
    const fields = reader.finish().map((property): Field => {
      const place = { path: property.path, owner, name: `${name}_${asWord(property.key)}` };
      return { key: property.key, text: this.#fieldType(property, place), path: property.path };
    });
    // A definition has one description. Classes inside it are complete by now.
    const isDescribed = !extended && description !== undefined;
    this.#writeClass(name, path, fields, {
      keyword: extended ? 'dynamic class' : 'class',
      ...(isDescribed && { attribute: this.#description(description, path) }),
    });
  }

  #writeClass(
    name: string,
    path: ValuePath,
    fields: readonly Field[],
    { keyword, attribute }: { readonly keyword: string; readonly attribute?: string },
  ): void {
    this.#line(`${keyword} ${name} {`, path);
    if (attribute !== undefined) this.#line(`  @${attribute}`, path);
    for (const { key, text, path: at } of fields) {
      if (key === '' || /[\p{Cc}\u2028\u2029]/u.test(key)) {
        this.#fault(at, 'is the name of a property that no prompt can contain: it is empty or has control characters');
      } else this.#line(`  ${PLACEHOLDER} ${text}`, at, key);
    }
    this.#line('}', path);
  }

  #fieldType({ schema, required }: Property, place: Place): string {
    const { text, nullable } = this.#type(schema, place);
    const optional = required || nullable ? '' : '?';
    const description = isJsonObject(schema) ? schema['description'] : undefined;
    const about = withFormats(description, stringFormats(schema));
    const attribute = about === undefined ? '' : ` ${this.#description(about, place.path)}`;
    return `${text}${optional}${attribute}`;
  }

  #description(text: unknown, path: ValuePath): string {
    if (typeof text !== 'string') this.#fault(pathStep(path, 'description'), 'has to be a string');
    return `@description(${attributeString(String(text))})`;
  }

  #type(schema: unknown, place: Place): WrittenType {
    const { path } = place;
    if (!isJsonObject(schema)) return this.#unreadable(path, 'has to be a JSON Schema: an object');
    if (path.depth > MAX_SCHEMA_DEPTH)
      return this.#unreadable(path, `is nested deeper than ${MAX_SCHEMA_DEPTH} levels`);
    const shared = this.#names.pointed(schema);
    if (shared !== undefined) return { text: shared, nullable: false };
    const { nullable, ...rest } = schema;
    if (nullable !== undefined && typeof nullable !== 'boolean') {
      return this.#unreadable(pathStep(path, 'nullable'), 'has to be true or false');
    }
    const written = this.#shape(rest, place);
    return nullable === true && !written.nullable ? { text: `${written.text}?`, nullable: true } : written;
  }

  #shape(schema: Schema, place: Place): WrittenType {
    const { path } = place;
    if (schema['$ref'] !== undefined) return this.#reference(schema, place);
    if (schema['const'] !== undefined) {
      this.#checkKeywords(schema, ['const', 'type'], path);
      return this.#literals([schema['const']], [pathStep(path, 'const')]);
    }
    if (schema['enum'] !== undefined) {
      this.#checkKeywords(schema, ['enum', 'type'], path);
      const at = pathStep(path, 'enum');
      const values = this.#list(schema['enum'], at);
      return this.#literals(
        values,
        values.map((_, index) => pathStep(at, index)),
      );
    }
    const only = onlyPart(schema);
    if (only !== undefined) return this.#type(only, { ...place, path: pathStep(pathStep(path, 'allOf'), 0) });
    if (schema['allOf'] !== undefined) return this.#newClass(schema, place);
    const union = schema['anyOf'] === undefined ? 'oneOf' : 'anyOf';
    if (schema[union] !== undefined) {
      this.#checkKeywords(schema, [union], path);
      const at = pathStep(path, union);
      const members = this.#list(schema[union], at).map((member, index) =>
        this.#type(member, { ...place, path: pathStep(at, index), name: `${place.name}_${index + 1}` }),
      );
      return unionOf(members);
    }
    const { type } = schema;
    if (!Array.isArray(type)) return this.#ofType(type, schema, place);
    const types: readonly unknown[] = type;
    if (types.length === 0) return this.#unreadable(pathStep(path, 'type'), 'contains no type');
    const allowed = types.flatMap((each) => BY_TYPE[String(each)] ?? []);
    this.#checkKeywords(schema, ['type', ...allowed], path);
    return unionOf(
      types.map((each) => {
        const own = new Set([...(BY_TYPE[String(each)] ?? []), 'type']);
        const part = Object.fromEntries(Object.entries(schema).filter(([key]) => own.has(key)));
        return this.#ofType(each, part, place);
      }),
    );
  }

  #ofType(type: unknown, schema: Schema, place: Place): WrittenType {
    const { path } = place;
    const implied = type ?? (schema['properties'] === undefined ? undefined : 'object');
    if (implied === undefined) {
      this.#checkKeywords(schema, ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref', 'nullable'], path);
      return this.#unreadable(
        path,
        'needs "type", "enum", "const", "anyOf", "oneOf", "allOf" or "$ref": svc has no type for arbitrary values',
      );
    }
    const keywords = typeof implied === 'string' && Object.hasOwn(BY_TYPE, implied) ? BY_TYPE[implied] : undefined;
    if (typeof implied !== 'string' || keywords === undefined) {
      return this.#unreadable(pathStep(path, 'type'), `has to be one of ${Object.keys(BY_TYPE).join(', ')}`);
    }
    if (implied === 'object') return this.#object(schema, place);
    this.#checkKeywords(schema, ['type', ...keywords], path);
    if (implied === 'array') {
      if (schema['items'] === undefined) return this.#unreadable(path, 'needs "items", the type of its elements');
      if (Array.isArray(schema['items'])) {
        const advice = 'svc has no tuples. Use an object with a property for each position';
        return this.#unreadable(pathStep(path, 'items'), `has a type for each position: ${advice}`);
      }
      const { text } = this.#type(schema['items'], {
        ...place,
        path: pathStep(path, 'items'),
        name: `${place.name}_item`,
      });
      return { text: this.#bounded(`${grouped(text)}[]`, 'array', schema, path), nullable: false };
    }
    const text = this.#bounded(SCALARS[implied] ?? '', implied, schema, path);
    return { text, nullable: implied === 'null' };
  }

  /** A type with an assert for each bound. */
  #bounded(text: string, type: string, schema: Schema, path: ValuePath): string {
    const asserts: string[] = [];
    for (const bound of boundsOf(type, schema)) {
      if ('fault' in bound) this.#fault(pathStep(path, bound.key), bound.fault);
      else {
        asserts.push(` @assert(${bound.key}, {{ ${bound.condition} }})`);
        this.keywords.set(`${bound.key} ${bound.condition}`, bound.keyword);
      }
    }
    return asserts.length === 0 ? text : `(${text}${asserts.join('')})`;
  }

  #newClass(schema: Schema, place: Place): WrittenType {
    const name = this.#names.take(place.name);
    this.#names.identify(schema, name);
    this.#class(schema, { ...place, name }, false);
    return { text: name, nullable: false };
  }

  #object(schema: Schema, place: Place): WrittenType {
    const { path } = place;
    if (isClass(schema)) return this.#newClass(schema, place);
    this.#checkKeywords(schema, ['type', ...(BY_TYPE['object'] ?? [])], path);
    const values = this.#valuesOf(schema, path);
    if (values === undefined) return UNREADABLE;
    const { text } = this.#type(values.schema, { ...place, path: values.path, name: `${place.name}_value` });
    const names = schema['propertyNames'];
    const keys = this.#keysOf(names, place);
    const required = this.#requiredKeys(schema, path, new Set(keys));
    if (keys === undefined) return { text: `map<string, ${text}>`, nullable: false };
    if (required.size > 0) return this.#record(keys, required, text, { ...place, path: values.path });
    const at = pathStep(path, 'propertyNames');
    const paths = keys.map(() => at);
    const isNamed = isJsonObject(names) && names['$ref'] !== undefined;
    const key = isNamed ? this.#reference(names, { ...place, path: at }) : this.#literals(keys, paths);
    return { text: `map<${key.text}, ${text}>`, nullable: false };
  }

  #requiredKeys(schema: Schema, path: ValuePath, keys: ReadonlySet<string>): ReadonlySet<unknown> {
    const required = schema['required'] ?? [];
    const names: readonly unknown[] = Array.isArray(required) ? required : [required];
    for (const [index, name] of names.entries()) {
      if (typeof name === 'string' && keys.has(name)) continue;
      const at = pathStep(pathStep(path, 'required'), index);
      this.#fault(at, 'has to be in the "enum" of "propertyNames", which lists the keys');
    }
    return new Set(names);
  }

  /** A class for a map with required keys. `path`: of the schema of its values. */
  #record(keys: readonly string[], required: ReadonlySet<unknown>, text: string, place: Place): WrittenType {
    // Many records can share their keys, and all fields repeat the type.
    this.#budget.properties -= Math.ceil(keys.length * (1 + text.length / MAX_PROPERTIES));
    if (this.#budget.properties < 0) return this.#unreadable(place.path, 'is the type of one of more than 500 fields');
    const name = this.#names.take(place.name);
    const { path } = place;
    const fields = keys.map((key) => ({ key, text: required.has(key) ? text : `${text}?`, path }));
    this.#writeClass(name, path, fields, { keyword: 'class' });
    return { text: name, nullable: false };
  }

  /** The schema of the values of a map. */
  #valuesOf(schema: Schema, path: ValuePath): { readonly schema: unknown; readonly path: ValuePath } | undefined {
    const patterns = schema['patternProperties'];
    const at = pathStep(path, 'patternProperties');
    if (patterns !== undefined) {
      const [[pattern, values] = [], ...others] = isJsonObject(patterns) ? Object.entries(patterns) : [];
      if (
        pattern !== undefined &&
        others.length === 0 &&
        ANY_NAME.has(pattern) &&
        !isSchema(schema['additionalProperties'])
      ) {
        return { schema: values, path: pathStep(at, pattern) };
      }
      this.#fault(at, 'has to contain only "^.*$", the pattern of every name, because keys of maps are any strings');
    } else if (isSchema(schema['additionalProperties'])) {
      return { schema: schema['additionalProperties'], path: pathStep(path, 'additionalProperties') };
    } else this.#fault(path, 'needs "properties", or the schema of its values as "additionalProperties"');
    return undefined;
  }

  /** The keys that `propertyNames` lists; undefined for any strings. */
  #keysOf(names: unknown, { path, owner }: Place): readonly string[] | undefined {
    const named = isJsonObject(names) ? this.#names.schemaOf(names['$ref'], owner)?.schema : undefined;
    const schema = named ?? names ?? {};
    const { type, enum: values, const: value, ...others } = isJsonObject(schema) ? schema : { type: schema };
    const keys: unknown = value === undefined ? values : [value];
    const isPlain = (type === undefined || type === 'string') && Object.keys(others).every((key) => isAnnotation(key));
    if (isPlain && keys === undefined) return undefined;
    if (isPlain && Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'string')) {
      return [...new Set(keys)];
    }
    this.#fault(
      pathStep(path, 'propertyNames'),
      'has to be {"type": "string"}, or list the keys as an "enum": other keys of maps are any strings',
    );
    return undefined;
  }

  #reference(schema: Schema, { path, owner }: Place): WrittenType {
    const type = this.#names.schemaOf(schema['$ref'], owner)?.schema['type'];
    const bounds = typeof type === 'string' && BOUNDED.has(type) ? (BY_TYPE[type] ?? []) : [];
    this.#checkKeywords(schema, ['$ref', ...bounds], path);
    const name = this.#names.referred(schema['$ref'], owner);
    if (name !== undefined) return { text: this.#bounded(name, String(type), schema, path), nullable: false };
    return this.#unreadable(
      pathStep(path, '$ref'),
      'has to be "#", "#/$defs/" and the name of a type, or the JSON pointer of a part of this schema',
    );
  }

  #literals(values: readonly unknown[], paths: readonly ValuePath[]): WrittenType {
    const members = values.map((value, index): WrittenType => {
      const path = paths[index];
      if (value === null) return { text: 'null', nullable: true };
      if (typeof value === 'boolean' || (typeof value === 'number' && Number.isSafeInteger(value))) {
        return { text: String(value), nullable: false };
      }
      if (typeof value === 'number')
        return this.#unreadable(path, 'is a number with a fraction, which cannot be a literal');
      if (typeof value !== 'string') return this.#unreadable(path, 'has to be a string, an integer, a boolean or null');
      // In the language, these characters end a literal string.
      if (/[\\\p{Cc}\u2028\u2029]/u.test(value)) {
        return this.#unreadable(path, 'contains a backslash or a control character, which a literal cannot contain');
      }
      return { text: `"${value.replaceAll('"', '\\"')}"`, nullable: false };
    });
    return unionOf(members);
  }

  #list(value: unknown, path: ValuePath): readonly unknown[] {
    if (Array.isArray(value) && value.length > 0) return value;
    this.#fault(path, 'has to be a list with at least one entry');
    return [];
  }

  #checkKeywords(schema: Schema, allowed: readonly string[], path: ValuePath): void {
    checkKeywords(schema, allowed, path, this.#faults);
  }

  #unreadable(path: ValuePath | undefined, message: string): WrittenType {
    this.#fault(path, message);
    return UNREADABLE;
  }

  #line(text: string, path: ValuePath, property?: string): void {
    this.texts.push(text);
    this.lines.push({ path: pathText(path), ...(property !== undefined && { property }) });
  }

  #fault(path: ValuePath | undefined, message: string): void {
    this.#faults.add({ path: pathText(path), message });
  }
}

/** A description that names the formats. One that is not a string stays as it is. */
function withFormats(description: unknown, formats: readonly string[]): unknown {
  if (formats.length === 0) return description;
  const hint = `format: ${formats.join(' or ')}`;
  if (description === undefined || description === '') return hint;
  return typeof description === 'string' ? `${description} (${hint})` : description;
}

function unionOf(members: readonly WrittenType[]): WrittenType {
  const texts = new Set(members.map(({ text }) => text));
  const nullable = members.some((member) => member.nullable);
  const [only] = texts;
  if (texts.size === 1 && only !== undefined) return { text: only, nullable };
  return { text: `(${[...texts].join(' | ')})`, nullable };
}

/** Puts a type in parentheses before brackets. */
function grouped(text: string): string {
  return /^\w+$/u.test(text) ? text : `(${text})`;
}

const ESCAPES = new Map([
  ['\\', '\\\\'],
  ['"', '\\"'],
  ['\n', '\\n'],
  ['\t', '\\t'],
]);

/** An attribute's string on one line. */
function attributeString(text: string): string {
  return `"${text.replace(/[\\"\p{Cc}\u2028\u2029]/gu, (character) => ESCAPES.get(character) ?? ' ')}"`;
}

/** Twice the fields that a snippet can have: this bounds what schemas that repeat each other add up to. */
const MAX_PROPERTIES = 1_000;

interface Property {
  readonly key: string;
  readonly schema: unknown;
  readonly path: ValuePath;
  required: boolean;
}

const KEYWORDS = ['type', 'properties', 'required', 'additionalProperties', 'allOf'];

/** Reads the properties of a class, also those that `allOf` merges: the latter come first. */
class MemberReader {
  readonly #names: SchemaNames;
  readonly #faults: ViolationList;
  readonly #budget: { properties: number };
  readonly #properties = new Map<string, Property>();
  readonly #required: (readonly [unknown, ValuePath])[] = [];
  /** The schemas that were read by reference. */
  readonly #seen = new Set<Schema>();

  constructor(names: SchemaNames, faults: ViolationList, budget: { properties: number }) {
    this.#names = names;
    this.#faults = faults;
    this.#budget = budget;
  }

  /** `owner`: the type that `#` denotes. */
  read(schema: unknown, path: ValuePath, owner: string): void {
    if (!isJsonObject(schema)) return this.#fault(path, 'has to be a JSON Schema: an object');
    if (path.depth > MAX_SCHEMA_DEPTH || this.#seen.size > MAX_SCHEMA_DEPTH) {
      return this.#fault(path, `is nested deeper than ${MAX_SCHEMA_DEPTH} levels`);
    }
    if (schema['$ref'] !== undefined) return this.#readReferred(schema, path, owner);
    if (schema['type'] !== undefined && schema['type'] !== 'object') {
      return this.#fault(pathStep(path, 'type'), 'has to be "object", because it describes a class');
    }
    checkKeywords(withoutDefinitions(schema), KEYWORDS, path, this.#faults);
    if (isSchema(schema['additionalProperties'])) {
      this.#fault(
        pathStep(path, 'additionalProperties'),
        'has to be absent, true or false beside "properties": a class has no fields with other names',
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
    checkKeywords(schema, ['$ref'], path, this.#faults);
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
      this.#budget.properties -= 1;
      if (this.#budget.properties < 0) return this.#fault(path, 'is one of more than 500 fields');
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
function isClass(schema: Schema): boolean {
  const { type, properties, allOf } = schema;
  if (properties !== undefined) return (type === undefined || type === 'object') && !isMap(schema);
  return allOf !== undefined && onlyPart(schema) === undefined;
}

/** True for a schema that allows properties, but names none: an empty class would lose them. */
function isMap({ properties, additionalProperties, patternProperties }: Schema): boolean {
  const isEmpty = isJsonObject(properties) && Object.keys(properties).length === 0;
  return isEmpty && (patternProperties !== undefined || (additionalProperties ?? false) !== false);
}

/** The patterns that libraries write for any name. */
const ANY_NAME: ReadonlySet<string> = new Set(['', '.*', '^.*', '.*$', '^.*$', '^(.*)$', '^']);

/** True for `additionalProperties` that describe values: `true` and `{}` only allow them, as if the keyword were absent. */
function isSchema(additional: unknown): boolean {
  if (additional === undefined || typeof additional === 'boolean') return false;
  return !isJsonObject(additional) || Object.keys(additional).some((key) => !isAnnotation(key));
}

/** The one element of an `allOf` without other keywords: generators write it to describe a reference. */
function onlyPart({ allOf, ...more }: Schema): unknown {
  if (!Array.isArray(allOf) || allOf.length !== 1) return undefined;
  return Object.keys(more).every((key) => isAnnotation(key)) ? (allOf[0] as unknown) : undefined;
}

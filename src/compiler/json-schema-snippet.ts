import { canonicalJson, isJsonObject, ownValue } from '../base/json.ts';
import { pathStep, pathText, type ValuePath } from '../base/value-path.ts';
import { BY_TYPE, keywordFaults, SCALARS, type Schema } from './json-schema-keywords.ts';
import type { ViolationList } from '../schema/violation.ts';

/** Definitions as a request sends them. */
export interface Snippet {
  readonly text: string;
  /** The path of the JSON Schema behind each line of the text, if it comes from JSON Schemas. */
  readonly paths?: readonly string[];
}

/** The kind of the definition with that name, if there is one. */
export type KindOf = (name: string) => string | undefined;

/** The limit for brackets in definitions. */
const MAX_DEPTH = 64;

/** A name in the definition language. The check of the snippet covers the first letter and reserved words. */
const NAME = /^[A-Za-z]\w*$/u;

/**
 * Writes named JSON Schemas as a snippet of definitions: the schema of a defined class or enum extends it, and each other one
 * defines a type. Reports every part that the language cannot express, with its path below `json_schema`; after a report, the
 * snippet is incomplete.
 */
export function writeSnippet(schemas: unknown, kindOf: KindOf, faults: ViolationList): Snippet {
  const writer = new SnippetWriter(kindOf, faults);
  writer.write(schemas);
  return { text: writer.lines.join('\n'), paths: writer.paths };
}

interface Place {
  readonly path: ValuePath;
  /** The definition around it. */
  readonly owner: string;
  /** The name for a class that is defined here. */
  readonly name: string;
}

/** A type as text. */
interface WrittenType {
  readonly text: string;
  readonly nullable: boolean;
}

const UNREADABLE: WrittenType = { text: 'string', nullable: true };

class SnippetWriter {
  readonly lines: string[] = [];
  readonly paths: string[] = [];
  readonly #kindOf: KindOf;
  readonly #faults: ViolationList;
  /** The schema of each name, as canonical JSON. */
  readonly #known = new Map<string, string>();

  constructor(kindOf: KindOf, faults: ViolationList) {
    this.#kindOf = kindOf;
    this.#faults = faults;
  }

  write(schemas: unknown): void {
    const root = pathStep(undefined, 'json_schema');
    if (!isJsonObject(schemas)) {
      this.#fault(root, 'has to be an object that maps names of types to JSON Schemas');
      return;
    }
    for (const [name, schema] of Object.entries(schemas)) this.#definition(name, schema, pathStep(root, name));
  }

  #definition(name: string, schema: unknown, path: ValuePath): void {
    if (!NAME.test(name)) {
      this.#fault(path, 'is not a name: names consist of letters, digits and "_", and begin with a letter');
      return;
    }
    if (!isJsonObject(schema)) {
      this.#fault(path, 'has to be a JSON Schema: an object');
      return;
    }
    if (this.#isRepeated(name, schema, path)) return;
    for (const key of ['$defs', 'definitions']) this.#inner(ownValue(schema, key), pathStep(path, key));
    const { $schema: _a, $id: _b, $defs: _c, definitions: _d, ...rest } = schema;
    const place = { path, owner: name, name };
    const kind = this.#kindOf(name);
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

  #inner(definitions: unknown, path: ValuePath): void {
    if (definitions === undefined) return;
    if (!isJsonObject(definitions)) {
      this.#fault(path, 'has to be an object that maps names of types to JSON Schemas');
      return;
    }
    for (const [name, schema] of Object.entries(definitions)) this.#definition(name, schema, pathStep(path, name));
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

  #class(schema: Schema, { path, name }: Place, extended: boolean): void {
    if (schema['type'] !== undefined && schema['type'] !== 'object') {
      this.#fault(pathStep(path, 'type'), `has to be "object": "${name}" is a class`);
      return;
    }
    this.#checkKeywords(schema, ['type', ...(BY_TYPE['object'] ?? [])], path);
    if (schema['additionalProperties'] !== undefined && schema['additionalProperties'] !== false) {
      this.#fault(
        pathStep(path, 'additionalProperties'),
        'has to be false beside "properties": a class has no other fields',
      );
    }
    const { description, properties = {} } = schema;
    const body: (readonly [string, ValuePath])[] = [];
    // A definition has one description.
    if (!extended && description !== undefined) body.push([`  @${this.#description(description, path)}`, path]);
    const at = pathStep(path, 'properties');
    if (!isJsonObject(properties)) this.#fault(at, 'has to be an object');
    const required = this.#required(schema, path);
    for (const [key, property] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const place = { path: pathStep(at, key), owner: name, name: `${name}_${key}` };
      const line = this.#field(key, property, place, required.has(key));
      if (line !== undefined) body.push([line, place.path]);
    }
    // Classes inside it are complete by now.
    this.#line(`${extended ? 'dynamic ' : ''}class ${name} {`, path);
    for (const [line, of] of body) this.#line(line, of);
    this.#line('}', path);
  }

  #required(schema: Schema, path: ValuePath): ReadonlySet<string> {
    if (schema['required'] === undefined) return new Set();
    const at = pathStep(path, 'required');
    const names = new Set<string>();
    const { properties = {} } = schema;
    for (const [index, name] of this.#list(schema['required'], at, 0).entries()) {
      if (typeof name === 'string' && isJsonObject(properties) && Object.hasOwn(properties, name)) names.add(name);
      else this.#fault(pathStep(at, index), 'has to be the name of one of the "properties"');
    }
    return names;
  }

  #field(key: string, schema: unknown, place: Place, required: boolean): string | undefined {
    if (!NAME.test(key)) {
      this.#fault(
        place.path,
        'is not a name: names of fields consist of letters, digits and "_", and begin with a letter',
      );
      return undefined;
    }
    const { text, nullable } = this.#type(schema, place);
    const optional = required || nullable ? '' : '?';
    const description = isJsonObject(schema) ? schema['description'] : undefined;
    const attribute = description === undefined ? '' : ` ${this.#description(description, place.path)}`;
    return `  ${key} ${text}${optional}${attribute}`;
  }

  #description(text: unknown, path: ValuePath): string {
    if (typeof text !== 'string') this.#fault(pathStep(path, 'description'), 'has to be a string');
    return `@description(${attributeString(String(text))})`;
  }

  #type(schema: unknown, place: Place): WrittenType {
    const { path } = place;
    if (!isJsonObject(schema)) return this.#unreadable(path, 'has to be a JSON Schema: an object');
    if (path.depth > MAX_DEPTH) return this.#unreadable(path, `is nested deeper than ${MAX_DEPTH} levels`);
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
    if (schema['anyOf'] !== undefined) {
      this.#checkKeywords(schema, ['anyOf'], path);
      const at = pathStep(path, 'anyOf');
      const members = this.#list(schema['anyOf'], at).map((member, index) =>
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
      this.#checkKeywords(schema, ['type', 'enum', 'const', 'anyOf', '$ref', 'nullable'], path);
      return this.#unreadable(
        path,
        'needs "type", "enum", "const", "anyOf" or "$ref": svc has no type for arbitrary values',
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
      const { text } = this.#type(schema['items'], {
        ...place,
        path: pathStep(path, 'items'),
        name: `${place.name}_item`,
      });
      return { text: `${grouped(text)}[]`, nullable: false };
    }
    return { text: SCALARS[implied] ?? '', nullable: implied === 'null' };
  }

  #object(schema: Schema, place: Place): WrittenType {
    const { path } = place;
    if (schema['properties'] !== undefined) {
      const name = this.#freeName(place.name);
      this.#known.set(name, '');
      this.#class(schema, { ...place, name }, false);
      return { text: name, nullable: false };
    }
    this.#checkKeywords(schema, ['type', 'additionalProperties'], path);
    const at = pathStep(path, 'additionalProperties');
    if (!isJsonObject(schema['additionalProperties'])) {
      return this.#unreadable(path, 'needs "properties", or the schema of its values as "additionalProperties"');
    }
    const { text } = this.#type(schema['additionalProperties'], { ...place, path: at, name: `${place.name}_value` });
    return { text: `map<string, ${text}>`, nullable: false };
  }

  /** A name that no definition has. */
  #freeName(wanted: string): string {
    let name = wanted;
    for (let number = 2; this.#known.has(name) || this.#kindOf(name) !== undefined; number += 1) {
      name = `${wanted}_${number}`;
    }
    return name;
  }

  #reference(schema: Schema, { path, owner }: Place): WrittenType {
    this.#checkKeywords(schema, ['$ref'], path);
    const { $ref: target } = schema;
    if (target === '#') return { text: owner, nullable: false };
    const name =
      typeof target === 'string' ? /^#\/(?:\$defs|definitions)\/([A-Za-z]\w*)$/u.exec(target)?.[1] : undefined;
    if (name !== undefined) return { text: name, nullable: false };
    return this.#unreadable(pathStep(path, '$ref'), 'has to be "#", or "#/$defs/" and the name of a type');
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

  #list(value: unknown, path: ValuePath, least = 1): readonly unknown[] {
    if (Array.isArray(value) && value.length >= least) return value;
    this.#fault(path, least === 0 ? 'has to be a list' : 'has to be a list with at least one entry');
    return [];
  }

  #checkKeywords(schema: Schema, allowed: readonly string[], path: ValuePath): void {
    for (const { key, message } of keywordFaults(schema, allowed)) this.#fault(pathStep(path, key), message);
  }

  #unreadable(path: ValuePath | undefined, message: string): WrittenType {
    this.#fault(path, message);
    return UNREADABLE;
  }

  #line(text: string, path: ValuePath): void {
    this.lines.push(text);
    this.paths.push(pathText(path));
  }

  #fault(path: ValuePath | undefined, message: string): void {
    this.#faults.add({ path: pathText(path), message });
  }
}

function isClass({ type, properties }: Schema): boolean {
  return properties !== undefined && (type === undefined || type === 'object');
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

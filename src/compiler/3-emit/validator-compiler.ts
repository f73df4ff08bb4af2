import { _, Ajv, Name, stringify, type Code, type Format, type KeywordCxt } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import formats from 'ajv-formats';
import { invariant } from '../../base/invariant.ts';
import { isJsonObject, type JsonObject, type JsonValue, OPTIONS_KEYS } from '../../base/json.ts';
import { indexDefinitions, type DefinitionIndex, type FunctionType, type Definitions } from '../../schema/program.ts';
import { JsonSchemas, MEDIA_BY_URL, MEDIA_INLINE } from '../../schema/json-schema.ts';
import { ambiguousRecursiveTypes } from '../../schema/possible-members.ts';
import { partsOf, withInside, typeText } from '../../schema/type-graph.ts';
import type { Type } from '../../schema/type.ts';

/** Keys of the argument object that are not parameters: the options of the request, which the call itself checks. */
const OPTIONS: Readonly<Record<string, JsonObject>> = Object.fromEntries(OPTIONS_KEYS.map((key) => [key, {}]));

/** A comparison with more values than this becomes a set. */
const LONGEST_COMPARISON = 8;

/** AJV nests a block for each property and each member of a union: V8 cannot parse thousands of them. */
const LONGEST_GROUP = 100;

/** The schemas of these types are repeated wherever they occur: a reference would be longer. */
const INLINE: ReadonlySet<Type['kind']> = new Set(['string', 'int', 'float', 'bool', 'null', 'literal']);

/**
 * Compiles the argument validators of a program with AJV: JSON Schemas in, source code out. Each class, enum, alias, list,
 * map and union is one schema and becomes one function, compiled once, which calls the functions of its parts by name; so
 * a chain of thousands of classes needs no recursion, and a call compiles only the types that its function uses.
 */
export class ValidatorCompiler {
  readonly #index: DefinitionIndex;
  readonly #schemas: JsonSchemas;
  readonly #ajv = createAjv();
  /** The name of the validator of each type, by the text of the type. */
  readonly #names = new Map<string, string>();
  readonly #blocks = new Map<string, string>();
  readonly #sources = new Map<string, string>();
  #remembered: ReadonlySet<string> | undefined;

  constructor(definitions: Definitions) {
    this.#index = indexDefinitions(definitions);
    this.#schemas = new JsonSchemas(this.#index, {
      named: (name) => ({ $ref: this.#nameOf(name) }),
      media: () => ({ anyOf: [MEDIA_BY_URL, MEDIA_INLINE] }),
      check: () => ({}),
      propertyNames: true,
      part: (type) => (INLINE.has(type.kind) ? undefined : { $ref: this.#nameOf(typeText(type)) }),
    });
  }

  /**
   * The body of a CommonJS module that needs nothing else. `exports.accepts` is the validator of the whole argument object;
   * `exports.types` maps the text of every type in it to the validator of that type. Throws for a function that the
   * definitions do not have.
   */
  source(functionName: string): string {
    const known = this.#sources.get(functionName);
    if (known !== undefined) return known;
    const fn = this.#index.functions.get(functionName);
    invariant(fn !== undefined, `no function "${functionName}"`);
    const source = this.#module(fn);
    this.#sources.set(functionName, source);
    return source;
  }

  #module(fn: FunctionType): string {
    const types = this.#typesOf(fn);
    const blocks = [...types].map(([text, type]) => this.#block(text, type));
    const names = [...types.keys()].map((text) => this.#nameOf(text));
    const entries = [...types.keys()].map((text) => `[${JSON.stringify(text)}, ${this.#nameOf(text)}]`);
    return [
      PRELUDE,
      `let ${['accepts', ...names].join(', ')};`,
      ...blocks,
      this.#compile('accepts', `function ${fn.name}`, this.#schemas.request(fn, OPTIONS)),
      `exports.accepts = accepts;\nexports.types = new Map([${entries.join(', ')}]);`,
    ].join('\n');
  }

  /** Every type that a value of the parameters can contain, by its text. */
  #typesOf(fn: FunctionType): ReadonlyMap<string, Type> {
    const types = new Map<string, Type>();
    const add = (type: Type): void => {
      for (const one of withInside(type)) types.set(typeText(one), one);
    };
    for (const { type } of fn.parameters) add(type);
    // The loop visits the types that it adds; a recursion could be as deep as a chain of classes is long.
    for (const [, type] of types) if ('name' in type) partsOf(type.name, this.#index).forEach(add);
    return types;
  }

  #block(text: string, type: Type): string {
    const known = this.#blocks.get(text);
    if (known !== undefined) return known;
    const named = 'name' in type;
    const schema = named ? this.#schemas.definition(type.name, 'input') : this.#schemas.of(type, 'input');
    const name = this.#nameOf(text);
    const block = this.#compile(name, name, schema, this.#remembers(text));
    this.#blocks.set(text, block);
    return block;
  }

  #compile(name: string, id: string, schema: JsonObject, remembered = false): string {
    this.#ajv.addSchema({ [SILENTLY]: reordered(schema) }, id);
    const code = standalone.default(this.#ajv, { [name]: id });
    const validator = remembered ? `remembering(exports.${name})` : `exports.${name}`;
    return `{\nconst exports = {};\n${code}\n${name} = ${validator};\n}`;
  }

  #remembers(text: string): boolean {
    this.#remembered ??= new Set(ambiguousRecursiveTypes(this.#index).map(typeText));
    return this.#remembered.has(text);
  }

  #nameOf(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const name = `t${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}

/** The keyword around every schema that makes AJV leave out error objects: the caller only needs yes or no. */
const SILENTLY = 'silently';

const FORMATS: Readonly<Record<string, Format>> = {
  int64: formats.default.get('int64'),
  double: formats.default.get('double'),
  byte: isBase64,
};

function createAjv(): Ajv {
  const ajv = new Ajv({
    code: { source: true, formats: _`formats` },
    meta: false,
    validateSchema: false,
    strict: false,
    strictNumbers: true,
    logger: false,
    messages: false,
    ownProperties: true,
  });
  for (const [name, format] of Object.entries(FORMATS)) ajv.addFormat(name, format);
  ajv.addKeyword({
    keyword: SILENTLY,
    schemaType: 'object',
    code: (context) => context.subschema({ keyword: SILENTLY, createErrors: false }, context.gen.name('valid')),
  });
  // AJV's `$ref` builds the path of the value, which nothing reads here, and compiles schemas recursively.
  ajv.removeKeyword('$ref');
  ajv.addKeyword({
    keyword: '$ref',
    schemaType: 'string',
    code: (context) => context.pass(_`${new Name(String(context.schema))}.call(this, ${context.data})`),
  });
  // AJV's `enum` compares values of any shape, one by one.
  ajv.removeKeyword('enum');
  ajv.addKeyword({ keyword: 'enum', schemaType: 'array', code: (context) => context.pass(isOneOf(context)) });
  return ajv;
}

function isOneOf({ data, gen, schema }: KeywordCxt): Code {
  const values: readonly unknown[] = Array.isArray(schema) ? schema : [];
  if (values.length > LONGEST_COMPARISON) {
    const code = _`new Set(${stringify(values)})`;
    return _`${gen.scopeValue('keyword', { ref: values, code })}.has(${data})`;
  }
  return values.reduce<Code>((code, value) => _`${code} || ${data} === ${stringify(value)}`, _`false`);
}

/**
 * Accepts base64 with padding (RFC 4648, section 4) and line breaks. The regular expression of ajv-formats
 * overflows V8's stack at some megabytes.
 */
function isBase64(text: string): boolean {
  const base64 = text.includes('\n') ? text.replaceAll(/[\r\n]/gu, '') : text;
  return base64.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/u.test(base64);
}

/**
 * Puts literal fields first, which distinguish the members of a union before anything costly runs, and splits long lists of
 * properties and union members into groups (see LONGEST_GROUP). Neither changes the meaning of a JSON Schema.
 */
function reordered({ properties, anyOf: members, ...rest }: JsonObject): JsonObject {
  if (Array.isArray(members))
    return { ...rest, anyOf: members.length > LONGEST_GROUP ? unionGroups(members) : members };
  if (!isJsonObject(properties)) return rest;
  const entries = Object.entries(properties).toSorted(([, a], [, b]) => Number(isLiteral(b)) - Number(isLiteral(a)));
  if (entries.length <= LONGEST_GROUP) return { ...rest, properties: Object.fromEntries(entries) };
  return {
    ...rest,
    // `additionalProperties` sees only the names that are listed beside it.
    properties: Object.fromEntries(entries.map(([name]) => [name, {}])),
    allOf: groups(entries).map((group) => ({ properties: Object.fromEntries(group) })),
  };
}

function unionGroups(members: readonly JsonValue[]): readonly JsonObject[] {
  return groups(members).map((group) => ({ anyOf: group }));
}

function groups<Item>(items: readonly Item[]): ReadonlyArray<readonly Item[]> {
  const count = Math.ceil(items.length / LONGEST_GROUP);
  return Array.from({ length: count }, (_item, at) => items.slice(at * LONGEST_GROUP, (at + 1) * LONGEST_GROUP));
}

function isLiteral(schema: unknown): boolean {
  return isJsonObject(schema) && Array.isArray(schema['enum']) && schema['enum'].length === 1;
}

/** A format as source code; its function must not refer to anything outside itself. */
function formatSource([name, format]: readonly [string, Format]): string {
  if (typeof format === 'function') return `${name}: ${format.toString()}`;
  invariant(typeof format === 'object' && 'validate' in format, `the format "${name}" is not a function`);
  return `${name}: { validate: ${String(format.validate)} }`;
}

/**
 * Code that all validators share. `this` of a validator is a memory of answers, a Map from validator to Map from object
 * to answer, or undefined. A remembering validator creates a memory if there is none.
 */
const PRELUDE = `'use strict';
const formats = { ${Object.entries(FORMATS).map(formatSource).join(', ')} };
const remembering = (validator) => function (value) {
  if (typeof value !== 'object' || value === null) return validator.call(this, value);
  const memory = this ?? new Map();
  let answers = memory.get(validator);
  if (answers === undefined) memory.set(validator, (answers = new Map()));
  let answer = answers.get(value);
  if (answer === undefined) answers.set(value, (answer = validator.call(memory, value)));
  return answer;
};`;

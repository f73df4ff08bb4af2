import { readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { type JsonObject, isJsonList, isJsonObject, type JsonValue } from '../../base/json.ts';
import { NameAllocator } from '../../compiler/3-emit/openapi/dialect.ts';
import { indexDefinitions, type DefinitionIndex, type FunctionType, type Definitions } from '../../schema/program.ts';
import {
  anyOf,
  choice,
  described,
  JsonSchemas,
  MEDIA_BY_URL,
  MEDIA_INLINE,
  objectSchema,
  type View,
  VIEW_SUFFIX,
} from '../../schema/json-schema.ts';
import { leadingTo } from '../../schema/type-graph.ts';
import { replaceFile, writeFault } from '../../base/write-file.ts';
import { err, ok, type Result } from '../../base/result.ts';

const HEADER = `// Written by "svc types". Run it again when the definitions change.`;

const CHECK: JsonObject = described(
  objectSchema({ name: { type: 'string' }, expression: { type: 'string' }, status: choice(['succeeded', 'failed']) }),
  'The outcome of one `@check`.',
);

const MEDIA: JsonObject = described(anyOf([MEDIA_BY_URL, MEDIA_INLINE]), 'An image, audio, a PDF or a video.');

/**
 * Writes the types of the definitions as a TypeScript module without imports: classes, enums and recursive aliases as results
 * have them (`Resume`), as streams show them while they grow (`ResumePartial`) and, where they differ, as arguments take them
 * (`ResumeInput`); and a map `Functions` of the functions, for `loadFunctions<Functions>()`. The same definitions give the same
 * text.
 */
export function writeTypes(definitions: Definitions): string {
  return new TypeWriter(definitions).write();
}

/** TypeScript accepts every object as `{}`. */
const NO_ARGUMENTS = 'readonly args: { readonly [key: string]: never };';

class TypeWriter {
  readonly #index: DefinitionIndex;
  readonly #schemas: JsonSchemas;
  readonly #names = new NameAllocator();
  /** The types that the module declares, by view and name of the definition, in the order in which they were mentioned. */
  readonly #declared = new Map<string, { readonly name: string; readonly definition: string; readonly view: View }>();
  /** The definitions whose types differ between arguments and results. */
  readonly #withOwnInput: ReadonlySet<string>;
  readonly #functions: string;
  readonly #check: string;
  readonly #media: string;
  #usesCheck = false;
  #usesMedia = false;

  constructor(definitions: Definitions) {
    this.#index = indexDefinitions(definitions);
    const { classes, enums, aliases } = this.#index;
    for (const name of [...enums.keys(), ...classes.keys(), ...aliases.keys()]) this.#names.reserve(name);
    this.#functions = this.#names.allocate('Functions');
    this.#check = this.#names.allocate('CheckResult');
    this.#media = this.#names.allocate('Media');
    this.#schemas = new JsonSchemas(this.#index, {
      named: (name, view) => ({ $ref: this.#nameOf(name, view) }),
      media: () => {
        this.#usesMedia = true;
        return { $ref: this.#media };
      },
      check: () => {
        this.#usesCheck = true;
        return { $ref: this.#check };
      },
      propertyNames: true,
    });
    this.#withOwnInput = leadingTo((name) => differsAsInput(name, this.#index), this.#index);
    // The types of results come first, in the order of the definitions.
    for (const name of [...enums.keys(), ...classes.keys(), ...aliases.keys()]) this.#nameOf(name, 'output');
  }

  write(): string {
    const functions = [...this.#index.functions.values()].map((fn) => this.#function(fn));
    // The loop visits the types that it adds.
    const types: string[] = [];
    for (const { name, definition, view } of this.#declared.values()) {
      types.push(declaration(name, this.#schemas.definition(definition, view)));
    }
    if (this.#usesCheck) types.push(declaration(this.#check, CHECK));
    if (this.#usesMedia) types.push(declaration(this.#media, MEDIA));
    const head =
      '/** The functions of the definitions: `loadFunctions<Functions>()` of `svc` checks calls against them. */';
    const map = `${head}\nexport interface ${this.#functions} {\n${functions.flat().map(indented).join('\n')}\n}`;
    return `${[HEADER, ...types, map].join('\n\n')}\n`;
  }

  #function(fn: FunctionType): readonly string[] {
    const { name, documentation: text, returns } = fn;
    const args = membersOf(this.#schemas.request(fn, {}));
    return [
      ...documentation(text),
      `readonly ${name}: {`,
      ...[
        ...(args.length === 0 ? [NO_ARGUMENTS] : ['readonly args: {', ...args.map(indented), '};']),
        `readonly result: ${typeOf(this.#schemas.of(returns, 'output'))};`,
        `readonly partial: ${typeOf(this.#schemas.of(returns, 'partial'))};`,
      ].map(indented),
      '};',
    ];
  }

  #nameOf(definition: string, view: View): string {
    const seen = this.#viewOf(definition, view);
    const key = `${seen} ${definition}`;
    const known = this.#declared.get(key);
    if (known !== undefined) return known.name;
    const name = seen === 'output' ? definition : this.#names.allocate(`${definition}${VIEW_SUFFIX[seen]}`);
    this.#declared.set(key, { name, definition, view: seen });
    return name;
  }

  #viewOf(definition: string, view: View): View {
    if (view === 'input') return this.#withOwnInput.has(definition) ? 'input' : 'output';
    return this.#index.enums.has(definition) ? 'output' : view;
  }
}

function declaration(name: string, schema: JsonObject): string {
  const head = documentation(schema['description']);
  const isInterface = schema['type'] === 'object' && schema['additionalProperties'] === undefined;
  const body = isInterface
    ? [`export interface ${name} {`, ...membersOf(schema).map(indented), '}']
    : [`export type ${name} = ${typeOf(schema)};`];
  return [...head, ...body].join('\n');
}

function indented(line: string): string {
  return line === '' ? line : `  ${line}`;
}

/** True if TypeScript distinguishes the two views of a definition itself. It does not know the bounds of ints. */
function differsAsInput(name: string, index: DefinitionIndex): boolean {
  const plain = { propertyNames: true, media: () => ({}), check: () => ({}) };
  const schemas = new JsonSchemas(index, { ...plain, named: (other) => ({ $ref: other }) });
  const [input, output] = (['input', 'output'] as const).map((view) =>
    declaration(name, schemas.definition(name, view)),
  );
  return input !== output;
}

/**
 * Writes the text of `writeTypes` to a file. Returns false for a file that contains it already, which stays as it is: editors and
 * compilers that watch it do nothing. The file appears complete or not at all. The failure is a sentence that names the file.
 */
export function writeTypesFile(path: string, text: string): Result<boolean, string> {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    // Renaming would replace a pipe or a device.
    if (found !== undefined && !found.isFile()) writeFileSync(path, text);
    else if (found === undefined) replaceFile(path, text);
    else if (readFileSync(path, 'utf8') === text) return ok(false);
    // A link stays, and its target changes.
    else replaceFile(realpathSync(path), text);
    return ok(true);
  } catch (error) {
    return err(`"${path}" cannot be written: ${writeFault(error)}`);
  }
}

/** Names that need no quotes as keys of an object. */
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/u;

/** The TypeScript type of a JSON Schema of `schema/json-schema.ts`. A reference is the name of a type. */
function typeOf(schema: JsonObject): string {
  const { $ref: reference, anyOf: members, enum: choices, type } = schema;
  if (typeof reference === 'string') return reference;
  if (isJsonList(members)) return union(members.filter((each) => isJsonObject(each)).map(typeOf));
  if (isJsonList(choices)) return union(choices.map(literal));
  switch (type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return arrayType(schema);
    case 'object':
      return objectType(schema);
    default:
      // `string`, `boolean` and `null` have the same names in both languages.
      return typeof type === 'string' ? type : 'unknown';
  }
}

/** The members of an object, one on each line, with their descriptions. */
function membersOf({ properties, required }: JsonObject): readonly string[] {
  const names = new Set(isJsonList(required) ? required : []);
  return Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, schema]) => {
    if (!isJsonObject(schema)) return [];
    // The description of a map with listed keys repeats them.
    const text = schema['propertyNames'] === undefined ? schema['description'] : undefined;
    return [...documentation(text), `${member(name, schema, names.has(name))};`];
  });
}

/** A description as a comment; nothing if there is none. */
function documentation(text: JsonValue | undefined): readonly string[] {
  if (typeof text !== 'string' || text.trim() === '') return [];
  const lines = text
    .trim()
    .replaceAll('*/', String.raw`*\/`)
    .split('\n');
  if (lines.length === 1) return [`/** ${lines[0] ?? ''} */`];
  return ['/**', ...lines.map((line) => ` * ${line}`.trimEnd()), ' */'];
}

function member(name: string, schema: JsonObject, isRequired: boolean): string {
  const key = IDENTIFIER.test(name) ? name : JSON.stringify(name);
  // A program can set an optional member to undefined, which means the same as leaving it out.
  return isRequired
    ? `readonly ${key}: ${typeOf(schema)}`
    : `readonly ${key}?: ${union([typeOf(schema), 'undefined'])}`;
}

function objectType(schema: JsonObject): string {
  const { properties, additionalProperties, propertyNames } = schema;
  if (isJsonObject(additionalProperties)) {
    const value = typeOf(additionalProperties);
    if (!isJsonObject(propertyNames) || typeOf(propertyNames) === 'string')
      return `{ readonly [key: string]: ${value} }`;
    return `{ readonly [key in ${typeOf(keySchema(propertyNames))}]?: ${value} }`;
  }
  const names = new Set(isJsonList(schema['required']) ? schema['required'] : []);
  const members = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, one]) =>
    isJsonObject(one) ? [member(name, one, names.has(name))] : [],
  );
  return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`;
}

/** Keys of JSON objects are strings, also those that a definition writes as numbers. */
function keySchema(schema: JsonObject): JsonObject {
  const { enum: choices, anyOf: members } = schema;
  if (isJsonList(choices)) return { ...schema, enum: choices.map(String) };
  return isJsonList(members)
    ? { ...schema, anyOf: members.filter((each) => isJsonObject(each)).map(keySchema) }
    : schema;
}

function arrayType({ items }: JsonObject): string {
  const element = isJsonObject(items) ? typeOf(items) : 'unknown';
  return `readonly ${/[ |]/u.test(element) && !element.startsWith('{') ? `(${element})` : element}[]`;
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  return distinct.length === 0 ? 'never' : distinct.join(' | ');
}

function literal(value: JsonValue): string {
  return typeof value === 'string' ? `'${escaped(value)}'` : JSON.stringify(value);
}

/** A string literal in single quotes. */
function escaped(text: string): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`);
}

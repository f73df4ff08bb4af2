import { canonicalJson, type JsonObject, type JsonValue } from '../base/json.ts';
import type { Constraint } from './constraint.ts';
import type { DefinitionIndex, FunctionType } from './program.ts';
import { acceptsNull, leadingTo, namesIn, partsOf, withInside, typeText } from './type-graph.ts';
import type { ClassType, EnumType, FieldType, MediaKind, Type } from './type.ts';

/**
 * The use of a type: as an argument, as a result, as a snapshot of a result that is still growing, or as the reply of a
 * model, which has the aliases and neither skipped fields nor the outcomes of checks.
 */
export type View = 'input' | 'output' | 'partial' | 'reply';

/** The ends of the names of types in a view, where a program has all of them side by side. */
export const VIEW_SUFFIX: Readonly<Record<View, string>> = {
  input: 'Input',
  output: '',
  partial: 'Partial',
  reply: 'Reply',
};

/** How a document refers to the schemas that it holds once. */
export interface SchemaReferences {
  /** The reference to a class, an enum or a recursive alias. */
  named(name: string, view: View): JsonObject;
  media(kind: MediaKind): JsonObject;
  /** The outcome of one `@check`. */
  check(): JsonObject;
  /** Writes the schema of map keys; OpenAPI 3.0 has none, so that each possible key becomes a property. */
  readonly propertyNames: boolean;
  /** The keywords for bounds that schemas of replies can have. */
  readonly bounds?: ReadonlySet<string>;
  /** The reference to write for a type inside another one; undefined, or no such method, writes its schema there. */
  part?(type: Type): JsonObject | undefined;
}

export const NULL_SCHEMA: JsonObject = { type: 'null' };

const STRING: JsonObject = { type: 'string' };

/** An integer in a result keeps all the digits that the model wrote. */
const INT: JsonObject = { type: 'integer', format: 'int64' };

/** Most JSON parsers, such as JavaScript's, keep integers exact only within these bounds. */
const INT_ARGUMENT: JsonObject = {
  ...INT,
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
};

/** The two forms of a media value. A form accepts null for the key of the other one: generated clients write it. */
export const MEDIA_BY_URL: JsonObject = closed({ url: STRING, media_type: nullable(STRING), base64: NULL_SCHEMA }, [
  'url',
]);
export const MEDIA_INLINE: JsonObject = closed(
  { base64: { type: 'string', format: 'byte' }, media_type: nullable(STRING), url: NULL_SCHEMA },
  ['base64'],
);

/**
 * JSON Schemas of types: the one description that the OpenAPI document, the argument validators and structured output
 * share. It uses `type`, `properties`, `required`, `additionalProperties`, `propertyNames`, `items`, `anyOf`, `enum`,
 * `format`, `minimum`, `maximum`, `description` and `$ref`, and `enum: []` for an enum without values.
 */
export class JsonSchemas {
  readonly #index: DefinitionIndex;
  readonly #references: SchemaReferences;
  #withOwnInput: ReadonlySet<string> | undefined;
  #withState: ReadonlySet<string> | undefined;

  constructor(index: DefinitionIndex, references: SchemaReferences) {
    this.#index = index;
    this.#references = references;
  }

  /** The schema of a whole value; wrappers of `@check` and `@stream.with_state` included. */
  of(type: Type, view: View): JsonObject {
    if (view === 'input') return this.#bare(type, view);
    if (view === 'reply') return this.#bounded(type);
    const inner = this.#bare(type, this.#isDone(type) && !this.#showsState(type) ? 'output' : view);
    const checked = this.#withChecks(type, inner, view);
    return view === 'partial' && type.stream?.withState === true ? withState(checked) : checked;
  }

  /** The schema behind the reference to a class, an enum or a recursive alias. */
  definition(name: string, view: View): JsonObject {
    const enumType = this.#index.enums.get(name);
    if (enumType !== undefined) return enumSchema(enumType, view);
    const alias = this.#index.aliases.get(name);
    // Each use of the alias wraps what its checks report.
    if (alias !== undefined) {
      const schema = view === 'reply' ? this.#bounded(alias.type) : this.#bare(alias.type, view);
      return described(schema, ...documentationOf(alias, view));
    }
    return this.#classSchema(this.#class(name), view);
  }

  /** The argument object of a function, with the schemas of keys that are not parameters. */
  request(fn: FunctionType, options: Readonly<Record<string, JsonObject>>): JsonObject {
    const properties = fn.parameters.map(({ name, type }) => [name, this.#part(type, 'input')]);
    const required = fn.parameters.filter(({ type }) => !acceptsNull(type, this.#index.aliases));
    return closed(
      { ...Object.fromEntries(properties), ...options },
      required.map(({ name }) => name),
    );
  }

  /** The view whose definition serves for this one: most names have the same schema as arguments and as results. */
  viewOf(name: string, view: View): View {
    if (view === 'input') {
      this.#withOwnInput ??= leadingTo((one) => differsAsInput(one, this.#index), this.#index);
      return this.#withOwnInput.has(name) ? 'input' : 'output';
    }
    return this.#index.enums.has(name) ? 'output' : view;
  }

  #part(type: Type, view: View): JsonObject {
    return this.#references.part?.(type) ?? this.of(type, view);
  }

  /** The schema for a reply, with the keywords of its constraints. */
  #bounded(type: Type): JsonObject {
    const schema = this.#bare(type, 'reply');
    const bounds = (type.constraints ?? []).flatMap(({ keyword = {} }) =>
      Object.entries(keyword).filter(([key]) => this.#references.bounds?.has(key) === true),
    );
    return bounds.length === 0 ? schema : { ...schema, ...Object.fromEntries(bounds) };
  }

  #bare(type: Type, view: View): JsonObject {
    switch (type.kind) {
      case 'string':
        return STRING;
      case 'int':
        return intSchema(view);
      case 'float':
        return view === 'reply' ? { type: 'number' } : { type: 'number', format: 'double' };
      case 'bool':
        return { type: 'boolean' };
      case 'null':
        return NULL_SCHEMA;
      case 'literal':
        return choice([type.value]);
      case 'media':
        return this.#references.media(type.media);
      case 'class':
      case 'enum':
      case 'alias':
        return this.#references.named(type.name, view);
      case 'list':
        return { type: 'array', items: this.#part(type.element, view) };
      case 'map':
        return this.#map(type.key, type.value, view);
      case 'union':
        return this.#union(type.members, view);
    }
  }

  #map(key: Type, value: Type, view: View): JsonObject {
    const values = this.#part(value, view);
    const schema = { type: 'object', additionalProperties: values };
    if (key.kind === 'string') return schema;
    if (view === 'reply') {
      const keys = possibleKeys(key, this.#index, view);
      return keys === undefined ? schema : closed(Object.fromEntries(keys.map((name) => [name, values])), []);
    }
    const description = `Keys: ${keyText(key, this.#index)}.`;
    if (this.#references.propertyNames) return { description, ...schema, propertyNames: this.#part(key, 'input') };
    const keys = possibleKeys(key, this.#index, view);
    if (keys === undefined) return { description, ...schema };
    return { description, ...closed(Object.fromEntries(keys.map((name) => [name, values])), []) };
  }

  /** Literals of one JSON type become one enum. */
  #union(members: readonly Type[], view: View): JsonObject {
    const schemas: JsonObject[] = [];
    for (const group of ['string', 'number', 'boolean']) {
      const values = members.flatMap((member) => plainLiterals(member)).filter((value) => typeof value === group);
      if (values.length > 0) schemas.push(choice(values));
    }
    const others = members.filter((member) => member.kind !== 'null' && plainLiterals(member).length === 0);
    const union = anyOf([...schemas, ...others.map((member) => this.#part(member, view))]);
    return members.some((member) => member.kind === 'null') ? nullable(union) : union;
  }

  #classSchema(type: ClassType, view: View): JsonObject {
    const fields = type.fields.filter((field) => view === 'input' || !field.skip);
    const nameOf = (field: FieldType): string => nameIn(field, view);
    const properties = fields.map((field): [string, JsonObject] => [
      nameOf(field),
      described(this.#field(field, view), ...documentationOf(field, view), field.description),
    ]);
    const optional = (field: FieldType): boolean => view === 'input' && acceptsNull(field.type, this.#index.aliases);
    const required = fields.filter((field) => !optional(field)).map(nameOf);
    if (view === 'reply') return described(closed(Object.fromEntries(properties), required), type.description);
    const growing = view === 'partial' ? `${type.name} while it grows: absent parts are null.` : undefined;
    const schema = objectSchema(Object.fromEntries(properties), required);
    return described(schema, growing, type.documentation, type.description);
  }

  #field(field: FieldType, view: View): JsonObject {
    const schema = this.#part(field.type, view);
    if (view !== 'partial' || field.streamNotNull || this.#alwaysPresent(field.type)) return schema;
    return nullable(schema);
  }

  /** Wrappers are present from the start; lists and maps begin empty. */
  #alwaysPresent(type: Type): boolean {
    if (type.stream?.withState === true || this.#checkLabels(type).length > 0) return true;
    return type.stream?.done !== true && (type.kind === 'list' || type.kind === 'map');
  }

  #withChecks(type: Type, schema: JsonObject, view: View): JsonObject {
    const labels = this.#checkLabels(type);
    if (labels.length === 0) return schema;
    const checks = Object.fromEntries(labels.map((label) => [label, this.#references.check()]));
    return view === 'partial'
      ? objectSchema({ value: nullable(schema), checks: objectSchema(checks, []) })
      : objectSchema({ value: schema, checks: objectSchema(checks) });
  }

  /** The checks of the class, enum or alias come before those of the use: one wrapper holds them all. */
  #checkLabels(type: Type): readonly string[] {
    return [...this.#declaredLabels(type), ...checkLabels(type.constraints)];
  }

  #declaredLabels(type: Type): readonly string[] {
    switch (type.kind) {
      case 'class':
        return checkLabels(this.#class(type.name).constraints);
      case 'enum':
        return checkLabels(this.#index.enums.get(type.name)?.constraints);
      case 'alias': {
        const target = this.#index.aliases.get(type.name)?.type;
        return target === undefined ? [] : this.#checkLabels(target);
      }
      default:
        return [];
    }
  }

  #isDone(type: Type): boolean {
    return type.stream?.done === true || (type.kind === 'class' && this.#class(type.name).streamDone);
  }

  /** True when a value of the type can hold `@stream.with_state` wrappers below its top. */
  #showsState(type: Type): boolean {
    const inside = withInside(type).some((one) => one !== type && hasState(one));
    if (inside) return true;
    const showing = (this.#withState ??= leadingTo((name) => showsStateItself(name, this.#index), this.#index));
    return namesIn(type).some((name) => showing.has(name));
  }

  #class(name: string): ClassType {
    return this.#index.classes.get(name) ?? { name, fields: [], constraints: [], streamDone: false, dynamic: false };
  }
}

/** The schema with null allowed. */
export function nullable(schema: JsonObject): JsonObject {
  if (schema === NULL_SCHEMA) return schema;
  const { anyOf: members } = schema;
  if (!Array.isArray(members) || 'description' in schema) return { anyOf: [schema, NULL_SCHEMA] };
  return members.includes(NULL_SCHEMA) ? schema : { anyOf: [...members, NULL_SCHEMA] };
}

/** The schema with a description before its own. */
export function described(schema: JsonObject, ...texts: ReadonlyArray<string | undefined>): JsonObject {
  const description = joined(texts);
  return description === undefined ? schema : { description, ...schema };
}

/** Texts with an empty line between, each once; undefined when there is none. */
export function joined(texts: ReadonlyArray<string | undefined>): string | undefined {
  const distinct = new Set(texts.filter((text) => text !== undefined && text !== ''));
  return distinct.size === 0 ? undefined : [...distinct].join('\n\n');
}

/** An object with these properties, all of them required unless `required` names fewer; it allows others. */
export function objectSchema(
  properties: Readonly<Record<string, JsonValue>>,
  required: readonly string[] = Object.keys(properties),
): JsonObject {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** An object with these properties and no others. Two fields can have one alias, with a warning. */
export function closed(properties: Readonly<Record<string, JsonObject>>, required: readonly string[]): JsonObject {
  return { ...objectSchema(properties, [...new Set(required)]), additionalProperties: false };
}

/** Values of one JSON type, as an enum; equal ones once. */
export function choice(values: ReadonlyArray<string | number | boolean>): JsonObject {
  const [first] = values;
  const distinct = [...new Set(values)];
  if (typeof first === 'number') return { type: 'integer', enum: distinct };
  return { type: typeof first === 'boolean' ? 'boolean' : 'string', enum: distinct };
}

/** Any of the schemas: equal ones once, and no union around a single one. */
export function anyOf(schemas: readonly JsonObject[]): JsonObject {
  const [first] = schemas;
  if (schemas.length === 1 && first !== undefined) return first;
  const distinct = [...new Map(schemas.map((schema) => [canonicalJson(schema), schema])).values()];
  const [only] = distinct;
  return distinct.length === 1 && only !== undefined ? only : { anyOf: distinct };
}

function withState(schema: JsonObject): JsonObject {
  return objectSchema({ value: nullable(schema), state: choice(['Pending', 'Incomplete', 'Complete']) });
}

/** The value of a literal without a wrapper; nothing for other types. */
export function plainLiterals(type: Type): ReadonlyArray<string | number | boolean> {
  const wrapped = checkLabels(type.constraints).length > 0 || type.stream?.withState === true;
  return type.kind === 'literal' && !wrapped ? [type.value] : [];
}

function checkLabels(constraints: readonly Constraint[] = []): readonly string[] {
  return constraints.flatMap(({ level, label }) => (level === 'check' && label !== undefined ? [label] : []));
}

function enumSchema(type: EnumType, view: View): JsonObject {
  const values = type.values.filter((value) => view === 'input' || !value.skip);
  const lines = values.flatMap((value) => {
    const [text = value.description] = documentationOf(value, view);
    return text === undefined ? [] : [`- \`${nameIn(value, view)}\`: ${text}`];
  });
  const declared = choice(values.map((value) => nameIn(value, view)));
  const schema = view === 'input' && type.dynamic ? { anyOf: [declared, STRING] } : declared;
  return described(schema, ...documentationOf(type, view), type.description, lines.join('\n'));
}

function intSchema(view: View): JsonObject {
  if (view === 'reply') return { type: 'integer' };
  return view === 'input' ? INT_ARGUMENT : INT;
}

/** A model sees the alias of a field or value. */
function nameIn({ name, alias }: { readonly name: string; readonly alias?: string }, view: View): string {
  return view === 'reply' ? (alias ?? name) : name;
}

/** A model does not see doc comments. */
function documentationOf(
  { documentation }: { readonly documentation?: string },
  view: View,
): ReadonlyArray<string | undefined> {
  return view === 'reply' ? [] : [documentation];
}

/** The keys that a map can have; undefined if they cannot be listed. */
function possibleKeys(key: Type, index: DefinitionIndex, view: View): readonly string[] | undefined {
  switch (key.kind) {
    case 'enum':
      return keysOfEnum(key.name, index, view);
    case 'literal':
      return [String(key.value)];
    case 'union': {
      const lists = key.members.map((member) => possibleKeys(member, index, view));
      return lists.every((list) => list !== undefined) ? lists.flat() : undefined;
    }
    default:
      return undefined;
  }
}

function keysOfEnum(name: string, index: DefinitionIndex, view: View): readonly string[] | undefined {
  const type = index.enums.get(name);
  if (type === undefined || (type.dynamic && view === 'input')) return undefined;
  return type.values.filter((value) => view !== 'reply' || !value.skip).map((value) => nameIn(value, view));
}

function keyText(key: Type, index: DefinitionIndex): string {
  if (key.kind !== 'enum') return `\`${typeText(key)}\``;
  const names = index.enums.get(key.name)?.values.map((value) => `\`${value.name}\``) ?? [];
  return `${key.name} (${names.join(', ')})`;
}

/**
 * True for a class, enum or alias that has different schemas as an argument and as a result: a caller can leave out
 * optional fields that results show as null, ints have bounds only in arguments, `@@dynamic` enums accept every string only
 * in arguments, results never show skipped fields and values, and checked values are wrapped.
 */
function differsAsInput(name: string, index: DefinitionIndex): boolean {
  const enumType = index.enums.get(name);
  if (enumType !== undefined) {
    return enumType.dynamic || hasCheck(enumType) || enumType.values.some((value) => value.skip);
  }
  const inside = partsOf(name, index).flatMap(withInside);
  if (inside.some((type) => type.kind === 'int' || hasCheck(type))) return true;
  const type = index.classes.get(name);
  if (type === undefined) return false;
  return hasCheck(type) || type.fields.some((field) => field.skip || acceptsNull(field.type, index.aliases));
}

function hasCheck({ constraints = [] }: { readonly constraints?: readonly Constraint[] }): boolean {
  return constraints.some((constraint) => constraint.level === 'check');
}

function showsStateItself(name: string, index: DefinitionIndex): boolean {
  return partsOf(name, index).flatMap(withInside).some(hasState);
}

function hasState({ stream }: Type): boolean {
  return stream?.withState === true;
}

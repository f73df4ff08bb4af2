import type { JsonObject, JsonValue } from '../../base/json.ts';
import { acceptsNull } from '../../schema/accepts-null.ts';
import type { DefinitionIndex } from '../../schema/definition-index.ts';
import type { FunctionType } from '../../schema/function.ts';
import type { ClassType, EnumType, Type } from '../../schema/type.ts';

/** Keys of the argument object that are no parameters: the options of the request, checked elsewhere. */
const OPTION_KEYS = ['svc_options', '__svc_options__'];

/** The id of the schema of media values. */
const MEDIA_ID = 'media';

/**
 * JSON Schemas (draft 7) that decide whether arguments fit. Strict: no coercion, real names, every parameter known;
 * keys of a class that it does not declare are ignored.
 */
export class ArgumentSchemas {
  readonly #index: DefinitionIndex;
  readonly #ids: ReadonlyMap<string, string>;

  constructor(index: DefinitionIndex) {
    this.#index = index;
    const names = [...index.classes.keys(), ...index.enums.keys(), ...index.aliases.keys()];
    this.#ids = new Map(names.map((name, position) => [name, `t${position}`]));
  }

  /**
   * The schemas of all classes, enums and recursive aliases, and of media: each a root of its own, so that the library
   * compiles it once and not once for each function.
   */
  shared(): readonly JsonObject[] {
    const { classes, enums, aliases } = this.#index;
    return [
      root(MEDIA_ID, mediaSchema()),
      ...[...classes.values()].map((type) => root(this.#id(type.name), this.#classSchema(type))),
      ...[...enums.values()].map((type) => root(this.#id(type.name), enumSchema(type))),
      ...[...aliases.values()].map((alias) => root(this.#id(alias.name), this.#schema(alias.type))),
    ];
  }

  /** The schema of a function's whole argument object, without an id. */
  signature(fn: FunctionType): JsonObject {
    const properties: Record<string, JsonValue> = {};
    for (const key of OPTION_KEYS) properties[key] = true;
    for (const { name, type } of fn.parameters) properties[name] = this.#schema(type);
    const required = this.#required(fn.parameters);
    return { type: 'object', properties, required, additionalProperties: false };
  }

  #schema(type: Type): JsonObject {
    switch (type.kind) {
      case 'string':
      case 'null':
        return { type: type.kind };
      case 'bool':
        return { type: 'boolean' };
      case 'float':
        return { type: 'number' };
      case 'int':
        return { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
      case 'literal':
        return { const: type.value };
      case 'media':
        return { $ref: MEDIA_ID };
      case 'class':
      case 'enum':
      case 'alias':
        return { $ref: this.#id(type.name) };
      case 'list':
        return { type: 'array', items: this.#schema(type.element) };
      case 'map':
        return this.#mapSchema(type.key, type.value);
      case 'union':
        return this.#unionSchema(type.members);
    }
  }

  #mapSchema(key: Type, value: Type): JsonObject {
    const schema = { type: 'object', additionalProperties: this.#schema(value) };
    return key.kind === 'string' ? schema : { ...schema, propertyNames: this.#schema(key) };
  }

  #unionSchema(members: readonly Type[]): JsonObject {
    const schemas = members.filter((member) => member.kind !== 'null').map((member) => this.#schema(member));
    const type = schemas[0]?.['type'];
    if (members.length === 2 && schemas.length === 1 && typeof type === 'string') {
      return { ...schemas[0], type: [type, 'null'] };
    }
    return { anyOf: schemas.length === members.length ? schemas : [{ type: 'null' }, ...schemas] };
  }

  /** Literal fields first: they tell the members of a union apart before anything costly is looked at. */
  #classSchema(type: ClassType): JsonObject {
    const properties: Record<string, JsonValue> = {};
    const tags = type.fields.filter((field) => field.type.kind === 'literal');
    for (const field of [...tags, ...type.fields]) properties[field.name] = this.#schema(field.type);
    return { type: 'object', properties, required: this.#required(type.fields) };
  }

  #required(members: ReadonlyArray<{ readonly name: string; readonly type: Type }>): readonly string[] {
    return members.filter(({ type }) => !acceptsNull(type, this.#index.aliases)).map(({ name }) => name);
  }

  #id(name: string): string {
    return this.#ids.get(name) ?? name;
  }
}

function root(id: string, schema: JsonObject): JsonObject {
  return { $id: id, ...schema };
}

/** Skipped values too: skipping hides a value from the model, not from the caller. */
function enumSchema(type: EnumType): JsonObject {
  return type.values.length === 0 ? { not: {} } : { enum: type.values.map((value) => value.name) };
}

/** Exactly one of `url` and `base64`; null counts as absent. */
function mediaSchema(): JsonObject {
  return { anyOf: [mediaForm('url', 'base64'), mediaForm('base64', 'url')] };
}

function mediaForm(given: string, absent: string): JsonObject {
  const properties = {
    [given]: { type: 'string' },
    [absent]: { type: 'null' },
    media_type: { type: ['string', 'null'] },
  };
  return { type: 'object', properties, required: [given], additionalProperties: false };
}

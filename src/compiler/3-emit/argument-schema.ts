import type { JsonObject, JsonValue } from '../../base/json.ts';
import { acceptsNull } from '../../schema/accepts-null.ts';
import type { DefinitionIndex } from '../../schema/definition-index.ts';
import type { FunctionType } from '../../schema/function.ts';
import type { ClassType, EnumType, Type } from '../../schema/type.ts';

/** Keys of the argument object that are no parameters: the options of the request, checked elsewhere. */
const OPTION_KEYS = ['svc_options', '__svc_options__'];

/** Where the shared schemas live; a reference is this and a key. */
export const SHARED_SCHEMA_ID = 'shared';

/**
 * JSON Schemas (draft 7) that decide whether arguments fit. Strict: no coercion, real names, every parameter known;
 * keys of a class that it does not declare are ignored.
 */
export class ArgumentSchemas {
  readonly #index: DefinitionIndex;
  readonly #keys: ReadonlyMap<string, string>;

  constructor(index: DefinitionIndex) {
    this.#index = index;
    const names = [...index.classes.keys(), ...index.enums.keys(), ...index.aliases.keys()];
    this.#keys = new Map(names.map((name, position) => [name, `t${position}`]));
  }

  /** The schemas of all classes, enums and recursive aliases, and of media. */
  shared(): JsonObject {
    const definitions: Record<string, JsonValue> = { media: mediaSchema() };
    for (const type of this.#index.classes.values()) definitions[this.#key(type.name)] = this.#classSchema(type);
    for (const type of this.#index.enums.values()) definitions[this.#key(type.name)] = enumSchema(type);
    for (const alias of this.#index.aliases.values()) definitions[this.#key(alias.name)] = this.#schema(alias.type);
    return { $id: SHARED_SCHEMA_ID, definitions };
  }

  /** The schema of a function's whole argument object. */
  signature(fn: FunctionType, id: string): JsonObject {
    const properties: Record<string, JsonValue> = {};
    for (const key of OPTION_KEYS) properties[key] = true;
    for (const { name, type } of fn.parameters) properties[name] = this.#schema(type);
    return {
      $id: id,
      type: 'object',
      properties,
      required: this.#required(fn.parameters),
      additionalProperties: false,
    };
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
        return reference('media');
      case 'class':
      case 'enum':
      case 'alias':
        return reference(this.#key(type.name));
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

  #key(name: string): string {
    return this.#keys.get(name) ?? name;
  }
}

function reference(key: string): JsonObject {
  return { $ref: `${SHARED_SCHEMA_ID}#/definitions/${key}` };
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

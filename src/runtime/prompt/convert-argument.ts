import { isJsonObject, ownValue } from '../../base/json.ts';
import type { DefinitionIndex } from '../../schema/program.ts';
import { possibleMembers } from '../../schema/possible-members.ts';
import type { ClassType, EnumType, MediaKind, Type, UnionType } from '../../schema/type.ts';
import type { MediaSource } from '../../schema/message.ts';
import {
  asIs,
  ClassInstance,
  type Convert,
  EnumNamespace,
  EnumValue,
  type InstanceClass,
  type InstanceField,
  MediaValue,
} from './values/argument-values.ts';
import { ArgumentList, Float, type Value } from './values/value.ts';
import { leadingTo, namesIn, partsOf, withInside } from '../../schema/type-graph.ts';
import type { Work } from './values/work.ts';

/** Makes converters by type. The fields of a class are converted on first use, so that classes can be recursive. */
export class ArgumentConverter {
  readonly #index: DefinitionIndex;
  readonly #classes = new Map<string, InstanceClass>();
  readonly #enums = new Map<string, EnumNamespace>();

  constructor(index: DefinitionIndex) {
    this.#index = index;
  }

  /** Returns the enum as templates see it; there is one object for each value. */
  enumOf(type: EnumType): EnumNamespace {
    const known = this.#enums.get(type.name) ?? new EnumNamespace(type);
    this.#enums.set(type.name, known);
    return known;
  }

  convertTo(type: Type): Convert {
    switch (type.kind) {
      case 'float':
        return toFloat;
      case 'enum':
        return this.#toEnum(this.#index.enums.get(type.name));
      case 'class':
        return this.#toClass(this.#index.classes.get(type.name));
      case 'media':
        return (value) => (isJsonObject(value) ? toMedia(type.media, value) : asIs(value));
      case 'list':
        return this.#toList(type.element);
      case 'map':
        return this.#toMap(type.value);
      case 'union':
        return this.#toMember(type);
      case 'alias':
        return this.#toAlias(type.name);
      case 'string':
      case 'int':
      case 'bool':
      case 'null':
      case 'literal':
        return asIs;
    }
  }

  #toEnum(type: EnumType | undefined): Convert {
    if (type === undefined) return asIs;
    const { values } = this.enumOf(type);
    return (value) => (typeof value === 'string' ? (values.get(value) ?? undeclared(value)) : asIs(value));
  }

  #toClass(type: ClassType | undefined): Convert {
    if (type === undefined) return asIs;
    return (value, fits) =>
      isJsonObject(value) ? new ClassInstance(this.#instanceClass(type), value, fits) : asIs(value);
  }

  #instanceClass(type: ClassType): InstanceClass {
    const known = this.#classes.get(type.name);
    if (known !== undefined) return known;
    const fields = new Map<string, InstanceField>();
    const result: InstanceClass = { name: type.name, fields, dynamic: type.dynamic };
    this.#classes.set(type.name, result);
    for (const { name, alias, type: fieldType } of type.fields) {
      fields.set(name, { name, printed: alias ?? name, convert: this.convertTo(fieldType) });
    }
    return result;
  }

  #toList(element: Type): Convert {
    const convert = this.convertTo(element);
    if (!this.#allowsNull(element)) {
      if (convert === asIs) return asIs;
      return (value, fits) => (Array.isArray(value) ? value.map((item) => convert(item, fits)) : asIs(value));
    }
    return (value, fits) =>
      Array.isArray(value) ? ArgumentList.from(value, (item) => convert(item, fits)) : asIs(value);
  }

  #allowsNull(type: Type): boolean {
    if (type.kind === 'union') return type.members.some((member) => this.#allowsNull(member));
    if (type.kind !== 'alias') return type.kind === 'null';
    const target = this.#index.aliases.get(type.name);
    return target !== undefined && this.#allowsNull(target.type);
  }

  #toMap(element: Type): Convert {
    const convert = this.convertTo(element);
    if (convert === asIs) return asIs;
    return (value, fits) => {
      if (!isJsonObject(value)) return asIs(value);
      return new Map<Value, Value>(Object.entries(value).map(([key, item]) => [key, convert(item, fits)]));
    };
  }

  /** Converts to the first member that the value fits: the only possible one, or one that its validator accepts. */
  #toMember(union: UnionType): Convert {
    const converts = new Map(union.members.map((type) => [type, this.convertTo(type)]));
    if ([...converts.values()].every((convert) => convert === asIs)) return asIs;
    return (value, fits) => {
      const possible = possibleMembers(union, value, this.#index);
      const fitting = possible.length === 1 ? possible[0] : possible.find((type) => fits(type, value));
      const convert = fitting === undefined ? undefined : converts.get(fitting);
      return convert === undefined ? asIs(value) : convert(value, fits);
    };
  }

  /** Looks the alias up at its first value, because it can contain itself. */
  #toAlias(name: string): Convert {
    let convert: Convert | undefined;
    return (value, fits) => {
      const target = this.#index.aliases.get(name);
      convert ??= target === undefined ? asIs : this.convertTo(target.type);
      return convert(value, fits);
    };
  }
}

/** Arguments of a `@@dynamic` enum can be strings that it does not declare. */
function undeclared(name: string): EnumValue {
  return new EnumValue({ name, skip: false });
}

/** Converts a whole number to a float; other values stay as they are. */
function toFloat(value: unknown): Value {
  return typeof value === 'number' && Number.isInteger(value) ? new Float(value) : asIs(value);
}

function toMedia(media: MediaKind, value: Readonly<Record<string, unknown>>): Value {
  return new MediaValue({ kind: 'media', media, source: sourceOf(value) });
}

function sourceOf(value: Readonly<Record<string, unknown>>): MediaSource {
  const mediaType = ownValue(value, 'media_type');
  const typed = typeof mediaType === 'string' ? { mediaType } : {};
  const url = ownValue(value, 'url');
  if (typeof url === 'string') return { kind: 'url', url, ...typed };
  const base64 = ownValue(value, 'base64');
  return { kind: 'base64', data: typeof base64 === 'string' ? base64 : '', ...typed };
}

/** Turns JSON data into the same data with floats. */
export type ConvertFloats = (value: unknown, work: Work) => Value;

const floatsByDefinitions = new WeakMap<DefinitionIndex, DeclaredFloats>();

/** Returns the conversions for these definitions. All conditions share the search for the classes that contain floats. */
export function declaredFloats(definitions: DefinitionIndex): DeclaredFloats {
  const floats = floatsByDefinitions.get(definitions) ?? new DeclaredFloats(definitions);
  floatsByDefinitions.set(definitions, floats);
  return floats;
}

/**
 * Makes whole numbers floats where a type declares floats, as in prompts: `7` of a `float` is `7.0`. All other data stays as it
 * is. The fields of a class are converted when they are read.
 */
class DeclaredFloats {
  readonly #index: DefinitionIndex;
  readonly #classes = new Map<string, ReadonlyMap<string, ConvertFloats>>();
  #names: ReadonlySet<string> | undefined;

  constructor(index: DefinitionIndex) {
    this.#index = index;
  }

  /** Returns undefined if the type declares no float at any depth. */
  convertTo(type: Type): ConvertFloats | undefined {
    if (!this.#leadsToFloat(type)) return undefined;
    switch (type.kind) {
      case 'float':
        return toFloat;
      case 'list':
        return this.#toList(type.element);
      case 'map':
        return this.#toMap(type.value);
      case 'class':
        return this.#toClass(type.name);
      case 'alias':
        return this.#toAlias(type.name);
      case 'union':
        return this.#toMember(type);
      default:
        return undefined;
    }
  }

  #leadsToFloat(type: Type): boolean {
    this.#names ??= leadingTo((name) => partsOf(name, this.#index).some(containsFloat), this.#index);
    const names = this.#names;
    return containsFloat(type) || namesIn(type).some((name) => names.has(name));
  }

  #toList(element: Type): ConvertFloats | undefined {
    const convert = this.convertTo(element);
    return (
      convert &&
      ((value, work) => {
        if (!Array.isArray(value)) return value as Value;
        work.spend(1 + (value.length >> 2));
        return value.map((item) => convert(item, work));
      })
    );
  }

  #toMap(element: Type): ConvertFloats | undefined {
    const convert = this.convertTo(element);
    return convert && ((value, work) => withMembers(value, () => convert, work));
  }

  #toClass(name: string): ConvertFloats {
    return (value, work) => withMembers(value, (field) => this.#fieldsOf(name).get(field), work);
  }

  /** Converts the fields of a class on first use, because it can contain itself. */
  #fieldsOf(name: string): ReadonlyMap<string, ConvertFloats> {
    const known = this.#classes.get(name);
    if (known !== undefined) return known;
    const fields = new Map<string, ConvertFloats>();
    const type: ClassType | undefined = this.#index.classes.get(name);
    for (const field of type?.fields ?? []) {
      const convert = this.convertTo(field.type);
      if (convert !== undefined) fields.set(field.name, convert);
    }
    this.#classes.set(name, fields);
    return fields;
  }

  /** Looks the alias up at its first value, because it can contain itself. */
  #toAlias(name: string): ConvertFloats {
    let convert: ConvertFloats | undefined;
    return (value, work) => {
      const target = this.#index.aliases.get(name);
      convert ??= (target && this.convertTo(target.type)) ?? asIs;
      return convert(value, work);
    };
  }

  /** A number is a float unless int, or a literal of it, precedes float. Data that several members can contain stays as it is. */
  #toMember(union: UnionType): ConvertFloats {
    const converts = new Map(union.members.map((member) => [member, this.convertTo(member)]));
    return (value, work) => {
      if (typeof value === 'number') return this.#numberKind(union, value) === 'float' ? toFloat(value) : value;
      const [member, ...others] = possibleMembers(union, value, this.#index);
      const convert = member === undefined || others.length > 0 ? undefined : converts.get(member);
      return convert === undefined ? (value as Value) : convert(value, work);
    };
  }

  #numberKind(type: Type, value: number): 'int' | 'float' | undefined {
    if (type.kind === 'int' || type.kind === 'float') return type.kind;
    if (type.kind === 'literal') return type.value === value ? 'int' : undefined;
    if (type.kind === 'alias') {
      const target = this.#index.aliases.get(type.name);
      return target && this.#numberKind(target.type, value);
    }
    if (type.kind !== 'union') return undefined;
    for (const member of type.members) {
      const kind = this.#numberKind(member, value);
      if (kind !== undefined) return kind;
    }
    return undefined;
  }
}

function containsFloat(type: Type): boolean {
  return withInside(type).some((inside) => inside.kind === 'float');
}

/** A copy of an object whose converted members are computed when they are read for the first time. */
function withMembers(value: unknown, convertOf: (name: string) => ConvertFloats | undefined, work: Work): Value {
  if (!isJsonObject(value)) return value as Value;
  const names = Object.keys(value);
  work.spend(1 + (names.length >> 2));
  const copy = { ...value };
  for (const name of names) {
    const convert = convertOf(name);
    if (convert !== undefined)
      Object.defineProperty(
        copy,
        name,
        lazily(() => convert(value[name], work)),
      );
  }
  return copy;
}

function lazily(compute: () => Value): PropertyDescriptor {
  let known: Value;
  let isKnown = false;
  const get = (): Value => {
    if (!isKnown) known = compute();
    isKnown = true;
    return known;
  };
  return { configurable: true, enumerable: true, get };
}

import { isJsonObject, ownValue } from '../../base/json.ts';
import type { DefinitionIndex } from '../../schema/definition-index.ts';
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
export function toFloat(value: unknown): Value {
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

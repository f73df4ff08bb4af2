import { isJsonObject } from '../../base/json.ts';
import type { DefinitionIndex } from '../../schema/definition-index.ts';
import { possibleMembers } from '../../schema/possible-members.ts';
import { leadingTo, namesIn, partsOf, withInside } from '../../schema/type-graph.ts';
import type { ClassType, Type, UnionType } from '../../schema/type.ts';
import { toFloat } from './convert-argument.ts';
import { asIs } from './values/argument-values.ts';
import type { Value } from './values/value.ts';
import type { Work } from './values/work.ts';

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

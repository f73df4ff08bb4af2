import { isJsonObject } from '../../base/json.ts';
import { acceptsNull } from '../../schema/type-graph.ts';
import type { DefinitionIndex } from '../../schema/definition-index.ts';
import type { ClassType, FitsType, Type } from '../../schema/type.ts';

/**
 * Deeper values are refused, so that no value can overflow the stack. Twice the depth of any request body (128): only
 * callers of the library can come here.
 */
export const MAX_VALUE_DEPTH = 256;

/** Keys of a media value; exactly one of the first two has text. */
export const MEDIA_KEYS: readonly string[] = ['url', 'base64', 'media_type'];

/**
 * Decides whether a value fits a type, without saying why not. Answers are remembered for each pair of type and object,
 * so that unions that lead back to themselves cost no more than the product of the two sizes.
 */
export class TypeFit {
  readonly #index: DefinitionIndex;
  readonly #known = new Map<Type, WeakMap<object, boolean>>();

  constructor(index: DefinitionIndex) {
    this.#index = index;
  }

  fits(type: Type, value: unknown, depth: number): boolean {
    if (typeof value !== 'object' || value === null) return this.#fitsScalar(type, value, depth);
    if (depth > MAX_VALUE_DEPTH) return false;
    const known = this.#knownFor(type);
    const before = known.get(value);
    if (before !== undefined) return before;
    const answer = this.#fitsObject(type, value, depth);
    known.set(value, answer);
    return answer;
  }

  #knownFor(type: Type): WeakMap<object, boolean> {
    let known = this.#known.get(type);
    if (known === undefined) this.#known.set(type, (known = new WeakMap()));
    return known;
  }

  #fitsScalar(type: Type, value: unknown, depth: number): boolean {
    switch (type.kind) {
      case 'string':
        return typeof value === 'string';
      case 'int':
        return Number.isSafeInteger(value);
      case 'float':
        return Number.isFinite(value);
      case 'bool':
        return typeof value === 'boolean';
      case 'null':
        return value === null;
      case 'literal':
        return value === type.value;
      case 'enum':
        return this.#index.enums.get(type.name)?.values.some((one) => one.name === value) ?? false;
      case 'union':
        return type.members.some((member) => this.fits(member, value, depth));
      case 'alias':
        return this.#fitsAlias(type.name, value, depth);
      case 'class':
      case 'list':
      case 'map':
      case 'media':
        return false;
    }
  }

  #fitsObject(type: Type, value: object, depth: number): boolean {
    switch (type.kind) {
      case 'list':
        return Array.isArray(value) && everyItem(value, (item) => this.fits(type.element, item, depth + 1));
      case 'map':
        return isJsonObject(value) && this.#fitsMap(type.key, type.value, value, depth);
      case 'class':
        return isJsonObject(value) && this.#fitsClass(this.#index.classes.get(type.name), value, depth);
      case 'media':
        return isJsonObject(value) && fitsMedia(value);
      case 'union':
        return type.members.some((member) => this.fits(member, value, depth));
      case 'alias':
        return this.#fitsAlias(type.name, value, depth);
      default:
        return false;
    }
  }

  #fitsAlias(name: string, value: unknown, depth: number): boolean {
    const alias = this.#index.aliases.get(name);
    return alias !== undefined && this.fits(alias.type, value, depth);
  }

  #fitsMap(key: Type, value: Type, map: Readonly<Record<string, unknown>>, depth: number): boolean {
    return Object.keys(map).every((name) => this.fits(key, name, depth) && this.fits(value, map[name], depth + 1));
  }

  #fitsClass(type: ClassType | undefined, value: Readonly<Record<string, unknown>>, depth: number): boolean {
    if (type === undefined) return false;
    return type.fields.every((field) => {
      const member = memberOf(value, field.name);
      if (member === undefined) return acceptsNull(field.type, this.#index.aliases);
      return this.fits(field.type, member, depth + 1);
    });
  }
}

/** The own member of that name; undefined counts as absent, since the library's callers may write it. */
export function memberOf(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Null counts as absent, since generated clients write it for what is not set. */
export function fitsMedia(value: Readonly<Record<string, unknown>>): boolean {
  const url = memberOf(value, 'url') ?? null;
  const base64 = memberOf(value, 'base64') ?? null;
  const mediaType = memberOf(value, 'media_type') ?? null;
  if (mediaType !== null && typeof mediaType !== 'string') return false;
  if (!Object.keys(value).every((key) => MEDIA_KEYS.includes(key))) return false;
  return (typeof url === 'string' && base64 === null) || (typeof base64 === 'string' && url === null);
}

/** Unlike Array.every it also visits holes, which fit nothing. */
function everyItem(items: readonly unknown[], fits: (item: unknown) => boolean): boolean {
  for (let index = 0; index < items.length; index += 1) {
    if (!fits(items[index])) return false;
  }
  return true;
}

/** Makes the function that decides for one rendering. */
export function createTypeFits(index: DefinitionIndex): () => FitsType {
  return () => {
    const fit = new TypeFit(index);
    return (type, value) => fit.fits(type, value, 0);
  };
}

import { isJsonObject } from '../../base/json.ts';
import { OPTIONS_KEYS } from '../../base/options-keys.ts';
import { didYouMean } from '../../base/suggestion.ts';
import { acceptsNull } from '../../schema/type-graph.ts';
import type { DefinitionIndex } from '../../schema/definition-index.ts';
import type { FunctionType } from '../../schema/function.ts';
import type { ClassType, MediaKind, Type } from '../../schema/type.ts';
import { found, names, quoted, wanted } from './argument-words.ts';
import type { Violation } from '../../schema/violation.ts';
import { ViolationList } from '../../schema/violation.ts';
import { fitsMedia, MAX_VALUE_DEPTH, MEDIA_KEYS, memberOf, TypeFit } from './type-fit.ts';
import { pathStep, pathText } from './value-path.ts';
import type { ValuePath } from './value-path.ts';

/** The two names under which a request may carry its options; what is in them is checked elsewhere. */
const OPTION_KEYS: ReadonlySet<string> = new Set(OPTIONS_KEYS);

type Members = Readonly<Record<string, unknown>>;
type MapShape = Extract<Type, { readonly kind: 'map' }>;
type UnionShape = Extract<Type, { readonly kind: 'union' }>;

/**
 * Every fault of an argument object, by walking types and values side by side: slow, exact, and bounded in depth, in
 * the number of faults and in the length of what it quotes. Empty exactly when the compiled predicate says yes.
 */
export function argumentFaults(fn: FunctionType, args: Members, index: DefinitionIndex): readonly Violation[] {
  const walk = new ArgumentWalk(index);
  walk.signature(fn, args);
  return walk.faults.all;
}

class ArgumentWalk {
  readonly faults = new ViolationList();
  readonly #index: DefinitionIndex;
  readonly #fit: TypeFit;

  constructor(index: DefinitionIndex) {
    this.#index = index;
    this.#fit = new TypeFit(index);
  }

  signature(fn: FunctionType, args: Members): void {
    for (const { name, type } of fn.parameters) this.#member(type, args, pathStep(undefined, name));
    const known = fn.parameters.map((parameter) => parameter.name);
    for (const key of Object.keys(args)) {
      if (this.faults.full) return;
      if (known.includes(key) || OPTION_KEYS.has(key)) continue;
      this.#fault(pathStep(undefined, key), unknownKey('parameter', key, known));
    }
  }

  /** A parameter or field: absent is as good as null. */
  #member(type: Type, object: Members, path: ValuePath): void {
    const value = memberOf(object, String(path.step));
    if (value !== undefined) this.#check(type, value, path);
    else if (!acceptsNull(type, this.#index.aliases)) this.#fault(path, `missing: expected ${this.#wanted(type)}`);
  }

  #check(type: Type, value: unknown, path: ValuePath): void {
    if (this.faults.full || this.#fit.fits(type, value, path.depth)) return;
    if (path.depth > MAX_VALUE_DEPTH) this.#fault(path, `nested deeper than ${MAX_VALUE_DEPTH} levels`);
    else if (type.kind === 'union') this.#union(type, value, path);
    else if (type.kind === 'alias') this.#alias(type.name, value, path);
    else if (type.kind === 'list' && Array.isArray(value)) this.#list(type.element, value, path);
    else if (type.kind === 'map' && isJsonObject(value)) this.#map(type, value, path);
    else if (type.kind === 'class' && isJsonObject(value)) this.#class(type.name, value, path);
    else if (type.kind === 'media' && isJsonObject(value)) this.#media(type.media, value, path);
    else this.#mismatch(type, value, path);
  }

  #list(element: Type, items: readonly unknown[], path: ValuePath): void {
    for (let at = 0; at < items.length && !this.faults.full; at += 1)
      this.#check(element, items[at], pathStep(path, at));
  }

  #map(type: MapShape, map: Members, path: ValuePath): void {
    for (const key of Object.keys(map)) {
      if (this.faults.full) return;
      const at = pathStep(path, key);
      if (this.#fit.fits(type.key, key, at.depth)) this.#check(type.value, map[key], at);
      else this.#fault(at, `not a key of this map: expected ${this.#wanted(type.key)}`);
    }
  }

  #class(name: string, value: Members, path: ValuePath): void {
    for (const field of this.#index.classes.get(name)?.fields ?? []) {
      this.#member(field.type, value, pathStep(path, field.name));
    }
  }

  #alias(name: string, value: unknown, path: ValuePath): void {
    const alias = this.#index.aliases.get(name);
    if (alias !== undefined) this.#check(alias.type, value, path);
  }

  /** Goes on into the one member that the value can have been meant for; otherwise says what there is to choose from. */
  #union(union: UnionShape, value: unknown, path: ValuePath): void {
    const sameShape = union.members.filter((member) => this.#sameShape(member, value));
    const meant = sameShape.length === 1 ? sameShape : sameShape.filter((member) => this.#tagFits(member, value));
    const [only] = meant;
    if (meant.length === 1 && only !== undefined) this.#check(only, value, path);
    else this.#mismatch(union, value, path);
  }

  #sameShape(type: Type, value: unknown): boolean {
    if (Array.isArray(value)) return type.kind === 'list' || type.kind === 'alias';
    if (isJsonObject(value)) return ['class', 'map', 'media', 'alias'].includes(type.kind);
    return typeof value === 'string' && type.kind === 'enum';
  }

  /** A class whose literal fields all agree with the value: how tagged unions are told apart. */
  #tagFits(type: Type, value: unknown): boolean {
    if (type.kind !== 'class' || !isJsonObject(value)) return false;
    const tags = literalFields(this.#index.classes.get(type.name));
    return tags.length > 0 && tags.every((tag) => memberOf(value, tag.name) === tag.value);
  }

  #media(media: MediaKind, value: Members, path: ValuePath): void {
    if (fitsMedia(value)) return;
    const extra = Object.keys(value).filter((key) => !MEDIA_KEYS.includes(key));
    for (const key of extra) this.#fault(pathStep(path, key), unknownKey('key', key, MEDIA_KEYS));
    if (extra.length > 0) return;
    for (const key of MEDIA_KEYS) {
      const member = memberOf(value, key) ?? null;
      if (member === null || typeof member === 'string') continue;
      this.#fault(pathStep(path, key), `expected a string, got ${found(member)}`);
      return;
    }
    this.#fault(path, `expected exactly one of "url" and "base64" in this ${media}`);
  }

  #mismatch(type: Type, value: unknown, path: ValuePath): void {
    const choices = typeof value === 'string' ? this.#choices(type) : [];
    if (choices.length === 0 || typeof value !== 'string') {
      this.#fault(path, `expected ${this.#wanted(type)}, got ${found(value)}`);
      return;
    }
    const hint = didYouMeanShort(value, choices);
    this.#fault(path, `expected ${this.#wanted(type)}, got ${quoted(value)}${hint}`);
  }

  /** The texts to choose from, where a type is a choice among texts. */
  #choices(type: Type): readonly string[] {
    if (type.kind === 'enum') return this.#index.enums.get(type.name)?.values.map((value) => value.name) ?? [];
    if (type.kind === 'literal') return typeof type.value === 'string' ? [type.value] : [];
    if (type.kind === 'union') return type.members.flatMap((member) => this.#choices(member));
    return [];
  }

  #wanted(type: Type): string {
    return wanted(type, this.#index);
  }

  #fault(path: ValuePath, message: string): void {
    this.faults.add({ path: pathText(path), message });
  }
}

function literalFields(type: ClassType | undefined): ReadonlyArray<{ readonly name: string; readonly value: unknown }> {
  return (type?.fields ?? []).flatMap((field) =>
    field.type.kind === 'literal' ? [{ name: field.name, value: field.type.value }] : [],
  );
}

function unknownKey(what: string, key: string, known: readonly string[]): string {
  const allowed = known.length === 0 ? `no ${what}s are allowed` : `allowed: ${names(known)}`;
  const near = didYouMeanShort(key, what === 'parameter' ? [...known, ...OPTION_KEYS] : known);
  return `unknown ${what} ${quoted(key)}${near || `; ${allowed}`}`;
}

/** Edit distance costs the product of the lengths, so long text gets no suggestion. */
function didYouMeanShort(text: string, choices: readonly string[]): string {
  const hint = text.length > 100 ? '' : didYouMean(text, choices);
  return hint === '' ? '' : `. ${hint}`;
}

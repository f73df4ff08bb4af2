import { isJsonObject, ownValue, isOptionsKey, OPTIONS_KEYS } from '../../base/json.ts';
import { didYouMean } from '../../base/suggestion.ts';
import type { DefinitionIndex, FunctionType } from '../../schema/program.ts';
import { flatMembers, literalFields, possibleMembers } from '../../schema/possible-members.ts';
import { acceptsNull, typeText } from '../../schema/type-graph.ts';
import type { FitsType, MediaKind, Type, UnionType } from '../../schema/type.ts';
import { ViolationList, type Violation } from '../../schema/violation.ts';
import { pathStep, pathText, type ValuePath } from '../../base/value-path.ts';

/**
 * Deeper values are refused, so that no value can overflow the stack. Twice the depth of any request body (128): only
 * callers of the library can exceed it.
 */
export const MAX_VALUE_DEPTH = 256;

/** The cost of an edit distance is the product of the lengths, so a long string gets no suggestion. */
const LONGEST_SUGGESTED = 100;

/** The most pairs of characters to compare for the suggestions of one list of violations: an enum can have thousands of values. */
const MAX_COMPARED = 3_000_000;

/** Keys of a media value; exactly one of the first two has text. */
const MEDIA_KEYS: readonly string[] = ['url', 'base64', 'media_type'];

type Members = Readonly<Record<string, unknown>>;
type MapType = Extract<Type, { readonly kind: 'map' }>;
type LiteralType = Extract<Type, { readonly kind: 'literal' }>;

interface Explanation {
  readonly index: DefinitionIndex;
  /** The compiled validators of the function's types. */
  readonly fits: FitsType;
}

/**
 * Explains why an argument object does not fit its function: visits each part of it once, with its declared type, and words
 * the parts that the validators refuse. Bounded in depth, in the number of violations and in the length of quotes. It
 * navigates by the JSON type of a part and asks the validators for everything else; empty exactly when the validator of the
 * function accepts.
 */
export function explainArguments(fn: FunctionType, args: Members, explanation: Explanation): readonly Violation[] {
  const walk = new ExplainingWalk(explanation);
  walk.signature(fn, args);
  return walk.violations.all;
}

class ExplainingWalk {
  readonly violations = new ViolationList();
  readonly #index: DefinitionIndex;
  readonly #fits: FitsType;
  #compared = 0;

  constructor({ index, fits }: Explanation) {
    this.#index = index;
    this.#fits = fits;
  }

  signature(fn: FunctionType, args: Members): void {
    for (const { name, type } of fn.parameters) this.#member(type, args, pathStep(undefined, name));
    const known = new Set(fn.parameters.map((parameter) => parameter.name));
    for (const key of Object.keys(args)) {
      if (this.violations.full) return;
      if (known.has(key) || isOptionsKey(key)) continue;
      this.#add(pathStep(undefined, key), this.#unknownKey('parameter', key, [...known]));
    }
  }

  /** A parameter or field. Absent is the same as null; callers in process can write undefined. */
  #member(type: Type, object: Members, path: ValuePath): void {
    const value = ownValue(object, String(path.step));
    if (value !== undefined) this.#check(type, value, path);
    else if (!acceptsNull(type, this.#index.aliases)) this.#add(path, `missing: expected ${this.#wanted(type)}`);
  }

  #check(type: Type, value: unknown, path: ValuePath): void {
    if (this.violations.full) return;
    if (typeof value !== 'object' || value === null) this.#scalar(type, value, path);
    else if (path.depth > MAX_VALUE_DEPTH) this.#add(path, `nested deeper than ${MAX_VALUE_DEPTH} levels`);
    else this.#container(type, value, path);
  }

  #scalar(type: Type, value: unknown, path: ValuePath): void {
    if (this.#fits(type, value)) return;
    if (path.depth > MAX_VALUE_DEPTH) this.#add(path, `nested deeper than ${MAX_VALUE_DEPTH} levels`);
    else this.#mismatch(this.#meantByScalar(type, value), value, path);
  }

  /** A string that no member of a union accepts was meant for its only enum. */
  #meantByScalar(type: Type, value: unknown): Type {
    if (type.kind === 'alias') {
      const target = this.#index.aliases.get(type.name)?.type;
      return target === undefined ? type : this.#meantByScalar(target, value);
    }
    if (type.kind !== 'union' || typeof value !== 'string') return type;
    const [only, ...others] = type.members.filter((member) => member.kind === 'enum');
    return only === undefined || others.length > 0 ? type : only;
  }

  #container(type: Type, value: object, path: ValuePath): void {
    if (type.kind === 'union') this.#union(type, value, path);
    else if (type.kind === 'alias') this.#alias(type.name, value, path);
    else if (type.kind === 'list' && Array.isArray(value)) this.#list(type.element, value, path);
    else if (type.kind === 'map' && isJsonObject(value)) this.#map(type, value, path);
    else if (type.kind === 'class' && isJsonObject(value)) this.#class(type.name, value, path);
    else if (type.kind === 'media' && isJsonObject(value)) this.#media(type, value, path);
    else this.#mismatch(type, value, path);
  }

  #list(element: Type, items: readonly unknown[], path: ValuePath): void {
    for (let at = 0; at < items.length && !this.violations.full; at += 1) {
      this.#check(element, items[at], pathStep(path, at));
    }
  }

  #map(type: MapType, map: Members, path: ValuePath): void {
    for (const key of Object.keys(map)) {
      if (this.violations.full) return;
      const at = pathStep(path, key);
      if (this.#fits(type.key, key)) this.#check(type.value, map[key], at);
      else this.#add(at, `not a key of this map: expected ${this.#wanted(type.key)}`);
    }
  }

  #class(name: string, value: Members, path: ValuePath): void {
    for (const field of this.#index.classes.get(name)?.fields ?? []) {
      this.#member(field.type, value, pathStep(path, field.name));
    }
  }

  #alias(name: string, value: object, path: ValuePath): void {
    const alias = this.#index.aliases.get(name);
    if (alias !== undefined) this.#container(alias.type, value, path);
  }

  /** Continues with the one member that the value can be meant for; otherwise states the tags or members to choose from. */
  #union(union: UnionType, value: object, path: ValuePath): void {
    const possible = possibleMembers(union, value, this.#index);
    const tagged = possible.filter((member) => literalFields(member, this.#index).length > 0);
    if (possible.length > 1 && this.#fits(union, value)) return;
    const [meant] = possible.length === 1 ? possible : tagged;
    if (meant !== undefined && tagged.length === 1) this.#container(meant, value, path);
    else if (isJsonObject(value) && this.#tag(union, value, path)) return;
    else if (meant !== undefined && possible.length === 1) this.#container(meant, value, path);
    else this.#mismatch(union, value, path);
  }

  /**
   * Follows the tags of a union of classes: fields that are literals in several of them, such as the name of a tool. Returns true if
   * the tags show the member that the value is meant for, or a wrong tag, or if the value fits.
   */
  #tag(union: UnionType, value: Members, path: ValuePath): boolean {
    const objects = flatMembers(union, this.#index).filter(({ kind }) => kind !== 'list');
    let left = objects.flatMap((member) => {
      const tags = this.#tagsOf(member);
      return tags.size === 0 ? [] : [{ member, tags }];
    });
    if (left.length === 0) return false;
    if (this.#fits(union, value)) return true;
    for (const name of left[0]?.tags.keys() ?? []) {
      const choices = left.flatMap(({ tags }) => tags.get(name) ?? []);
      if (left.some(({ tags }) => !tags.has(name))) continue;
      const sent = ownValue(value, name);
      const agreeing = left.filter(({ tags }) => tags.get(name)?.some((literal) => literal.value === sent));
      if (agreeing.length === 0) {
        // A member without this tag can be meant, unless the value has a tag that the member has no field for.
        const others = objects.filter((member) => !left.some((one) => one.member === member));
        if (others.some((member) => sent === undefined || this.#declares(member, name))) return false;
        this.#wrongTag({ kind: 'union', members: choices }, sent, pathStep(path, name));
        return true;
      }
      left = agreeing;
    }
    const [meant, ...others] = left;
    if (meant === undefined || others.length > 0) return false;
    this.#container(meant.member, value, path);
    return true;
  }

  #wrongTag(choices: UnionType, sent: unknown, path: ValuePath): void {
    const [only, ...others] = choices.members;
    const type = only !== undefined && others.length === 0 ? only : choices;
    if (sent === undefined) this.#add(path, `missing: expected ${this.#wanted(type)}`);
    else this.#mismatch(type, sent, path);
  }

  /** The literals of each field of a class that allows nothing else. */
  #tagsOf(type: Type): ReadonlyMap<string, readonly LiteralType[]> {
    const fields = type.kind === 'class' ? (this.#index.classes.get(type.name)?.fields ?? []) : [];
    return new Map(
      fields.flatMap((field) => {
        const members = field.type.kind === 'union' ? field.type.members : [field.type];
        const literals = members.filter((member) => member.kind === 'literal');
        return literals.length === members.length ? [[field.name, literals]] : [];
      }),
    );
  }

  #declares(type: Type, name: string): boolean {
    if (type.kind !== 'class') return true;
    return this.#index.classes.get(type.name)?.fields.some((field) => field.name === name) ?? false;
  }

  #media(type: Extract<Type, { readonly kind: 'media' }>, value: Members, path: ValuePath): void {
    if (this.#fits(type, value)) return;
    const extra = Object.keys(value).filter((key) => !MEDIA_KEYS.includes(key));
    for (const key of extra) {
      if (this.violations.full) return;
      this.#add(pathStep(path, key), this.#unknownKey('key', key, MEDIA_KEYS));
    }
    if (extra.length > 0) return;
    for (const key of MEDIA_KEYS) {
      const member = ownValue(value, key) ?? null;
      if (member === null || typeof member === 'string') continue;
      this.#add(pathStep(path, key), `expected a string, got ${found(member)}`);
      return;
    }
    this.#mediaText(type.media, value, path);
  }

  #mediaText(media: MediaKind, value: Members, path: ValuePath): void {
    const texts = ['url', 'base64'].filter((key) => typeof ownValue(value, key) === 'string');
    if (texts.length === 1 && texts[0] === 'base64') {
      this.#add(pathStep(path, 'base64'), 'expected base64 with padding (RFC 4648, section 4)');
    } else this.#add(path, `expected exactly one of "url" and "base64" in this ${media}`);
  }

  #mismatch(type: Type, value: unknown, path: ValuePath): void {
    const choices = typeof value === 'string' ? this.#choices(type) : [];
    if (choices.length === 0 || typeof value !== 'string') {
      this.#add(path, `expected ${this.#wanted(type)}, got ${found(value)}`);
      return;
    }
    const hint = this.#didYouMean(value, choices);
    this.#add(path, `expected ${this.#wanted(type)}, got ${quoted(value)}${hint}`);
  }

  /** The strings to choose from, where a type is a choice among strings. */
  #choices(type: Type): readonly string[] {
    if (type.kind === 'enum') return this.#index.enums.get(type.name)?.values.map((value) => value.name) ?? [];
    if (type.kind === 'literal') return typeof type.value === 'string' ? [type.value] : [];
    if (type.kind === 'union') return type.members.flatMap((member) => this.#choices(member));
    return [];
  }

  #wanted(type: Type): string {
    return wanted(type, this.#index);
  }

  #add(path: ValuePath, message: string): void {
    this.violations.add({ path: pathText(path), message });
  }

  #unknownKey(what: string, key: string, known: readonly string[]): string {
    const allowed = known.length === 0 ? `no ${what}s are allowed` : `allowed: ${names(known)}`;
    const near = this.#didYouMean(key, what === 'parameter' ? [...known, ...OPTIONS_KEYS] : known);
    return `unknown ${what} ${quoted(key)}${near || `; ${allowed}`}`;
  }

  #didYouMean(text: string, choices: readonly string[]): string {
    if (text.length > LONGEST_SUGGESTED) return '';
    this.#compared += choices.reduce((sum, choice) => sum + choice.length * text.length, 0);
    if (this.#compared > MAX_COMPARED) return '';
    const hint = didYouMean(text, choices);
    return hint === '' ? '' : `. ${hint}`;
  }
}

/** A message with more names is hard to read. */
const MAX_NAMES = 12;

/** Messages cut longer strings of the caller. */
const MAX_QUOTED = 60;

/** Describes the values of a type, to follow "expected". */
function wanted(type: Type, index: DefinitionIndex): string {
  switch (type.kind) {
    case 'int':
      return 'an int';
    case 'string':
    case 'float':
    case 'bool':
      return `a ${type.kind}`;
    case 'null':
      return 'null';
    case 'literal':
      return JSON.stringify(type.value);
    case 'enum':
      return enumWanted(type.name, index);
    case 'class':
      return `an object of class ${type.name}`;
    case 'list':
      return `a list (${typeText(type)})`;
    case 'map':
      return `an object (${typeText(type)})`;
    case 'media':
      return mediaWanted(type.media);
    case 'alias':
      return `a value of ${type.name}`;
    case 'union':
      return unionWanted(type.members, index);
  }
}

function unionWanted(members: readonly Type[], index: DefinitionIndex): string {
  const literals = members.filter((member) => member.kind === 'literal');
  if (literals.length === members.length) return `one of ${list(literals.map((one) => JSON.stringify(one.value)))}`;
  const [first, second] = members;
  if (members.length === 2 && first !== undefined && second?.kind === 'null') return `${wanted(first, index)} or null`;
  return `one of ${list(members.map(typeText))}`;
}

/** As an argument, a `@@dynamic` enum accepts every string. */
function enumWanted(name: string, index: DefinitionIndex): string {
  const { dynamic = false, values = [] } = index.enums.get(name) ?? {};
  return dynamic ? `a value of ${name} as a string` : `one of ${names(values.map((value) => value.name))}`;
}

function mediaWanted(media: MediaKind): string {
  const article = media === 'image' || media === 'audio' ? 'an' : 'a';
  return `${article} ${media} as {"url": …} or {"base64": …, "media_type": …}`;
}

/** Describes a value, to follow "got", without its content. */
function found(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return 'a string';
    case 'boolean':
      return 'a bool';
    case 'number':
      return numberFound(value);
    case 'object':
      return 'an object';
    case 'undefined':
      return 'nothing';
    default:
      return `a ${typeof value}, which is not a JSON value`;
  }
}

function numberFound(value: number): string {
  if (!Number.isFinite(value)) return 'a number out of range';
  if (!Number.isInteger(value)) return 'a float';
  return Number.isSafeInteger(value) ? 'an int' : `a number beyond ±${Number.MAX_SAFE_INTEGER}, the bounds of an int`;
}

/** A string of the caller in quotes; cut if it is long. */
function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
}

/** `"A", "B" or "C"`; a long list ends with the number of the others. */
function names(all: readonly string[]): string {
  return list(all.map((name) => JSON.stringify(name)));
}

function list(items: readonly string[]): string {
  if (items.length > MAX_NAMES) {
    return `${items.slice(0, MAX_NAMES).join(', ')} or ${items.length - MAX_NAMES} more`;
  }
  const last = items.at(-1) ?? 'nothing';
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} or ${last}`;
}

import { type JsonObject, isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { DefinitionIndex, FunctionExample, FunctionType } from '../../../schema/program.ts';
import { NameAllocator } from './dialect.ts';
import { acceptsNull } from '../../../schema/type-graph.ts';
import type { Type } from '../../../schema/type.ts';

/** The largest example in bytes of JSON: tests can contain whole documents, and callers load the OpenAPI document often. */
const MAX_BYTES = 4096;
const WHOLE: Limits = { characters: Infinity, items: Infinity };
/** svc cuts an example by the first of these limits that makes it small enough. */
const LIMITS: readonly Limits[] = [
  { characters: 1000, items: 50 },
  { characters: 200, items: 20 },
  { characters: 50, items: 5 },
  { characters: 10, items: 1 },
];

/**
 * The arguments of tests as examples. Each appears once in the document, as a component to which the paths of all
 * functions of the test refer.
 */
export class Examples {
  readonly #index: DefinitionIndex;
  readonly #names = new NameAllocator();
  /** Component names by the test and its example. */
  readonly #known = new Map<string, string>();
  readonly components = new Map<string, JsonObject>();

  constructor(index: DefinitionIndex) {
    this.#index = index;
  }

  /** Returns references to the examples of a function, by the names of its tests. */
  of(fn: FunctionType): JsonObject {
    const references = new Map<string, JsonObject>();
    for (const example of fn.examples) {
      const shown = this.#shown(example, fn);
      if (shown === undefined) continue;
      const component = this.#component(example.name, shown);
      // Two tests of one function can have the same name, in spite of a warning.
      const key = references.has(example.name) ? component : example.name;
      references.set(key, { $ref: `#/components/examples/${component}` });
    }
    return Object.fromEntries(references);
  }

  /** Returns undefined if calls refuse the arguments, or if they are too large even when cut. */
  #shown({ args }: FunctionExample, fn: FunctionType): JsonObject | undefined {
    const whole = shortenArguments(args, fn, this.#index, WHOLE);
    if (whole === undefined || isSmall({ value: whole })) return whole && { value: whole };
    const kilobytes = Math.ceil(Buffer.byteLength(JSON.stringify(args)) / 1024);
    const description = `Shortened: the arguments of this test take ${kilobytes} KB. "…" marks where a string is cut; lists and maps can have fewer entries.`;
    for (const limits of LIMITS) {
      const value = shortenArguments(args, fn, this.#index, limits);
      if (value !== undefined && isSmall({ description, value })) return { description, value };
    }
    return undefined;
  }

  #component(test: string, example: JsonObject): string {
    const key = JSON.stringify([test, example]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // The names of components allow fewer characters than those of tests.
    const name = this.#names.allocate(test.replaceAll(/[^\w.-]/gu, '_'));
    this.#known.set(key, name);
    this.components.set(name, example);
    return name;
  }
}

function isSmall(example: JsonObject): boolean {
  return Buffer.byteLength(JSON.stringify(example)) <= MAX_BYTES;
}

/** Limits on how much of one value an example shows. */
interface Limits {
  /** Characters of a string. */
  readonly characters: number;
  /** Items of a list, or entries of a map. */
  readonly items: number;
}

/** The largest number of values that svc compares with types for one example: nested unions double it at each level. */
const MAX_STEPS = 50_000;
const BASE64 = /^(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?$/;
const MEDIA_KEYS = new Set(['url', 'base64', 'media_type']);

/**
 * Cuts long strings, lists and maps in the arguments, so that a call still accepts them. Returns undefined if a call would
 * refuse the arguments because one is missing, unknown or of another type; svc does not evaluate an `@assert` here.
 */
function shortenArguments(
  args: JsonObject,
  fn: FunctionType,
  index: DefinitionIndex,
  limits: Limits,
): JsonObject | undefined {
  const names = new Set(fn.parameters.map(({ name }) => name));
  if (!Object.keys(args).every((name) => names.has(name))) return undefined;
  return new Shortener(index, limits).members(args, fn.parameters);
}

/** Every method returns undefined if the value does not match the type. */
class Shortener {
  readonly #index: DefinitionIndex;
  readonly #limits: Limits;
  #steps = 0;

  constructor(index: DefinitionIndex, limits: Limits) {
    this.#index = index;
    this.#limits = limits;
  }

  /** Keeps undeclared members, which calls ignore. */
  members(
    value: JsonValue,
    declared: ReadonlyArray<{ readonly name: string; readonly type: Type }>,
  ): JsonObject | undefined {
    if (!isJsonObject(value)) return undefined;
    const types = new Map(declared.map(({ name, type }) => [name, type]));
    const isMissing = ({ name, type }: (typeof declared)[number]): boolean =>
      !Object.hasOwn(value, name) && !acceptsNull(type, this.#index.aliases);
    if (declared.some(isMissing)) return undefined;
    return this.#entries(Object.entries(value), (key, member) => {
      const type = types.get(key);
      return type === undefined ? this.#undeclared(member) : this.#value(member, type);
    });
  }

  #value(value: JsonValue, type: Type): JsonValue | undefined {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) return undefined;
    switch (type.kind) {
      case 'string':
        return typeof value === 'string' ? this.#text(value) : undefined;
      case 'int':
        return Number.isSafeInteger(value) ? value : undefined;
      case 'float':
        return typeof value === 'number' ? value : undefined;
      case 'bool':
        return typeof value === 'boolean' ? value : undefined;
      case 'null':
        return value === null ? value : undefined;
      case 'literal':
        return value === type.value ? value : undefined;
      case 'media':
        return this.#media(value);
      case 'enum':
        return this.#index.enums.get(type.name)?.values.some(({ name }) => name === value) ? value : undefined;
      case 'alias':
        return this.#alias(value, type.name);
      case 'class':
        return this.members(value, this.#index.classes.get(type.name)?.fields ?? []);
      case 'list':
        return this.#list(value, type.element);
      case 'map':
        return this.#map(value, type.key, type.value);
      case 'union':
        return this.#union(value, type.members);
    }
  }

  #alias(value: JsonValue, name: string): JsonValue | undefined {
    const target = this.#index.aliases.get(name)?.type;
    return target && this.#value(value, target);
  }

  #union(value: JsonValue, members: readonly Type[]): JsonValue | undefined {
    for (const member of members) {
      const fitting = this.#value(value, member);
      if (fitting !== undefined) return fitting;
    }
    return undefined;
  }

  #list(value: JsonValue, element: Type): readonly JsonValue[] | undefined {
    if (!Array.isArray(value)) return undefined;
    const items: JsonValue[] = [];
    for (const item of value.slice(0, this.#limits.items)) {
      const fitting = this.#value(item, element);
      if (fitting === undefined) return undefined;
      items.push(fitting);
    }
    return items;
  }

  #map(value: JsonValue, key: Type, member: Type): JsonObject | undefined {
    if (!isJsonObject(value)) return undefined;
    const entries = Object.entries(value).slice(0, this.#limits.items);
    if (key.kind !== 'string' && entries.some(([name]) => this.#value(name, key) === undefined)) return undefined;
    return this.#entries(entries, (_, inner) => this.#value(inner, member));
  }

  /** A test can also name a file, which callers cannot send. */
  #media(value: JsonValue): JsonObject | undefined {
    if (!isJsonObject(value) || !Object.keys(value).every((key) => MEDIA_KEYS.has(key))) return undefined;
    const { url = null, base64 = null, media_type: mediaType = null } = value;
    const rest = mediaType === null ? {} : { media_type: mediaType };
    if (mediaType !== null && typeof mediaType !== 'string') return undefined;
    if (typeof url === 'string' && base64 === null) return { url: url.slice(0, this.#limits.characters), ...rest };
    if (typeof base64 !== 'string' || url !== null || !BASE64.test(base64)) return undefined;
    const whole = Math.floor(this.#limits.characters / 4) * 4;
    return { base64: base64.slice(0, whole), ...rest };
  }

  #undeclared(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) return value.slice(0, this.#limits.items).map((item) => this.#undeclared(item));
    if (!isJsonObject(value)) return value;
    const entries = Object.entries(value).slice(0, this.#limits.items);
    return Object.fromEntries(entries.map(([key, member]) => [key, this.#undeclared(member)]));
  }

  #entries(
    entries: ReadonlyArray<readonly [string, JsonValue]>,
    shorten: (key: string, value: JsonValue) => JsonValue | undefined,
  ): JsonObject | undefined {
    const fitting: Array<readonly [string, JsonValue]> = [];
    for (const [key, value] of entries) {
      const short = shorten(key, value);
      if (short === undefined) return undefined;
      fitting.push([key, short]);
    }
    return Object.fromEntries(fitting);
  }

  #text(text: string): string {
    const { characters } = this.#limits;
    if (text.length <= characters) return text;
    // Half of a surrogate pair is not a character.
    const end = text.codePointAt(characters - 1) === text.charCodeAt(characters - 1) ? characters : characters - 1;
    return `${text.slice(0, end)}…`;
  }
}

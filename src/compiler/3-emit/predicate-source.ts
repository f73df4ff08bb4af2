import { OPTIONS_KEYS } from '../../base/options-keys.ts';
import { invariant } from '../../base/invariant.ts';
import { acceptsNull } from '../../schema/type-graph.ts';
import type { DefinitionIndex } from '../../schema/definition-index.ts';
import type { FunctionType } from '../../schema/function.ts';
import type { ClassType, EnumType, Type } from '../../schema/type.ts';

/** Keys of the argument object that are no parameters: the options of the request, checked elsewhere. */

/** Functions that every predicate may use. `isMedia`: exactly one of `url` and `base64`; null counts as absent. */
const PRELUDE = `'use strict';
const own = (object, key) => Object.hasOwn(object, key) ? object[key] : undefined;
const isObject = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);
const isAbsent = (v) => v === undefined || v === null;
function isMedia(v) {
  if (!isObject(v)) return false;
  for (const key in v) if (key !== 'url' && key !== 'base64' && key !== 'media_type') return false;
  const url = own(v, 'url'), base64 = own(v, 'base64'), type = own(v, 'media_type');
  if (!isAbsent(type) && typeof type !== 'string') return false;
  return typeof url === 'string' ? isAbsent(base64) : isAbsent(url) && typeof base64 === 'string';
}
`;

/** A list of comparisons longer than this is a set. */
const LONGEST_COMPARISON = 8;

/**
 * Writes the functions that decide whether arguments fit. Strict: no coercion, real names, every parameter known; keys
 * of a class that it does not declare are ignored, and only own properties count (a parameter may be called `constructor`).
 * The value `undefined` counts as absent.
 */
export class PredicateSource {
  readonly #index: DefinitionIndex;
  /** The function of each class, enum and recursive alias. */
  readonly #names: ReadonlyMap<string, string>;
  /** Names of the functions for lists, maps and signatures, by what they do: each is written once. */
  readonly #shared = new Map<string, string>();
  readonly #parts: string[] = [PRELUDE];

  constructor(index: DefinitionIndex) {
    this.#index = index;
    const named = [...index.classes.keys(), ...index.enums.keys(), ...index.aliases.keys()];
    this.#names = new Map(named.map((name, position) => [name, `t${position}`]));
    for (const type of index.classes.values()) this.#define(type.name, this.#classBody(type));
    for (const type of index.enums.values()) this.#define(type.name, this.#enumBody(type));
    for (const alias of index.aliases.values()) this.#define(alias.name, `return ${this.#test(alias.type, 'v')};`);
  }

  /** Adds the predicate of a function's whole argument object, under the function's name. */
  export(fn: FunctionType): void {
    const known = [...fn.parameters.map(({ name }) => name), ...OPTIONS_KEYS];
    const allowed = known.map((name) => `case ${JSON.stringify(name)}:`).join(' ');
    const keys = `for (const key in v) switch (key) { ${allowed} continue; default: return false; }`;
    const id = this.#share(`if (!isObject(v)) return false;\n  ${keys}\n  ${this.#members(fn.parameters)}return true;`);
    this.#parts.push(`exports[${JSON.stringify(fn.name)}] = ${id};\n`);
  }

  /** The whole module. */
  toString(): string {
    return this.#parts.join('');
  }

  #define(name: string, body: string): void {
    this.#parts.push(`function ${this.#nameOf(name)}(v) {\n  ${body}\n}\n`);
  }

  #share(body: string): string {
    const known = this.#shared.get(body);
    if (known !== undefined) return known;
    const id = `s${this.#shared.size}`;
    this.#shared.set(body, id);
    this.#parts.push(`function ${id}(v) {\n  ${body}\n}\n`);
    return id;
  }

  /** An expression that is true when the value of the expression `v` fits. It is false for `undefined`, whatever the type. */
  #test(type: Type, v: string): string {
    switch (type.kind) {
      case 'string':
        return `typeof ${v} === 'string'`;
      case 'bool':
        return `typeof ${v} === 'boolean'`;
      case 'null':
        return `${v} === null`;
      case 'int':
        return `Number.isSafeInteger(${v})`;
      case 'float':
        return `Number.isFinite(${v})`;
      case 'literal':
        return `${v} === ${JSON.stringify(type.value)}`;
      case 'media':
        return `isMedia(${v})`;
      case 'class':
      case 'enum':
      case 'alias':
        return `${this.#nameOf(type.name)}(${v})`;
      case 'list':
        return `${this.#list(type.element)}(${v})`;
      case 'map':
        return `${this.#map(type.key, type.value)}(${v})`;
      case 'union':
        return `(${type.members.map((member) => this.#test(member, v)).join(' || ')})`;
    }
  }

  #list(element: Type): string {
    const items = `for (let i = 0; i < v.length; i += 1) if (!(${this.#test(element, 'v[i]')})) return false;`;
    return this.#share(`if (!Array.isArray(v)) return false;\n  ${items}\n  return true;`);
  }

  #map(key: Type, value: Type): string {
    const keys = key.kind === 'string' ? '' : `!(${this.#test(key, 'key')}) || `;
    const entries = `for (const key in v) if (${keys}!(${this.#test(value, 'v[key]')})) return false;`;
    return this.#share(`if (!isObject(v)) return false;\n  ${entries}\n  return true;`);
  }

  /** Literal fields first: they tell the members of a union apart before anything costly is looked at. */
  #classBody(type: ClassType): string {
    const tags = type.fields.filter((field) => field.type.kind === 'literal');
    const others = type.fields.filter((field) => field.type.kind !== 'literal');
    return `if (!isObject(v)) return false;\n  ${this.#members([...tags, ...others])}return true;`;
  }

  #members(members: ReadonlyArray<{ readonly name: string; readonly type: Type }>): string {
    const lines = members.map(({ name, type }) => {
      const key = JSON.stringify(name);
      const misfit = `!(${this.#test(type, `v[${key}]`)})`;
      return acceptsNull(type, this.#index.aliases)
        ? `if (Object.hasOwn(v, ${key}) && v[${key}] !== undefined && ${misfit}) return false;\n  `
        : `if (!Object.hasOwn(v, ${key}) || ${misfit}) return false;\n  `;
    });
    return lines.join('');
  }

  /** Skipped values too: skipping hides a value from the model, not from the caller. */
  #enumBody({ name, values }: EnumType): string {
    const names = values.map((value) => JSON.stringify(value.name));
    if (names.length <= LONGEST_COMPARISON)
      return `return ${names.map((text) => `v === ${text}`).join(' || ') || false};`;
    const set = `${this.#nameOf(name)}_values`;
    this.#parts.push(`const ${set} = new Set([${names.join(', ')}]);\n`);
    return `return ${set}.has(v);`;
  }

  #nameOf(name: string): string {
    const id = this.#names.get(name);
    invariant(id !== undefined, `no definition of "${name}"`);
    return id;
  }
}

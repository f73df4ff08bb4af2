import type { JsonValue } from '../../src/base/json.ts';
import type { Random } from './random.ts';

/** A return type with the ways to make its values. `definitionsOf` writes it in the definition language. */
export type Shape =
  | TextShape
  | { readonly kind: 'int' | 'float'; readonly make: (random: Random) => number }
  | { readonly kind: 'bool' }
  | { readonly kind: 'null' }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'enum'; readonly name: string; readonly values: readonly Label[] }
  | ClassShape
  | { readonly kind: 'list'; readonly item: Shape }
  | { readonly kind: 'map'; readonly key: Shape; readonly value: Shape }
  | { readonly kind: 'optional'; readonly inner: Shape }
  | { readonly kind: 'union'; readonly members: readonly Shape[] }
  | { readonly kind: 'alias'; readonly name: string; readonly target: () => Shape };

export interface TextShape {
  readonly kind: 'text';
  readonly make: (random: Random) => string;
  /** Attributes of the type, such as `@check(…)`; a kind must not put another text there. */
  readonly attributes?: string;
}

export interface ClassShape {
  readonly kind: 'class';
  readonly name: string;
  /** A function, because a class can contain itself. */
  readonly fields: () => readonly Field[];
}

export interface Label {
  readonly name: string;
  readonly alias?: string;
  readonly description?: string;
}

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly alias?: string;
  readonly description?: string;
  /** Further attributes, such as `@check(…)`. */
  readonly attributes?: string;
}

/** Below this depth, optionals are null and lists are empty: values of recursive types end. */
const MAX_DEPTH = 4;

/** Makes a value of the type, with the real names of fields and enum values. */
export function makeValue(shape: Shape, random: Random, depth = 0): JsonValue {
  switch (shape.kind) {
    case 'text':
    case 'int':
    case 'float':
      return shape.make(random);
    case 'bool':
      return random.chance(0.5);
    case 'null':
      return null;
    case 'literal':
      return shape.value;
    case 'enum':
      return random.pick(shape.values).name;
    case 'class':
      return Object.fromEntries(shape.fields().map((field) => [field.name, makeValue(field.shape, random, depth + 1)]));
    case 'list':
      return makeList(shape.item, random, depth);
    case 'map':
      return makeMap(shape, random, depth);
    case 'optional':
      return depth > MAX_DEPTH || random.chance(0.25) ? null : makeValue(shape.inner, random, depth);
    case 'union':
      return makeValue(pickMember(shape.members, random, depth), random, depth);
    case 'alias':
      return makeValue(shape.target(), random, depth + 1);
  }
}

/** Below the greatest depth, the first member, which therefore must not be recursive. */
function pickMember(members: readonly Shape[], random: Random, depth: number): Shape {
  const [first] = members;
  return depth > MAX_DEPTH && first !== undefined ? first : random.pick(members);
}

function makeList(item: Shape, random: Random, depth: number): JsonValue {
  const least = depth === 0 ? 2 : depth > 2 ? 0 : 1;
  const length = depth > MAX_DEPTH ? 0 : random.int(least, Math.max(least, 4 - depth));
  return Array.from({ length }, () => makeValue(item, random, depth + 1));
}

function makeMap(shape: Shape & { kind: 'map' }, random: Random, depth: number): JsonValue {
  const length = depth > MAX_DEPTH ? 0 : random.int(1, 3);
  const entries = Array.from({ length }, () => [
    makeValue(shape.key, random, depth + 1) as string,
    makeValue(shape.value, random, depth + 1),
  ]);
  return Object.fromEntries(entries) as JsonValue;
}

// --- the definition language ----------------------------------------------------------------------------------------

/** Writes the type as the return type of a function. */
export function typeText(shape: Shape): string {
  switch (shape.kind) {
    case 'text':
      return shape.attributes === undefined ? 'string' : `(string ${shape.attributes})`;
    case 'int':
    case 'float':
    case 'bool':
    case 'null':
      return shape.kind;
    case 'literal':
      return JSON.stringify(shape.value);
    case 'enum':
    case 'class':
    case 'alias':
      return shape.name;
    case 'list':
      return `${grouped(shape.item)}[]`;
    case 'map':
      return `map<${typeText(shape.key)}, ${typeText(shape.value)}>`;
    case 'optional':
      return `${grouped(shape.inner)}?`;
    case 'union':
      return shape.members.map(typeText).join(' | ');
  }
}

function grouped(shape: Shape): string {
  return shape.kind === 'union' || shape.kind === 'optional' ? `(${typeText(shape)})` : typeText(shape);
}

/** Writes all definitions that the types need, each once. */
export function definitionsOf(shapes: readonly Shape[]): string {
  const written = new Map<string, string>();
  const visit = (shape: Shape): void => {
    if ('name' in shape) {
      if (written.has(shape.name)) return;
      written.set(shape.name, '');
      written.set(shape.name, definitionText(shape));
    }
    for (const part of partsOf(shape)) visit(part);
  };
  for (const shape of shapes) visit(shape);
  return [...written.values()].join('\n');
}

/** The types that a type consists of. */
export function partsOf(shape: Shape): readonly Shape[] {
  switch (shape.kind) {
    case 'class':
      return shape.fields().map((field) => field.shape);
    case 'list':
      return [shape.item];
    case 'map':
      return [shape.key, shape.value];
    case 'optional':
      return [shape.inner];
    case 'union':
      return shape.members;
    case 'alias':
      return [shape.target()];
    case 'text':
    case 'int':
    case 'float':
    case 'bool':
    case 'null':
    case 'literal':
    case 'enum':
      return [];
  }
}

function definitionText(shape: Extract<Shape, { readonly name: string }>): string {
  if (shape.kind === 'alias') return `type ${shape.name} = ${typeText(shape.target())}\n`;
  const lines =
    shape.kind === 'enum'
      ? shape.values.map((label) => `  ${label.name}${attributesOf(label)}`)
      : shape.fields().map((field) => `  ${field.name} ${typeText(field.shape)}${attributesOf(field)}`);
  return `${shape.kind} ${shape.name} {\n${lines.join('\n')}\n}\n`;
}

function attributesOf(item: Label | Field): string {
  const alias = item.alias === undefined ? '' : ` @alias(${JSON.stringify(item.alias)})`;
  const description = item.description === undefined ? '' : ` @description(${JSON.stringify(item.description)})`;
  const others = 'attributes' in item && item.attributes !== undefined ? ` ${item.attributes}` : '';
  return alias + description + others;
}

import { isJsonObject, type JsonValue } from '../../src/base/json.ts';
import type { Field, Shape } from './shape.ts';

/** A value as a model writes it: with aliases, and with the role of each part, so that a kind of damage knows what it may change. */
export type ReplyTree = ObjectTree | ListTree | TextTree | ScalarTree;

export interface ObjectTree {
  readonly kind: 'object';
  readonly role: 'class' | 'map';
  readonly members: readonly Member[];
}

export interface Member {
  readonly key: string;
  /** `label`: an enum value or a literal as the key of a map. */
  readonly role: 'field' | 'key' | 'label';
  readonly value: ReplyTree;
}

export interface ListTree {
  readonly kind: 'list';
  readonly items: readonly ReplyTree[];
}

export interface TextTree {
  readonly kind: 'text';
  readonly text: string;
  /** `label`: an enum value or a literal; `fixed`: a string with a constraint. */
  readonly role: 'free' | 'label' | 'fixed';
  /** A union has another member here that is a scalar, so that quotes decide. */
  readonly shared: boolean;
}

export interface ScalarTree {
  readonly kind: 'scalar';
  readonly value: number | boolean | null;
  readonly role: 'int' | 'float' | 'bool' | 'null';
  readonly shared: boolean;
}

export function treeOf(value: JsonValue, shape: Shape, shared = false): ReplyTree {
  switch (shape.kind) {
    case 'text':
      return { kind: 'text', text: value as string, role: shape.attributes === undefined ? 'free' : 'fixed', shared };
    case 'int':
    case 'float':
    case 'bool':
    case 'null':
      return { kind: 'scalar', value: value as number | boolean | null, role: shape.kind, shared };
    case 'literal':
      return literalTree(shape.value, shared);
    case 'enum':
      return { kind: 'text', text: labelText(shape, value as string), role: 'label', shared };
    case 'class':
      return { kind: 'object', role: 'class', members: shape.fields().map((field) => fieldOf(field, value)) };
    case 'list':
      return { kind: 'list', items: (value as readonly JsonValue[]).map((item) => treeOf(item, shape.item)) };
    case 'map':
      return { kind: 'object', role: 'map', members: entriesOf(value, shape) };
    case 'optional':
      return value === null ? nullTree(shape.inner) : treeOf(value, shape.inner, shared);
    case 'union':
      return treeOf(value, memberOf(value, shape.members), shared || areScalars(shape.members));
    case 'alias':
      return treeOf(value, shape.target(), shared);
  }
}

/** Where a string can be, a word for nothing can be one. */
function nullTree(inner: Shape): ScalarTree {
  return { kind: 'scalar', value: null, role: 'null', shared: inner.kind === 'text' };
}

function literalTree(value: string | number | boolean, shared: boolean): ReplyTree {
  if (typeof value === 'string') return { kind: 'text', text: value, role: 'label', shared };
  return { kind: 'scalar', value, role: typeof value === 'number' ? 'int' : 'bool', shared };
}

function labelText(shape: Shape & { kind: 'enum' }, name: string): string {
  return shape.values.find((label) => label.name === name)?.alias ?? name;
}

function fieldOf({ name, alias, shape, attributes }: Field, value: JsonValue): Member {
  const tree = treeOf(memberValue(value, name), shape);
  const fixed: ReplyTree = tree.kind === 'text' && attributes !== undefined ? { ...tree, role: 'fixed' } : tree;
  return { key: alias ?? name, role: 'field', value: fixed };
}

function memberValue(value: JsonValue, name: string): JsonValue {
  return isJsonObject(value) ? (value[name] ?? null) : null;
}

function entriesOf(value: JsonValue, shape: Shape & { kind: 'map' }): readonly Member[] {
  const { key } = shape;
  return Object.entries(value as object).map(([name, inner]) => ({
    key: key.kind === 'enum' ? labelText(key, name) : name,
    role: key.kind === 'text' ? 'key' : 'label',
    value: treeOf(inner as JsonValue, shape.value),
  }));
}

/** Literals alone do not share their place: no other member can take their text. */
function areScalars(members: readonly Shape[]): boolean {
  const kinds = new Set(members.map(({ kind }) => kind));
  return kinds.size > 1 && members.filter(isScalar).length > 1;
}

function isScalar(shape: Shape): boolean {
  return ['text', 'int', 'float', 'bool', 'literal', 'enum', 'alias'].includes(shape.kind);
}

function memberOf(value: JsonValue, members: readonly Shape[]): Shape {
  const found = members.find((member) => isOf(value, member));
  if (found === undefined) throw new Error(`no member takes ${JSON.stringify(value)}`);
  return found;
}

/** True if the value was made by this type; the fields of the members of a union differ, so that their names decide. */
function isOf(value: JsonValue, shape: Shape): boolean {
  switch (shape.kind) {
    case 'text':
      return typeof value === 'string';
    case 'int':
      return Number.isInteger(value);
    case 'float':
      return typeof value === 'number';
    case 'bool':
      return typeof value === 'boolean';
    case 'null':
      return value === null;
    case 'literal':
      return value === shape.value;
    case 'enum':
      return shape.values.some((label) => label.name === value);
    case 'class':
      return isClassValue(value, shape.fields());
    case 'list':
      return Array.isArray(value) && value.every((item: JsonValue) => isOf(item, shape.item));
    case 'map':
      return isJsonObject(value) && Object.values(value).every((inner) => isOf(inner, shape.value));
    case 'optional':
      return value === null || isOf(value, shape.inner);
    case 'union':
      return shape.members.some((member) => isOf(value, member));
    case 'alias':
      return isOf(value, shape.target());
  }
}

function isClassValue(value: JsonValue, fields: readonly Field[]): boolean {
  if (!isJsonObject(value)) return false;
  return (
    Object.keys(value).length === fields.length &&
    fields.every(({ name, shape }) => Object.hasOwn(value, name) && isOf(memberValue(value, name), shape))
  );
}

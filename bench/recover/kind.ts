import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonValue } from '../../src/base/json.ts';
import type { Random } from './random.ts';
import { treeOf, type ReplyTree } from './reply-tree.ts';
import { makeValue, partsOf, type Shape } from './shape.ts';
import type { Subject } from './subjects.ts';
import { spotsOf, writeTree, type Spot, type Style } from './write-tree.ts';

/** One way in which a model departs from the JSON that it was asked for. */
export interface Kind {
  readonly name: string;
  readonly group: string;
  /** Every careful human reads exactly the truth from the reply. */
  readonly clear: boolean;
  readonly fits: (subject: Subject) => boolean;
  /** The ways to do this damage, of which every reply takes one. */
  readonly ways: readonly Way[];
}

/** Writes a reply from which the value is to be read; undefined if the value has no place for this damage. */
export type Way = (draw: Draw) => Damaged;

/** A reply from which the drawn value is the truth, or a reply with its own truth. */
export type Damaged = string | { readonly reply: string; readonly truth: Truth } | undefined;

/**
 * `value`: this value. `refusal`: no value. `rest`: the reply has more than the type can take, so that only a refusal,
 * or this value together with a reported loss, is right.
 */
export type Truth = ValueTruth | { readonly kind: 'refusal' };

export interface ValueTruth {
  readonly kind: 'value' | 'rest';
  readonly value: JsonValue;
  /** The name of the check that the right member of a union has, where members give equal values. */
  readonly check?: string;
}

export const REFUSAL: Truth = { kind: 'refusal' };

export function valueTruth(value: JsonValue): Truth {
  return { kind: 'value', value };
}

/** A value of a type, and the choices of one reply. */
export class Draw {
  readonly subject: Subject;
  readonly value: JsonValue;
  readonly random: Random;
  readonly tree: ReplyTree;

  constructor(subject: Subject, value: JsonValue, random: Random) {
    this.subject = subject;
    this.value = value;
    this.random = random;
    this.tree = treeOf(value, subject.shape);
  }

  get shape(): Shape {
    return this.subject.shape;
  }

  /** The value as text; `pretty` if the style does not say otherwise. */
  write(style: Style = { indent: 2 }): string {
    return writeTree(this.tree, style);
  }

  /** A part of the value as JSON text. */
  readonly part = (tree: ReplyTree, style: Style = {}): string => writeTree(tree, style);

  /** One of the usual layouts of undamaged JSON. */
  json(): string {
    return this.write(this.layout());
  }

  layout(): Style {
    return this.random.pick<Style>([{}, { indent: 2 }, { indent: 2 }, { indent: 4 }, { minified: true }]);
  }

  /** Another value of the same type, with another spelling; undefined if none is found. */
  another(): Draw | undefined {
    for (let tries = 0; tries < 20; tries += 1) {
      const value = makeValue(this.shape, this.random);
      if (!isDeepStrictEqual(value, this.value)) return new Draw(this.subject, value, this.random);
    }
    return undefined;
  }

  with(value: JsonValue): Draw {
    return new Draw(this.subject, value, this.random);
  }

  /** One of the parts that a filter accepts. */
  spot(isWanted: (spot: Spot) => boolean): Spot | undefined {
    const spots = spotsOf(this.tree).filter(isWanted);
    return spots.length === 0 ? undefined : this.random.pick(spots);
  }

  /** The value with one of its parts in another text. */
  replaceSpot(spot: Spot, text: string, style: Style = { indent: 2 }): string {
    return this.write({ ...style, instead: ({ index }) => (index === spot.index ? text : undefined) });
  }

  /** The same with another text in one of its free strings; undefined if it has none. */
  withText(make: (random: Random) => string): Draw | undefined {
    const places = freeTexts(this.value, this.shape, []);
    if (places.length === 0) return undefined;
    return this.with(replaced(this.value, this.random.pick(places), make(this.random)));
  }
}

/** The paths of the strings that can have any text. */
function freeTexts(value: JsonValue, shape: Shape, path: readonly string[]): readonly (readonly string[])[] {
  const tree = treeOf(value, shape);
  return textPaths(tree, value, path);
}

function textPaths(tree: ReplyTree, value: JsonValue, path: readonly string[]): readonly (readonly string[])[] {
  if (tree.kind === 'text') return tree.role === 'free' && !tree.shared ? [path] : [];
  if (tree.kind === 'list')
    return tree.items.flatMap((item, at) =>
      textPaths(item, (value as readonly JsonValue[])[at] ?? null, [...path, String(at)]),
    );
  if (tree.kind === 'scalar' || !isJsonObject(value)) return [];
  const keys = Object.keys(value);
  return tree.members.flatMap((member, at) => {
    const key = keys[at] ?? '';
    return textPaths(member.value, value[key] ?? null, [...path, key]);
  });
}

export function replaced(value: JsonValue, path: readonly string[], inner: JsonValue): JsonValue {
  const [first, ...rest] = path;
  if (first === undefined) return inner;
  if (Array.isArray(value))
    return value.map((item: JsonValue, at) => (String(at) === first ? replaced(item, rest, inner) : item));
  const entries = Object.entries(value as object) as [string, JsonValue][];
  return Object.fromEntries(entries.map(([key, each]) => [key, key === first ? replaced(each, rest, inner) : each]));
}

// --- filters of types -----------------------------------------------------------------------------------------------

type Filter = (subject: Subject) => boolean;

/** The type without aliases and without `?`. */
export function core(shape: Shape): Shape {
  if (shape.kind === 'alias') return core(shape.target());
  return shape.kind === 'optional' ? core(shape.inner) : shape;
}

/** A reply to this type can be any text. */
export function takesText({ shape }: Subject): boolean {
  const inner = core(shape);
  return (
    inner.kind === 'text' || (inner.kind === 'union' && inner.members.some((member) => core(member).kind === 'text'))
  );
}

export const isObject: Filter = ({ shape }) => {
  const inner = core(shape);
  return (
    inner.kind === 'class' || (inner.kind === 'union' && inner.members.every((member) => core(member).kind === 'class'))
  );
};
export const isMap: Filter = ({ shape }) => core(shape).kind === 'map';
export const isList: Filter = ({ shape }) => core(shape).kind === 'list';
export const isComposite: Filter = (subject) => isObject(subject) || isMap(subject) || isList(subject);
export const isNumber: Filter = ({ shape }) => ['int', 'float'].includes(core(shape).kind);
export const isBool: Filter = ({ shape }) => core(shape).kind === 'bool';
export const isLabel: Filter = ({ shape }) => isLabelShape(core(shape));
export const isScalar: Filter = (subject) => isNumber(subject) || isBool(subject) || isLabel(subject);
export const isAnything: Filter = (subject) => isComposite(subject) || isScalar(subject);

export function isLabelShape(shape: Shape): boolean {
  if (shape.kind === 'union') return shape.members.every((member) => member.kind === 'literal');
  return shape.kind === 'enum' || shape.kind === 'literal';
}

/** Lists whose items a filter accepts. */
export function isListOf(isItem: (item: Shape) => boolean): Filter {
  return ({ shape }) => {
    const inner = core(shape);
    return inner.kind === 'list' && isItem(core(inner.item));
  };
}

export const isListOfObjects: Filter = isListOf((item) => isObject({ name: '', shape: item }));

/** True if the type has a part that a filter accepts. */
export function hasPart(shape: Shape, isWanted: (part: Shape) => boolean, seen = new Set<string>()): boolean {
  if (isWanted(shape)) return true;
  if ('name' in shape) {
    if (seen.has(shape.name)) return false;
    seen.add(shape.name);
  }
  return partsOf(shape).some((part) => hasPart(part, isWanted, seen));
}

export function both(...filters: readonly Filter[]): Filter {
  return (subject) => filters.every((filter) => filter(subject));
}

export function has(kind: Shape['kind']): Filter {
  return ({ shape }) => hasPart(shape, (part) => part.kind === kind);
}

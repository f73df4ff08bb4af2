import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { isJsonObject } from '../../../src/base/json.ts';
import type { Type } from '../../../src/schema/type.ts';
import {
  aliasRef,
  bool,
  checked,
  classRef,
  enumRef,
  float,
  int,
  list,
  literal,
  map,
  optional,
  string,
  union,
} from '../../support/definitions.ts';

/** A value as a model writes it, with aliases, and the value that the parser has to return. */
export interface Pair {
  readonly reply: unknown;
  readonly value: unknown;
}

/** The fields of every class by its name. */
export type World = ReadonlyMap<string, readonly ShapedField[]>;

export interface ShapedField {
  readonly name: string;
  readonly alias?: string;
  readonly shape: Shape;
}

export interface ValueContext {
  readonly world: World;
  /** The number of further levels that a value can have. */
  readonly depth: number;
  readonly texts: fc.Arbitrary<string>;
}

/** A type, a generator of its values, and a test of its partials. */
export interface Shape {
  readonly type: Type;
  /** Kinds of JSON. Members of a union have none in common, so a value belongs to exactly one of them. */
  readonly kinds: readonly string[];
  values(context: ValueContext): fc.Arbitrary<Pair>;
  shows(partial: unknown, final: unknown, world: World): boolean;
}

function same(values: fc.Arbitrary<unknown>): fc.Arbitrary<Pair> {
  return values.map((value) => ({ reply: value, value }));
}

/** True for a partial that shows nothing, or the whole value. */
function whole(partial: unknown, final: unknown): boolean {
  return partial === null || isDeepStrictEqual(withoutStates(partial), final);
}

/** Removes the wrappers of `@stream.with_state`. */
export function withoutStates(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutStates);
  if (!isJsonObject(value)) return value;
  if (Object.keys(value).join() === 'value,state') return withoutStates(value['value']);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutStates(member)]));
}

function scalar(type: Type, kind: string, values: fc.Arbitrary<unknown>): Shape {
  return { type, kinds: [kind], values: () => same(values), shows: whole };
}

const text: Shape = {
  type: string,
  kinds: ['string'],
  values: ({ texts }) => same(texts),
  shows: (partial, final) =>
    partial === null || (typeof partial === 'string' && typeof final === 'string' && final.startsWith(partial)),
};

const doubles = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));

export const SCALARS: readonly Shape[] = [
  text,
  scalar(int, 'number', fc.integer()),
  scalar(float, 'number', doubles),
  scalar(bool, 'bool', fc.boolean()),
  scalar(literal('fixed'), 'string', fc.constant('fixed')),
  scalar(literal(7), 'number', fc.constant(7)),
  scalar(literal(true), 'bool', fc.constant(true)),
  scalar(enumRef('Plain'), 'string', fc.constantFrom('RED', 'GREEN')),
  {
    ...scalar(enumRef('Named'), 'string', fc.constant('')),
    values: () => fc.constantFrom({ reply: 'the first', value: 'ONE' }, { reply: 'the second', value: 'TWO' }),
  },
];

/** `type Json = int | float | bool | string | null | Json[] | map<string, Json>` */
export const json: Shape = {
  type: aliasRef('Json'),
  kinds: ['string', 'number', 'bool', 'list', 'object', 'null'],
  values: ({ texts, depth }) =>
    same(
      fc.letrec((tie) => ({
        value: fc.oneof(
          { maxDepth: Math.max(0, depth), withCrossShrink: true },
          fc.oneof(texts, fc.integer(), doubles, fc.boolean(), fc.constant(null)),
          fc.array(tie('value'), { maxLength: 3 }),
          fc.dictionary(texts, tie('value'), { maxKeys: 3, noNullPrototype: true }),
        ),
      })).value,
    ),
  shows: anyShows,
};

function anyShows(partial: unknown, final: unknown): boolean {
  if (partial === null) return true;
  if (typeof partial === 'string') return typeof final === 'string' && final.startsWith(partial);
  if (Array.isArray(partial)) return Array.isArray(final) && partial.every((each, at) => anyShows(each, final[at]));
  if (!isJsonObject(partial)) return partial === final;
  return isJsonObject(final) && Object.entries(partial).every(([key, each]) => anyShows(each, final[key]));
}

export function listOf(element: Shape): Shape {
  return {
    type: list(element.type),
    kinds: ['list'],
    values: (context) => {
      if (context.depth <= 0) return fc.constant({ reply: [], value: [] });
      const pairs = fc.array(element.values(deeper(context)), { maxLength: 4 });
      return pairs.map((all) => ({ reply: all.map((pair) => pair.reply), value: all.map((pair) => pair.value) }));
    },
    shows: (partial, final, world) =>
      Array.isArray(partial) &&
      Array.isArray(final) &&
      partial.length <= final.length &&
      partial.every((each, at) => element.shows(each, final[at], world)),
  };
}

export function mapOf(member: Shape): Shape {
  return {
    type: map(string, member.type),
    kinds: ['object'],
    values: (context) => {
      if (context.depth <= 0) return fc.constant({ reply: {}, value: {} });
      const members = fc.dictionary(context.texts, member.values(deeper(context)), { maxKeys: 3 });
      return members.map((all) => objects(Object.entries(all)));
    },
    shows: (partial, final, world) =>
      isJsonObject(partial) &&
      isJsonObject(final) &&
      Object.entries(partial).every(
        ([key, each]) => Object.hasOwn(final, key) && member.shows(each, final[key], world),
      ),
  };
}

export function optionalOf(inner: Shape): Shape {
  return {
    type: optional(inner.type),
    kinds: [...inner.kinds, 'null'],
    values: (context) => {
      const none = fc.constant({ reply: null, value: null });
      return context.depth > 0 ? fc.oneof(none, inner.values(deeper(context))) : none;
    },
    shows: (partial, final, world) => partial === null || inner.shows(partial, final, world),
  };
}

export function unionOf(members: readonly Shape[]): Shape {
  return {
    type: union(...members.map((member) => member.type)),
    kinds: members.flatMap((member) => member.kinds),
    values: (context) => fc.oneof(...members.map((member) => member.values(context))),
    shows: (partial, final, world) => partial === null || members.some((member) => member.shows(partial, final, world)),
  };
}

export function instanceOf(name: string): Shape {
  return {
    type: classRef(name),
    kinds: ['object'],
    values: ({ world, ...context }) => {
      const fields = world.get(name) ?? [];
      const pairs = fields.map((field) => field.shape.values(deeper({ world, ...context })));
      return fc.tuple(...pairs).map((all) => ({
        reply: record(fields.map((field, at) => [field.alias ?? field.name, all[at]?.reply])),
        value: record(fields.map((field, at) => [field.name, all[at]?.value])),
      }));
    },
    shows: (partial, final, world) =>
      partial === null ||
      (isJsonObject(partial) &&
        isJsonObject(final) &&
        (world.get(name) ?? []).every((field) => field.shape.shows(partial[field.name], final[field.name], world))),
  };
}

// --- attributes -----------------------------------------------------------------------------------------------------

/** `@stream.done` */
export function doneOf(inner: Shape): Shape {
  return { ...inner, type: { ...inner.type, stream: { ...inner.type.stream, done: true } }, shows: whole };
}

/** `@stream.with_state` */
export function statedOf(inner: Shape): Shape {
  return {
    ...inner,
    type: { ...inner.type, stream: { ...inner.type.stream, withState: true } },
    shows: (partial, final, world) => {
      if (!isJsonObject(partial)) return false;
      const { value, state } = partial;
      if (state === 'Complete') return isDeepStrictEqual(withoutStates(value), final);
      return (state === 'Pending' || state === 'Incomplete') && (value === null || inner.shows(value, final, world));
    },
  };
}

/** `@check(ok, …)`, which always holds. */
export function checkedOf(inner: Shape): Shape {
  const checks = { ok: { name: 'ok', expression: 'true', status: 'succeeded' } };
  return {
    type: checked(inner.type, 'ok'),
    kinds: inner.kinds.filter((kind) => kind !== 'null'),
    values: (context) => inner.values(context).map(({ reply, value }) => ({ reply, value: { value, checks } })),
    shows: (partial, final, world) => {
      if (partial === null) return true;
      if (!isJsonObject(partial) || !isJsonObject(final)) return false;
      if (isDeepStrictEqual(partial['checks'], checks)) {
        return isDeepStrictEqual(withoutStates(partial['value']), final['value']);
      }
      const isOpen = isDeepStrictEqual(partial['checks'], {});
      return isOpen && (partial['value'] === null || inner.shows(partial['value'], final['value'], world));
    },
  };
}

function deeper(context: ValueContext): ValueContext {
  return { ...context, depth: context.depth - 1 };
}

function objects(pairs: readonly (readonly [string, Pair])[]): Pair {
  return {
    reply: record(pairs.map(([key, pair]) => [key, pair.reply])),
    value: record(pairs.map(([key, pair]) => [key, pair.value])),
  };
}

/** An object in which `__proto__` is a key like any other. */
function record(entries: readonly (readonly [string, unknown])[]): unknown {
  return Object.fromEntries(entries);
}

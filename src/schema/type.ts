import type { Constraint } from './constraint.ts';

/** The types that every program has, besides media. */
export const PRIMITIVES = ['string', 'int', 'float', 'bool', 'null'] as const;

export const MEDIA = ['image', 'audio', 'pdf', 'video'] as const;

/**
 * A checked type: frozen plain data, safe for structured clone and JSON.
 *
 * `T?` is a `union` of T and null, with null last. Unions are flat, except for inner unions with attributes of their own,
 * and have at least two different members. Only recursive aliases are of kind `alias`, with their target in
 * `Program.aliases`; targets replace all other aliases.
 */
export type Type = TypeShape & TypeAttributes;

export type TypeShape =
  | PrimitiveShape
  | MediaShape
  | LiteralShape
  | { readonly kind: 'class'; readonly name: string }
  | { readonly kind: 'enum'; readonly name: string }
  | { readonly kind: 'alias'; readonly name: string }
  | { readonly kind: 'list'; readonly element: Type }
  | { readonly kind: 'map'; readonly key: Type; readonly value: Type }
  | { readonly kind: 'union'; readonly members: readonly Type[] };

export interface PrimitiveShape {
  readonly kind: (typeof PRIMITIVES)[number];
}

export interface MediaShape {
  readonly kind: 'media';
  readonly media: MediaKind;
}

export type MediaKind = (typeof MEDIA)[number];

export interface LiteralShape {
  readonly kind: 'literal';
  readonly value: string | number | boolean;
}

/** The attributes of a type at its place of use. Absent means none. */
export interface TypeAttributes {
  /** `@assert` and `@check`, in source order. Those of an alias come before those at its use. */
  readonly constraints?: readonly Constraint[];
  readonly stream?: StreamAttributes;
}

export interface StreamAttributes {
  /** `@stream.done`: partials contain the value only when it is complete. */
  readonly done?: true;
  /** `@stream.with_state`: partials contain the value as `{"value", "state"}`. */
  readonly withState?: true;
}

export interface ClassType {
  readonly name: string;
  readonly fields: readonly FieldType[];
  readonly description?: string;
  /** Doc comment; never in prompts. */
  readonly documentation?: string;
  /** `@@alias`; has no effect on prompts. */
  readonly alias?: string;
  /** `@@assert` and `@@check`: `this` is the whole object. */
  readonly constraints: readonly Constraint[];
  /** `@@stream.done` */
  readonly streamDone: boolean;
  readonly dynamic: boolean;
}

export interface FieldType {
  readonly name: string;
  readonly type: Type;
  /** The name in prompts and the only name that svc accepts from the model. Without `@alias`, both use `name`. */
  readonly alias?: string;
  readonly description?: string;
  readonly documentation?: string;
  /** `@skip`: prompts and results do not contain the field. */
  readonly skip: boolean;
  /** `@stream.not_null`: partials do not contain the object until this field has a value. */
  readonly streamNotNull: boolean;
}

export interface EnumType {
  readonly name: string;
  readonly values: readonly EnumValueType[];
  /** `@@alias`: the heading in prompts. */
  readonly alias?: string;
  readonly description?: string;
  readonly documentation?: string;
  /** `@@assert` and `@@check`: `this` is the value's name. Absent means none. */
  readonly constraints?: readonly Constraint[];
  readonly dynamic: boolean;
}

export interface EnumValueType {
  readonly name: string;
  readonly alias?: string;
  readonly description?: string;
  readonly documentation?: string;
  readonly skip: boolean;
}

/** A recursive alias: `type Json = string | Json[]`. */
export interface AliasType {
  readonly name: string;
  readonly type: Type;
  readonly documentation?: string;
}

/** Returns whether a JSON value matches a type. The rooms of the runtime receive it from `runtime/call`. */
export type FitsType = (type: Type, value: unknown) => boolean;

export type UnionType = Extract<Type, { readonly kind: 'union' }>;

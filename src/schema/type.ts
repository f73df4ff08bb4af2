import type { Constraint } from './constraint.ts';

/**
 * A checked type. Plain data, frozen, safe for structured clone and JSON.
 *
 * `T?` is `union` of T and null, with null last; nested unions without attributes of their own are flattened and
 * duplicates dropped, so a union has at least two members. Aliases are replaced by what they stand for,
 * except recursive ones, which stay as `alias` (their target is in `Program.aliases`).
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
  readonly kind: 'string' | 'int' | 'float' | 'bool' | 'null';
}

export interface MediaShape {
  readonly kind: 'media';
  readonly media: MediaKind;
}

export type MediaKind = 'image' | 'audio' | 'pdf' | 'video';

export interface LiteralShape {
  readonly kind: 'literal';
  readonly value: string | number | boolean;
}

/** What attributes say of a type where it is used. Absent means none. */
export interface TypeAttributes {
  /** `@assert` and `@check`, in source order; those of an alias come before those written at the use. */
  readonly constraints?: readonly Constraint[];
  readonly stream?: StreamAttributes;
}

export interface StreamAttributes {
  /** `@stream.done`: in partials only when complete. */
  readonly done?: true;
  /** `@stream.with_state`: in partials wrapped as `{"value", "state"}`. */
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
  /** The name in prompts and the only one accepted from the model; the real name when there is no `@alias`. */
  readonly alias?: string;
  readonly description?: string;
  readonly documentation?: string;
  /** `@skip`: not rendered, absent from outputs. */
  readonly skip: boolean;
  /** `@stream.not_null`: the object is withheld from partials until this is there. */
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

/** Decides whether a JSON value fits a type. The rooms of the runtime get it from `runtime/call`. */
export type FitsType = (type: Type, value: unknown) => boolean;

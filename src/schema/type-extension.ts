import { hash } from 'node:crypto';
import type { Result } from '../base/result.ts';
import { indexDefinitions, type Definitions, type Program } from './program.ts';
import { namesIn, reachedFrom } from './type-graph.ts';
import type { AliasType, ClassType, EnumType } from './type.ts';
import type { Violation } from './violation.ts';

/**
 * The types that the `type_builder` of a request adds to the definitions, for one call. An entry with the name of a defined class
 * or enum contains only the additions.
 */
export interface TypeExtension {
  readonly classes: readonly ClassType[];
  readonly enums: readonly EnumType[];
  /** New recursive aliases. */
  readonly aliases: readonly AliasType[];
}

/** The `type_builder` of a request for one function. */
export interface TypeRequest {
  readonly functionName: string;
  /** JSON text of the value of `type_builder`. */
  readonly builder: string;
}

/**
 * Returns the SHA-256, in hex, of the JSON of everything in the program except the hash itself. The order of members
 * matters: the compiler emits them in a fixed order, and JSON keeps it.
 */
export function programHash(program: Omit<Program, 'hash'>): string {
  return hash('sha256', JSON.stringify({ ...program, hash: undefined }));
}

/** Returns the key under which caches keep the outcome of a request. */
export function typeRequestHash({ functionName, builder }: TypeRequest): string {
  return hash('sha256', `${functionName} ${builder}`, 'base64url');
}

/** An extension, as a function needs it. */
export interface ExtendedTypes {
  /** JSON text of a `TypeExtension`. */
  readonly extension: string;
  /** The argument validators of the function; absent if its parameters contain no extended type. */
  readonly validators?: string;
}

/** Violations: what is wrong with the `type_builder`, with paths that begin at its value. */
export type TypeOutcome = Result<ExtendedTypes, readonly Violation[]>;

/** `full`: too many requests wait for their types. `share`: too many of this caller do. */
export type TypeRefusal = 'full' | 'share';

/**
 * Compiles the `type_builder` of a request: synchronously in process, or asynchronously in another process. `caller`: whose share of
 * the waiting requests it counts against. Rejects if this is not possible now.
 */
export type TypeSource = (request: TypeRequest, caller?: string) => TypeOutcome | Promise<TypeOutcome | TypeRefusal>;

/**
 * Returns the extended definitions if the parameters of the function can contain an extended type, because the function then needs other
 * argument validators.
 */
export function definitionsOfArguments<D extends Definitions>(
  definitions: D,
  extension: TypeExtension,
  functionName: string,
): D | undefined {
  const extended = extendDefinitions(definitions, extension);
  const fn = definitions.functions.find(({ name }) => name === functionName);
  const used = (fn?.parameters ?? []).flatMap(({ type }) => namesIn(type));
  const reached = reachedFrom(used, indexDefinitions(extended));
  return [...extension.classes, ...extension.enums].some(({ name }) => reached.has(name)) ? extended : undefined;
}

/** Returns the definitions with the extension; they share all other parts with the original. */
export function extendDefinitions<D extends Definitions>(definitions: D, extension: TypeExtension): D {
  return {
    ...definitions,
    classes: merged(definitions.classes, extension.classes, extendedClass),
    enums: merged(definitions.enums, extension.enums, extendedEnum),
    aliases: [...definitions.aliases, ...extension.aliases],
  };
}

function merged<T extends { readonly name: string }>(
  defined: readonly T[],
  added: readonly T[],
  extended: (type: T, by: T) => T,
): readonly T[] {
  const left = new Map(added.map((type) => [type.name, type]));
  const types = defined.map((type) => {
    const by = left.get(type.name);
    left.delete(type.name);
    return by === undefined ? type : extended(type, by);
  });
  return [...types, ...left.values()];
}

function extendedClass(type: ClassType, by: ClassType): ClassType {
  return {
    ...type,
    ...optional('description', type.description ?? by.description),
    ...optional('alias', type.alias ?? by.alias),
    fields: [...type.fields, ...by.fields],
    constraints: [...type.constraints, ...by.constraints],
    streamDone: type.streamDone || by.streamDone,
  };
}

function extendedEnum(type: EnumType, by: EnumType): EnumType {
  const constraints = [...(type.constraints ?? []), ...(by.constraints ?? [])];
  return {
    ...type,
    ...optional('alias', type.alias ?? by.alias),
    values: [...type.values, ...by.values],
    ...(constraints.length > 0 && { constraints }),
  };
}

function optional(key: 'alias' | 'description', value: string | undefined): { readonly [key: string]: string } {
  return value === undefined ? {} : { [key]: value };
}

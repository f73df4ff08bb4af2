import { emitProgram } from '../../src/compiler/compile.ts';
import type { CompileOptions } from '../../src/compiler/compile-options.ts';
import type { Constraint } from '../../src/schema/constraint.ts';
import type { FunctionType, Definitions, Program } from '../../src/schema/program.ts';
import type { AliasType, ClassType, EnumType, FieldType, MediaKind, Type } from '../../src/schema/type.ts';

/** Builders for checked definitions, for tests that skip the compiler's checks. */
export const string: Type = { kind: 'string' };
export const int: Type = { kind: 'int' };
export const float: Type = { kind: 'float' };
export const bool: Type = { kind: 'bool' };
export const nothing: Type = { kind: 'null' };

export function literal(value: string | number | boolean): Type {
  return { kind: 'literal', value };
}

export function media(kind: MediaKind): Type {
  return { kind: 'media', media: kind };
}

export function classRef(name: string): Type {
  return { kind: 'class', name };
}

export function enumRef(name: string): Type {
  return { kind: 'enum', name };
}

export function aliasRef(name: string): Type {
  return { kind: 'alias', name };
}

export function list(element: Type): Type {
  return { kind: 'list', element };
}

export function map(key: Type, value: Type): Type {
  return { kind: 'map', key, value };
}

export function union(...members: readonly Type[]): Type {
  return { kind: 'union', members };
}

export function optional(type: Type): Type {
  return type.kind === 'union' ? union(...type.members, nothing) : union(type, nothing);
}

/** The type with a `@check` of that label, whose expression always holds. */
export function checked(type: Type, label: string): Type {
  return { ...type, constraints: [...(type.constraints ?? []), check(label)] };
}

export function check(label: string): Constraint {
  return { level: 'check', label, source: 'true', expression: { kind: 'boolean', value: true, start: 0, end: 4 } };
}

export function field(name: string, type: Type, more: Partial<FieldType> = {}): FieldType {
  return { name, type, skip: false, streamNotNull: false, ...more };
}

export function classType(name: string, fields: readonly FieldType[], more: Partial<ClassType> = {}): ClassType {
  return { name, fields, constraints: [], streamDone: false, dynamic: false, ...more };
}

/** Values as names; a name with a leading `-` is skipped. */
export function enumType(name: string, values: readonly string[], more: Partial<EnumType> = {}): EnumType {
  const all = values.map((value) => ({ name: value.replace(/^-/u, ''), skip: value.startsWith('-') }));
  return { name, values: all, dynamic: false, ...more };
}

export function alias(name: string, type: Type): AliasType {
  return { name, type };
}

export function functionType(
  name: string,
  parameters: Readonly<Record<string, Type>>,
  returns: Type = string,
  more: Partial<FunctionType> = {},
): FunctionType {
  const named = Object.entries(parameters).map(([parameter, type]) => ({ name: parameter, type }));
  const prompt = { file: 'test.svc', body: [] };
  return { name, parameters: named, returns, client: 'offline/echo', prompt, examples: [], ...more };
}

/** Returns definitions with these parts and nothing else. */
export function definitionsOf(parts: Partial<Definitions>): Definitions {
  const none = {
    classes: [],
    enums: [],
    aliases: [],
    functions: [],
    templateStrings: [],
    clients: [],
    retryPolicies: [],
  };
  return { ...none, ...parts };
}

export function programOf(parts: Partial<Definitions>, options: Partial<CompileOptions> = {}): Program {
  const all = { version: '0.1.0', versionCheck: true, beta: false, apiKey: false, ...options };
  return emitProgram(definitionsOf(parts), [], all);
}

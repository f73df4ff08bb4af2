import { hash } from 'node:crypto';
import type { JsonObject } from '../base/json.ts';
import type { ClientType, RetryPolicyType } from './client.ts';
import type { FunctionType, TemplateStringType } from './function.ts';
import type { AliasType, ClassType, EnumType } from './type.ts';

/**
 * The checked definitions, with resolved names and normalized types. Lists are in declaration order, with files sorted
 * by path.
 */
export interface Definitions {
  readonly classes: readonly ClassType[];
  readonly enums: readonly EnumType[];
  /** Only the recursive aliases; targets replace all others. */
  readonly aliases: readonly AliasType[];
  readonly functions: readonly FunctionType[];
  readonly templateStrings: readonly TemplateStringType[];
  readonly clients: readonly ClientType[];
  readonly retryPolicies: readonly RetryPolicyType[];
}

/**
 * The complete input of the serving plane, compiled from the definitions: frozen plain data, safe for JSON and structured
 * clone.
 */
export interface Program extends Definitions {
  /** Changes with the shape of this data; a worker rejects any other format. */
  readonly format: 2;
  /** The result of `programHash`: part of the file name, the status page and the metrics. */
  readonly hash: string;
  /** The definition files, for positions in run-time errors. */
  readonly files: readonly ProgramFile[];
  readonly openapi: JsonObject;
}

export interface ProgramFile {
  readonly path: string;
  /** The offset of the first character of each line. */
  readonly lineStarts: readonly number[];
}

/**
 * Returns the SHA-256, in hex, of the JSON of everything in the program except the hash itself. The order of members
 * matters: the compiler emits them in a fixed order, and JSON keeps it.
 */
export function programHash(program: Omit<Program, 'hash'>): string {
  return hash('sha256', JSON.stringify({ ...program, hash: undefined }));
}

import { createHash } from 'node:crypto';
import type { JsonObject } from '../base/json.ts';
import type { ClientType, RetryPolicyType } from './client.ts';
import type { FunctionType, TemplateStringType } from './function.ts';
import type { AliasType, ClassType, EnumType } from './type.ts';

/** What the definition files say, checked: names resolved, types normalised. Lists are in declaration order (files sorted by path). */
export interface Definitions {
  readonly classes: readonly ClassType[];
  readonly enums: readonly EnumType[];
  /** The recursive aliases only; the others are replaced by what they stand for. */
  readonly aliases: readonly AliasType[];
  readonly functions: readonly FunctionType[];
  readonly templateStrings: readonly TemplateStringType[];
  readonly clients: readonly ClientType[];
  readonly retryPolicies: readonly RetryPolicyType[];
}

/**
 * Everything the serving plane needs to know, compiled from the definitions: frozen plain data, safe for JSON and for
 * structured clone.
 */
export interface Program extends Definitions {
  /** Changes whenever the shape of this data changes; a worker refuses another one. */
  readonly format: 1;
  /** SHA-256 (hex) over the rest: names the program file, shown in status and metrics. */
  readonly hash: string;
  /** For positions in run-time errors. */
  readonly files: readonly ProgramFile[];
  /**
   * Source of a CommonJS module that needs nothing else. It exports a predicate for a function, by its name:
   * `(args: unknown) => boolean`, true when the argument object fits the signature.
   */
  readonly validatorSource: string;
  readonly openapi: JsonObject;
}

export interface ProgramFile {
  readonly path: string;
  readonly lineStarts: readonly number[];
}

/**
 * Returns the SHA-256, in hex, of the JSON of everything in the program except the hash itself. The order of members
 * matters: the compiler emits them in a fixed order, and JSON keeps it.
 */
export function programHash(program: Omit<Program, 'hash'>): string {
  return createHash('sha256')
    .update(JSON.stringify({ ...program, hash: undefined }))
    .digest('hex');
}

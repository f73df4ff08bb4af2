import { deepFreeze } from '../../base/json.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import { indexDefinitions, type Definitions, type Program } from '../../schema/program.ts';
import { programHash } from '../../schema/type-extension.ts';
import type { CompileOptions } from '../compile-options.ts';
import { emitOpenApi } from './openapi/emit-openapi.ts';

/** Turns checked definitions into the frozen data of the serving plane. The same input gives the same hash. */
export function emitProgram(definitions: Definitions, files: readonly SourceFile[], options: CompileOptions): Program {
  const index = indexDefinitions(definitions);
  const program: Omit<Program, 'hash'> = {
    format: 2,
    files: files.map(({ path, lineStarts }) => ({ path, lineStarts: [...lineStarts] })),
    classes: definitions.classes,
    enums: definitions.enums,
    aliases: definitions.aliases,
    functions: definitions.functions.map((fn) => ({ ...fn, examples: options.examples === true ? fn.examples : [] })),
    templateStrings: definitions.templateStrings,
    clients: definitions.clients,
    retryPolicies: definitions.retryPolicies,
    openapi: emitOpenApi(index, options),
  };
  return deepFreeze({ ...program, hash: programHash(program) });
}

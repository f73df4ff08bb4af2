import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { SourceFile } from '../diagnostics/source-file.ts';
import type { Program } from '../schema/program.ts';
import { emitProgram } from './3-emit/emit-program.ts';
import { checkSources } from './check-sources.ts';
import type { CompileOptions } from './compile-options.ts';

export interface CompileResult {
  /** Every problem of every file, by file and place. */
  readonly diagnostics: readonly Diagnostic[];
  /** Absent when a diagnostic is an error. */
  readonly program?: Program;
}

/** Definition files to a program: parse each file, check them together, emit. Never throws for what the files say. */
export function compile(files: readonly SourceFile[], options: CompileOptions): CompileResult {
  const { diagnostics, definitions } = checkSources(files, options);
  if (definitions === undefined) return { diagnostics };
  return { diagnostics, program: emitProgram(definitions, files, options) };
}

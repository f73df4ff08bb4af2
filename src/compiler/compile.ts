import { compareDiagnostics } from '../diagnostics/diagnostic.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { SourceFile } from '../diagnostics/source-file.ts';
import type { Definitions, Program } from '../schema/program.ts';
import { emitProgram } from './3-emit/emit-program.ts';
import type { CompileOptions } from './compile-options.ts';
import { parse } from './1-parse/parse.ts';
import { check } from './2-check/check.ts';

export interface CompileResult {
  /** Every problem in every file, sorted by file and position. */
  readonly diagnostics: readonly Diagnostic[];
  /** Absent if a diagnostic is an error. */
  readonly program?: Program;
}

/**
 * Compiles definition files to a program: parses each file, checks all of them together, and emits. Never throws
 * because of their content.
 */
export function compile(files: readonly SourceFile[], options: CompileOptions): CompileResult {
  const { diagnostics, definitions } = checkSources(files, options);
  if (definitions === undefined) return { diagnostics };
  return { diagnostics, program: emitProgram(definitions, files, options) };
}

export interface CheckResult {
  /** Every problem in every file, sorted by file and position. */
  readonly diagnostics: readonly Diagnostic[];
  /** Absent if a diagnostic is an error. */
  readonly definitions?: Definitions;
}

/** Runs the first two phases, which are enough for a report. Never throws because of the content of the files. */
export function checkSources(files: readonly SourceFile[], options: CompileOptions): CheckResult {
  const parsed = files.map((file) => parse(file));
  const documents = parsed.map((each) => each.document);
  const { definitions, diagnostics: found } = check(documents, options);
  const diagnostics = [...parsed.flatMap((each) => each.diagnostics), ...found]
    .filter((diagnostic) => !(options.beta && diagnostic.code === 'parse/workflow'))
    .toSorted(compareDiagnostics);

  const failed = diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  return failed || definitions === undefined ? { diagnostics } : { diagnostics, definitions };
}

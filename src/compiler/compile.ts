import { withFix } from '../diagnostics/catalogue/entry.ts';
import { compareDiagnostics, type Diagnostic } from '../diagnostics/diagnostic.ts';
import type { SourceFile } from '../diagnostics/source-file.ts';
import { type Definitions, type Program, type TestType, indexDefinitions } from '../schema/program.ts';
import type { DocumentNode } from './1-parse/syntax-nodes.ts';
import type { CompileOptions } from './compile-options.ts';
import { parse, type Parsed } from './1-parse/parse.ts';
import { check, type Analysis, type Checked } from './2-check/check.ts';
import { extendForTest } from './2-check/scope.ts';
import { deepFreeze } from '../base/json.ts';
import { programHash } from '../schema/type-extension.ts';
import { emitOpenApi } from './3-emit/openapi/emit-openapi.ts';

export interface CompileResult {
  /** Every problem in every file, sorted by file and position. */
  readonly diagnostics: readonly Diagnostic[];
  /** Absent if a diagnostic is an error. */
  readonly program?: Program;
  /** The `test` blocks, in the order of files and lines; empty without a program. */
  readonly tests: readonly TestType[];
}

/**
 * Compiles definition files to a program: parses each file, checks all of them together, and emits. Never throws
 * because of their content.
 */
export function compile(files: readonly SourceFile[], options: CompileOptions): CompileResult {
  return emitted(checkSources(files, options), files, options);
}

/** Compiles the definitions as a test with a `type_builder` sees them. */
export function compileForTest(files: readonly SourceFile[], options: CompileOptions, test: TestType): CompileResult {
  const checked = checkDocuments(files, options, (documents) => extendForTest(documents, test.span));
  return emitted(checked, files, options);
}

function emitted(checked: Checked, files: readonly SourceFile[], options: CompileOptions): CompileResult {
  const { diagnostics, definitions, tests } = checked;
  if (definitions === undefined) return { diagnostics, tests };
  return { diagnostics, tests, program: emitProgram(definitions, files, options) };
}

/**
 * Runs the first two phases, which are enough for a report. Sorts the problems by file and position, and returns no definitions if
 * one is an error. Never throws because of the content of the files.
 */
export function checkSources(files: readonly SourceFile[], options: CompileOptions): Checked {
  return checkDocuments(files, options, (documents) => documents);
}

/** `prepare` can change the documents before svc checks them. */
function checkDocuments(
  files: readonly SourceFile[],
  options: CompileOptions,
  prepare: (documents: readonly DocumentNode[]) => readonly DocumentNode[],
): Checked {
  const parsed = files.map((file) => parse(file));
  const documents = prepare(parsed.map((each) => each.document));
  const { definitions, diagnostics, tests } = analyze(parsed, options, documents);
  const failed = diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  return failed || definitions === undefined ? { diagnostics, tests: [] } : { diagnostics, definitions, tests };
}

/**
 * Checks parsed files, for an editor: returns the definitions and tests even if a problem is an error, with placeholders for the parts
 * that have one. Never throws because of the content of the files.
 */
export function analyze(
  parsed: readonly Parsed[],
  options: CompileOptions,
  documents: readonly DocumentNode[] = parsed.map((each) => each.document),
): Analysis {
  const texts = new Map(parsed.map(({ document: { file } }) => [file.path, file.text]));
  const analysis = check(documents, options);
  const diagnostics = [...parsed.flatMap((each) => each.diagnostics), ...analysis.diagnostics]
    .filter((diagnostic) => !(options.beta && CODE_NOT_RUN.has(diagnostic.code)))
    .map((diagnostic) => withFix(diagnostic, texts.get(diagnostic.span.file) ?? ''))
    .toSorted(compareDiagnostics);
  return { ...analysis, diagnostics };
}

/** Warnings about code, a beta feature of BAML. */
const CODE_NOT_RUN: ReadonlySet<string> = new Set(['parse/workflow', 'parse/method']);

/** Turns checked definitions into the frozen data of the serving plane. The same input gives the same hash. */
export function emitProgram(definitions: Definitions, files: readonly SourceFile[], options: CompileOptions): Program {
  const program: Omit<Program, 'hash'> = {
    format: 2,
    files: files.map(({ path, lineStarts }) => ({ path, lineStarts: [...lineStarts] })),
    ...definitions,
    functions: definitions.functions.map((fn) => ({ ...fn, examples: options.examples === true ? fn.examples : [] })),
    openapi: emitOpenApi(indexDefinitions(definitions), options),
  };
  return deepFreeze({ ...program, hash: programHash(program) });
}

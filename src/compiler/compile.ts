import { compareDiagnostics, type Diagnostic } from '../diagnostics/diagnostic.ts';
import type { SourceFile } from '../diagnostics/source-file.ts';
import { type Definitions, type Program, type TestType, indexDefinitions } from '../schema/program.ts';
import type { DocumentNode } from './1-parse/syntax-nodes.ts';
import type { CompileOptions } from './compile-options.ts';
import { parse } from './1-parse/parse.ts';
import { check } from './2-check/check.ts';
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
  return emitted(
    checkDocuments(files, options, (documents) => extendForTest(documents, test.span)),
    files,
    options,
  );
}

function emitted(
  { diagnostics, definitions, tests }: CheckResult,
  files: readonly SourceFile[],
  options: CompileOptions,
): CompileResult {
  if (definitions === undefined) return { diagnostics, tests };
  return { diagnostics, tests, program: emitProgram(definitions, files, options) };
}

interface CheckResult {
  /** Every problem in every file, sorted by file and position. */
  readonly diagnostics: readonly Diagnostic[];
  /** Absent if a diagnostic is an error. */
  readonly definitions?: Definitions;
  /** The `test` blocks, in the order of files and lines; empty without definitions. */
  readonly tests: readonly TestType[];
}

/** Runs the first two phases, which are enough for a report. Never throws because of the content of the files. */
export function checkSources(files: readonly SourceFile[], options: CompileOptions): CheckResult {
  return checkDocuments(files, options, (documents) => documents);
}

/** `prepare` can change the documents before svc checks them. */
function checkDocuments(
  files: readonly SourceFile[],
  options: CompileOptions,
  prepare: (documents: readonly DocumentNode[]) => readonly DocumentNode[],
): CheckResult {
  const parsed = files.map((file) => parse(file));
  const documents = prepare(parsed.map((each) => each.document));
  const { definitions, diagnostics: found, tests } = check(documents, options);
  const diagnostics = [...parsed.flatMap((each) => each.diagnostics), ...found]
    .filter((diagnostic) => !(options.beta && CODE_NOT_RUN.has(diagnostic.code)))
    .toSorted(compareDiagnostics);

  const failed = diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  return failed || definitions === undefined ? { diagnostics, tests: [] } : { diagnostics, definitions, tests };
}

/** Warnings about code, a beta feature of BAML. */
const CODE_NOT_RUN: ReadonlySet<string> = new Set(['parse/workflow', 'parse/method']);

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

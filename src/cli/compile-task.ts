import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { saveCodeCache } from '../base/code-cache.ts';
import { invariant } from '../base/invariant.ts';
import { ok, type Result } from '../base/result.ts';
import type { ValidatorCompiler } from '../compiler/3-emit/validator-compiler.ts';
import { TypeCompiler } from '../compiler/compile-types.ts';
import type { Config } from '../config/config.ts';
import { writeTypes } from '../dev/types/write-types.ts';
import { codeFrame, PLAIN, visible, type ReportInput, SpanLocator } from '../diagnostics/report-formats.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { SourceFile } from '../diagnostics/source-file.ts';
import { loadProgram, type SerializedProgram, serializeProgram, sourcesPath } from '../runtime/call/load-program.ts';
import type { DefinitionProblem, Definitions, Program } from '../schema/program.ts';
import {
  definitionsOfArguments,
  type ExtendedTypes,
  type TypeExtension,
  type TypeOutcome,
  type TypeRequest,
  typeRequestHash,
} from '../schema/type-extension.ts';
import { compileDefinitions } from './compile-definitions.ts';
import { definitionSecrets, type DefinitionSecrets } from './definition-secrets.ts';
import { prettyReport, type ReportStyle, summaryLine } from './pretty-report.ts';
import { priceNote, type PriceNote } from './price-note.ts';

export type CompileTask =
  /** Compiles the definitions that the configuration names. Answered with `Result<CompiledDefinitions, string>`. */
  | { readonly type: 'compile'; readonly config: Config; readonly output: CompileOutput }
  /**
   * Compiles the argument validators of a function. Answered with their source. A thread reads the program from its file
   * unless `programHash` is the hash of its last program.
   */
  | {
      readonly type: 'validators';
      readonly functionName: string;
      readonly programPath: string;
      readonly programHash: string;
    }
  /** Compiles the types of a request. Answered with a `TypeOutcome`. */
  | { readonly type: 'types'; readonly request: TypeRequest; readonly programPath: string };

/** The wishes of those who read the result of a compilation. */
export interface CompileOutput {
  readonly style: ReportStyle;
  readonly types: boolean;
}

/** Compiled definitions, without their content: strings for the user, and the program as bytes for the workers. */
export interface CompiledDefinitions {
  /** The directory, or the one file, that was read. */
  readonly path: string;
  /** The problems with code frames; an empty string if there are none. */
  readonly report: string;
  readonly summary: string;
  /** The errors, for the playground. */
  readonly problems: readonly DefinitionProblem[];
  /** Absent if a diagnostic is an error. */
  readonly program?: CompiledContent;
}

export interface CompiledContent extends SerializedProgram {
  readonly functionNames: readonly string[];
  /** At least one file has the extension of BAML. */
  readonly fromBaml: boolean;
  readonly secrets: DefinitionSecrets;
  /** Absent if each price of the configuration matches a model. */
  readonly priceNote?: PriceNote | undefined;
  /** The TypeScript types of the functions, if the task asks for them. */
  readonly types?: string;
}

/** The validator compiler of the last program. */
let validatorCompiler: { readonly programHash: string; readonly loaded: Promise<ValidatorCompiler> } | undefined;

/** Runs the tasks that arrive at this thread, one after the other. An exception ends the thread; its owner gets the error. */
export function runCompileThread(): void {
  const port = parentPort;
  invariant(port !== null, 'not a thread');
  port.on('message', ({ id, task }: { readonly id: number; readonly task: CompileTask }) => {
    if (task.type === 'compile') {
      const compiled = compileForServing(task);
      const { json, sources } = (compiled.ok ? compiled.value.program : undefined) ?? {};
      const buffers = [json, sources].flatMap((bytes) => (bytes === undefined ? [] : [bytes.buffer]));
      port.postMessage({ id, answer: compiled }, buffers);
    } else {
      const answering: Promise<unknown> = task.type === 'types' ? typesOfRequest(task) : validators(task);
      void answering.then((answer) => port.postMessage({ id, answer }));
    }
  });
}

function compileForServing({
  config,
  output: { style, types },
}: Extract<CompileTask, { readonly type: 'compile' }>): Result<CompiledDefinitions, string> {
  const compiled = compileDefinitions(config);
  if (!compiled.ok) return compiled;
  const { path, program } = compiled.value;
  const report = prettyReport(compiled.value, style);
  const summary = summaryLine(compiled.value);
  const problems = definitionProblems(compiled.value);
  if (program === undefined) return ok({ path, report, summary, problems });
  const sources = config.dynamicTypes === 'on' ? serializeSources(compiled.value.files) : undefined;
  const note = priceNote(config, program);
  const content = { ...contentOf(program), sources, priceNote: note, ...(types && { types: writeTypes(program) }) };
  // AJV loads while the workers load their code.
  validatorCompiler = { programHash: content.hash, loaded: createValidatorCompiler(program) };
  return ok({ path, report, summary, problems, program: content });
}

function contentOf(program: Program): CompiledContent {
  return {
    ...serializeProgram(program),
    functionNames: program.functions.map(({ name }) => name),
    fromBaml: program.files.some(({ path }) => path.endsWith('.baml')),
    secrets: definitionSecrets(program),
  };
}

async function validators({
  functionName,
  programPath,
  programHash,
}: Extract<CompileTask, { readonly type: 'validators' }>): Promise<string> {
  if (validatorCompiler?.programHash !== programHash) {
    validatorCompiler = { programHash, loaded: createValidatorCompiler(read(programPath)) };
  }
  const source = (await validatorCompiler.loaded).source(functionName);
  // The answer goes out first.
  setImmediate(saveCodeCache);
  return source;
}

/** The compiler of types, and the outcomes of requests, for one program. */
interface TypePlane {
  readonly programPath: string;
  readonly program: Program;
  readonly compiler: TypeCompiler;
  readonly outcomes: LRUCache<string, TypeOutcome>;
}

/** All workers ask for the same types within a short time. */
const KEPT_OUTCOMES = { max: 200, maxSize: 4 * 2 ** 20 };

let typePlane: TypePlane | undefined;

async function typesOfRequest({
  request,
  programPath,
}: Extract<CompileTask, { readonly type: 'types' }>): Promise<TypeOutcome> {
  if (typePlane?.programPath !== programPath) typePlane = createTypePlane(programPath);
  const { program, compiler, outcomes } = typePlane;
  const { functionName, builder } = request;
  const key = typeRequestHash(request);
  const known = outcomes.get(key);
  if (known !== undefined) return known;
  const extension = compiler.compile(JSON.parse(builder), functionName);
  const outcome = extension.ok ? ok(await extendedTypes(program, extension.value, functionName)) : extension;
  outcomes.set(key, outcome, { size: JSON.stringify(outcome).length });
  return outcome;
}

async function extendedTypes(program: Program, extension: TypeExtension, functionName: string): Promise<ExtendedTypes> {
  const changed = definitionsOfArguments(program, extension, functionName);
  const json = JSON.stringify(extension);
  if (changed === undefined) return { extension: json };
  const compiler = await createValidatorCompiler(changed);
  return { extension: json, validators: compiler.source(functionName) };
}

function createTypePlane(programPath: string): TypePlane {
  const sources: readonly SourceText[] = JSON.parse(readFileSync(sourcesPath(programPath), 'utf8'));
  const files = sources.map(({ path, text }) => new SourceFile(path, text));
  const compiler = new TypeCompiler(files);
  return { programPath, program: read(programPath), compiler, outcomes: new LRUCache(KEPT_OUTCOMES) };
}

type SourceText = Pick<SourceFile, 'path' | 'text'>;

function serializeSources(files: readonly SourceText[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(files.map(({ path, text }) => ({ path, text }))));
}

function read(programPath: string): Program {
  const program = loadProgram(programPath);
  invariant(program.ok, program.ok ? '' : program.failure);
  return program.value;
}

async function createValidatorCompiler(definitions: Definitions): Promise<ValidatorCompiler> {
  const { ValidatorCompiler: Compiler } = await import('../compiler/3-emit/validator-compiler.ts');
  return new Compiler(definitions);
}

/** A page with more errors hides the first ones. */
const MOST = 20;

/** The first errors of a compilation, with their code frames. */
function definitionProblems({ diagnostics, files }: ReportInput): readonly DefinitionProblem[] {
  const locator = new SpanLocator(files);
  return diagnostics
    .filter(({ severity }) => severity === 'error')
    .slice(0, MOST)
    .map((diagnostic) => problemOf(diagnostic, locator));
}

function problemOf({ code, help, message, span }: Diagnostic, locator: SpanLocator): DefinitionProblem {
  const { line, column } = locator.range(span).start;
  const file = locator.file(span);
  return {
    code,
    message: visible(message),
    place: `${visible(span.file)}:${String(line)}:${String(column)}`,
    ...(help !== undefined && { help: visible(help) }),
    ...(file !== undefined && { frame: codeFrame(file, span, PLAIN) }),
  };
}

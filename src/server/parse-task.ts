import { LRUCache } from 'lru-cache';
import { InternalError } from '../base/invariant.ts';
import { FunctionReplies } from '../runtime/call/function-replies.ts';
import { loadProgram } from '../runtime/call/load-program.ts';
import { parseText } from '../runtime/call/parse-reply.ts';
import { StepBudget } from '../runtime/reply/coerce/step-budget.ts';
import type { ParsedReply, ParseFailure } from '../runtime/reply/reply-parser.ts';
import { type SentExtension, compileCountedCondition } from '../runtime/call/call-types.ts';
import { type CompileCondition, indexDefinitions, type DefinitionIndex, type Program } from '../schema/program.ts';
import { extendDefinitions, type TypeExtension } from '../schema/type-extension.ts';

/** The input of a thread. The program's file is named by its hash, so the path identifies the program. */
export interface ParseTask {
  readonly programPath: string;
  readonly functionName: string;
  readonly text: string;
  /** True if the reply can be in a wrapper. */
  readonly wrapped: boolean;
  /** The types of the request, if it extends any. */
  readonly extension?: SentExtension | undefined;
  /** True if the output includes an explanation. */
  readonly explain: boolean;
  /** The provider cut the reply off. */
  readonly isCut: boolean;
}

/** The output of a thread, as JSON text: copying an object between threads costs many times as much. */
export type ParseTaskResult =
  | ({ readonly ok: true } & Omit<ParsedReply, 'value'>)
  | {
      readonly ok: false;
      readonly failure: ParseFailure;
      /** The reply needs more work than its budget allows. */
      readonly isTooMuchWork: boolean;
    };

interface LoadedProgram {
  readonly program: Program;
  readonly index: DefinitionIndex;
}

/** The types of requests for which a thread keeps a parser. */
const KEPT_EXTENSIONS = { max: 16, maxSize: 2 ** 20 };

const programs = new Map<string, LoadedProgram>();
const replies = new Map<string, FunctionReplies>();
const extendedReplies = new LRUCache<string, FunctionReplies>(KEPT_EXTENSIONS);

/** Parses one reply on a thread of the pool. The thread keeps programs and parsers for its next task. */
export function runParseTask(task: ParseTask): ParseTaskResult {
  const parser = repliesOf(task).parserFor(task.wrapped);
  const { exceeded } = StepBudget;
  const outcome = parseText(parser, task).parse();
  if (!outcome.ok) return { ...outcome, isTooMuchWork: StepBudget.exceeded > exceeded };
  const { json, flags, losses, explanation } = outcome.value;
  return { ok: true, json, flags, losses, ...(explanation === undefined ? {} : { explanation }) };
}

function repliesOf({ programPath, functionName, extension }: ParseTask): FunctionReplies {
  const key = `${programPath}#${functionName}`;
  if (extension !== undefined)
    return extendedRepliesOf(`${key}#${extension.hash}`, { programPath, functionName, extension });
  let known = replies.get(key);
  if (known === undefined) {
    known = createReplies(programOf(programPath).index, functionName);
    replies.set(key, known);
  }
  return known;
}

interface ExtendedTask extends Pick<ParseTask, 'programPath' | 'functionName'> {
  readonly extension: SentExtension;
}

function extendedRepliesOf(key: string, { programPath, functionName, extension }: ExtendedTask): FunctionReplies {
  const known = extendedReplies.get(key);
  if (known !== undefined) return known;
  const definitions = extendDefinitions(programOf(programPath).program, JSON.parse(extension.json) as TypeExtension);
  const created = createReplies(indexDefinitions(definitions), functionName, compileCountedCondition);
  extendedReplies.set(key, created, { size: extension.json.length });
  return created;
}

function createReplies(index: DefinitionIndex, functionName: string, compile?: CompileCondition): FunctionReplies {
  const fn = index.functions.get(functionName);
  if (fn === undefined) throw new InternalError(`no function "${functionName}" in the program`);
  return new FunctionReplies(fn, index, compile);
}

function programOf(programPath: string): LoadedProgram {
  const known = programs.get(programPath);
  if (known !== undefined) return known;
  const program = loadProgram(programPath);
  if (!program.ok) throw new InternalError(program.failure);
  const loaded = { program: program.value, index: indexDefinitions(program.value) };
  programs.set(programPath, loaded);
  return loaded;
}

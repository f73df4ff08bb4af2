import { InternalError } from '../base/invariant.ts';
import { FunctionReplies } from '../runtime/call/function-replies.ts';
import { loadProgram } from '../runtime/call/load-program.ts';
import { parseText } from '../runtime/call/parse-reply.ts';
import { StepBudget } from '../runtime/reply/coercion/step-budget.ts';
import type { ParsedReply, ParseFailure } from '../runtime/reply/reply-parser.ts';
import { indexDefinitions, type DefinitionIndex } from '../schema/definition-index.ts';

/** The input of a thread. The program's file is named by its hash, so the path identifies the program. */
export interface ParseTask {
  readonly programPath: string;
  readonly functionName: string;
  readonly text: string;
  /** True if the reply can be in a wrapper. */
  readonly wrapped?: boolean;
  /** True if the output includes an explanation. */
  readonly explain: boolean;
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

const programs = new Map<string, DefinitionIndex>();
const replies = new Map<string, FunctionReplies>();

/** Parses one reply on a thread of the pool. The thread keeps programs and parsers for its next task. */
export function runParseTask(task: ParseTask): ParseTaskResult {
  const parser = repliesOf(task).parserFor(task.wrapped === true);
  const { exceeded } = StepBudget;
  const outcome = parseText(parser, task.text, task.explain).parse();
  if (!outcome.ok) return { ...outcome, isTooMuchWork: StepBudget.exceeded > exceeded };
  const { json, flags, losses, explanation } = outcome.value;
  return { ok: true, json, flags, losses, ...(explanation === undefined ? {} : { explanation }) };
}

function repliesOf({ programPath, functionName }: ParseTask): FunctionReplies {
  const key = `${programPath}#${functionName}`;
  let known = replies.get(key);
  if (known === undefined) {
    known = createReplies(programPath, functionName);
    replies.set(key, known);
  }
  return known;
}

function createReplies(programPath: string, functionName: string): FunctionReplies {
  const definitions = programs.get(programPath) ?? load(programPath);
  const fn = definitions.functions.get(functionName);
  if (fn === undefined) throw new InternalError(`no function "${functionName}" in the program`);
  return new FunctionReplies(fn, definitions);
}

function load(programPath: string): DefinitionIndex {
  const program = loadProgram(programPath);
  if (!program.ok) throw new InternalError(program.failure);
  const definitions = indexDefinitions(program.value);
  programs.set(programPath, definitions);
  return definitions;
}

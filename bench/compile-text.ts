import { compile } from '../src/compiler/compile.ts';
import { SourceFile } from '../src/diagnostics/source-file.ts';
import { compileCondition } from '../src/runtime/prompt/compile-condition.ts';
import { createReplyParser } from '../src/runtime/reply/create-reply-parser.ts';
import type { ReplyParser } from '../src/runtime/reply/reply-parser.ts';
import { indexDefinitions, type Program } from '../src/schema/program.ts';

/** Compiles the text of one definition file. Throws the first error. */
export function compileText(text: string): Program {
  const options = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };
  const { diagnostics, program } = compile([new SourceFile('bench.baml', text)], options);
  if (program === undefined) throw new Error(diagnostics[0]?.message);
  return program;
}

/** The parser of the replies to a function. Throws if there is no such function. */
export function parserOfFunction(program: Program, name: string): ReplyParser {
  const definitions = indexDefinitions(program);
  const returns = definitions.functions.get(name)?.returns;
  if (returns === undefined) throw new Error(`no function ${name}`);
  return createReplyParser(returns, definitions, compileCondition);
}

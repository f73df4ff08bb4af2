import { joinParts } from '../../../src/base/text-parts.ts';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import { compile } from '../../../src/compiler/compile.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { createReplyParser } from '../../../src/runtime/reply/create-reply-parser.ts';
import { compilePlan } from '../../../src/runtime/reply/coerce/compile-plan.ts';
import type { ReplyParser } from '../../../src/runtime/reply/reply-parser.ts';
import { describeReplyType, type ReplyType } from '../../../src/runtime/reply/reply-type.ts';
import { indexDefinitions, type DefinitionIndex, type Program } from '../../../src/schema/program.ts';
import type { Type } from '../../../src/schema/type.ts';

const parsers = new Map<string, ReplyParser>();

/**
 * Returns the parser of a return type, written in the definition language. Compiles it the first time only, because many
 * samples have the same type. Throws if the definitions have errors.
 */
export function parserOf(returns: string, definitions = ''): ReplyParser {
  const key = `${returns}\n${definitions}`;
  let parser = parsers.get(key);
  if (parser === undefined) {
    const compiled = compiledReturn(returns, definitions);
    parser = createReplyParser(compiled.returns, compiled.definitions, compileCondition);
    parsers.set(key, parser);
  }
  return parser;
}

/** Compiles a return type for the functions inside a parser, to compare one with another. */
export function replyTypeOf(returns: string, definitions = ''): ReplyType {
  const compiled = compiledReturn(returns, definitions);
  const plan = compilePlan(compiled.returns, compiled.definitions, compileCondition);
  return describeReplyType(compiled.returns, compiled.definitions, plan);
}

interface CompiledReturn {
  readonly returns: Type;
  readonly definitions: DefinitionIndex;
}

function compiledReturn(returns: string, definitions: string): CompiledReturn {
  const program = programOf([{ name: 'Sample', returns }], definitions);
  const sample = program.functions.find((fn) => fn.name === 'Sample');
  if (sample === undefined) throw new Error('no function Sample');
  return { returns: sample.returns, definitions: indexDefinitions(program) };
}

interface SampleFunction {
  readonly name: string;
  /** Its return type in the definition language. */
  readonly returns: string;
}

/** Compiles a program of these functions. Throws if the definitions have errors. */
export function programOf(functions: readonly SampleFunction[], definitions = ''): Program {
  const texts = functions.map(
    ({ name, returns }) =>
      `function ${name}(input: string) -> ${returns} {\n  client "openai/x"\n  prompt #"{{ input }}"#\n}\n`,
  );
  const options = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };
  const source = new SourceFile('sample.svc', `${definitions}\n${texts.join('')}`);
  const { diagnostics, program } = compile([source], options);
  if (program === undefined) throw new Error(diagnostics[0]?.message ?? 'no program');
  return program;
}

/** Returns the value of a reply, or `refused: …`. */
export function valueOf(parser: ReplyParser, reply: string): unknown {
  const outcome = parser.parse(reply);
  return outcome.ok ? outcome.value.value : `refused: ${outcome.failure.message}`;
}

/** Returns every partial of a reply that arrives in these deltas. */
export function partialsOf(parser: ReplyParser, deltas: Iterable<string>): string[] {
  const stream = parser.openStream();
  const partials: string[] = [];
  for (const delta of deltas) {
    stream.push(delta);
    const partial = stream.takePartial();
    if (partial !== undefined) partials.push(joinParts(partial));
  }
  return partials;
}

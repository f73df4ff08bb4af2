import type { CompileCondition } from '../../schema/compile-condition.ts';
import type { DefinitionIndex } from '../../schema/program.ts';
import type { Type } from '../../schema/type.ts';
import { coerceReply, coerceShortReply, parseOutcome } from './coerce-reply.ts';
import { compilePlan } from './coercion/compile-plan.ts';
import { explainReply, explainShortReply } from './explain-reply.ts';
import type { ReplyParser } from './reply-parser.ts';
import { GrowingReply } from './reply-stream.ts';
import { describeReplyType } from './reply-type.ts';

/*
 * The path of a reply:
 *
 *   text/        text -> candidates (fences, prose, thoughts) -> the parts of each, by one scanner, for one of two sinks:
 *                the tolerant parser builds trees of nodes
 *   fast-path/   the other sink: JSON text in one pass, for a single value that matches its type exactly; gives up otherwise
 *   coercion/    type -> plan, once; node -> outcome by the plan: JSON text with a score and flags, or an error
 *   reply-parts.ts     candidates -> parts of the reply with their outcomes and surroundings
 *   choose-part.ts     parts -> the best one; explain-reply.ts states why
 *   coerce-reply.ts    all of these in order
 *   reply-stream.ts    deltas of text -> partial values, by the same two sinks and plans; at the end, the steps above
 *   text-partials.ts   deltas of text -> partial strings, for unions with a string
 */

/**
 * Compiles a return type into the parser of its replies. `compileCondition` compiles the expressions of `@assert` and
 * `@check`. `name`: the alias of the type, which can label a scalar. Throws if the type refers to a definition that does not exist, which the checker rules out.
 */
export function createReplyParser(
  returns: Type,
  definitions: DefinitionIndex,
  compileCondition: CompileCondition,
  name?: string,
): ReplyParser {
  const type = describeReplyType(returns, definitions, compilePlan(returns, definitions, compileCondition, name));
  return {
    parse: (text) => parseOutcome(coerceReply(text, type)),
    parseShort: (text) => {
      const outcome = coerceShortReply(text, type);
      return outcome && parseOutcome(outcome);
    },
    openStream: () => new GrowingReply(type),
    explain: (text) => explainReply(text, type),
    explainShort: (text) => explainShortReply(text, type),
  };
}

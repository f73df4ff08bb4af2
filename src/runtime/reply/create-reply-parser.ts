import type { CompileCondition, DefinitionIndex } from '../../schema/program.ts';
import type { Type } from '../../schema/type.ts';
import { coerceReply, coerceShortReply, parseOutcome } from './reply.ts';
import { compilePlan } from './coerce/compile-plan.ts';
import { explainReply, explainShortReply } from './explain.ts';
import type { ReplyParser } from './reply-parser.ts';
import { GrowingReply } from './stream.ts';
import { describeReplyType } from './reply-type.ts';

/*
 * The rooms of the reply reader:
 *
 *   reply.ts       the path of a whole reply on one screen; stream.ts: deltas of text -> partial values
 *   unframe.ts     one table of frames around a text
 *   candidates/    text -> objects, lists, fences, outlines, tables and XML, as trees of nodes
 *   text/          the tolerant scanner of JSON
 *   coerce/        type -> plan, once; node -> outcome by the plan: JSON text with a cost and flags, or an error
 *   choose.ts      candidates -> the best one, or a refusal; explain.ts states why
 *   phrases.ts     the only English
 */

/**
 * Compiles a return type into the parser of its replies. `compileCondition` compiles the expressions of `@assert` and
 * `@check`. Throws if the type refers to a definition that does not exist, which the checker rules out.
 */
export function createReplyParser(
  returns: Type,
  definitions: DefinitionIndex,
  compileCondition: CompileCondition,
): ReplyParser {
  const type = describeReplyType(returns, definitions, compilePlan(returns, definitions, compileCondition));
  return {
    parse: (text, isCut) => parseOutcome(coerceReply(text, type, { isCut })),
    parseShort: (text, isCut) => {
      const outcome = coerceShortReply(text, type, { isCut });
      return outcome && parseOutcome(outcome);
    },
    openStream: () => new GrowingReply(type),
    explain: (text) => explainReply(text, type),
    explainShort: (text) => explainShortReply(text, type),
  };
}

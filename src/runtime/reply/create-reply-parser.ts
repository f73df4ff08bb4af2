import { err, ok } from '../../base/result.ts';
import type { CompileCondition } from '../../schema/constraint.ts';
import type { DefinitionIndex } from '../../schema/definition-index.ts';
import type { Type } from '../../schema/type.ts';
import { chooseReading, textNode } from './choose-reading.ts';
import { compilePlan } from './coercion/compile-plan.ts';
import type { Outcome } from './coercion/outcome.ts';
import type { Plan } from './coercion/plan.ts';
import { GrowingReply } from './growing-reply.ts';
import { JsonReply } from './json-reply.ts';
import type { ParseFailure, ParseOutcome, ReplyParser, ReplyStream } from './reply-parser.ts';
import { describeReplyType, type ReplyType } from './reply-type.ts';
import type { StraightReading } from './fast-path/straight-reading.ts';
import { stringNode } from './text/value-node.ts';

/** Compiles a return type into the parser of its replies. Throws only for definitions that were never checked. */
export function createReplyParser(
  returns: Type,
  definitions: DefinitionIndex,
  compileCondition: CompileCondition,
): ReplyParser {
  return new TypedReplyParser(
    compilePlan(returns, definitions, compileCondition),
    describeReplyType(returns, definitions),
  );
}

class TypedReplyParser implements ReplyParser {
  readonly #plan: Plan;
  readonly #type: ReplyType;

  constructor(plan: Plan, type: ReplyType) {
    this.#plan = plan;
    this.#type = type;
  }

  parse(text: string): ParseOutcome {
    return this.#outcome(text, undefined);
  }

  openStream(): ReplyStream {
    return new GrowingReply(this.#plan, this.#type, (text, straight) => this.#outcome(text, straight));
  }

  #outcome(text: string, straight: StraightReading | undefined): ParseOutcome {
    const outcome = this.#read(text, straight);
    return outcome.ok ? ok(new JsonReply(outcome.json, outcome.notes)) : err(failureOf(outcome.faults));
  }

  #read(text: string, straight: StraightReading | undefined): Outcome {
    if (this.#type.text === 'no') return chooseReading(text, this.#plan, this.#type, straight);
    const isNull = this.#type.text === 'or-null' && text.trim() === 'null';
    return this.#plan.coerce(isNull ? textNode(text) : stringNode(text));
  }
}

function failureOf(details: ParseFailure['details']): ParseFailure {
  const first = details[0];
  const where = first === undefined || first.path === '' ? '' : ` at ${first.path}`;
  return { message: `the reply does not fit the return type${where}: ${first?.message ?? 'no reason known'}`, details };
}

import type { Cancellation } from '../../base/cancellation.ts';
import { err, type Result } from '../../base/result.ts';
import type { ParsedReply, ParseFailure, ParseOutcome } from '../parsing/reply-parser.ts';
import type { Failure, ValidationFailure } from './failure.ts';
import type { RuntimeOptions } from './runtime-options.ts';

/** A reply that has arrived in full, and how long anybody waits for its value. */
export interface WholeReply {
  readonly functionName: string;
  readonly text: string;
  readonly cancellation: Cancellation;
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly deadlineAt: number;
}

export type ReplyOutcome = Result<ParsedReply, Failure>;

/** Parses a small reply at once, by `parseHere`, and a large one elsewhere, where it does not hold up other calls. */
export function parseWholeReply(
  reply: WholeReply,
  options: Pick<RuntimeOptions, 'parseElsewhere' | 'parseElsewhereAbove'>,
  parseHere: (text: string) => ParseOutcome,
): ReplyOutcome | Promise<ReplyOutcome> {
  const { parseElsewhere, parseElsewhereAbove } = options;
  const { text } = reply;
  if (parseElsewhere !== undefined && text.length > parseElsewhereAbove) return parseElsewhere(reply);
  const outcome = parseHere(text);
  return outcome.ok ? outcome : err(validationFailure(outcome.failure, text));
}

/** The reply does not fit the return type. */
export function validationFailure({ message, details }: ParseFailure, rawOutput: string): ValidationFailure {
  return { code: 'validation_failure', message, details, rawOutput };
}

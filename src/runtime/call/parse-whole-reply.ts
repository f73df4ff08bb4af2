import { err } from '../../base/result.ts';
import type { ParseFailure, ParseOutcome } from '../reply/reply-parser.ts';
import type { ValidationFailure } from '../../schema/errors.ts';
import type { RuntimeOptions } from './runtime-options.ts';
import type { ReplyOutcome, WholeReply } from './whole-reply.ts';

/**
 * Parses a reply at once, by `parseHere`, when that has little to read, otherwise elsewhere, where it does not hold up other
 * calls. `toRead`: UTF-16 units.
 */
export function parseWholeReply(
  reply: WholeReply,
  options: Pick<RuntimeOptions, 'parseElsewhere' | 'parseElsewhereAbove'>,
  parseHere: () => ParseOutcome,
  toRead = reply.text.length,
): ReplyOutcome | Promise<ReplyOutcome> {
  const { parseElsewhere, parseElsewhereAbove } = options;
  const { text } = reply;
  if (parseElsewhere !== undefined && toRead > parseElsewhereAbove) return parseElsewhere(reply);
  const outcome = parseHere();
  return outcome.ok ? outcome : err(validationFailure(outcome.failure, text));
}

/** The reply does not fit the return type. */
export function validationFailure({ message, details }: ParseFailure, rawOutput: string): ValidationFailure {
  return { code: 'validation_failure', message, details, rawOutput };
}

import { err, ok } from '../../base/result.ts';
import type { ValidationFailure } from '../../schema/errors.ts';
import { JsonReply, type ParseFailure, type ParseOutcome, type ReplyParser } from '../reply/reply-parser.ts';
import { isLossy, lossDetails, lossesText, warningsOf, type OnLoss } from './losses.ts';
import type { ReplyOutcome, RuntimeOptions, WholeReply } from './runtime.ts';

/**
 * Parses a whole reply. A short one is parsed here, by `parseHere`; a long one goes to `parseElsewhere`, where it does not
 * hold up other calls. `toRead` is the length of the text that is still to be read, in UTF-16 units.
 */
export function parseReply(
  reply: WholeReply,
  options: Pick<RuntimeOptions, 'onParse' | 'parseElsewhere' | 'parseElsewhereAbove'>,
  parseHere: () => ParseOutcome,
  toRead = reply.text.length,
): ReplyOutcome | Promise<ReplyOutcome> {
  const { parseElsewhere, parseElsewhereAbove } = options;
  if (parseElsewhere !== undefined && toRead > parseElsewhereAbove) return parseElsewhere(reply);
  options.onParse?.(reply.functionName, reply.text.length);
  const outcome = parseHere();
  return outcome.ok ? outcome : err(validationFailure(outcome.failure, reply.text));
}

/** Parses a reply like `parse` and explains the outcome. */
export function parseExplained(parser: ReplyParser, text: string): ParseOutcome {
  const outcome = parser.parse(text);
  const explanation = parser.explain(text);
  if (!outcome.ok) return err({ ...outcome.failure, explanation });
  const { flags, json, losses } = outcome.value;
  return ok(new JsonReply(json, flags, losses, explanation));
}

/** Turns a lossy value into a failure, unless the call accepts losses. `text`: the reply. */
export function refuseLosses(outcome: ReplyOutcome, onLoss: OnLoss, text: string): ReplyOutcome {
  if (onLoss === 'accept' || !outcome.ok || !isLossy(outcome.value.losses)) return outcome;
  const { explanation, losses } = outcome.value;
  const details = lossDetails(warningsOf(outcome.value));
  const [first] = details;
  const where = first === undefined || first.path === '' ? '' : ` at ${first.path}`;
  const message = `the value of the reply is lossy (${lossesText(losses)}), which this call refuses${where}: ${first?.message ?? ''}`;
  const failure = { message, details, ...(explanation === undefined ? {} : { explanation }) };
  return err({ ...validationFailure(failure, text), losses });
}

/** The failure of a reply that does not fit the return type. */
export function validationFailure(
  { message, details, explanation }: ParseFailure,
  rawOutput: string,
): ValidationFailure {
  const explained = explanation === undefined ? {} : { explanation };
  return { code: 'validation_failure', message, details, rawOutput, ...explained };
}

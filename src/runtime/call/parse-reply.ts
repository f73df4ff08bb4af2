import { err, ok } from '../../base/result.ts';
import type { ValidationFailure } from '../../schema/failure.ts';
import type { Explanation } from '../../schema/explanation.ts';
import { JsonReply, type ParseFailure, type ParseOutcome, type ReplyParser } from '../reply/reply-parser.ts';
import { isLossy, lossDetails, lossesText, warningsOf, type OnLoss } from './losses.ts';
import type { ReplyOutcome, RuntimeOptions, WholeReply } from './runtime.ts';

/** The two ways to parse a reply in this thread. */
export interface ParseHere {
  parse(): ParseOutcome;
  /** Returns undefined for a reply that would hold up other calls. */
  parseShort(): ParseOutcome | undefined;
}

/**
 * Parses a whole reply. One that takes a short time is parsed here; any other goes to `parseElsewhere`, where it does not hold up
 * other calls. `toRead` is the length of the text that is still to be read, in UTF-16 units.
 */
export function parseReply(
  reply: WholeReply,
  options: Pick<RuntimeOptions, 'onParse' | 'parseElsewhere' | 'parseElsewhereAbove'>,
  here: ParseHere,
  toRead = reply.text.length,
): ReplyOutcome | Promise<ReplyOutcome> {
  const { parseElsewhere, parseElsewhereAbove } = options;
  if (parseElsewhere !== undefined && toRead > parseElsewhereAbove) return moved(reply, parseElsewhere);
  options.onParse?.(reply.functionName, reply.text.length);
  const { text } = reply;
  if (parseElsewhere === undefined) return withReply(here.parse(), text);
  const outcome = here.parseShort();
  return outcome === undefined ? moved(reply, parseElsewhere) : withReply(outcome, text);
}

function moved(
  reply: WholeReply,
  parseElsewhere: NonNullable<RuntimeOptions['parseElsewhere']>,
): Promise<ReplyOutcome> {
  reply.observer?.moved();
  return parseElsewhere(reply);
}

function withReply(outcome: ParseOutcome, text: string): ReplyOutcome {
  return outcome.ok ? outcome : err(validationFailure(outcome.failure, text));
}

/** The ways to parse a text in this thread, with an explanation of the outcome if `explain` is true. */
export function parseText(
  parser: ReplyParser,
  { text, isCut, explain = false }: Pick<WholeReply, 'text' | 'isCut' | 'explain'>,
): ParseHere {
  if (!explain) return { parse: () => parser.parse(text, isCut), parseShort: () => parser.parseShort(text, isCut) };
  return {
    parse: () => withExplanation(parser.parse(text), parser.explain(text)),
    parseShort: () => {
      const explanation = parser.explainShort(text);
      const outcome = explanation && parser.parseShort(text);
      return outcome && withExplanation(outcome, explanation);
    },
  };
}

function withExplanation(outcome: ParseOutcome, explanation: Explanation): ParseOutcome {
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

import type { JsonValue } from '../../base/json.ts';
import type { Result } from '../../base/result.ts';
import type { Violation } from '../../schema/violation.ts';

/**
 * Turns what a model wrote into a value of one type. Made once per function and worker; holds no state of a reply.
 */
export interface ReplyParser {
  /** The whole reply at once. Never throws for any text; linear in its length. */
  parse(text: string): ParseOutcome;
  /** A reply that arrives in pieces. The outcome of `finish()` equals `parse()` of all pieces joined. */
  openStream(): ReplyStream;
}

export interface ReplyStream {
  /** Takes the next piece: it is only kept until a partial is asked for. */
  push(piece: string): void;
  /**
   * The newest partial value as JSON text, or undefined when there is none yet or it equals the last one taken.
   */
  takePartial(): string | undefined;
  /** How much `finish()` has to read, in UTF-16 units: what arrived since the last partial, or the whole once more. */
  readonly toRead: number;
  /** The final outcome by the normal (not partial) rules. Call once, after the last piece. */
  finish(): ParseOutcome;
}

export type ParseOutcome = Result<ParsedReply, ParseFailure>;

export interface ParsedReply {
  /** JSON text of the value: keys in declared order, real names, `@check` results included. */
  readonly json: string;
  /** The same value as data. Built on first use where only the text was needed. */
  readonly value: JsonValue;
  /** What was repaired, dropped or guessed on the way, with paths; empty for a clean reply. */
  readonly flags: readonly ParseFlag[];
}

export interface ParseFlag {
  /** Stable word for metrics: `markdown`, `repaired`, `dropped-item`, `extra-key`, `defaulted`, `substring-match`, … */
  readonly flag: string;
  readonly path: string;
  readonly detail?: string;
}

export interface ParseFailure {
  readonly message: string;
  readonly details: readonly Violation[];
}

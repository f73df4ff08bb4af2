import type { JsonValue } from '../../base/json.ts';
import type { Result } from '../../base/result.ts';
import type { Explanation, Losses, ParseFlag } from '../../schema/explanation.ts';
import type { Violation } from '../../schema/violation.ts';

/** Turns the text of a model into a value of one type. It is created once per function and worker. */
export interface ReplyParser {
  /**
   * Parses a whole reply. Never throws, whatever the text; takes time in proportion to its length. `isCut`: the provider states that
   * it cut the reply off.
   */
  parse(text: string, isCut?: boolean): ParseOutcome;
  /**
   * Parses a reply in an event loop that serves other calls. Returns undefined, after a short time, for a reply that takes
   * longer: `parse` it on a thread.
   */
  parseShort(text: string, isCut?: boolean): ParseOutcome | undefined;
  /** Begins a reply that arrives in deltas. The outcome of `finish()` equals that of `parse()` for all deltas joined. */
  openStream(): ReplyStream;
  /** Explains the outcome of `parse(text)`. Takes longer than `parse`. */
  explain(text: string): Explanation;
  /** As `explain`; undefined for a reply that takes longer, like `parseShort`. */
  explainShort(text: string): Explanation | undefined;
}

export interface ReplyStream {
  /** Appends a delta of text. It is only read when a partial is requested, or at the end. */
  push(delta: string): void;
  /** Returns the parts of the newest partial's JSON text, in order; undefined if there is none, or if it equals the last one taken. */
  takePartial(): readonly string[] | undefined;
  /** True if the last partial does not include all of the text: of a large delta, each partial reads only a part. */
  readonly isBehind: boolean;
  /**
   * The number of UTF-16 units that `finish()` has to read: those since the last partial, or the whole reply if it has
   * to be read again.
   */
  readonly toRead: number;
  /** Returns the final outcome, by the rules for whole replies. Call it once, after the last delta. */
  finish(isCut?: boolean): ParseOutcome;
  /** As `finish`; undefined for a reply that takes longer, like `parseShort`. */
  finishShort(isCut?: boolean): ParseOutcome | undefined;
}

export type ParseOutcome = Result<ParsedReply, ParseFailure>;

export interface ParsedReply {
  /** The JSON text of the value: keys in declared order, real names, `@check` results included. */
  readonly json: string;
  /** The same value as data, parsed from `json` on first use. */
  readonly value: JsonValue;
  /** The repairs, drops and guesses that the value needed, with paths; empty for a clean reply. */
  readonly flags: readonly ParseFlag[];
  readonly losses: Losses;
  /** Present if the caller asks for it. */
  readonly explanation?: Explanation;
}

/** The losses of a value that lacks nothing: every value without losses has this object. */
export const NO_LOSSES: Losses = { dropped: 0, defaulted: 0 };

/** The flag of an int beyond ±9007199254740991, of which only the JSON text is exact. */
export const LARGE_INT = 'large-int';

/** The flag of a value that no one wrote: the offline client has no canned answer for the call. The first flag of its value. */
export const MADE_UP = 'made-up';

export interface ParseFailure {
  readonly message: string;
  readonly details: readonly Violation[];
  /** Present if the caller asks for it. */
  readonly explanation?: Explanation;
}

/** A parsed reply that is kept as JSON text, because most callers need only the text. */
export class JsonReply implements ParsedReply {
  readonly json: string;
  readonly flags: readonly ParseFlag[];
  readonly losses: Losses;
  readonly explanation?: Explanation;
  #value: JsonValue | undefined = undefined;

  constructor(json: string, flags: readonly ParseFlag[], losses: Losses, explanation?: Explanation) {
    this.json = json;
    this.flags = flags;
    this.losses = losses;
    if (explanation !== undefined) this.explanation = explanation;
  }

  get value(): JsonValue {
    return (this.#value ??= JSON.parse(this.json) as JsonValue);
  }
}

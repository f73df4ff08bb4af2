import type { JsonValue } from '../../base/json.ts';
import type { Result } from '../../base/result.ts';
import type { Violation } from '../../schema/violation.ts';

/** Turns the text of a model into a value of one type. It is created once per function and worker. */
export interface ReplyParser {
  /** Parses a whole reply. Never throws, whatever the text; takes time in proportion to its length. */
  parse(text: string): ParseOutcome;
  /** Begins a reply that arrives in deltas. The outcome of `finish()` equals that of `parse()` for all deltas joined. */
  openStream(): ReplyStream;
  /** Explains the outcome of `parse(text)`. Takes longer than `parse`. */
  explain(text: string): Explanation;
}

export interface ReplyStream {
  /** Appends a delta of text. It is only read when a partial is requested, or at the end. */
  push(delta: string): void;
  /** Returns the newest partial value as JSON text; undefined if there is none, or if it equals the last one taken. */
  takePartial(): string | undefined;
  /**
   * The number of UTF-16 units that `finish()` has to read: those since the last partial, or the whole reply if it has
   * to be read again.
   */
  readonly toRead: number;
  /** Returns the final outcome, by the rules for whole replies. Call it once, after the last delta. */
  finish(): ParseOutcome;
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

/** Counts the parts of a reply that its value lacks. The counts are exact, even where the flags are limited. */
export interface Losses {
  /** List members and map entries of the reply that are not in the value. */
  readonly dropped: number;
  /** Values of the reply that became null, except for nulls, empty values and words such as `n/a`. */
  readonly defaulted: number;
}

/** The losses of a value that lacks nothing: every value without losses has this object. */
export const NO_LOSSES: Losses = { dropped: 0, defaulted: 0 };

export interface ParseFlag {
  /** A stable word for metrics: `markdown`, `repaired`, `dropped-item`, `extra-key`, `defaulted`, `substring-match`, … */
  readonly flag: string;
  readonly path: string;
  readonly detail?: string;
  /** The losses that the flag reports; absent if it reports none. */
  readonly losses?: Losses;
}

/** The parts of a reply that can be the answer, and the verdict about each. Plain data of a bounded size. */
export interface Explanation {
  /** In the order in which they end; values joined to a list come last. */
  readonly candidates: readonly ExplainedCandidate[];
  /** The number of candidates beyond the first 50 or so, which the list omits. */
  readonly omitted: number;
}

export interface ExplainedCandidate {
  /**
   * `whole`: the value is the whole reply. `fence`, `prose`, `thought`: the value is inside one. `text`: the reply as a
   * whole, or what follows its thoughts, read as a scalar. `several`: the values of the reply as the members of a list.
   */
  readonly place: 'whole' | 'fence' | 'prose' | 'thought' | 'text' | 'several';
  /** Offsets in UTF-16 units from the start of the reply. */
  readonly from: number;
  readonly to: number;
  /** `passed-over`: it matches the type, but another candidate is the answer, or the reply is refused. */
  readonly verdict: 'taken' | 'passed-over' | 'mismatch';
  /** The JSON text that it becomes, at most 2,000 characters of it; absent for a mismatch. */
  readonly json?: string;
  /** `json` is only the beginning. */
  readonly cut?: true;
  /** The first reasons for a mismatch. */
  readonly reasons?: readonly Violation[];
  /** The first repairs and guesses. */
  readonly flags: readonly ParseFlag[];
  /** The criterion that decided against a candidate that was passed over, such as `inside a sentence`. */
  readonly criterion?: string;
}

/** The flag of an int beyond ±9007199254740991, of which only the JSON text is exact. */
export const LARGE_INT = 'large-int';

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

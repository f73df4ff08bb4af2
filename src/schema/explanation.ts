import type { Violation } from './violation.ts';

/** Counts the parts of a reply that its value lacks. The counts are exact, even where the flags are limited. */
export interface Losses {
  /** List members and map entries of the reply that are not in the value. */
  readonly dropped: number;
  /** Values of the reply that became null, except for nulls, empty values and words such as `n/a`. */
  readonly defaulted: number;
  /** 1 if the provider cut the reply off before the end of the value; absent for any other. */
  readonly truncated?: number;
}

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

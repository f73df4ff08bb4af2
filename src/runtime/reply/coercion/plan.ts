import { FastPlan } from '../fast-path/typed-container.ts';
import type { ReplyNode } from '../text/reply-node.ts';
import type { CoercedValue, CoercionOutcome } from './outcome.ts';

/**
 * The way to coerce values to one type. A plan is compiled once from its type. Results that belong to a reply are
 * stored in the reply's nodes.
 */
export abstract class Plan extends FastPlan {
  /** The type in words, for messages. */
  abstract readonly name: string;

  /** Partials show a value only when it is complete. */
  doneOnly = false;

  override showsOpen(_bracket: number): boolean {
    return !this.doneOnly;
  }

  // --- whole values --------------------------------------------------------------------------------------------------

  /** Returns the value if it already has the type, with no concessions beyond those that every JSON reader makes. */
  abstract cast(node: ReplyNode): CoercedValue | undefined;

  /** Coerces the value with every concession that the rules allow. */
  abstract coerce(node: ReplyNode): CoercionOutcome;

  /** Returns the replacement for a missing value; undefined if the value is required. */
  fallback(): CoercedValue | undefined {
    return undefined;
  }

  /** True if JSON writes some values of the type as an object, or as a list. */
  startsWith(_kind: 'object' | 'list'): boolean {
    return false;
  }

  // --- strings of unions ---------------------------------------------------------------------------------------------

  /** True if the type is a string or a union with one. */
  get takesText(): boolean {
    return false;
  }

  /** True if a scalar that begins with the text can still match the type exactly, other than as any string. */
  mayBecome(_text: string, _quoted: boolean): boolean {
    return false;
  }

  /** The length of the longest quoted text for which `mayBecome` can be true. */
  readonly longestLabel: number = 0;

  // --- partial values ------------------------------------------------------------------------------------------------

  /** Returns the part of the value so far that a partial shows. */
  show(node: ReplyNode): PartialValue {
    return this.doneOnly && !node.complete ? PartialValue.withheld : this.partial(node);
  }

  /** As `show`, for a type whose values may appear while they grow. */
  protected partial(node: ReplyNode): PartialValue {
    if (!node.complete) return PartialValue.withheld;
    const outcome = this.coerce(node);
    return outcome.ok ? new PartialValue(outcome.shown) : PartialValue.mismatch;
  }

  /** The JSON text that a partial shows in the place of a hidden value. `begun`: the value has begun. */
  blank(_begun: boolean): string {
    return 'null';
  }

  /**
   * Estimates by a shallow look how well an unfinished list or object suits the type: lower is better, Infinity is not
   * at all. Unions show the partial of the member that suits best.
   */
  affinity(_node: ReplyNode, _depth = 0): number {
    return Infinity;
  }
}

/** From this affinity on, some member of the value does not match the type. */
export const MISMATCH = 1000;

/** The part of a value that a partial shows. */
export class PartialValue {
  /** Nothing to show yet, but the value can still match. */
  static readonly withheld = new PartialValue(undefined);
  /** Nothing to show, because the value does not match the type. */
  static readonly mismatch = new PartialValue(undefined);

  /** JSON text; undefined if there is nothing to show. */
  readonly json: string | undefined;
  /** It shows only nulls, which `@stream.not_null` counts as nothing. */
  readonly allNull: boolean;

  constructor(json: string | undefined, allNull = false) {
    this.json = json;
    this.allNull = allNull;
  }
}

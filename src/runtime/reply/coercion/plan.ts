import type { Place, StraightPlan, TypedContainer } from '../fast-path/typed-container.ts';
import { describeRepairs, type ValueNode } from '../text/value-node.ts';
import { NO_NOTES, type Coerced, type Outcome } from './outcome.ts';
import type { ParseFlag } from '../reply-parser.ts';
import { Partial } from './partial.ts';

/**
 * How values of one type are made. Compiled once from the type; holds no state of a reply
 * (what belongs to a reply is kept in the memo of its values).
 */
export abstract class Plan implements StraightPlan {
  /** The type in words, for messages. */
  abstract readonly name: string;

  /** In partials only when complete. */
  doneOnly = false;

  /**
   * A value may be refused for an `@assert` on it or on one of its fields: where values may be dropped, it has to wait
   * until it is complete. `seen`: the classes that were asked already, on the way through their fields.
   */
  mayBreakAssert(_seen?: Set<Plan>): boolean {
    return false;
  }

  // --- straight from the text: the rest of it is for the plans that can ------------------------------------------

  /** The JSON text of a scalar, given as JSON, that is of the type to the letter: what `cast` gives without flags. */
  exact(_source: string): string | undefined {
    return undefined;
  }

  /** The list or object that the bracket opens, when it is clear what it has to be. */
  openContainer(_bracket: number, _place: Place): TypedContainer | undefined {
    return undefined;
  }

  /** The constraints on a list or object that was read straight hold. */
  accepts(_json: string): boolean {
    return true;
  }

  /** A scalar that begins with the character, and has not ended, shows no more of itself than `showText` says. */
  mayBegin(_first: number): boolean {
    return false;
  }

  /** As `show`, of a text that has not ended: `json` is its JSON text so far. */
  showText(_json: string): string | undefined {
    return undefined;
  }

  /** A list or object that has not ended may appear. */
  showsOpen(_bracket: number): boolean {
    return !this.doneOnly;
  }

  // --- from a tree of values --------------------------------------------------------------------------------------

  /** The value, when it is of the type already: nothing forgiven but what every JSON reader forgives. */
  abstract cast(node: ValueNode): Coerced | undefined;

  /** The value, with all that the rules forgive. */
  abstract coerce(node: ValueNode): Outcome;

  /** A value of the type may be written as an object, or as a list. */
  startsWith(_kind: 'object' | 'list'): boolean {
    return false;
  }

  /** What a partial shows of the value so far: nothing, where only a complete value may appear. */
  show(node: ValueNode): Partial {
    return this.doneOnly && !node.complete ? Partial.withheld : this.partial(node);
  }

  /** As `show`, for a type whose values may appear while they grow. */
  protected partial(node: ValueNode): Partial {
    if (!node.complete) return Partial.withheld;
    const outcome = this.coerce(node);
    return outcome.ok ? new Partial(outcome.shown) : Partial.unfit;
  }

  /**
   * How well an unfinished list or object suits the type, by a shallow look; lower is better, Infinity not at all.
   * Unions show their partials by the member that suits best.
   */
  affinity(_node: ValueNode, _depth = 0): number {
    return Infinity;
  }

  /** What stands for a value that is missing; undefined when it has to be there. */
  fallback(): Coerced | undefined {
    return undefined;
  }

  /** What a partial shows where there is nothing to show. `begun`: the value has begun, but may not appear yet. */
  blank(_begun: boolean): string {
    return 'null';
  }
}

/** The flags that a value brings along from how it was written. */
export function repairNotes(node: ValueNode): readonly ParseFlag[] {
  const { repairs } = node;
  if (repairs === 0) return NO_NOTES;
  const known = notesOfRepairs.get(repairs);
  if (known !== undefined) return known;
  const notes = [{ flag: 'repaired', path: '', detail: describeRepairs(repairs) }];
  notesOfRepairs.set(repairs, notes);
  return notes;
}

/** Notes made so far: the same few repairs occur over and over. */
const notesOfRepairs = new Map<number, readonly ParseFlag[]>();

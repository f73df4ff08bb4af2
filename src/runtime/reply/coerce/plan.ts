import type { TextParts } from '../../../base/text-parts.ts';
import { joinPath } from '../../../base/value-path.ts';
import type { NodeKind, ReplyNode } from '../candidates/scan/reply-node.ts';
import type { LikelyKey } from '../candidates/scan/tree-sink.ts';
import type { GrowingString } from '../growing-text.ts';
import { coercionError } from './coercion-error.ts';
import { MAX_FLAGS, type CoercedValue, type CoercionOutcome, type Flag } from './outcome.ts';
import { StepBudget, type Reading } from './step-budget.ts';

/**
 * The way to coerce values to one type. A plan is compiled once from its type. Results that belong to a reply are
 * stored in the reply's nodes.
 */
export abstract class Plan {
  /** The type in words, for messages. */
  abstract readonly name: string;

  /** Partials show a value only when it is complete. */
  doneOnly = false;

  /** The value has the wrapper of `@check` or `@stream.with_state` around it. */
  readonly isWrapped: boolean = false;

  /** The type is a string or a union with one. */
  readonly takesText: boolean = false;

  /** True if several types contain the type, or it contains itself: nodes then keep the results of their coercion. */
  isShared = false;

  // --- the fast path -----------------------------------------------------------------------------------------------
  // It knows only values that match their type exactly; undefined or false leaves the reply to the tolerant parser.

  /** Returns the JSON text of a scalar, given as JSON, if `coerce` accepts it strictly and without flags. */
  exact(_source: string): string | undefined {
    return undefined;
  }

  /** Returns the list or object that the bracket opens, if its type is certain. */
  openContainer(_bracket: number): TypedContainer | undefined {
    return undefined;
  }

  /** True if the constraints on a complete list or object hold. */
  accepts(_json: string): boolean {
    return true;
  }

  /** True if a scalar that begins with the character, and has not ended, shows no more than `showString` returns. */
  mayBegin(_first: number): boolean {
    return false;
  }

  /** Returns what a partial shows of a string that has not ended. */
  showString(_string: GrowingString): TextParts | undefined {
    return undefined;
  }

  /** True if a list or object that has not ended may appear. */
  showsOpen(_bracket: number): boolean {
    return !this.doneOnly;
  }

  /**
   * True if an `@assert` on a value or on one of its fields can reject the value. In a union, such a value stays hidden
   * until it is complete. `seen`: the classes already visited through their fields.
   */
  mayBreakAssert(_seen?: Set<unknown>): boolean {
    return false;
  }

  // --- whole values --------------------------------------------------------------------------------------------------

  /**
   * Coerces the value with every concession that the rules allow. `strict`: only with those that every JSON reader makes.
   * The node has to be complete, or the last of its reply, because it keeps the result.
   */
  coerce(node: ReplyNode, reading: Reading = StepBudget.reading, strict = false): CoercionOutcome {
    if (strict && !node.isScalar && !this.startsWith(node.kind)) return INEXACT;
    if (this.isUnfinished(node, reading)) return UNFINISHED;
    reading.enter();
    const wraps = reading.wrapsAround(node);
    const isKept = wraps > 0 || ((this.isShared || !strict) && !node.isShallow);
    const outcome = isKept ? this.#kept(node, reading, wraps, strict) : this.coerceOnce(node, reading, strict);
    reading.leave();
    return outcome;
  }

  /** True for a number, a word or a label at the very end of a reply that was cut off: as a member, it is missing. */
  isUnfinished(node: ReplyNode, reading: Reading): boolean {
    return reading.isCut && !node.complete && node.isScalar && !(node.quoted && this.takesText);
  }

  #kept(node: ReplyNode, reading: Reading, wraps: number, strict: boolean): CoercionOutcome {
    const kind = 2 * wraps + Number(!strict);
    const known = node.recall(this, kind);
    if (known !== undefined) return known as CoercionOutcome;
    const outcome = this.coerceOnce(node, reading, strict);
    // Only one place coerces a value that matches as it is; several can reach one that does not.
    if (!this.isShared && wraps === 0 && outcome.ok && outcome.cost.guessed === 0) return outcome;
    reading.spend(STEPS_TO_STORE);
    node.store(this, outcome, kind);
    return outcome;
  }

  /** Implements `coerce` for a node without a stored result. */
  protected abstract coerceOnce(node: ReplyNode, reading: Reading, strict: boolean): CoercionOutcome;

  /** Returns the replacement for a missing value; undefined if the value is required. */
  fallback(): CoercedValue | undefined {
    return undefined;
  }

  /** True if JSON writes some values of the type as an object, or as a list. */
  startsWith(_kind: NodeKind): boolean {
    return false;
  }

  /** True if the type is a class with a field of this key, or includes one. */
  hasField(_key: string): boolean {
    return false;
  }

  // --- strings of unions ---------------------------------------------------------------------------------------------

  /** True if a scalar that begins with the text can still match the type exactly, other than as any string. */
  mayBecome(_text: string, _quoted: boolean): boolean {
    return false;
  }

  /** The length of the longest quoted text for which `mayBecome` can be true. */
  readonly longestLabel: number = 0;

  // --- partial values ------------------------------------------------------------------------------------------------

  /** Returns the part of the value so far that a partial shows. */
  show(node: ReplyNode, reading: Reading = StepBudget.reading): PartialValue {
    return this.doneOnly && !node.complete ? PartialValue.withheld : this.partial(node, reading);
  }

  /** As `show`, for a type whose values may appear while they grow. */
  protected partial(node: ReplyNode, reading: Reading): PartialValue {
    if (!node.complete) return PartialValue.withheld;
    const outcome = this.coerce(node, reading);
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
  affinity(_node: ReplyNode, _reading: Reading, _depth = 0): number {
    return Infinity;
  }
}

/** The steps that a stored result takes: it occupies about 200 bytes until the reply has been coerced. */
const STEPS_TO_STORE = 6;

const UNFINISHED = coercionError('the reply was cut off inside the value');

/** The error of a value that matches only with concessions, if at all. */
export const INEXACT = coercionError('the value does not match exactly');

// --- partials ----------------------------------------------------------------------------------------------------------

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

// --- the fast path ---------------------------------------------------------------------------------------------------------

interface FlaggedMember {
  readonly order: number;
  readonly segment: string;
  readonly member: TypedContainer | 'extra-key';
}

/** A list or object on the fast path: its members become JSON text as soon as they are complete, without a tree of nodes. */
export abstract class TypedContainer {
  abstract readonly isList: boolean;
  /** The plan that opened the container, with the attributes and unions around its own, and the container around it. */
  plan: Plan | undefined = undefined;
  outer: TypedContainer | undefined = undefined;
  /** Bits of REPAIR. */
  repairs = 0;
  #flagged: FlaggedMember[] | undefined = undefined;

  /** The key that comes next if the keys come in declared order. */
  get likely(): LikelyKey | undefined {
    return undefined;
  }

  /** Returns the type of the next member; undefined leaves the reply to the tolerant parser. Lists ignore the key. */
  abstract next(key: string): Plan | undefined;

  /** Appends the member whose type `next` returned. */
  abstract add(json: string, member: TypedContainer | undefined): void;

  /** Returns the JSON text of the container; undefined if it does not match the type exactly. */
  abstract close(): string | undefined;

  /** Returns the JSON text that a partial shows. `open`: the visible part of the member being read. */
  abstract show(open: TextParts | undefined): TextParts;

  /** `order`: the position of the member's flags among those of the others. */
  protected addFlags(order: number, segment: string, member: TypedContainer | 'extra-key' | undefined): void {
    if (member === undefined) return;
    if (member !== 'extra-key' && member.repairs === 0 && member.#flagged === undefined) return;
    this.#flagged ??= [];
    if (this.#flagged.length < MAX_FLAGS) this.#flagged.push({ order, segment, member });
  }

  /** The first flags of the container and its members. */
  get flags(): readonly Flag[] {
    const flags: Flag[] = [];
    this.#collect(flags, '');
    return flags;
  }

  #collect(flags: Flag[], path: string): void {
    if (this.repairs !== 0) flags.push({ flag: 'repaired', path, detail: this.repairs });
    for (const { segment, member } of this.#flagged?.toSorted((a, b) =>
      a.order === b.order ? 0 : a.order - b.order,
    ) ?? []) {
      if (flags.length >= MAX_FLAGS) return;
      const at = joinPath(path, segment);
      if (member === 'extra-key') flags.push({ flag: member, path: at });
      else member.#collect(flags, at);
    }
  }
}

import { joinPath } from '../../../base/value-path.ts';
import type { Losses, ParseFlag } from '../../../schema/explanation.ts';
import { NO_LOSSES } from '../reply-parser.ts';
import { isNothing } from '../text/nothing.ts';
import { describeRepairs, type ReplyNode } from '../text/reply-node.ts';
import type { CoercionError } from './coercion-error.ts';
import { spend } from './step-budget.ts';

/** The result of coercing one value to a type. */
export type CoercionOutcome = CoercedValue | CoercionError;

/** The concessions, beside its score, that make one way to coerce a value worse than another; bits. */
export const MARK = {
  /** A single value became a list of one. */
  singleToList: 1,
  /** A list or map is empty because the reply has a word for nothing there. */
  nothing: 2,
  /** The object of the class is empty. */
  onlyDefaults: 4,
  /** The only field of a class took the whole value. */
  implied: 8,
  /** A scalar was made from an object or list. */
  fromComposite: 16,
  /** Null replaced a value that did not match. */
  nullForMismatch: 32,
  /** A scalar was taken from a list or object that contains more: the rest is lost. */
  picked: 64,
  /** The value is a map: a class that knows the same keys is more specific. */
  map: 128,
  /** The value is a string, as the model wrote it or as the display of another value. */
  text: 256,
  /** The value was inside another object or list. */
  unwrapped: 512,
  /** The value is a string that displays a list or object. */
  display: 1024,
} as const;

/** A value that matches its type. */
export class CoercedValue {
  readonly ok = true;
  /** The JSON text of the value. */
  readonly json: string;
  /** The JSON text without the wrappers of `@check`, as constraints see it. */
  readonly bare: string;
  /** The JSON text as a partial shows it, inside the wrappers of `@stream.with_state` with every state complete. */
  readonly shown: string;
  /** The cost of all repairs and guesses; lower is better. */
  readonly score: number;
  readonly marks: number;
  readonly flags: readonly Flag[];
  /** NO_LOSSES if the value lacks nothing. */
  readonly losses: Losses;
  /** The number of keys in objects of classes that belong to no field. */
  readonly extraKeys: number;
  /** The number of checks that do not hold. */
  readonly failedChecks: number;

  constructor(json: string, score: number, details: CoercedDetails = NO_DETAILS) {
    this.json = json;
    this.score = score;
    this.bare = details.bare ?? json;
    this.shown = details.shown ?? json;
    this.marks = details.marks ?? 0;
    this.flags = details.flags ?? NO_FLAGS;
    this.losses = details.losses ?? NO_LOSSES;
    this.extraKeys = details.extraKeys ?? 0;
    this.failedChecks = details.failedChecks ?? 0;
  }

  /** Returns the same value, coerced in another way. `added`: losses in addition to those of the value. */
  as(score: number, marks: number, flags: readonly Flag[], added = NO_LOSSES): CoercedValue {
    if (flags.length > 0) spend(flags.length / COPIED_PER_STEP);
    const { bare, shown, extraKeys, failedChecks } = this;
    const losses = sumOf(this.losses, added);
    return new CoercedValue(this.json, score, { bare, shown, marks, flags, losses, extraKeys, failedChecks });
  }

  /** Returns the same value with one more flag, before the others. `cost` and `marks`: added to those of the value. */
  withFlag(flag: string, cost: number, marks = 0): CoercedValue {
    return this.as(this.score + cost, this.marks | marks, [{ flag, path: '' }, ...this.flags]);
  }
}

/** The flags that are copied in one step. */
const COPIED_PER_STEP = 8;

export interface CoercedDetails {
  readonly bare?: string;
  readonly shown?: string;
  readonly marks?: number;
  readonly flags?: readonly Flag[];
  readonly losses?: Losses;
  readonly extraKeys?: number;
  readonly failedChecks?: number;
}

const NO_DETAILS: CoercedDetails = {};

/** Returns the null of an optional value that does not match, or whose `@assert` fails. */
export function nullFor(reason: string, node: ReplyNode): CoercedValue {
  const losses = lossesWithout(node);
  const flags = [{ flag: 'null-for-value', path: '', detail: reason, losses }];
  return new CoercedValue('null', 110, { marks: MARK.nullForMismatch, flags, losses });
}

// --- losses ----------------------------------------------------------------------------------------------------------

/** The loss of one member of a list or entry of a map. */
export const DROPPED: Losses = { dropped: 1, defaulted: 0 };

export const DEFAULTED: Losses = { dropped: 0, defaulted: 1 };

/** Returns the losses of a null in the place of this value. */
function lossesWithout(node: ReplyNode): Losses {
  return isNothing(node) ? NO_LOSSES : DEFAULTED;
}

/** Returns the losses of a scalar or object that is one of the members of this list. */
export function lossesOfOthers({ items }: ReplyNode): Losses {
  return items.length < 2 ? NO_LOSSES : { dropped: items.length - 1, defaulted: 0 };
}

function sumOf(a: Losses, b: Losses): Losses {
  if (a === NO_LOSSES) return b;
  return b === NO_LOSSES ? a : { dropped: a.dropped + b.dropped, defaulted: a.defaulted + b.defaulted };
}

// --- comparison ------------------------------------------------------------------------------------------------------

/**
 * Negative if `a` is the better way to coerce a value: it discards less, loses fewer members, has fields for more of the
 * keys, it is a class rather than a map, it takes fewer repairs and guesses, and more of its checks hold.
 */
export function compareCoerced(a: CoercedValue, b: CoercedValue): number {
  return (
    lossOf(a) - lossOf(b) ||
    countOf(a.losses) - countOf(b.losses) ||
    a.extraKeys - b.extraKeys ||
    (a.marks & MARK.map) - (b.marks & MARK.map) ||
    a.score - b.score ||
    a.failedChecks - b.failedChecks
  );
}

/** True for a value that no other way to coerce the same value can surpass. */
export function isPerfect(value: CoercedValue): boolean {
  return (
    value.score === 0 &&
    value.marks === (value.marks & MARK.text) &&
    value.losses === NO_LOSSES &&
    value.extraKeys + value.failedChecks === 0
  );
}

function countOf({ dropped, defaulted }: Losses): number {
  return dropped + defaulted;
}

/** Ranks how much of a value was discarded or invented, from 0 to 6. A higher loss is worse whatever the score. */
export function lossOf({ marks }: CoercedValue): number {
  if ((marks & MARK.nullForMismatch) !== 0) return 6;
  if ((marks & MARK.onlyDefaults) !== 0) return 5;
  if ((marks & MARK.nothing) !== 0) return NEARLY_EMPTY;
  if ((marks & (MARK.implied | MARK.picked)) !== 0) return 3;
  if ((marks & MARK.fromComposite) !== 0) return 2;
  return (marks & (MARK.singleToList | MARK.unwrapped)) === 0 ? 0 : 1;
}

/** From this loss on, a value contains hardly anything of the reply. */
const NEARLY_EMPTY = 4;

/** True for a value that contains some of what the model wrote. */
export function isKept(value: CoercedValue): boolean {
  return lossOf(value) < NEARLY_EMPTY;
}

/** True for a string that displays a list or object. */
export function isDisplay(outcome: CoercionOutcome): boolean {
  return outcome.ok && (outcome.marks & MARK.display) !== 0;
}

/** True for the string of a union. */
export function isText(outcome: CoercionOutcome): boolean {
  return outcome.ok && (outcome.marks & MARK.text) !== 0;
}

// --- flags -----------------------------------------------------------------------------------------------------------

/** A ParseFlag in the making. */
export interface Flag {
  readonly flag: string;
  readonly path: string;
  /** Bits of REPAIR are described when the reply's flags are final, because most flags are dropped. */
  readonly detail?: string | number | undefined;
  /** The losses that the flag reports. */
  readonly losses?: Losses;
}

/**
 * A value keeps the first 100 flags of its members that report losses, and the first 100 others; more would not help a
 * reader.
 */
export const MAX_FLAGS = 100;

const NO_FLAGS: readonly Flag[] = [];

/** Returns the flags of a reply as its caller sees them. */
export function describeFlags(flags: readonly Flag[]): readonly ParseFlag[] {
  const described = new Map<number, string>(); // The same few repairs occur over and over.
  return flags.map(({ flag, path, detail, losses = NO_LOSSES }) => {
    const words = typeof detail === 'number' ? wordsOf(detail, described) : detail;
    const own = words === undefined ? { flag, path } : { flag, path, detail: words };
    return losses === NO_LOSSES ? own : { ...own, losses };
  });
}

function wordsOf(repairs: number, described: Map<number, string>): string {
  const words = described.get(repairs) ?? describeRepairs(repairs);
  described.set(repairs, words);
  return words;
}

// --- writing ---------------------------------------------------------------------------------------------------------

/** Builds the value of a list, map or object member by member. */
export class ValueWriter {
  score = 0;
  extraKeys = 0;
  #failedChecks = 0;
  /** The JSON text so far; `#bare` and `#shown` exist only while they differ from it. */
  #json = '';
  #bare: string | undefined = undefined;
  #shown: string | undefined = undefined;
  /** Created on demand: most values have no flags, and there can be thousands. */
  #flags: Flag[] | undefined = undefined;
  /** The number of flags that report losses. */
  #lossFlags = 0;
  #losses = NO_LOSSES;

  /** `node`: the list or object whose own flags the value gets. */
  constructor(node?: ReplyNode) {
    if (node !== undefined && node.repairs !== 0) this.flag('repaired', '', node.repairs);
  }

  get isEmpty(): boolean {
    return this.#json === '';
  }

  /** `head`: the text in front of the member, such as a comma or a key. `segment`: its path, or its index in a list. */
  add(head: string, segment: string | number, member: CoercedValue): void {
    const { json, bare, shown, flags, losses } = member;
    if (flags.length > 0) spend(2 * flags.length);
    if (this.#bare !== undefined || bare !== json) this.#bare = (this.#bare ?? this.#json) + head + bare;
    if (this.#shown !== undefined || shown !== json) this.#shown = (this.#shown ?? this.#json) + head + shown;
    this.#json += head + json;
    if (losses !== NO_LOSSES) this.#losses = sumOf(this.#losses, losses);
    this.extraKeys += member.extraKeys;
    this.#failedChecks += member.failedChecks;
    if (flags.length > 0 && (losses !== NO_LOSSES || this.#hasRoom(undefined))) this.#addFlags(segment, flags);
  }

  #addFlags(segment: string | number, flags: readonly Flag[]): void {
    for (const { flag, path, detail, losses } of flags) {
      if (!this.#hasRoom(losses)) continue;
      const moved = joinPath(pathOf(segment), path);
      if (losses !== undefined) this.#push({ flag, path: moved, losses, ...(detail === undefined ? {} : { detail }) });
      else this.#push(detail === undefined ? { flag, path: moved } : { flag, path: moved, detail });
    }
  }

  flag(flag: string, segment: string | number, detail?: string | number): void {
    if (!this.#hasRoom(undefined)) return;
    const path = pathOf(segment);
    this.#push(detail === undefined ? { flag, path } : { flag, path, detail });
  }

  /** Counts and flags a member that does not match. */
  lose(losses: Losses, flag: string, segment: string | number, error: Pick<CoercionError, 'reason'>): void {
    this.#losses = sumOf(this.#losses, losses);
    if (this.#hasRoom(losses)) this.#push({ flag, path: pathOf(segment), detail: error.reason, losses });
  }

  /** Flags of losses have room of their own, so that others do not displace them. */
  #hasRoom(losses: Losses | undefined): boolean {
    const all = this.#flags?.length ?? 0;
    return (isLoss(losses) ? this.#lossFlags : all - this.#lossFlags) < MAX_FLAGS;
  }

  #push(flag: Flag): void {
    (this.#flags ??= []).push(flag);
    if (isLoss(flag.losses)) this.#lossFlags += 1;
  }

  /** Returns the value that the members form between two brackets. */
  finish(open: string, close: string, marks: number): CoercedValue {
    const json = open + this.#json + close;
    return new CoercedValue(json, Math.min(this.score, MAX_SCORE), {
      bare: this.#bare === undefined ? json : open + this.#bare + close,
      shown: this.#shown === undefined ? json : open + this.#shown + close,
      marks,
      flags: this.#flags ?? NO_FLAGS,
      losses: this.#losses,
      extraKeys: this.extraKeys,
      failedChecks: this.#failedChecks,
    });
  }
}

/** Keeps the sums over deep values finite, so that they can be compared. */
const MAX_SCORE = 1e15;

function isLoss(losses: Losses | undefined): boolean {
  return losses !== undefined && losses !== NO_LOSSES;
}

function pathOf(segment: string | number): string {
  return typeof segment === 'number' ? `[${segment}]` : segment;
}

import { joinPath } from '../../../base/value-path.ts';
import type { Losses, ParseFlag } from '../../../schema/explanation.ts';
import { NO_LOSSES } from '../reply-parser.ts';
import { isNothing } from './spelling.ts';
import { CERTAIN_REPAIRS, REPAIR, describeRepairs, type ReplyNode } from '../candidates/scan/reply-node.ts';
import { describeValue, type CoercionError } from './coercion-error.ts';
import type { Reading } from './step-budget.ts';

/** The result of coercing one value to a type. */
export type CoercionOutcome = CoercedValue | CoercionError;

// --- cost --------------------------------------------------------------------------------------------------------------

/** The price of one way to coerce a value. `compareCost` states in which order its parts count. */
export interface Cost {
  /** The members that were dropped, defaulted or replaced by null. */
  readonly lost: number;
  /** The readings that the model did not write as such, weighted by GUESS. */
  readonly guessed: number;
  /** The values whose syntax was repaired. */
  readonly repaired: number;
  /** The keys without a field, and the checks that fail. */
  readonly extra: number;
}

export const FREE: Cost = { lost: 0, guessed: 0, repaired: 0, extra: 0 };

/** The weights of guesses. From `shape` on, the value is only a part of what the model wrote, or it is inside of it. */
export const GUESS = {
  /** The same scalar in another spelling. */
  spelling: 1,
  /** A scalar of another kind, or one inside a text. */
  scalar: 3,
  /** A value in a string, a list or an object around it. */
  shape: 10_000,
  /** A scalar made from a list or object. */
  composite: 20_000,
  /** One of several members, or the only field of a class. */
  part: 30_000,
  /** Nothing of what the model wrote. */
  empty: 100_000,
} as const;

/** A map that fits as well as a class is less specific: it costs less than a key without a field. */
export const MAP_EXTRA = 0.5;

/**
 * Negative if `a` is the better way to coerce a value: it loses less, it keeps the shape of the value, it has fields for more
 * of the keys, and it takes fewer guesses about scalars and fewer repairs.
 */
export function compareCost(a: Cost, b: Cost): number {
  return (
    a.lost - b.lost ||
    shapesOf(a) - shapesOf(b) ||
    a.extra - b.extra ||
    a.guessed - b.guessed ||
    a.repaired - b.repaired
  );
}

function shapesOf({ guessed }: Cost): number {
  return Math.floor(guessed / GUESS.shape);
}

/** Returns the sum of two costs. */
export function addCost(a: Cost, b: Cost): Cost {
  if (b === FREE) return a;
  if (a === FREE) return b;
  return {
    lost: a.lost + b.lost,
    guessed: a.guessed + b.guessed,
    repaired: a.repaired + b.repaired,
    extra: a.extra + b.extra,
  };
}

/** True for a value that no other way to coerce the same value can surpass. */
export function isPerfect({ cost, kept }: CoercedValue): boolean {
  return kept && cost.lost + cost.guessed + cost.extra === 0;
}

/** True for a value that the model wrote in this shape, whatever the spelling of its scalars. */
export function isShaped(outcome: CoercionOutcome): outcome is CoercedValue {
  return outcome.ok && outcome.kept && outcome.cost.lost === 0 && outcome.cost.guessed < GUESS.shape;
}

// --- values --------------------------------------------------------------------------------------------------------------

/**
 * The kind of a value in a union with a string: `text` is the string as the model wrote it or the display of another scalar,
 * `display` the display of a list or object.
 */
export type TextKind = 'value' | 'text' | 'display';

export interface CoercedDetails {
  readonly cost?: Cost;
  readonly bare?: string;
  readonly shown?: string;
  readonly kind?: TextKind;
  readonly kept?: boolean;
  readonly flags?: readonly Flag[];
  readonly losses?: Losses;
}

/** A value that matches its type. */
export class CoercedValue {
  readonly ok = true;
  /** The JSON text of the value. */
  readonly json: string;
  /** The JSON text without the wrappers of `@check`, as constraints see it. */
  readonly bare: string;
  /** The JSON text as a partial shows it, inside the wrappers of `@stream.with_state` with every state complete. */
  readonly shown: string;
  readonly cost: Cost;
  readonly kind: TextKind;
  /** False for a value that contains hardly anything of what the model wrote: a default, or null for a mismatch. */
  readonly kept: boolean;
  readonly flags: readonly Flag[];
  /** NO_LOSSES if the value lacks nothing. */
  readonly losses: Losses;

  constructor(json: string, details: CoercedDetails = NO_DETAILS) {
    this.json = json;
    this.bare = details.bare ?? json;
    this.shown = details.shown ?? json;
    this.cost = details.cost ?? FREE;
    this.kind = details.kind ?? 'value';
    this.kept = details.kept ?? true;
    this.flags = details.flags ?? NO_FLAGS;
    this.losses = details.losses ?? NO_LOSSES;
  }

  /** Returns the same value with other details. */
  with(details: CoercedDetails): CoercedValue {
    return new CoercedValue(this.json, { ...this, ...details });
  }

  /** Returns the same value, guessed in a way that the flag describes. `losses`: in addition to those of the value. */
  guessed(weight: number, flag: string, detail?: string, losses: Losses = NO_LOSSES): CoercedValue {
    const own: Flag = { flag, path: '', ...(detail !== undefined && { detail }), ...(isLoss(losses) && { losses }) };
    return this.with({
      cost: addCost(this.cost, { ...FREE, guessed: weight, lost: countOf(losses) }),
      flags: [own, ...this.flags],
      losses: sumOf(this.losses, losses),
    });
  }

  /** True for an object of a class whose only field took the whole value. */
  get isImplied(): boolean {
    return this.flags.some(({ flag, path }) => flag === 'implied-key' && !/[.[]/u.test(path));
  }
}

const NO_DETAILS: CoercedDetails = {};

/** Returns a scalar that already has its type, with a flag for its repairs. */
export function asWritten(json: string, { repairs }: ReplyNode, kind: TextKind = 'value'): CoercedValue {
  if (repairs === 0) return kind === 'value' ? new CoercedValue(json) : new CoercedValue(json, { kind });
  const flags = [{ flag: 'repaired', path: '', detail: repairs }];
  return new CoercedValue(json, { kind, cost: { ...FREE, repaired: repairCost(repairs) }, flags });
}

const WITHOUT_KEY = { reason: 'words between the members have no key' };

function repairCost(repairs: number): number {
  return (repairs & ~CERTAIN_REPAIRS) === 0 ? 0 : 1;
}

/** Returns a scalar that was guessed from what the model wrote, with flags that describe how. */
export function guessedFrom(node: ReplyNode, json: string, weight: number, ...flags: readonly string[]): CoercedValue {
  const detail = describeValue(node);
  return new CoercedValue(json, {
    cost: { ...FREE, guessed: weight },
    flags: flags.map((flag) => (flag === ANSWER_CUE ? { flag, path: '' } : { flag, path: '', detail })),
  });
}

/** The flag of a value whose place singles it out among others of the text. */
export const ANSWER_CUE = 'answer-cue';

/** Returns the null of an optional value that does not match, or whose `@assert` fails. */
export function nullFor(reason: string, node: ReplyNode): CoercedValue {
  const losses = isNothing(node) ? NO_LOSSES : DEFAULTED;
  const flags = [{ flag: 'null-for-value', path: '', detail: reason, losses }];
  return new CoercedValue('null', { cost: { ...FREE, lost: 1, guessed: GUESS.empty }, kept: false, flags, losses });
}

/** Returns the empty list or map that a word for nothing means. */
export function emptyForNothing(json: string): CoercedValue {
  return new CoercedValue(json).guessed(GUESS.empty, 'nothing').with({ kept: false });
}

/** True for the string of a union. */
export function isText(outcome: CoercionOutcome): boolean {
  return outcome.ok && outcome.kind !== 'value';
}

// --- losses ----------------------------------------------------------------------------------------------------------

/** The loss of one member of a list or entry of a map. */
export const DROPPED: Losses = { dropped: 1, defaulted: 0 };

export const DEFAULTED: Losses = { dropped: 0, defaulted: 1 };

function sumOf(a: Losses, b: Losses): Losses {
  if (a === NO_LOSSES) return b;
  return b === NO_LOSSES ? a : { dropped: a.dropped + b.dropped, defaulted: a.defaulted + b.defaulted };
}

function countOf({ dropped, defaulted }: Losses): number {
  return dropped + defaulted;
}

function isLoss(losses: Losses | undefined): boolean {
  return losses !== undefined && losses !== NO_LOSSES;
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
  return flags.map(({ flag, path, detail, losses }) => ({
    flag,
    path,
    ...(detail !== undefined && { detail: typeof detail === 'number' ? describeRepairs(detail) : detail }),
    ...(losses !== undefined && losses !== NO_LOSSES && { losses }),
  }));
}

// --- writing ---------------------------------------------------------------------------------------------------------

/** Builds the value of a list, map or object member by member. */
export class ValueWriter {
  /** The cost so far. Mutable, because there can be thousands of members. */
  readonly cost = { lost: 0, guessed: 0, repaired: 0, extra: 0 };
  readonly #reading: Reading;
  /** The JSON text so far; `#bare` and `#shown` exist only while they differ from it. */
  #json = '';
  #bare: string | undefined = undefined;
  #shown: string | undefined = undefined;
  readonly #flags: Flag[] = [];
  /** The number of flags that report losses. */
  #lossFlags = 0;
  #losses = NO_LOSSES;

  /** `node`: the list or object whose own flags the value gets. */
  constructor(reading: Reading, node?: ReplyNode) {
    this.#reading = reading;
    if (node === undefined || node.repairs === 0) return;
    this.flag('repaired', '', node.repairs);
    this.cost.repaired = repairCost(node.repairs);
    if ((node.repairs & REPAIR.lostText) !== 0) this.lose(DROPPED, 'dropped-text', '', WITHOUT_KEY);
  }

  get isEmpty(): boolean {
    return this.#json === '';
  }

  /** `head`: the text in front of the member, such as a comma or a key. `segment`: its path, or its index in a list. */
  add(head: string, segment: string | number, member: CoercedValue): void {
    const { json, bare, shown, flags, losses, cost } = member;
    if (this.#bare !== undefined || bare !== json) this.#bare = (this.#bare ?? this.#json) + head + bare;
    if (this.#shown !== undefined || shown !== json) this.#shown = (this.#shown ?? this.#json) + head + shown;
    this.#json += head + json;
    if (cost !== FREE) this.#addCost(cost);
    if (flags.length === 0) return;
    this.#reading.spend(2 * flags.length);
    this.#losses = sumOf(this.#losses, losses);
    for (const each of flags) {
      if (this.#hasRoom(each.losses)) this.#push({ ...each, path: joinPath(pathOf(segment), each.path) });
    }
  }

  #addCost({ lost, guessed, repaired, extra }: Cost): void {
    this.cost.lost += lost;
    this.cost.guessed += guessed;
    this.cost.repaired += repaired;
    this.cost.extra += extra;
  }

  flag(flag: string, segment: string | number, detail?: string | number): void {
    if (this.#hasRoom(undefined)) this.#push({ flag, path: pathOf(segment), detail });
  }

  /** Counts and flags a member that does not match. */
  lose(losses: Losses, flag: string, segment: string | number, { reason }: Pick<CoercionError, 'reason'>): void {
    this.#losses = sumOf(this.#losses, losses);
    this.cost.lost += countOf(losses);
    if (this.#hasRoom(losses)) this.#push({ flag, path: pathOf(segment), detail: reason, losses });
  }

  /** Flags of losses have room of their own, so that others do not displace them. */
  #hasRoom(losses: Losses | undefined): boolean {
    return (isLoss(losses) ? this.#lossFlags : this.#flags.length - this.#lossFlags) < MAX_FLAGS;
  }

  #push(flag: Flag): void {
    this.#flags.push(flag);
    if (isLoss(flag.losses)) this.#lossFlags += 1;
  }

  /** Returns the value that the members form between two brackets. */
  finish(open: string, close: string): CoercedValue {
    const json = open + this.#json + close;
    const { lost, guessed, repaired, extra } = this.cost;
    const isFree = lost + guessed + repaired + extra === 0;
    if (isFree && this.#flags.length === 0 && this.#bare === undefined && this.#shown === undefined)
      return new CoercedValue(json);
    return new CoercedValue(json, {
      cost: isFree ? FREE : this.cost,
      bare: this.#bare === undefined ? json : open + this.#bare + close,
      shown: this.#shown === undefined ? json : open + this.#shown + close,
      flags: this.#flags,
      losses: this.#losses,
    });
  }
}

function pathOf(segment: string | number): string {
  return typeof segment === 'number' ? `[${segment}]` : segment;
}

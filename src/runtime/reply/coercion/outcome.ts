import type { ParseFlag } from '../reply-parser.ts';
import { describeRepairs, type ReplyNode } from '../text/reply-node.ts';
import { joinPath, type CoercionError } from './coercion-error.ts';

/** The result of coercing one value to a type. */
export type CoercionOutcome = CoercedValue | CoercionError;

/** The concessions, beside its score, that make one way to coerce a value worse than another; bits. */
export const MARK = {
  /** A single value became a list of one. */
  singleToList: 1,
  /** A list is empty because all its members were dropped. */
  emptied: 2,
  /** None of the class's keys was found. */
  onlyDefaults: 4,
  /** The only field of a class took the whole value. */
  implied: 8,
  /** A scalar was made from an object or list. */
  fromComposite: 16,
  /** Null replaced a value that did not match. */
  nullForMismatch: 32,
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

  constructor(json: string, score: number, details: CoercedDetails = NO_DETAILS) {
    this.json = json;
    this.score = score;
    this.bare = details.bare ?? json;
    this.shown = details.shown ?? json;
    this.marks = details.marks ?? 0;
    this.flags = details.flags ?? NO_FLAGS;
  }

  /** Returns the same value, coerced in another way. */
  as(score: number, marks: number, flags: readonly Flag[]): CoercedValue {
    return new CoercedValue(this.json, score, { bare: this.bare, shown: this.shown, marks, flags });
  }

  /** Returns a list or object of which this value is the only member. */
  enclosed(open: string, close: string, score: number, remarks: Remarks): CoercedValue {
    const texts = new MemberTexts();
    texts.add('', this);
    return texts.finish(open, close, score, remarks);
  }
}

interface Remarks {
  readonly marks?: number;
  readonly flags?: readonly Flag[];
}

interface CoercedDetails extends Remarks {
  readonly bare?: string;
  readonly shown?: string;
}

const NO_DETAILS: CoercedDetails = {};

/** The JSON texts of a list or object while members are added: a single text as long as all three are equal. */
export class MemberTexts {
  #json = '';
  #bare: string | undefined = undefined;
  #shown: string | undefined = undefined;

  get isEmpty(): boolean {
    return this.#json === '';
  }

  /** `head`: the text in front of the value, such as a comma or a key. */
  add(head: string, value: CoercedValue): void {
    if (this.#bare !== undefined || value.bare !== value.json)
      this.#bare = (this.#bare ?? this.#json) + head + value.bare;
    if (this.#shown !== undefined || value.shown !== value.json)
      this.#shown = (this.#shown ?? this.#json) + head + value.shown;
    this.#json += head + value.json;
  }

  /** Returns the value that the members form between two brackets. */
  finish(open: string, close: string, score: number, { marks = 0, flags = NO_FLAGS }: Remarks): CoercedValue {
    const json = open + this.#json + close;
    return new CoercedValue(json, boundedScore(score), {
      bare: this.#bare === undefined ? json : open + this.#bare + close,
      shown: this.#shown === undefined ? json : open + this.#shown + close,
      marks,
      flags,
    });
  }
}

/** Keeps the sums over deep values finite, so that they can be compared. */
function boundedScore(score: number): number {
  return score < 1e15 ? score : 1e15;
}

// --- comparison -----------------------------------------------------------------------------------------------------

/** Negative if `a` is the better way to coerce a value. */
export function compareValues(a: CoercedValue, b: CoercedValue): number {
  return lossOf(a) - lossOf(b) || a.score - b.score;
}

/** Ranks how much of a value was discarded or invented, from 0 to 5. A higher loss is worse whatever the score. */
export function lossOf({ marks }: CoercedValue): number {
  if ((marks & MARK.nullForMismatch) !== 0) return 5;
  if ((marks & MARK.onlyDefaults) !== 0) return 4;
  if ((marks & MARK.emptied) !== 0) return 3;
  if ((marks & MARK.implied) !== 0) return 2;
  return (marks & (MARK.singleToList | MARK.fromComposite)) === 0 ? 0 : 1;
}

// --- flags ----------------------------------------------------------------------------------------------------------

/** A ParseFlag in the making. */
export interface Flag {
  readonly flag: string;
  readonly path: string;
  /** Bits of REPAIR are described when the reply's flags are final, because most flags are dropped. */
  readonly detail?: string | number;
}

/** A value keeps the first 100 flags of its members; more would not help a reader. */
export const MAX_FLAGS = 100;

const NO_FLAGS: readonly Flag[] = [];

/** Returns the flags that a value has because of the way the model wrote it. */
export function repairFlags({ repairs }: ReplyNode): readonly Flag[] {
  return repairs === 0 ? NO_FLAGS : [{ flag: 'repaired', path: '', detail: repairs }];
}

/** Returns the flags of a reply as its caller sees them. */
export function describeFlags(flags: readonly Flag[]): readonly ParseFlag[] {
  const described = new Map<number, string>(); // The same few repairs occur over and over.
  return flags.map(({ flag, path, detail }) => {
    if (detail === undefined) return { flag, path };
    if (typeof detail === 'string') return { flag, path, detail };
    const known = described.get(detail) ?? describeRepairs(detail);
    described.set(detail, known);
    return { flag, path, detail: known };
  });
}

/** Collects the flags of one value, up to MAX_FLAGS. */
export class FlagList {
  #flags: Flag[] | undefined = undefined;

  get isFull(): boolean {
    return this.#flags !== undefined && this.#flags.length >= MAX_FLAGS;
  }

  add(flag: string, path: string, detail?: string | number): void {
    const added = detail === undefined ? { flag, path } : { flag, path, detail };
    if (this.#flags === undefined) this.#flags = [added];
    else if (this.#flags.length < MAX_FLAGS) this.#flags.push(added);
  }

  /** Adds the flags of the member at `segment`, or of the value itself if that is empty. */
  addAll(segment: string, flags: readonly Flag[]): void {
    for (const flag of flags) {
      if (this.isFull) return;
      this.add(flag.flag, joinPath(segment, flag.path), flag.detail);
    }
  }

  get list(): readonly Flag[] {
    return this.#flags ?? NO_FLAGS;
  }
}

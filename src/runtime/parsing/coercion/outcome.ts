import type { FaultAt } from '../../function/failure.ts';
import type { ParseFlag } from '../reply-parser.ts';

/** What makes one reading of a value worse than another, beside its score; bits. */
export const MARK = {
  /** A single value became a list of one. */
  singleToList: 1,
  /** An empty list whose members were all dropped. */
  emptied: 2,
  /** A class of which no key was found. */
  onlyDefaults: 4,
  /** A class whose only field took the whole value. */
  implied: 8,
  /** A scalar made of an object or list. */
  fromComposite: 16,
  /** Null in place of a value that did not fit. */
  nullForMisfit: 32,
} as const;

/** More notes than this on one value tell nobody anything; the rest is only counted by the last one. */
const MAX_NOTES = 100;

/** A value that fits its type. */
export class Coerced {
  readonly ok = true;
  /** JSON text of the value. */
  readonly json: string;
  /** The same without the wrappers of `@check`: what constraints see. */
  readonly bare: string;
  /** How much had to be forgiven; lower is better. */
  readonly score: number;
  readonly marks: number;
  readonly notes: readonly ParseFlag[];

  constructor(json: string, score: number, details: CoercedDetails = PLAIN) {
    this.json = json;
    this.score = score;
    this.bare = details.bare ?? json;
    this.marks = details.marks ?? 0;
    this.notes = details.notes ?? NO_NOTES;
  }
}

export interface CoercedDetails {
  readonly bare?: string;
  readonly marks?: number;
  readonly notes?: readonly ParseFlag[];
}

export const NO_NOTES: readonly ParseFlag[] = [];
const PLAIN: CoercedDetails = {};

/** A value that does not fit its type. */
export class Misfit {
  readonly ok = false;
  readonly faults: readonly FaultAt[];
  /** An `@assert` failed: no default and no null may hide that. */
  readonly asserted: boolean;

  constructor(faults: readonly FaultAt[], asserted = false) {
    this.faults = faults;
    this.asserted = asserted;
  }
}

export type Outcome = Coerced | Misfit;

export function misfit(message: string): Misfit {
  return new Misfit([{ path: '', message }]);
}

/** `skills` + `[2].name` = `skills[2].name`. */
function joinPath(segment: string, rest: string): string {
  if (rest === '' || segment === '') return segment + rest;
  return rest.startsWith('[') ? segment + rest : `${segment}.${rest}`;
}

/** Notes gathered for one value, bounded. */
export class NoteList {
  #notes: ParseFlag[] | undefined = undefined;

  add(flag: string, path: string, detail?: string): void {
    const notes = (this.#notes ??= []);
    if (notes.length >= MAX_NOTES) return;
    notes.push(detail === undefined ? { flag, path } : { flag, path, detail });
  }

  addAll(segment: string, notes: readonly ParseFlag[]): void {
    for (const note of notes) this.add(note.flag, joinPath(segment, note.path), note.detail);
  }

  get list(): readonly ParseFlag[] {
    return this.#notes ?? NO_NOTES;
  }
}

/** Faults of one value, bounded like notes. */
export function faultsBelow(segment: string, faults: readonly FaultAt[]): readonly FaultAt[] {
  return faults.slice(0, MAX_NOTES).map((fault) => ({ path: joinPath(segment, fault.path), message: fault.message }));
}

/** Sums over deep values stay finite, so that they can be compared. */
export function boundedScore(score: number): number {
  return score < 1e15 ? score : 1e15;
}

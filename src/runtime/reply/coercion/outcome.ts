import type { Violation } from '../../../schema/violation.ts';
import type { ParseFlag } from '../reply-parser.ts';
import type { ValueNode } from '../text/value-node.ts';
import { describeValue } from './display-text.ts';

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
export const MAX_NOTES = 100;

/** A value that fits its type. */
export class Coerced {
  readonly ok = true;
  /** JSON text of the value. */
  readonly json: string;
  /** The same without the wrappers of `@check`: what constraints see. */
  readonly bare: string;
  /** The same as a partial shows it: in the wrappers of `@stream.with_state`, all of them complete. */
  readonly shown: string;
  /** How much had to be forgiven; lower is better. */
  readonly score: number;
  readonly marks: number;
  readonly notes: readonly ParseFlag[];

  constructor(json: string, score: number, details: CoercedDetails = PLAIN) {
    this.json = json;
    this.score = score;
    this.bare = details.bare ?? json;
    this.shown = details.shown ?? json;
    this.marks = details.marks ?? 0;
    this.notes = details.notes ?? NO_NOTES;
  }

  /** The same value, read in another way. */
  as(score: number, marks: number, notes: readonly ParseFlag[]): Coerced {
    return new Coerced(this.json, score, { bare: this.bare, shown: this.shown, marks, notes });
  }

  /** A list or object of which this value is the only member. */
  enclosed(open: string, close: string, score: number, remarks: Remarks): Coerced {
    const texts = new GrowingTexts();
    texts.add('', this);
    return texts.finish(open, close, score, remarks);
  }
}

export interface Remarks {
  readonly marks?: number;
  readonly notes?: readonly ParseFlag[];
}

export interface CoercedDetails extends Remarks {
  readonly bare?: string;
  readonly shown?: string;
}

export const NO_NOTES: readonly ParseFlag[] = [];
const PLAIN: CoercedDetails = {};

/** The JSON texts of a list or object while members are added: one text, as long as all of them are equal. */
export class GrowingTexts {
  #json = '';
  #bare: string | undefined = undefined;
  #shown: string | undefined = undefined;

  get isEmpty(): boolean {
    return this.#json === '';
  }

  add(head: string, value: Coerced): void {
    if (this.#bare !== undefined || value.bare !== value.json)
      this.#bare = (this.#bare ?? this.#json) + head + value.bare;
    if (this.#shown !== undefined || value.shown !== value.json)
      this.#shown = (this.#shown ?? this.#json) + head + value.shown;
    this.#json += head + value.json;
  }

  /** The value that the members make between two brackets. */
  finish(open: string, close: string, score: number, { marks = 0, notes = NO_NOTES }: Remarks): Coerced {
    const json = open + this.#json + close;
    return new Coerced(json, boundedScore(score), {
      bare: this.#bare === undefined ? json : open + this.#bare + close,
      shown: this.#shown === undefined ? json : open + this.#shown + close,
      marks,
      notes,
    });
  }
}

/** A value that does not fit its type. */
export class Misfit {
  readonly ok = false;
  /** An `@assert` failed: no default and no null may hide that. */
  readonly asserted: boolean;
  #faults: readonly Violation[] | undefined;

  constructor(faults: readonly Violation[] | undefined, asserted = false) {
    this.#faults = faults;
    this.asserted = asserted;
  }

  /** Why; worked out when somebody asks, because most misfits only rule a reading out. */
  get faults(): readonly Violation[] {
    return (this.#faults ??= this.explain());
  }

  /** Why, in one sentence. */
  get reason(): string {
    return this.faults[0]?.message ?? '';
  }

  protected explain(): readonly Violation[] {
    return [];
  }
}

/** A value of another kind than the type wants. */
class Mismatch extends Misfit {
  readonly #expected: string;
  readonly #node: ValueNode;

  constructor(expected: string, node: ValueNode) {
    super(undefined);
    this.#expected = expected;
    this.#node = node;
  }

  protected override explain(): readonly Violation[] {
    return [{ path: '', message: `expected ${this.#expected}, got ${describeValue(this.#node)}` }];
  }
}

export type Outcome = Coerced | Misfit;

export function misfit(message: string): Misfit {
  return new Misfit([{ path: '', message }]);
}

/** `expected …, got …` */
export function mismatch(expected: string, node: ValueNode): Misfit {
  return new Mismatch(expected, node);
}

/** `skills` + `[2].name` = `skills[2].name`. */
export function joinPath(segment: string, rest: string): string {
  if (rest === '' || segment === '') return segment + rest;
  return rest.startsWith('[') ? segment + rest : `${segment}.${rest}`;
}

/** Notes gathered for one value, bounded. */
export class NoteList {
  #notes: ParseFlag[] | undefined = undefined;

  /** What more is added is not kept. */
  get isFull(): boolean {
    return this.#notes !== undefined && this.#notes.length >= MAX_NOTES;
  }

  add(flag: string, path: string, detail?: string): void {
    const note = detail === undefined ? { flag, path } : { flag, path, detail };
    if (this.#notes === undefined) this.#notes = [note];
    else if (this.#notes.length < MAX_NOTES) this.#notes.push(note);
  }

  addAll(segment: string, notes: readonly ParseFlag[]): void {
    for (const note of notes) {
      if (this.isFull) return;
      this.add(note.flag, joinPath(segment, note.path), note.detail);
    }
  }

  get list(): readonly ParseFlag[] {
    return this.#notes ?? NO_NOTES;
  }
}

/** A member that does not fit. */
class MisfitBelow extends Misfit {
  readonly #segment: string;
  readonly #member: Misfit;

  constructor(segment: string, member: Misfit) {
    super(undefined, member.asserted);
    this.#segment = segment;
    this.#member = member;
  }

  protected override explain(): readonly Violation[] {
    return this.#member.faults
      .slice(0, MAX_NOTES)
      .map((fault) => ({ path: joinPath(this.#segment, fault.path), message: fault.message }));
  }
}

/** Several members that do not fit. */
class MisfitOfAll extends Misfit {
  readonly #misfits: readonly Misfit[];

  constructor(misfits: readonly Misfit[]) {
    super(
      undefined,
      misfits.some((member) => member.asserted),
    );
    this.#misfits = misfits;
  }

  protected override explain(): readonly Violation[] {
    return this.#misfits.flatMap((member) => member.faults);
  }
}

/** The misfit of a value whose member at `segment` does not fit. */
export function misfitBelow(segment: string, member: Misfit): Misfit {
  return new MisfitBelow(segment, member);
}

/** The misfit of a value of which these members do not fit. */
export function misfitOfAll(misfits: readonly Misfit[]): Misfit {
  return (misfits.length === 1 ? misfits[0] : undefined) ?? new MisfitOfAll(misfits);
}

/** Sums over deep values stay finite, so that they can be compared. */
function boundedScore(score: number): number {
  return score < 1e15 ? score : 1e15;
}

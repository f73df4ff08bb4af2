import { MAX_NOTES } from '../coercion/outcome.ts';
import type { Plan } from '../coercion/plan.ts';
import { describeRepairs } from '../text/value-node.ts';
import { NoteTree } from './note-tree.ts';

/**
 * A list or object that is being read straight into its type: its members are JSON text as soon as they are complete,
 * and no tree of values is built.
 */
export abstract class TypedContainer {
  abstract readonly isList: boolean;
  /** The type where the container stands, with what attributes and unions add to it. */
  readonly plan: Plan;
  /** The container around it. */
  readonly outer: TypedContainer | undefined;
  /** Bits of REPAIR. */
  repairs = 0;
  #notes: NoteTree | undefined = undefined;

  constructor(place: Place) {
    this.plan = place.plan;
    this.outer = place.outer;
  }

  /** The key that comes next where keys come in declared order. */
  get likely(): LikelyKey | undefined {
    return undefined;
  }

  /** The type of the member that comes next; undefined when the tolerant reader has to look. Lists have no keys. */
  abstract next(key: string): Plan | undefined;

  /** Takes the member in whose type was given last. */
  abstract add(json: string, notes: NoteTree | undefined): void;

  /** The JSON text of the whole; undefined when it is not of the type to the letter. */
  abstract close(): string | undefined;

  /** The JSON text so far, as a partial shows it. `open`: what is to be seen of the member that is being read. */
  abstract show(open: string | undefined): string;

  /** What had to be forgiven in it and its members. */
  get notes(): NoteTree | undefined {
    if (this.repairs !== 0) {
      this.#notes ??= new NoteTree();
      this.#notes.own = { flag: 'repaired', path: '', detail: describeRepairs(this.repairs) };
    }
    return this.#notes;
  }

  /** Notes of more members would be dropped at the end. */
  protected get hasAllNotes(): boolean {
    return this.#notes !== undefined && this.#notes.size >= MAX_NOTES;
  }

  /** `order`: where the member's notes stand among those of the others. */
  protected note(order: number, segment: string, notes: NoteTree): void {
    this.#notes ??= new NoteTree();
    this.#notes.add(order, segment, notes);
  }
}

/** A key, and how JSON without spaces writes it: `"key":`. */
export interface LikelyKey {
  readonly key: string;
  readonly writtenKey: string;
}

/** Where a container stands. */
export interface Place {
  readonly plan: Plan;
  readonly outer: TypedContainer | undefined;
}

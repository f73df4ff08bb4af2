import { MAX_NOTES } from '../coercion/outcome.ts';
import { describeRepairs } from '../text/value-node.ts';
import { NoteTree } from './note-tree.ts';

/**
 * A list or object that is being read straight into its type: its members are JSON text as soon as they are complete,
 * and no tree of values is built.
 */
export abstract class TypedContainer {
  abstract readonly isList: boolean;
  /** The type where the container stands, with what attributes and unions add to it. */
  readonly plan: StraightPlan;
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
  abstract next(key: string): StraightPlan | undefined;

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

/**
 * The part of a plan by which values are read straight from the text: what strict JSON gives without a tree of values,
 * or undefined where the tolerant reader has to look.
 */
export interface StraightPlan {
  /** The JSON text of a scalar, given as JSON, that is of the type to the letter. */
  exact(source: string): string | undefined;
  /** The list or object that the bracket opens, when it is clear what it has to be. */
  openContainer(bracket: number, place: Place): TypedContainer | undefined;
  /** The constraints on a list or object that was read straight hold. */
  accepts(json: string): boolean;
  /** A scalar that begins with the character, and has not ended, shows no more of itself than `showText` says. */
  mayBegin(first: number): boolean;
  /** What a partial shows of a text that has not ended: `json` is its JSON text so far. */
  showText(json: string): string | undefined;
  /** A list or object that has not ended may appear. */
  showsOpen(bracket: number): boolean;
}

/** A key, and how JSON without spaces writes it: `"key":`. */
export interface LikelyKey {
  readonly key: string;
  readonly writtenKey: string;
}

/** Where a container stands. */
export interface Place {
  readonly plan: StraightPlan;
  readonly outer: TypedContainer | undefined;
}

import type { Plan } from '../coercion/plan.ts';
import { flatten } from '../text/flatten.ts';
import { GrowingText } from '../text/growing-text.ts';
import type { NoteTree } from './note-tree.ts';
import { TypedContainer, type Place } from './typed-container.ts';

/** A list of which every member is of its type. */
export class TypedList extends TypedContainer {
  readonly isList = true;
  readonly #element: Plan;
  /** The members that a partial has shown, and those since. Most lists are never shown open. */
  #shown: GrowingText | undefined = undefined;
  #json = '';
  #length = 0;

  constructor(element: Plan, place: Place) {
    super(place);
    this.#element = element;
  }

  next(): Plan {
    return this.#element;
  }

  add(json: string, notes: NoteTree | undefined): void {
    flatten(json);
    this.#json += this.#length === 0 ? json : `,${json}`;
    if (notes !== undefined && !this.hasAllNotes) this.note(this.#length, `[${this.#length}]`, notes);
    this.#length += 1;
  }

  close(): string {
    return this.#shown === undefined ? `[${this.#json}]` : `[${this.#shown.joined}${this.#json}]`;
  }

  /** A member that an `@assert` may still drop does not appear, so that lists never shrink. */
  show(open: string | undefined): string {
    this.#shown ??= new GrowingText();
    this.#shown.append(this.#json);
    this.#json = '';
    if (open === undefined || this.#element.mayBreakAssert()) return `[${this.#shown.text}]`;
    return `[${this.#shown.text}${this.#length === 0 ? '' : ','}${open}]`;
  }
}

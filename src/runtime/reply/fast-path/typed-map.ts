import type { Plan } from '../coercion/plan.ts';
import { flatten } from '../text/flatten.ts';
import { GrowingText } from '../text/growing-text.ts';
import type { NoteTree } from './note-tree.ts';
import { TypedContainer, type Place } from './typed-container.ts';

/** What the members of a map are. */
export interface Entries {
  readonly value: Plan;
  /** The JSON text of a key. */
  keyText(key: string): string;
}

/** A map without a key that occurs twice. */
export class TypedMap extends TypedContainer {
  readonly isList = false;
  readonly #entries: Entries;
  readonly #seen = new Set<string>();
  readonly #json = new GrowingText();
  #key = '';
  /** The JSON text of the key whose value comes next. */
  #keyText = '';

  constructor(entries: Entries, place: Place) {
    super(place);
    this.#entries = entries;
  }

  next(key: string): Plan | undefined {
    this.#key = key;
    this.#keyText = this.#entries.keyText(key);
    return this.#seen.has(this.#keyText) ? undefined : this.#entries.value;
  }

  add(json: string, notes: NoteTree | undefined): void {
    flatten(json);
    this.#json.append(this.#entry(json));
    if (notes !== undefined && !this.hasAllNotes) this.note(this.#seen.size, this.#key, notes);
    this.#seen.add(this.#keyText);
  }

  close(): string {
    return `{${this.#json.joined}}`;
  }

  /** An entry that an `@assert` may still drop does not appear. */
  show(open: string | undefined): string {
    if (open === undefined || this.#entries.value.mayBreakAssert()) return `{${this.#json.text}}`;
    return `{${this.#json.text}${this.#entry(open)}}`;
  }

  #entry(value: string): string {
    return `${this.#json.isEmpty ? '' : ','}${this.#keyText}:${value}`;
  }
}

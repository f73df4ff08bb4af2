import type { FieldPlan, Fields } from '../coercion/field-plan.ts';
import { NoteTree } from './note-tree.ts';
import { SKIPPED } from './skipped.ts';
import { TypedContainer, type Place, type StraightPlan } from './typed-container.ts';

/** An object of a class: its fields once each, of which only what may be null may be missing; other keys are left out. */
export class TypedObject extends TypedContainer {
  readonly isList = false;
  readonly #class: Fields;
  readonly #values: (string | undefined)[] = [];
  /** The field whose value comes next, or is being read. */
  #field = -1;
  #key = '';
  #leftOut = 0;
  /** The field behind it. */
  #next = 0;
  #isEmpty = true;

  constructor(fields: Fields, place: Place) {
    super(place);
    this.#class = fields;
  }

  override get likely(): FieldPlan | undefined {
    return this.#class.fields[this.#next];
  }

  next(key: string): StraightPlan | undefined {
    const index = key === this.likely?.key ? this.#next : this.#class.fieldOf(key);
    this.#field = index;
    this.#key = key;
    if (index < 0) return SKIPPED;
    const field = this.#class.fields[index];
    if (field === undefined || field.skip || this.#values[index] !== undefined) return undefined;
    this.#next = index + 1;
    return field.plan;
  }

  add(json: string, notes: NoteTree | undefined): void {
    const index = this.#field;
    if (index < 0) return this.#leaveOut();
    this.#values[index] = json;
    this.#field = -1;
    this.#isEmpty = false;
    if (notes !== undefined) this.note(index, this.#class.fields[index]?.name ?? '', notes);
  }

  /** The value of a key that is no field's: the note of it comes after those of the fields. */
  #leaveOut(): void {
    this.#leftOut += 1;
    if (!this.hasAllNotes) this.note(this.#class.fields.length + this.#leftOut, this.#key, EXTRA_KEY);
  }

  close(): string | undefined {
    const { fields, shown } = this.#class;
    if (this.#isEmpty && shown.length > 0) return undefined;
    let json = '{';
    for (const index of shown) {
      const field = fields[index];
      const value = this.#values[index] ?? missing(field);
      if (field === undefined || value === undefined) return undefined;
      json += (json === '{' ? field.jsonKey : field.nextJsonKey) + value;
    }
    return `${json}}`;
  }

  show(open: string | undefined): string {
    const { fields, shown } = this.#class;
    let json = '{';
    for (const index of shown) {
      const field = fields[index];
      if (field === undefined) continue;
      const begun = this.#values[index] ?? (index === this.#field ? open : undefined);
      const value = begun ?? field.plan.blank(false);
      json += (json === '{' ? field.jsonKey : field.nextJsonKey) + value;
    }
    return `${json}}`;
  }
}

const EXTRA_KEY = new NoteTree();
EXTRA_KEY.own = { flag: 'extra-key', path: '' };

function missing(field: FieldPlan | undefined): string | undefined {
  return field?.plan.fallback()?.json === 'null' ? 'null' : undefined;
}

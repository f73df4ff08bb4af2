import type { ValueNode } from '../text/value-node.ts';
import type { FieldPlan } from './field-plan.ts';
import { GrowingTexts, misfitBelow, NO_NOTES, NoteList, type Coerced, type Outcome } from './outcome.ts';
import { repairNotes } from './plan.ts';

/** Builds the JSON text of an object field by field. */
export class ObjectWriter {
  score = 0;
  readonly #texts = new GrowingTexts();
  /** Most objects need none, and there may be thousands. */
  #notes: NoteList | undefined = undefined;

  constructor(node: ValueNode) {
    if (node.repairs !== 0) this.#noteList().addAll('', repairNotes(node));
  }

  #noteList(): NoteList {
    return (this.#notes ??= new NoteList());
  }

  add(field: FieldPlan, value: Coerced): void {
    this.#texts.add(this.#texts.isEmpty ? field.jsonKey : field.nextJsonKey, value);
    this.score += value.score * 10;
    if (value.notes.length > 0) this.#noteList().addAll(field.name, value.notes);
  }

  missing(field: FieldPlan): Outcome {
    const fallback = field.plan.fallback();
    if (fallback === undefined) {
      return field.missing;
    }
    this.score += 1;
    if (fallback.bare !== 'null') this.note('defaulted', field.name, 'missing');
    return fallback;
  }

  member(field: FieldPlan, item: ValueNode): Outcome {
    const outcome = field.plan.coerce(item);
    if (outcome.ok) return outcome;
    const fallback = outcome.asserted ? undefined : field.plan.fallback();
    if (fallback === undefined) return misfitBelow(field.name, outcome);
    this.score += 110;
    this.#noteList().add('defaulted', field.name, outcome.reason);
    return fallback;
  }

  note(flag: string, path: string, detail?: string): void {
    this.#noteList().add(flag, path, detail);
  }

  finish(marks: number): Coerced {
    return this.#texts.finish('{', '}', this.score, { marks, notes: this.#notes?.list ?? NO_NOTES });
  }
}

import type { ReplyNode } from '../text/reply-node.ts';
import type { CoercionError } from './coercion-error.ts';
import { foldAccents } from './label-matcher.ts';
import type { Plan } from './plan.ts';

/** How one field of a class is read and written. */
export interface FieldPlan {
  readonly name: string;
  /** `"name":` as the output contains it. */
  readonly jsonKey: string;
  /** The same after another field. */
  readonly nextJsonKey: string;
  /** The key that the model writes. */
  readonly key: string;
  /** The same as JSON writes it, with its colon. */
  readonly writtenKey: string;
  readonly plan: Plan;
  readonly skip: boolean;
  readonly streamNotNull: boolean;
  /** The error of an object that lacks the field. */
  readonly missing: CoercionError;
}

/** The fields of a class, and their positions by key. */
export class ClassFields {
  readonly all: readonly FieldPlan[];
  /** The positions of the fields that results show, in declared order. */
  readonly shown: readonly number[];
  readonly #exact = new Map<string, number>();
  readonly #folded = new Map<string, number>();

  constructor(fields: readonly FieldPlan[]) {
    this.all = fields;
    this.shown = fields.flatMap((field, index) => (field.skip ? [] : [index]));
    this.#addKeys(false);
    this.#addKeys(true);
  }

  /** Skipped fields come last: a key that a shown field has as well belongs to the shown field. */
  #addKeys(skip: boolean): void {
    for (const [index, field] of this.all.entries()) {
      if (field.skip !== skip) continue;
      if (!this.#exact.has(field.key)) this.#exact.set(field.key, index);
      const folded = foldKey(field.key);
      if (!this.#folded.has(folded)) this.#folded.set(folded, index);
    }
  }

  /** Returns the position of the field with the key, or -1. */
  positionOf(key: string): number {
    return this.#exact.get(key) ?? this.#folded.get(foldKey(key)) ?? -1;
  }

  /** Assigns the members of an object to the fields. */
  assign(node: ReplyNode): FieldValues {
    if (node.items.length === 0) return NO_FIELD_VALUES;
    const values = new FieldValues();
    for (let at = 0; at < node.items.length; at += 1) {
      values.put(this.positionOf(node.keys[at] ?? ''), node.items[at]);
    }
    return values;
  }
}

/** Ignores spaces around a key, its letter case, and accents. */
function foldKey(key: string): string {
  return foldAccents(key.trim()).toLowerCase();
}

/** The values of one object by field. If a key occurs twice, the first one counts. */
export class FieldValues {
  /** The number of fields with a value. */
  known = 0;
  /** The number of keys that belong to no field. */
  unknown = 0;
  #duplicates = 0;
  #values: (ReplyNode | undefined)[] | undefined = undefined;

  put(position: number, value: ReplyNode | undefined): void {
    if (position < 0) {
      this.unknown += 1;
      return;
    }
    this.#values ??= [];
    if (this.#values[position] === undefined) {
      this.#values[position] = value;
      this.known += 1;
    } else this.#duplicates += 1;
  }

  at(position: number): ReplyNode | undefined {
    return this.#values?.[position];
  }

  /** True if some key was not assigned to a field. */
  get hasLeftOver(): boolean {
    return this.unknown + this.#duplicates > 0;
  }
}

export const NO_FIELD_VALUES = new FieldValues();

import type { ReplyNode } from '../candidates/scan/reply-node.ts';
import { type CoercionError } from './coercion-error.ts';
import { foldCase, foldWords } from './folding.ts';
import type { Plan } from './plan.ts';
import type { Reading } from './step-budget.ts';

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

/** The ways to compare a key with those of the fields, from strict to loose: in another letter case; with other separators or marks. */
const FOLDS: readonly ((key: string) => string)[] = [(key) => foldCase(key.trim()), foldWords];

/** The characters of a key that are folded in one step. */
const FOLDED_PER_STEP = 2;

/** The position of a spelling that two fields have in common: it belongs to neither. */
const SHARED = -1;

/** The fields of a class, and their positions by key. */
export class ClassFields {
  readonly all: readonly FieldPlan[];
  /** The positions of the fields that results show, in declared order. */
  readonly shown: readonly number[];
  readonly #exact: ReadonlyMap<string, number>;
  /** The positions by the folded spellings of the keys, for each of FOLDS. */
  readonly #folded: readonly ReadonlyMap<string, number>[];

  constructor(fields: readonly FieldPlan[]) {
    this.all = fields;
    this.shown = fields.flatMap((field, index) => (field.skip ? [] : [index]));
    this.#exact = positionsBy(fields, (key) => key, 'first');
    this.#folded = FOLDS.map((fold) => positionsBy(fields, fold, 'none'));
  }

  /** Returns the position of the field with the key, or -1. */
  positionOf(key: string): number {
    return this.#exact.get(key) ?? this.#foldedPosition(key);
  }

  #foldedPosition(key: string): number {
    for (const [at, fold] of FOLDS.entries()) {
      const position = this.#folded[at]?.get(fold(key));
      if (position !== undefined) return position;
    }
    return -1;
  }

  /** True if one key of a field is closer to the declared spelling than another key of the same field. */
  isCloser(key: string, other: string): boolean {
    return this.#distanceOf(key) < this.#distanceOf(other);
  }

  #distanceOf(key: string): number {
    return this.#exact.has(key) ? -1 : FOLDS.findIndex((fold, at) => this.#folded[at]?.has(fold(key)) === true);
  }

  /** Assigns the members of an object to the fields. */
  assign(node: ReplyNode, reading: Reading): FieldValues {
    if (node.items.length === 0) return NO_FIELD_VALUES;
    const values = new FieldValues();
    for (let at = 0; at < node.items.length; at += 1) {
      const key = node.keys[at] ?? '';
      const exact = this.#exact.get(key);
      reading.spend(exact === undefined ? FOLDS.length + key.length / FOLDED_PER_STEP : 1);
      const position = exact ?? this.#foldedPosition(key);
      const other = values.indexOf(position);
      if (other === undefined || this.isCloser(key, node.keys[other] ?? '')) values.put(position, at, node.items[at]);
      else values.addDuplicate();
    }
    return values;
  }
}

/**
 * Returns the positions of the fields by the spellings of their keys. Skipped fields come last: a key that a shown field has
 * as well belongs to the shown field. `ofShared`: the field of a spelling that several have.
 */
function positionsBy(
  fields: readonly FieldPlan[],
  fold: (key: string) => string,
  ofShared: 'first' | 'none',
): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  for (const skip of [false, true]) {
    for (const [index, field] of fields.entries()) {
      const spelling = fold(field.key);
      if (field.skip !== skip || (spelling === '' && ofShared === 'none')) continue;
      const other = positions.get(spelling);
      if (other === undefined) positions.set(spelling, index);
      else if (ofShared === 'none' && fields[other]?.skip === skip) positions.set(spelling, SHARED);
    }
  }
  return positions;
}

/** The values of one object by field. For repeated fields, the key closest to the declared one counts, then the first. */
export class FieldValues {
  /** The number of fields with a value. */
  known = 0;
  /** The number of keys that belong to no field. */
  unknown = 0;
  #unknownAt: number[] | undefined = undefined;
  #duplicates = 0;
  #values: (ReplyNode | undefined)[] | undefined = undefined;
  /** The indexes of the values in their object. */
  #indexes: number[] | undefined = undefined;

  /** `index`: the index of the value in its object. */
  put(position: number, index: number, value: ReplyNode | undefined): void {
    if (position < 0) {
      this.unknown += 1;
      this.#unknownAt ??= [];
      if (this.#unknownAt.length < MAX_UNKNOWN) this.#unknownAt.push(index);
      return;
    }
    this.#values ??= [];
    this.#indexes ??= [];
    if (this.#values[position] === undefined) this.known += 1;
    else this.#duplicates += 1;
    this.#values[position] = value;
    this.#indexes[position] = index;
  }

  /** The indexes of the first keys that belong to no field. */
  get unknownAt(): readonly number[] {
    return this.#unknownAt ?? [];
  }

  addDuplicate(): void {
    this.#duplicates += 1;
  }

  at(position: number): ReplyNode | undefined {
    return this.#values?.[position];
  }

  /** Returns the index of a field's value in its object; undefined if the field has none. */
  indexOf(position: number): number | undefined {
    return position < 0 ? undefined : this.#indexes?.[position];
  }

  /** True if some key was not assigned to a field. */
  get hasLeftOver(): boolean {
    return this.unknown + this.#duplicates > 0;
  }
}

/** The most unknown keys that can be meant for a field. */
const MAX_UNKNOWN = 24;

export const NO_FIELD_VALUES = new FieldValues();

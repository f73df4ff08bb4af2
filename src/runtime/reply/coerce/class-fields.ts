import { HeadedNode, stringNode, type ReplyNode } from '../candidates/scan/reply-node.ts';
import { type CoercionError } from './coercion-error.ts';
import { foldCase, foldWords } from './spelling.ts';
import { isShaped } from './outcome.ts';
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

/** The position of a key that belongs to no field, or of a spelling that two fields have in common. */
const NONE = -1;

/** The fields of a class, and their positions by key. */
export class ClassFields {
  readonly all: readonly FieldPlan[];
  /** The positions of the fields that results show, in declared order. */
  readonly shown: readonly number[];
  /** The positions by key: as declared, then folded by each of FOLDS. */
  readonly #exact: ReadonlyMap<string, number>;
  readonly #folded: readonly ReadonlyMap<string, number>[];

  constructor(fields: readonly FieldPlan[]) {
    this.all = fields;
    this.shown = fields.flatMap((field, index) => (field.skip ? [] : [index]));
    this.#exact = positionsBy(fields, (key) => key, false);
    this.#folded = FOLDS.map((fold) => positionsBy(fields, fold, true));
  }

  /** Returns the position of the field with the key, or -1. */
  positionOf(key: string): number {
    const exact = this.#exact.get(key);
    if (exact !== undefined) return exact;
    const fold = this.#foldOf(key);
    return this.#folded[fold]?.get(FOLDS[fold]?.(key) ?? '') ?? NONE;
  }

  /** Returns the first of FOLDS by which the key is that of a field, or -1. */
  #foldOf(key: string): number {
    return FOLDS.findIndex((fold, at) => this.#folded[at]?.has(fold(key)) === true);
  }

  /** True if one key of a field is closer to the declared spelling than another key of the same field. */
  isCloser(key: string, other: string): boolean {
    return !this.#exact.has(other) && (this.#exact.has(key) || this.#foldOf(key) < this.#foldOf(other));
  }

  /** Assigns the members of an object to the fields. */
  assign(node: ReplyNode, reading: Reading): FieldValues {
    const values = new FieldValues();
    for (const [at, item] of node.items.entries()) {
      const key = node.keys[at] ?? '';
      reading.spend(this.#exact.has(key) ? 1 : FOLDS.length + key.length / FOLDED_PER_STEP);
      const position = this.positionOf(key);
      const other = values.indexOf(position);
      if (position < 0) values.unknown.push(at);
      else if (other === undefined || this.isCloser(key, node.keys[other] ?? '')) values.put(position, at, item);
      else values.repeated += 1;
    }
    return values;
  }

  /**
   * Takes the heading of an object as the value of its only missing required field; if it has all of these, of its first
   * field. Returns the name of that field.
   */
  takeHeading(node: ReplyNode, values: FieldValues, reading: Reading): string | undefined {
    if (!(node instanceof HeadedNode) || values.known === 0) return undefined;
    const missing = this.shown.filter((position) => values.at(position) === undefined);
    const required = missing.filter((position) => this.all[position]?.plan.fallback() === undefined);
    const [position = NONE] = required.length === 0 ? missing.filter((each) => each === this.shown[0]) : required;
    const item = stringNode(node.heading);
    const outcome = required.length > 1 ? undefined : this.all[position]?.plan.coerce(item, reading);
    if (outcome === undefined || !isShaped(outcome)) return undefined;
    values.put(position, NONE, item);
    return this.all[position]?.name;
  }
}

/**
 * Returns the positions of the fields by the spellings of their keys. Skipped fields come last: a key that a shown field has
 * as well belongs to the shown field. `unique`: a spelling that several fields have belongs to none; otherwise to the first.
 */
function positionsBy(
  fields: readonly FieldPlan[],
  fold: (key: string) => string,
  unique: boolean,
): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  for (const skip of [false, true]) {
    for (const [index, field] of fields.entries()) {
      const spelling = fold(field.key);
      if (field.skip !== skip || (spelling === '' && unique)) continue;
      const other = positions.get(spelling);
      if (other === undefined) positions.set(spelling, index);
      else if (unique && fields[other]?.skip === skip) positions.set(spelling, NONE);
    }
  }
  return positions;
}

/** The values of one object by field. For repeated fields, the key closest to the declared one counts, then the first. */
export class FieldValues {
  /** The number of fields with a value. */
  known = 0;
  /** The number of other values of these fields. */
  repeated = 0;
  /** The indexes of the members that belong to no field. */
  readonly unknown: number[] = [];
  readonly #values: (ReplyNode | undefined)[] = [];
  /** The indexes of the values in their object. */
  readonly #indexes: number[] = [];

  /** `index`: the index of the value in its object. */
  put(position: number, index: number, value: ReplyNode): void {
    if (this.#values[position] === undefined) this.known += 1;
    else this.repeated += 1;
    this.#values[position] = value;
    this.#indexes[position] = index;
  }

  at(position: number): ReplyNode | undefined {
    return this.#values[position];
  }

  /** Returns the index of a field's value in its object; undefined if the field has none. */
  indexOf(position: number): number | undefined {
    return this.#indexes[position];
  }
}

import type { ReplyNode } from '../candidates/scan/reply-node.ts';
import { type CoercionError } from './coercion-error.ts';
import { foldCase, foldWords } from './spelling.ts';
import type { Plan } from './plan.ts';
import type { Reading } from './step-budget.ts';

/** How one field of a class is read and written. */
export interface FieldPlan {
  readonly name: string;
  /** Its position among the fields of the class. */
  readonly position: number;
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

/** The fields of a class, by their keys. */
export class ClassFields {
  /** The fields that results show, in declared order. */
  readonly shown: readonly FieldPlan[];
  /** The fields by key: as declared, then folded by each of FOLDS. Null for a spelling that several fields have. */
  readonly #exact: FieldsByKey;
  readonly #folded: readonly FieldsByKey[];

  constructor(fields: readonly FieldPlan[]) {
    this.shown = fields.filter(({ skip }) => !skip);
    // A key that a shown field has as well as a skipped one belongs to the shown field.
    const all = [...this.shown, ...fields.filter(({ skip }) => skip)];
    this.#exact = new Map(all.toReversed().map((field) => [field.key, field]));
    this.#folded = FOLDS.map((fold) => foldedFields(all, fold));
  }

  /** Returns the field with the key. */
  of(key: string): FieldPlan | undefined {
    const exact = this.#exact.get(key);
    if (exact !== undefined) return exact ?? undefined;
    const fold = this.#foldOf(key);
    return this.#folded[fold]?.get(FOLDS[fold]?.(key) ?? '') ?? undefined;
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
      const field = this.of(key);
      if (field?.plan.isUnfinished(item, reading) === true) continue;
      const other = field === undefined ? undefined : values.keyOf(field);
      if (field === undefined) values.unknown.push(at);
      else if (other === undefined || this.isCloser(key, other)) values.put(field, key, item);
      else values.repeated += 1;
    }
    return values;
  }
}

type FieldsByKey = ReadonlyMap<string, FieldPlan | null>;

function foldedFields(fields: readonly FieldPlan[], fold: (key: string) => string): FieldsByKey {
  const found = new Map<string, FieldPlan | null>();
  for (const field of fields) {
    const spelling = fold(field.key);
    const other = found.get(spelling);
    if (other === undefined) found.set(spelling, field);
    else if (other?.skip === field.skip) found.set(spelling, null);
  }
  found.delete('');
  return found;
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
  readonly #keys: string[] = [];

  put({ position }: FieldPlan, key: string, value: ReplyNode): void {
    if (this.#values[position] === undefined) this.known += 1;
    else this.repeated += 1;
    this.#values[position] = value;
    this.#keys[position] = key;
  }

  of({ position }: FieldPlan): ReplyNode | undefined {
    return this.#values[position];
  }

  /** Returns the key of a field's value as the model wrote it. */
  keyOf({ position }: FieldPlan): string | undefined {
    return this.#keys[position];
  }
}

import { HeadedNode, stringNode, type ReplyNode } from '../text/reply-node.ts';
import type { CoercionError } from './coercion-error.ts';
import { foldCase, foldSeparators, withoutDecoration } from './folding.ts';
import { mayBePath, pathOf } from './key-paths.ts';
import { NearNames } from './near-names.ts';
import { MARK } from './outcome.ts';
import type { Plan } from './plan.ts';
import { spend } from './step-budget.ts';
import { isCommentaryKey } from './wrapper-keys.ts';

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
  readonly #exact: ReadonlyMap<string, number>;
  /** The positions by the folded spellings of the keys, for each of FOLDS. */
  readonly #folded: readonly ReadonlyMap<string, number>[];
  readonly #near: NearNames;

  constructor(fields: readonly FieldPlan[]) {
    this.all = fields;
    this.shown = fields.flatMap((field, index) => (field.skip ? [] : [index]));
    this.#exact = exactPositions(fields);
    this.#folded = FOLDS.map((fold) => foldedPositions(fields, fold));
    this.#near = new NearNames(fields.map(({ key }) => key));
  }

  /** Returns the position of the field with the key, or -1. */
  positionOf(key: string): number {
    return this.#exact.get(key) ?? this.#foldedPosition(key);
  }

  /** True for a key that is a path to a part of a field, such as `address.street`. */
  isPath(key: string): boolean {
    if (!mayBePath(key)) return false;
    const [head, ...rest] = pathOf(key) ?? [];
    return head !== undefined && rest.length > 0 && this.positionOf(key) < 0 && this.positionOf(head) >= 0;
  }

  #foldedPosition(key: string): number {
    spend(FOLDS.length + key.length / FOLDED_PER_STEP);
    const folds = NOTE.test(key) ? FOLDS.length : FOLDS.length - 1;
    for (let fold = 0; fold < folds; fold += 1) {
      const position = this.#positionBy(fold, key);
      if (position !== undefined) return position;
    }
    return -1;
  }

  #positionBy(fold: number, key: string): number | undefined {
    return this.#folded[fold]?.get(FOLDS[fold]?.(key) ?? key);
  }

  /** True if one key of a field is closer to the declared spelling than another key of the same field. */
  isCloser(key: string, other: string): boolean {
    return this.#distanceOf(key) < this.#distanceOf(other);
  }

  #distanceOf(key: string): number {
    return this.#exact.has(key) ? -1 : FOLDS.findIndex((_, fold) => this.#positionBy(fold, key) !== undefined);
  }

  /**
   * Returns the fields without a value that exactly one undeclared key of the object is near to. In an object with no
   * declared key, nothing shows that it is of the class.
   */
  nearIn({ keys }: ReplyNode, values: FieldValues): readonly NearKey[] {
    if (values.unknown === 0 || values.known === 0) return NO_NEAR_KEYS;
    if (this.shown.every((position) => values.at(position) !== undefined)) return NO_NEAR_KEYS;
    const near = new Map<number, number>();
    for (const at of values.unknownAt) {
      const key = keys[at] ?? '';
      const position = isCommentaryKey(key) ? -1 : this.#near.positionOf(withoutNote(key), { plurals: true });
      if (position >= 0) near.set(position, near.has(position) ? -1 : at);
    }
    return [...near].flatMap(([position, at]) => {
      const isMissing = values.at(position) === undefined && this.all[position]?.skip === false;
      return at >= 0 && isMissing ? { position, at } : [];
    });
  }

  /** Takes values under keys that are near to those of fields without a value, if they match without a loss. */
  takeNear(node: ReplyNode, values: FieldValues): void {
    for (const near of this.nearIn(node, values)) {
      const item = node.items[near.at];
      const outcome = item === undefined ? undefined : this.all[near.position]?.plan.coerce(item);
      if (item !== undefined && outcome?.ok === true && (outcome.marks & POOR) === 0) values.putNear(near, item);
    }
  }

  /**
   * Takes the heading of an object as the value of its only missing required field; if it has all of these, of its first
   * field. Returns the name of that field.
   */
  takeHeading(node: ReplyNode, values: FieldValues): string | undefined {
    if (!(node instanceof HeadedNode) || values.known === 0) return undefined;
    const missing = this.shown.filter((position) => values.at(position) === undefined);
    const required = missing.filter((position) => this.all[position]?.plan.fallback() === undefined);
    const [position = -1] = required.length === 0 ? missing.filter((each) => each === this.shown[0]) : required;
    const item = stringNode(node.heading);
    const outcome = required.length > 1 ? undefined : this.all[position]?.plan.coerce(item);
    if (outcome?.ok !== true || (outcome.marks & (POOR | MARK.singleToList)) !== 0) return undefined;
    values.put(position, NO_INDEX, item);
    return this.all[position]?.name;
  }

  /** Assigns the members of an object to the fields. */
  assign(node: ReplyNode): FieldValues {
    if (node.items.length === 0) return NO_FIELD_VALUES;
    const values = new FieldValues();
    spend(node.items.length);
    for (let at = 0; at < node.items.length; at += 1) {
      const key = node.keys[at] ?? '';
      const position = this.positionOf(key);
      const other = values.indexOf(position);
      if (other === undefined || this.isCloser(key, node.keys[other] ?? '')) values.put(position, at, node.items[at]);
      else values.addDuplicate();
    }
    return values;
  }
}

/** The marks of a value that hardly matches. */
const POOR = MARK.display | MARK.picked | MARK.implied | MARK.onlyDefaults | MARK.nullForMismatch | MARK.fromComposite;
/** The index of a value that is not a member of the object. */
const NO_INDEX = -1;

// --- the spellings of keys -------------------------------------------------------------------------------------------

/**
 * The ways to compare a key with those of the fields, from strict to loose: in another letter case; with other separators
 * of words, or marks around it; without a note or a type after it.
 */
const FOLDS: readonly ((key: string) => string)[] = [
  (key) => foldCase(key.trim()),
  foldKey,
  (key) => foldKey(withoutNote(key)),
];

/** A note in parentheses or the name of a type after a key: `age (in years)`, `age: int`, `age<int>`. */
const NOTE = /(?<=[\p{L}\p{N}_*])\s{0,3}(?:\([^()]{1,60}\)|:\s{0,3}[\w[\]?<>|, ]{1,40}|<[\w[\]?<>|, ]{1,40}>)$/u;

function withoutNote(key: string): string {
  return key.slice(0, key.length - (NOTE.exec(key)?.[0].length ?? 0));
}

/** The characters of a key that are folded in one step. */
const FOLDED_PER_STEP = 2;

/** Ignores letter case, accents, the separators of words, and marks around the key: `**finalAnswer**` is `final_answer`. */
function foldKey(key: string): string {
  return foldSeparators(withoutDecoration(key.replace(SIGIL, '')));
}

/** The signs before the names of variables, options, attributes and symbols: `$name`, `@name`, `--name`, `:name`, `/name`. */
const SIGIL = /^\s{0,3}(?:[$@:%&~+/.]|--?)(?=[\p{L}\p{N}_])/u;

/** Skipped fields come last: a key that a shown field has as well belongs to the shown field. */
function exactPositions(fields: readonly FieldPlan[]): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  for (const skip of [false, true]) {
    for (const [index, field] of fields.entries()) {
      if (field.skip === skip && !positions.has(field.key)) positions.set(field.key, index);
    }
  }
  return positions;
}

/** The position of a spelling that two fields have in common: it belongs to neither. */
const SHARED = -1;

function foldedPositions(fields: readonly FieldPlan[], fold: (key: string) => string): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  for (const skip of [false, true]) {
    for (const [index, field] of fields.entries()) {
      const spelling = fold(field.key);
      if (field.skip !== skip || spelling === '') continue;
      const other = positions.get(spelling);
      if (other === undefined) positions.set(spelling, index);
      else if (fields[other]?.skip === skip) positions.set(spelling, SHARED);
    }
  }
  return positions;
}

/** A field without a value, and the index of the member whose key is near to its own. */
export interface NearKey {
  readonly position: number;
  readonly at: number;
}

const NO_NEAR_KEYS: readonly NearKey[] = [];

// --- the values of one object ----------------------------------------------------------------------------------------

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
  /** The number of fields whose values have near keys. */
  #near = 0;

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

  /** Adds the value of a field that has a near key, which so far belonged to no field. */
  putNear({ position, at }: NearKey, value: ReplyNode): void {
    this.#unknownAt = this.#unknownAt?.filter((index) => index !== at);
    this.unknown -= 1;
    this.#near += 1;
    this.put(position, at, value);
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

  /** Returns the position of the field that has the value at an index of the object. */
  fieldAt(index: number): number | undefined {
    const position = this.#indexes?.indexOf(index) ?? -1;
    return position < 0 ? undefined : position;
  }

  /** True if some key was not assigned to a field, or is only near to its key. */
  get hasLeftOver(): boolean {
    return this.unknown + this.#duplicates + this.#near > 0;
  }
}

/** The most unknown keys that can be meant for a field. */
const MAX_UNKNOWN = 24;

export const NO_FIELD_VALUES = new FieldValues();

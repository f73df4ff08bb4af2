import { OPEN_BRACE } from '../text/characters.ts';
import type { Place } from '../fast-path/typed-container.ts';
import { TypedObject } from '../fast-path/typed-object.ts';
import type { ValueNode } from '../text/value-node.ts';
import { describeValue } from './display-text.ts';
import { foldAccents } from './fold-text.ts';
import type { FieldPlan } from './field-plan.ts';
import { FieldSlots, NO_SLOTS } from './field-slots.ts';
import { Coerced, MARK, Misfit, misfitOfAll, mismatch, NoteList, type Outcome } from './outcome.ts';
import { coerceNested } from './nested-value.ts';
import { ObjectProgress } from './object-progress.ts';
import { ObjectWriter } from './object-writer.ts';
import { Partial } from './partial.ts';
import { Plan } from './plan.ts';
import { bestMember, compareReadings } from './rank.ts';
import { isScalar } from './scalar-plans.ts';

/** Keys beyond these tell unions nothing new. */
const MAX_COMPARED_KEYS = 50;

/** An object of a class: fields by their aliases, in declared order. */
export class ClassPlan extends Plan {
  readonly name: string;
  #fields: readonly FieldPlan[] = [];
  #shown: readonly number[] = [];
  #mayBreakAssert: boolean | undefined = undefined;
  /** An object may be withheld for want of a field, which only a tree of values can tell. */
  #withholds = false;
  readonly #exact = new Map<string, number>();
  readonly #folded = new Map<string, number>();
  /** Under this the value inside of an object that wraps it is kept: more than one reading may ask. */
  readonly #unwrappedKey = {};
  /** The value that its only field is trying to take, which ends the recursion of such classes. */
  #implying: ValueNode | undefined = undefined;

  constructor(name: string) {
    super();
    this.name = name;
  }

  /** Fields come after construction, since classes refer to each other. */
  setFields(fields: readonly FieldPlan[]): void {
    this.#fields = fields;
    this.#shown = fields.flatMap((field, index) => (field.skip ? [] : [index]));
    this.#withholds = fields.some((field) => field.streamNotNull);
    this.#addKeys(false);
    this.#addKeys(true);
  }

  /** Keys of skipped fields come last: a key that a shown field has too is that field's. */
  #addKeys(skip: boolean): void {
    for (const [index, field] of this.#fields.entries()) {
      if (field.skip !== skip) continue;
      if (!this.#exact.has(field.key)) this.#exact.set(field.key, index);
      const folded = foldKey(field.key);
      if (!this.#folded.has(folded)) this.#folded.set(folded, index);
    }
  }

  /** The field that a key means; -1 when none. */
  fieldOf(key: string): number {
    return this.#exact.get(key) ?? this.#folded.get(foldKey(key)) ?? -1;
  }

  get fields(): readonly FieldPlan[] {
    return this.#fields;
  }

  /** Positions of the fields that results show. */
  get shown(): readonly number[] {
    return this.#shown;
  }

  override mayBreakAssert(seen?: Set<Plan>): boolean {
    if (seen === undefined) return (this.#mayBreakAssert ??= this.#reachesAssert(new Set()));
    return !seen.has(this) && this.#reachesAssert(seen);
  }

  #reachesAssert(seen: Set<Plan>): boolean {
    seen.add(this);
    return this.#fields.some((field) => !field.skip && field.plan.mayBreakAssert(seen));
  }

  // --- straight ---------------------------------------------------------------------------------------------------

  override openContainer(bracket: number, place: Place): TypedObject | undefined {
    return bracket === OPEN_BRACE && !this.#withholds ? new TypedObject(this, place) : undefined;
  }

  // --- strict -----------------------------------------------------------------------------------------------------

  cast(node: ValueNode): Coerced | undefined {
    if (node.kind !== 'object') return undefined;
    const slots = this.#slotsOf(node);
    let writer: ObjectWriter | undefined;
    for (const index of this.#shown) {
      const field = this.#fields[index];
      if (field === undefined) return undefined;
      const item = slots.item(index);
      const value = item === undefined ? optional(field.plan) : field.plan.cast(item);
      if (value === undefined) return undefined;
      writer ??= new ObjectWriter(node);
      writer.add(field, value);
      if (item === undefined) writer.score += 1;
    }
    return this.#finish(writer ?? new ObjectWriter(node), node, slots, 0);
  }

  // --- lenient ----------------------------------------------------------------------------------------------------

  coerce(node: ValueNode): Outcome {
    if (node.kind === 'object') return this.#fromObject(node);
    if (node.kind !== 'list') return coerceNested(this, node) ?? this.#implied(node) ?? this.#fromNothing(node);
    const known = node.recall(this);
    if (known instanceof Coerced || known instanceof Misfit) return known;
    const outcome = this.#fromList(node);
    node.remember(this, outcome);
    return outcome;
  }

  #fromObject(node: ValueNode): Outcome {
    const slots = this.#slotsOf(node);
    if (slots.known === 0 && node.items.length > 0) {
      const implied = this.#implied(node);
      if (implied?.ok === true) return implied;
    }
    const filled = this.#fill(node, slots);
    const isPoor = filled.ok ? (filled.marks & MARK.onlyDefaults) !== 0 : !filled.asserted;
    return isPoor ? (this.#unwrapped(node) ?? filled) : filled;
  }

  /** `{"person": {…}}` where a person is wanted, or `{"name": "Person", "arguments": {…}}`. */
  #unwrapped(node: ValueNode): Coerced | undefined {
    const inner = onlyContent(node);
    if (inner === undefined) return undefined;
    const known = node.recall(this.#unwrappedKey);
    if (known !== undefined) return known instanceof Coerced ? known : undefined;
    const outcome = this.coerce(inner);
    const fits = outcome.ok && (outcome.marks & MARK.onlyDefaults) === 0;
    const value = fits
      ? outcome.as(outcome.score + 2, MARK.implied, [{ flag: 'unwrapped', path: '' }, ...outcome.notes])
      : undefined;
    node.remember(this.#unwrappedKey, value ?? null);
    return value;
  }

  #fromList(node: ValueNode): Outcome {
    const member = bestMember(this, node);
    const implied = this.#implied(node);
    if (implied?.ok !== true) return member;
    return member.ok && compareReadings(member, implied) <= 0 ? member : implied;
  }

  /** A class with one field: the value may be that field's. */
  #implied(node: ValueNode): Outcome | undefined {
    const field = this.#fields[this.#shown[0] ?? -1];
    if (field === undefined || this.#shown.length !== 1 || this.#implying === node) return undefined;
    const outer = this.#implying;
    this.#implying = node;
    const outcome = field.plan.coerce(node);
    this.#implying = outer;
    if (!outcome.ok) return outcome;
    if ((outcome.marks & (MARK.nullForMisfit | MARK.emptied | MARK.onlyDefaults)) !== 0) return undefined;
    const notes = new NoteList();
    notes.add('implied-key', field.name);
    notes.addAll(field.name, outcome.notes);
    return outcome.enclosed(`{${field.jsonKey}`, '}', 2 + outcome.score * 10, {
      marks: MARK.implied,
      notes: notes.list,
    });
  }

  /** No object at all: only a class in which nothing is required accepts that. */
  #fromNothing(node: ValueNode): Outcome {
    const filled = this.#fill(node, NO_SLOTS);
    if (filled.ok) {
      const notes = [{ flag: 'no-fields', path: '', detail: describeValue(node) }, ...filled.notes];
      return filled.as(filled.score + 1, filled.marks, notes);
    }
    return mismatch(this.name, node);
  }

  #fill(node: ValueNode, slots: FieldSlots): Outcome {
    const writer = new ObjectWriter(node);
    let misfits: Misfit[] | undefined;
    for (const index of this.#shown) {
      const field = this.#fields[index];
      if (field === undefined) continue;
      const item = slots.item(index);
      const value = item === undefined ? writer.missing(field) : writer.member(field, item);
      if (value.ok) writer.add(field, value);
      else if (misfits === undefined) misfits = [value];
      else misfits.push(value);
    }
    if (misfits !== undefined) return misfitOfAll(misfits);
    return this.#finish(writer, node, slots, slots.known === 0 && this.#shown.length > 0 ? MARK.onlyDefaults : 0);
  }

  #finish(writer: ObjectWriter, node: ValueNode, slots: FieldSlots, marks: number): Coerced {
    writer.score += slots.unknown;
    if (slots.hasLeftOver) this.#noteLeftOver(writer, node, slots);
    return writer.finish(marks);
  }

  /** Keys that no field has taken. */
  #noteLeftOver(writer: ObjectWriter, node: ValueNode, slots: FieldSlots): void {
    for (const [at, item] of node.items.entries()) {
      const key = node.keys[at] ?? '';
      const field = this.fieldOf(key);
      if (field < 0) writer.note('extra-key', key);
      else if (slots.item(field) !== item) writer.note('duplicate-key', key);
    }
  }

  #slotsOf(node: ValueNode): FieldSlots {
    if (node.items.length === 0) return NO_SLOTS;
    const slots = new FieldSlots();
    for (let at = 0; at < node.items.length; at += 1) {
      slots.put(this.fieldOf(node.keys[at] ?? ''), node.items[at]);
    }
    return slots;
  }

  // --- unions and partials ----------------------------------------------------------------------------------------

  override startsWith(kind: 'object' | 'list'): boolean {
    return kind === 'object';
  }

  override affinity(node: ValueNode): number {
    if (node.kind !== 'object') return Infinity;
    let score = 0;
    const limit = Math.min(node.items.length, MAX_COMPARED_KEYS);
    for (let at = 0; at < limit; at += 1) {
      const field = this.#fields[this.fieldOf(node.keys[at] ?? '')];
      const item = node.items[at];
      if (field === undefined || item === undefined) score += 1;
      else if (item.complete && item.items.length === 0 && !field.plan.coerce(item).ok) score += 1000;
    }
    return score;
  }

  protected override partial(node: ValueNode): Partial {
    if (node.kind === 'object') return this.#progress(node).show();
    if (!node.complete) return Partial.withheld;
    const outcome = this.coerce(node);
    return outcome.ok ? new Partial(outcome.shown) : Partial.unfit;
  }

  #progress(node: ValueNode): ObjectProgress {
    const known = node.recall(this);
    if (known instanceof ObjectProgress) return known;
    const progress = new ObjectProgress(this, node);
    node.remember(this, progress);
    return progress;
  }
}

/** Keys are compared without regard to spaces around them, case and accents. */
function foldKey(key: string): string {
  return foldAccents(key.trim()).toLowerCase();
}

/** The only list or object among the members of an object; it may be written as JSON in a text. */
function onlyContent(node: ValueNode): ValueNode | undefined {
  let only: ValueNode | undefined;
  for (const item of node.items) {
    if (isScalar(item) && !(item.quoted && item.text.startsWith('{'))) continue;
    if (only !== undefined) return undefined;
    only = item;
  }
  return only;
}

/** In a strict reading only what may be null may be missing. */
function optional(plan: Plan): Coerced | undefined {
  const fallback = plan.fallback();
  return fallback?.bare === 'null' ? fallback : undefined;
}

import { TypedObject } from '../fast-path/typed-object.ts';
import { OPEN_BRACE } from '../text/characters.ts';
import type { ReplyNode } from '../text/reply-node.ts';
import { ClassFields, NO_FIELD_VALUES, type FieldPlan, type FieldValues } from './class-fields.ts';
import { CoercionError, describeValue, memberErrors, mismatch } from './coercion-error.ts';
import { ObjectProgress, ObjectWriter } from './object-writer.ts';
import { CoercedValue, compareValues, FlagList, MARK, type CoercionOutcome } from './outcome.ts';
import { Plan, type PartialValue } from './plan.ts';
import { bestMember, coerceNested, onlyComposite } from './unwrap.ts';

/** Unions compare objects with classes by this many keys; more would not change the result. */
const MAX_COMPARED_KEYS = 50;

/** An object of a class: fields by their aliases, in declared order. */
export class ClassPlan extends Plan {
  readonly name: string;
  #fields = new ClassFields([]);
  #mayBreakAssert: boolean | undefined = undefined;
  /** A partial can hide an object because a field is missing, which only the tolerant parser's tree can tell. */
  #withholds = false;
  /** The key under which a node stores the value inside an object that wraps it, since several callers ask for it. */
  readonly #unwrappedKey = {};
  /** The value that the only field is trying to take, which ends the recursion of a class that contains itself. */
  #implying: ReplyNode | undefined = undefined;

  constructor(name: string) {
    super();
    this.name = name;
  }

  /** The fields are set after construction, because classes refer to each other. */
  setFields(fields: readonly FieldPlan[]): void {
    this.#fields = new ClassFields(fields);
    this.#withholds = fields.some((field) => field.streamNotNull);
  }

  override mayBreakAssert(seen?: Set<Plan>): boolean {
    if (seen === undefined) return (this.#mayBreakAssert ??= this.#reachesAssert(new Set()));
    return !seen.has(this) && this.#reachesAssert(seen);
  }

  #reachesAssert(seen: Set<Plan>): boolean {
    seen.add(this);
    return this.#fields.all.some((field) => !field.skip && field.plan.mayBreakAssert(seen));
  }

  override openContainer(bracket: number): TypedObject | undefined {
    return bracket === OPEN_BRACE && !this.#withholds ? new TypedObject(this.#fields) : undefined;
  }

  // --- values of the type ---------------------------------------------------------------------------------------------

  cast(node: ReplyNode): CoercedValue | undefined {
    if (node.kind !== 'object') return undefined;
    const { all, shown } = this.#fields;
    const values = this.#fields.assign(node);
    let writer: ObjectWriter | undefined;
    for (const position of shown) {
      const field = all[position];
      if (field === undefined) return undefined;
      const item = values.at(position);
      const value = item === undefined ? nullFallback(field.plan) : field.plan.cast(item);
      if (value === undefined) return undefined;
      writer ??= new ObjectWriter(node);
      writer.add(field, value);
      if (item === undefined) writer.score += 1;
    }
    return this.#finish(writer ?? new ObjectWriter(node), node, values, 0);
  }

  // --- other values ---------------------------------------------------------------------------------------------------

  coerce(node: ReplyNode): CoercionOutcome {
    if (node.kind === 'object') return this.#fromObject(node);
    if (node.kind !== 'list') return coerceNested(this, node) ?? this.#implied(node) ?? this.#fromNothing(node);
    const known = node.recall(this);
    if (known instanceof CoercedValue || known instanceof CoercionError) return known;
    const outcome = this.#fromList(node);
    node.remember(this, outcome);
    return outcome;
  }

  #fromObject(node: ReplyNode): CoercionOutcome {
    const values = this.#fields.assign(node);
    if (values.known === 0 && node.items.length > 0) {
      const implied = this.#implied(node);
      if (implied?.ok === true) return implied;
    }
    const filled = this.#fill(node, values);
    const isPoor = filled.ok ? (filled.marks & MARK.onlyDefaults) !== 0 : !filled.asserted;
    return isPoor ? (this.#unwrapped(node) ?? filled) : filled;
  }

  /** Finds the person in `{"person": {…}}`, or in `{"name": "Person", "arguments": {…}}`. */
  #unwrapped(node: ReplyNode): CoercedValue | undefined {
    const inner = onlyComposite(node);
    if (inner === undefined) return undefined;
    const known = node.recall(this.#unwrappedKey);
    if (known !== undefined) return known instanceof CoercedValue ? known : undefined;
    const outcome = this.coerce(inner);
    const matches = outcome.ok && (outcome.marks & MARK.onlyDefaults) === 0;
    const value = matches
      ? outcome.as(outcome.score + 2, MARK.implied, [{ flag: 'unwrapped', path: '' }, ...outcome.flags])
      : undefined;
    node.remember(this.#unwrappedKey, value ?? null);
    return value;
  }

  #fromList(node: ReplyNode): CoercionOutcome {
    const member = bestMember(this, node);
    const implied = this.#implied(node);
    if (implied?.ok !== true) return member;
    return member.ok && compareValues(member, implied) <= 0 ? member : implied;
  }

  /** Makes the value that of the field, in a class with a single field. */
  #implied(node: ReplyNode): CoercionOutcome | undefined {
    const { all, shown } = this.#fields;
    const field = all[shown[0] ?? -1];
    if (field === undefined || shown.length !== 1 || this.#implying === node) return undefined;
    const outer = this.#implying;
    this.#implying = node;
    const outcome = field.plan.coerce(node);
    this.#implying = outer;
    if (!outcome.ok) return outcome;
    if ((outcome.marks & (MARK.nullForMismatch | MARK.emptied | MARK.onlyDefaults)) !== 0) return undefined;
    const flags = new FlagList();
    flags.add('implied-key', field.name);
    flags.addAll(field.name, outcome.flags);
    return outcome.enclosed(`{${field.jsonKey}`, '}', 2 + outcome.score * 10, {
      marks: MARK.implied,
      flags: flags.list,
    });
  }

  /** Only a class without required fields accepts a value that is not an object. */
  #fromNothing(node: ReplyNode): CoercionOutcome {
    const filled = this.#fill(node, NO_FIELD_VALUES);
    if (!filled.ok) return mismatch(this.name, node);
    const flags = [{ flag: 'no-fields', path: '', detail: describeValue(node) }, ...filled.flags];
    return filled.as(filled.score + 1, filled.marks, flags);
  }

  #fill(node: ReplyNode, values: FieldValues): CoercionOutcome {
    const { all, shown } = this.#fields;
    const writer = new ObjectWriter(node);
    let errors: CoercionError[] | undefined;
    for (const position of shown) {
      const field = all[position];
      if (field === undefined) continue;
      const item = values.at(position);
      const outcome = item === undefined ? writer.missing(field) : writer.member(field, item);
      if (outcome.ok) writer.add(field, outcome);
      else if (errors === undefined) errors = [outcome];
      else errors.push(outcome);
    }
    if (errors !== undefined) return memberErrors(errors);
    return this.#finish(writer, node, values, values.known === 0 && shown.length > 0 ? MARK.onlyDefaults : 0);
  }

  #finish(writer: ObjectWriter, node: ReplyNode, values: FieldValues, marks: number): CoercedValue {
    writer.score += values.unknown;
    if (values.hasLeftOver) this.#flagLeftOver(writer, node, values);
    return writer.finish(marks);
  }

  /** Flags the keys that were not assigned to a field. */
  #flagLeftOver(writer: ObjectWriter, node: ReplyNode, values: FieldValues): void {
    for (const [at, item] of node.items.entries()) {
      const key = node.keys[at] ?? '';
      const position = this.#fields.positionOf(key);
      if (position < 0) writer.flag('extra-key', key);
      else if (values.at(position) !== item) writer.flag('duplicate-key', key);
    }
  }

  override startsWith(kind: 'object' | 'list'): boolean {
    return kind === 'object';
  }

  // --- partials -------------------------------------------------------------------------------------------------------

  override affinity(node: ReplyNode): number {
    if (node.kind !== 'object') return Infinity;
    let score = 0;
    const limit = Math.min(node.items.length, MAX_COMPARED_KEYS);
    for (let at = 0; at < limit; at += 1) {
      const field = this.#fields.all[this.#fields.positionOf(node.keys[at] ?? '')];
      const item = node.items[at];
      if (field === undefined || item === undefined) score += 1;
      else if (item.complete && item.items.length === 0 && !field.plan.coerce(item).ok) score += 1000;
    }
    return score;
  }

  protected override partial(node: ReplyNode): PartialValue {
    return node.kind === 'object' ? this.#progress(node).show() : super.partial(node);
  }

  #progress(node: ReplyNode): ObjectProgress {
    const known = node.recall(this);
    if (known instanceof ObjectProgress) return known;
    const progress = new ObjectProgress(this.#fields, node);
    node.remember(this, progress);
    return progress;
  }
}

/** Returns null for a missing field that may be null. Without concessions, no other field can be missing. */
function nullFallback(plan: Plan): CoercedValue | undefined {
  const fallback = plan.fallback();
  return fallback?.bare === 'null' ? fallback : undefined;
}

import { TypedObject } from '../fast-path/typed-object.ts';
import { OPEN_BRACE } from '../text/characters.ts';
import type { ReplyNode } from '../text/reply-node.ts';
import { ClassFields, NO_FIELD_VALUES, type FieldPlan, type FieldValues } from './class-fields.ts';
import { coercionError, memberError, memberErrors, mismatch, type CoercionError } from './coercion-error.ts';
import { GrowingObject } from './growing-value.ts';
import { compareCoerced, MARK, ValueWriter, type CoercedValue, type CoercionOutcome } from './outcome.ts';
import { asOnlyMember, MISMATCH, Plan, type PartialValue } from './plan.ts';
import { LabelPlan, LiteralPlan } from './scalar-plans.ts';
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

  constructor(name: string) {
    super();
    this.name = name;
  }

  /** The fields are set after construction, because classes refer to each other. */
  setFields(fields: readonly FieldPlan[]): void {
    this.#fields = new ClassFields(fields);
    this.#withholds = fields.some((field) => field.streamNotNull);
  }

  override mayBreakAssert(seen?: Set<unknown>): boolean {
    if (seen === undefined) return (this.#mayBreakAssert ??= this.#reachesAssert(new Set()));
    return !seen.has(this) && this.#reachesAssert(seen);
  }

  #reachesAssert(seen: Set<unknown>): boolean {
    seen.add(this);
    return this.#fields.all.some((field) => !field.skip && field.plan.mayBreakAssert(seen));
  }

  override openContainer(bracket: number): TypedObject | undefined {
    return bracket === OPEN_BRACE && !this.#withholds ? new TypedObject(this.#fields) : undefined;
  }

  // --- values of the type --------------------------------------------------------------------------------------------

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    if (node.kind !== 'object') return undefined;
    const { all, shown } = this.#fields;
    const values = this.#fields.assign(node);
    if (values.known === 0 && node.items.length > 0) return undefined;
    let writer: ValueWriter | undefined;
    for (const position of shown) {
      const field = all[position];
      if (field === undefined) return undefined;
      const item = values.at(position);
      const value = item === undefined ? nullFallback(field.plan) : field.plan.cast(item);
      if (value === undefined) return undefined;
      writer ??= new ValueWriter(node);
      addField(writer, field, value);
    }
    return this.#finish(writer ?? new ValueWriter(node), node, values, 0);
  }

  // --- other values --------------------------------------------------------------------------------------------------

  protected coerceOnce(node: ReplyNode): CoercionOutcome {
    if (node.kind === 'object') return this.#fromObject(node);
    if (node.kind !== 'list') return coerceNested(this, node) ?? this.#implied(node) ?? this.#fromScalar(node);
    return this.#fromList(node);
  }

  #fromObject(node: ReplyNode): CoercionOutcome {
    const values = this.#fields.assign(node);
    if (values.known === 0 && node.items.length > 0) {
      const implied = this.#implied(node);
      if (implied?.ok === true) return implied;
    }
    const filled = this.#fill(node, values);
    const mayBeWrapper = !filled.ok && this.#lacksField(values) && !this.#isOtherClass(values);
    return mayBeWrapper ? (this.#unwrapped(node) ?? filled) : filled;
  }

  /** True if the object has none of the keys, or lacks a required one. */
  #lacksField(values: FieldValues): boolean {
    const { all, shown } = this.#fields;
    if (values.known === 0) return true;
    return shown.some((position) => values.at(position) === undefined && all[position]?.plan.fallback() === undefined);
  }

  /** True if the value of an enum or literal field belongs to another class: the object is not a wrapper around this one. */
  #isOtherClass(values: FieldValues): boolean {
    return this.#fields.all.some(({ plan }, position) => {
      const item = values.at(position);
      const isChoice = plan instanceof LabelPlan || plan instanceof LiteralPlan;
      return isChoice && item?.isScalar === true && !plan.coerce(item).ok;
    });
  }

  /**
   * Finds the person in `{"person": {…}}`, or in `{"name": "Person", "arguments": {…}}`, but not in a field of the class:
   * `{"sections": {"title": …}}` without a title is not a document with the title of its section.
   */
  #unwrapped(node: ReplyNode): CoercedValue | undefined {
    const inner = onlyComposite(node);
    if (inner === undefined || this.#fields.positionOf(node.keys[node.items.indexOf(inner)] ?? '') >= 0)
      return undefined;
    const outcome = this.coerce(inner);
    if (!outcome.ok || (outcome.marks & MARK.onlyDefaults) !== 0) return undefined;
    return outcome.as(outcome.score + 2, MARK.implied, [{ flag: 'unwrapped', path: '' }, ...outcome.flags]);
  }

  #fromList(node: ReplyNode): CoercionOutcome {
    const member = bestMember(this, node);
    const implied = this.#implied(node);
    if (implied?.ok !== true) return member;
    // To take one of several members as the only field would lose the others.
    const losesOthers = member.ok && (member.marks & MARK.implied) !== 0 && node.items.length > 1;
    return member.ok && !losesOthers && compareCoerced(member, implied) <= 0 ? member : implied;
  }

  /** Makes the value that of the field, in a class with a single field. */
  #implied(node: ReplyNode): CoercionOutcome | undefined {
    const { all, shown } = this.#fields;
    const field = all[shown[0] ?? -1];
    if (field === undefined || shown.length !== 1) return undefined;
    const outcome = asOnlyMember(node, () => field.plan.coerce(node));
    if (outcome?.ok !== true) return outcome;
    if ((outcome.marks & (MARK.nullForMismatch | MARK.nothing | MARK.onlyDefaults)) !== 0) return undefined;
    const writer = new ValueWriter();
    writer.score = 2;
    writer.flag('implied-key', field.name);
    addField(writer, field, outcome);
    return writer.finish('{', '}', MARK.implied);
  }

  /** Null is an empty object, if no field is required. */
  #fromScalar(node: ReplyNode): CoercionOutcome {
    const filled = node.kind === 'null' ? this.#fill(node, NO_FIELD_VALUES) : undefined;
    return filled?.ok === true ? filled : mismatch(this.name, node);
  }

  #fill(node: ReplyNode, values: FieldValues): CoercionOutcome {
    const { all, shown } = this.#fields;
    const writer = new ValueWriter(node);
    let errors: CoercionError[] | undefined;
    for (const position of shown) {
      const field = all[position];
      if (field === undefined) continue;
      const item = values.at(position);
      const outcome = item === undefined ? missingField(writer, field) : coerceField(field, item);
      if (outcome.ok) addField(writer, field, outcome);
      else if (errors === undefined) errors = [outcome];
      else errors.push(outcome);
    }
    if (errors !== undefined) return memberErrors(errors);
    const isEmpty = values.known === 0 && shown.length > 0;
    if (isEmpty && values.unknown > 0)
      return coercionError(`expected ${this.name}, got an object with none of its keys`);
    return this.#finish(writer, node, values, isEmpty ? MARK.onlyDefaults : 0);
  }

  #finish(writer: ValueWriter, node: ReplyNode, values: FieldValues, marks: number): CoercedValue {
    writer.extraKeys += values.unknown;
    if (values.hasLeftOver) this.#flagLeftOver(writer, node, values);
    return writer.finish('{', '}', marks);
  }

  /** Flags the keys that were not assigned to a field. */
  #flagLeftOver(writer: ValueWriter, node: ReplyNode, values: FieldValues): void {
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

  // --- partials ------------------------------------------------------------------------------------------------------

  override affinity(node: ReplyNode): number {
    if (node.kind !== 'object') return Infinity;
    let score = 0;
    const limit = Math.min(node.items.length, MAX_COMPARED_KEYS);
    for (let at = 0; at < limit; at += 1) {
      const field = this.#fields.all[this.#fields.positionOf(node.keys[at] ?? '')];
      const item = node.items[at];
      if (field === undefined || item === undefined) score += 1;
      else if (item.complete && item.items.length === 0 && !field.plan.coerce(item).ok) score += MISMATCH;
    }
    return score;
  }

  protected override partial(node: ReplyNode): PartialValue {
    if (node.kind !== 'object') return super.partial(node);
    return node.cached(this, () => new GrowingObject(this.#fields, node)).show();
  }
}

function addField(writer: ValueWriter, field: FieldPlan, value: CoercedValue): void {
  writer.add(writer.isEmpty ? field.jsonKey : field.nextJsonKey, field.name, value);
  writer.score += value.score * 10;
}

/** Returns the value of a field that the object lacks. */
function missingField(writer: ValueWriter, field: FieldPlan): CoercionOutcome {
  const fallback = field.plan.fallback();
  if (fallback === undefined) return field.missing;
  if (fallback.bare !== 'null') writer.flag('defaulted', field.name, 'missing');
  return fallback;
}

/** Coerces the value of a field. The fallback is for missing values only: it would hide that this one does not match. */
function coerceField(field: FieldPlan, item: ReplyNode): CoercionOutcome {
  const outcome = field.plan.coerce(item);
  return outcome.ok ? outcome : memberError(field.name, outcome);
}

/** Returns null for a missing field that may be null. Without concessions, no other field can be missing. */
function nullFallback(plan: Plan): CoercedValue | undefined {
  const fallback = plan.fallback();
  return fallback?.bare === 'null' ? fallback : undefined;
}

import { OPEN_BRACE } from '../candidates/scan/characters.ts';
import { isNothing } from './spelling.ts';
import { membersOfNode, objectOf } from '../candidates/nodes.ts';
import { isStripped, REPAIR, type NodeKind, type ReplyNode } from '../candidates/scan/reply-node.ts';
import { CoercionError, coercionError, memberError, mismatch } from './coercion-error.ts';
import { TypedObject } from './typed-containers.ts';
import {
  addCost,
  DEFAULTED,
  DROPPED,
  FREE,
  GUESS,
  ValueWriter,
  type CoercedValue,
  type CoercionOutcome,
} from './outcome.ts';
import { INEXACT, MISMATCH, PartialValue, Plan } from './plan.ts';
import type { Reading } from './step-budget.ts';
import {
  argumentsAt,
  bestMember,
  coerceNested,
  isAnswerKey,
  isCommentaryKey,
  isDescriptionKey,
  isSchema,
  unwrap,
  type WrappedType,
} from './wrappers.ts';
import { ClassFields, FieldValues, type FieldPlan } from './class-fields.ts';

/** An object of a class: fields by their aliases, in declared order. */
export class ClassPlan extends Plan {
  readonly name: string;
  #fields = new ClassFields([]);
  readonly #affinityKey = {};
  #mayBreakAssert: boolean | undefined = undefined;
  /** A partial can hide an object because a field is missing, which only the tolerant parser's tree can tell. */
  #withholds = false;
  readonly #wrapped: WrappedType = {
    read: (node, reading) => this.#read(node, reading),
    holdersIn: (node) => this.#holdersIn(node),
  };

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
    return this.#fields.shown.some((field) => field.plan.mayBreakAssert(seen));
  }

  override openContainer(bracket: number): TypedObject | undefined {
    return bracket === OPEN_BRACE && !this.#withholds ? new TypedObject(this.#fields) : undefined;
  }

  override startsWith(kind: NodeKind): boolean {
    return kind === 'object';
  }

  override hasField(key: string): boolean {
    return this.#fields.of(key) !== undefined;
  }

  // --- whole values --------------------------------------------------------------------------------------------------

  protected coerceOnce(node: ReplyNode, reading: Reading, strict: boolean): CoercionOutcome {
    if (strict) return this.#exact(node, reading);
    if (node.kind === 'object') return this.#fromObject(node, reading);
    if (node.kind === 'list') return this.#fromList(node, reading);
    return coerceNested(this, node, reading) ?? this.#implied(node, reading) ?? this.#fromScalar(node, reading);
  }

  #exact(node: ReplyNode, reading: Reading): CoercionOutcome {
    if (node.kind !== 'object' || isStripped(node)) return INEXACT;
    const values = this.#fields.assign(node, reading);
    return values.known === 0 && node.items.length > 0 ? INEXACT : this.#fill(node, values, reading, true);
  }

  #fromObject(node: ReplyNode, reading: Reading): CoercionOutcome {
    if (isStripped(node)) return mismatch(this.name, node);
    const values = this.#fields.assign(node, reading);
    const framed = values.unknown.length === 0 ? undefined : this.#inFrame(node, reading);
    if (framed !== undefined) return framed;
    const filled = this.#fill(node, values, reading);
    if (filled.ok || !this.#lacksField(values)) return filled;
    const inner = unwrap(this.#wrapped, node, reading);
    if (inner !== undefined || values.known > 0) return inner ?? filled;
    const implied = this.#implied(node, reading);
    return implied?.ok === true ? implied : filled;
  }

  /** Finds the object in a tool call or a JSON schema, even if the name of the tool or the type is itself a field. */
  #inFrame(node: ReplyNode, reading: Reading): CoercionOutcome | undefined {
    const at = isSchema(node) ? node.keys.indexOf('properties') : argumentsAt(node);
    if (at < 0 || this.hasField(node.keys[at] ?? '')) return undefined;
    const inner = unwrap(this.#wrapped, node, reading, at);
    if (inner !== undefined) return inner;
    return isSchema(node) ? coercionError(`expected ${this.name}, got a JSON schema`) : undefined;
  }

  /** True if the object has none of the keys, or lacks a required one. */
  #lacksField(values: FieldValues): boolean {
    if (values.known === 0) return true;
    return this.#fields.shown.some((field) => values.of(field) === undefined && field.plan.fallback() === undefined);
  }

  /** The value of a wrapper: an object with at least one of the keys. */
  #read(node: ReplyNode, reading: Reading): CoercedValue | undefined {
    if (node.kind !== 'object' || isSchema(node)) return undefined;
    const values = this.#fields.assign(node, reading);
    if (values.known === 0) return undefined;
    const filled = this.#fill(node, values, reading);
    return filled.ok ? filled : undefined;
  }

  /**
   * Accepts `person` in `{"person": {…}}` and `arguments` in `{"name": "Person", "arguments": {…}}`, but not for a field:
   * `{"sections": {"title": …}}` without a title is not a document with the title of its section. An object with other
   * values of the class lacks fields, and is not a wrapper.
   */
  #holdersIn({ keys }: ReplyNode): (key: string) => boolean {
    const known = keys.filter((key) => this.hasField(key));
    const isFrame = known.every(isDescriptionKey);
    return (key) => !this.hasField(key) && (known.length === 0 || (isFrame && isAnswerKey(key)));
  }

  #fromList(node: ReplyNode, reading: Reading): CoercionOutcome {
    const member = bestMember(this, node, reading);
    const implied = this.#implied(node, reading);
    // To take one of several members as the only field would lose the others.
    if (implied?.ok !== true) return member.ok && member.isImplied ? mismatch(this.name, node) : member;
    return member.ok && !member.isImplied ? member : implied;
  }

  /** Makes the value that of the field, in a class with a single field. A list or object is not the text of a string field. */
  #implied(node: ReplyNode, reading: Reading): CoercionOutcome | undefined {
    const [field, ...others] = this.#fields.shown;
    if (field === undefined || others.length > 0) return undefined;
    const outcome = reading.asOnlyMember(node, () => field.plan.coerce(node, reading));
    if (outcome?.ok !== true) return outcome;
    if (!outcome.kept || outcome.kind === 'display' || (node.kind === 'list' && outcome.kind === 'text'))
      return undefined;
    const writer = new ValueWriter(reading);
    writer.cost.guessed = GUESS.part;
    writer.flag('implied-key', field.name);
    addField(writer, field, outcome);
    return writer.finish('{', '}');
  }

  /** Null is an empty object, if no field is required. */
  #fromScalar(node: ReplyNode, reading: Reading): CoercionOutcome {
    const filled = node.kind === 'null' ? this.#fill(node, new FieldValues(), reading) : undefined;
    return filled?.ok === true ? filled : mismatch(this.name, node);
  }

  /** `strict`: without concessions, only fields that may be null can be missing. */
  #fill(node: ReplyNode, values: FieldValues, reading: Reading, strict = false): CoercionOutcome {
    const { shown } = this.#fields;
    reading.spend(shown.length);
    const writer = new ValueWriter(reading, node);
    const errors: CoercionError[] = [];
    let isStray: boolean | undefined;
    for (const field of shown) {
      const item = values.of(field);
      // The fallback is for missing values only: it would hide that this one does not match.
      const outcome =
        item === undefined
          ? missingField(writer, field, (isStray ??= hasStrayText(node)), strict)
          : field.plan.coerce(item, reading, strict);
      if (outcome.ok) addField(writer, field, outcome);
      else if (strict) return INEXACT;
      else errors.push(item === undefined ? outcome : memberError(field.name, outcome));
    }
    if (errors.length > 0)
      return (
        (strict ? undefined : this.#fillMoved(node, values, reading)) ??
        new CoercionError(() => errors.flatMap(({ violations }) => violations))
      );
    const isEmpty = !strict && values.known === 0 && shown.length > 0;
    if (isEmpty && values.unknown.length > 0)
      return coercionError(`expected ${this.name}, got an object with none of its keys`);
    const value = this.#finish(writer, node, values, reading);
    return isEmpty ? value.with({ kept: false, cost: addCost(value.cost, { ...FREE, guessed: GUESS.empty }) }) : value;
  }

  /** Coerces the object with the members that its last object took in. Undefined if it took none in, or they do not help. */
  #fillMoved(node: ReplyNode, values: FieldValues, reading: Reading): CoercedValue | undefined {
    const moved = withMovedMembers(node);
    if (moved === undefined) return undefined;
    const assigned = this.#fields.assign(moved, reading);
    const outcome = assigned.known > values.known ? this.#fill(moved, assigned, reading) : undefined;
    return outcome?.ok === true ? outcome : undefined;
  }

  #finish(writer: ValueWriter, node: ReplyNode, values: FieldValues, reading: Reading): CoercedValue {
    writer.cost.extra += values.unknown.length;
    if (values.unknown.length + values.repeated > 0) this.#flagLeftOver(writer, node, values, reading);
    this.#loseUnread(writer, node, values, reading);
    return writer.finish('{', '}');
  }

  /** Flags the keys that were not assigned to a field. */
  #flagLeftOver(writer: ValueWriter, node: ReplyNode, values: FieldValues, reading: Reading): void {
    for (const [at, item] of node.items.entries()) {
      const key = node.keys[at] ?? '';
      const field = this.#fields.of(key);
      const kept = field === undefined ? undefined : values.of(field);
      if (field === undefined || kept === undefined) writer.flag('extra-key', key);
      else if (kept !== item) {
        const [value, other] = [kept, item].map((each) => field.plan.coerce(each, reading));
        const isSame = value?.ok === true && other?.ok === true && value.json === other.json;
        if (isSame || isNothing(item)) writer.flag('duplicate-key', key);
        else writer.lose(DROPPED, 'duplicate-key', key, OTHER_VALUE);
      }
    }
  }

  /** Counts the values that fields without a value could have, if only their keys were spelled as declared. */
  #loseUnread(writer: ValueWriter, node: ReplyNode, values: FieldValues, reading: Reading): void {
    if (values.unknown.length === 0) return;
    const missing = this.#fields.shown.filter((field) => values.of(field) === undefined).slice(0, MAX_MISSING);
    for (const at of missing.length === 0 ? [] : values.unknown.slice(0, MAX_MISSING)) {
      const [key, item] = [node.keys[at] ?? '', node.items[at]];
      if (item === undefined || isCommentaryKey(key) || isNothing(item)) continue;
      const index = missing.findIndex(({ plan }) => plan.hasField(key) || plan.coerce(item, reading, true).ok);
      const [field] = index < 0 ? [] : missing.splice(index, 1);
      if (field !== undefined) writer.lose(DEFAULTED, 'unread-key', key, { reason: `${field.name} has no value` });
    }
  }

  // --- partials ------------------------------------------------------------------------------------------------------

  override affinity(node: ReplyNode, reading: Reading): number {
    if (node.kind !== 'object') return Infinity;
    return node.cached(this.#affinityKey, () => new GrowingAffinity(this.#fields, node)).score(reading);
  }

  protected override partial(node: ReplyNode, reading: Reading): PartialValue {
    if (node.kind !== 'object') return super.partial(node, reading);
    return node.cached(this, () => new GrowingObject(this.#fields, node)).show(reading);
  }
}

/**
 * Where a key closes a list in the last object, the closing brace can be missing as well: `{"f": {"items": [1, "n": 3}`. Returns
 * the object with the members after that list as its own.
 */
function withMovedMembers(node: ReplyNode): ReplyNode | undefined {
  const last = node.items.at(-1);
  if (last?.kind !== 'object') return undefined;
  const end = 1 + last.items.findLastIndex(({ kind, repairs }) => kind === 'list' && (repairs & REPAIR.brackets) !== 0);
  if (end === 0 || end === last.items.length) return undefined;
  const inner = membersOfNode(last);
  const [key = ''] = node.keys.slice(-1);
  const moved = objectOf([
    ...membersOfNode(node).slice(0, -1),
    [key, objectOf(inner.slice(0, end))] as const,
    ...inner.slice(end),
  ]);
  moved.repairs = node.repairs | REPAIR.brackets;
  moved.complete = node.complete;
  return moved;
}

const OTHER_VALUE = { reason: 'the object has another value for the key' };

/** The most fields without a value, and the most unknown keys, that are compared with each other. */
const MAX_MISSING = 24;

function addField(writer: ValueWriter, field: FieldPlan, value: CoercedValue): void {
  writer.add(writer.isEmpty ? field.jsonKey : field.nextJsonKey, field.name, value);
}

/** Returns the value of a field that the object lacks: a loss if its text can be what no field has. */
function missingField(writer: ValueWriter, field: FieldPlan, isStray: boolean, strict: boolean): CoercionOutcome {
  const fallback = field.plan.fallback();
  if (fallback === undefined) return field.missing;
  const isNull = fallback.bare === 'null';
  if (strict && !isNull) return INEXACT;
  if (isStray) writer.lose(DEFAULTED, 'defaulted', field.name, STRAY_TEXT);
  else if (!isNull) writer.flag('defaulted', field.name, 'missing');
  return fallback;
}

const STRAY_TEXT = { reason: 'missing, but the reply has text that belongs to no field' };

/** True for an object with text between its members, or in a string that has taken in the next key. */
function hasStrayText({ repairs, items }: ReplyNode): boolean {
  if ((repairs & (REPAIR.droppedText | REPAIR.lostText)) !== 0) return true;
  return items.some(
    (item) => item.kind === 'string' && (item.repairs & REPAIR.innerQuotes) !== 0 && /["'”]\s*:/u.test(item.text),
  );
}

// --- partials ----------------------------------------------------------------------------------------------------------

/** The partials of an object of a class as it grows. Each complete field is written once. */
class GrowingObject {
  readonly #fields: ClassFields;
  readonly #node: ReplyNode;
  /** The indexes of the values in the object, by the positions of their fields. A value can still be replaced while it is the last. */
  readonly #indexes: (number | undefined)[] = [];
  /** The partials of the fields that are complete, by position. */
  readonly #finished: (PartialValue | undefined)[] = [];
  #scanned = 0;

  constructor(fields: ClassFields, node: ReplyNode) {
    this.#fields = fields;
    this.#node = node;
  }

  show(reading: Reading): PartialValue {
    this.#scan();
    let json = '{';
    let allNull = true;
    for (const field of this.#fields.shown) {
      const item = this.#node.items[this.#indexes[field.position] ?? -1];
      const partial = item === undefined ? undefined : this.#field(field, item, reading);
      if (partial === undefined && field.streamNotNull) return PartialValue.withheld;
      const value = partial?.json ?? field.plan.blank(item !== undefined);
      json += (json === '{' ? field.jsonKey : field.nextJsonKey) + value;
      allNull &&= partial === undefined ? isNullBlank(value) : partial.allNull || value === 'null';
    }
    return new PartialValue(`${json}}`, allNull);
  }

  /** Assigns the members that have arrived since the last call. */
  #scan(): void {
    const { keys } = this.#node;
    for (; this.#scanned < keys.length; this.#scanned += 1) {
      const key = keys[this.#scanned] ?? '';
      const field = this.#fields.of(key);
      const other = this.#indexes[field?.position ?? -1];
      if (field === undefined || (other !== undefined && !this.#fields.isCloser(key, keys[other] ?? ''))) continue;
      this.#indexes[field.position] = this.#scanned;
      this.#finished[field.position] = undefined;
    }
  }

  /** Returns the partial of a field that has begun; undefined if it shows nothing. */
  #field(field: FieldPlan, item: ReplyNode, reading: Reading): PartialValue | undefined {
    const finished = this.#finished[field.position];
    if (finished !== undefined) return finished;
    const partial = field.plan.show(item, reading);
    if (partial.json === undefined || (partial.allNull && field.streamNotNull)) return undefined;
    if (!item.complete) return partial;
    item.forget();
    this.#finished[field.position] = partial;
    return partial;
  }
}

/** Null, or null in the wrappers of `@check` and `@stream.with_state`. */
function isNullBlank(json: string): boolean {
  return json === 'null' || json.startsWith('{"value":null,') || json.startsWith('{"value":{"value":null,');
}

/** Unions compare objects with classes by this many keys; more would not change the result. */
const MAX_COMPARED_KEYS = 50;

/** The affinity of an object to a class as it grows. Each complete member is compared once. */
class GrowingAffinity {
  readonly #fields: ClassFields;
  readonly #node: ReplyNode;
  #settled = 0;
  #compared = 0;

  constructor(fields: ClassFields, node: ReplyNode) {
    this.#fields = fields;
    this.#node = node;
  }

  score(reading: Reading): number {
    const { items } = this.#node;
    const limit = Math.min(items.length, MAX_COMPARED_KEYS);
    for (; this.#compared < limit && items[this.#compared]?.complete === true; this.#compared += 1) {
      this.#settled += this.#costOf(this.#compared, reading);
    }
    return this.#compared < limit ? this.#settled + this.#costOf(limit - 1, reading) : this.#settled;
  }

  #costOf(index: number, reading: Reading): number {
    const field = this.#fields.of(this.#node.keys[index] ?? '');
    const item = this.#node.items[index];
    if (field === undefined || item === undefined) return 1;
    return item.complete && item.items.length === 0 && !field.plan.coerce(item, reading).ok ? MISMATCH : 0;
  }
}

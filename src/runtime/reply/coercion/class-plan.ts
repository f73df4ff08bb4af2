import { TypedObject } from '../fast-path/typed-object.ts';
import { OPEN_BRACE } from '../text/characters.ts';
import { isNothing } from '../text/nothing.ts';
import { HeadedNode, isStripped, type NodeKind, type ReplyNode } from '../text/reply-node.ts';
import { ClassFields, NO_FIELD_VALUES, type FieldPlan, type FieldValues } from './class-fields.ts';
import { coercionError, memberError, memberErrors, mismatch, type CoercionError } from './coercion-error.ts';
import { GrowingAffinity, GrowingObject } from './growing-value.ts';
import { keyAndValue, membersOfGroups, objectOfEntries } from './arrangements.ts';
import { mayBePath, nestedByPaths, pathOf } from './key-paths.ts';
import {
  compareCoerced,
  DEFAULTED,
  isDisplay,
  MARK,
  ValueWriter,
  type CoercedValue,
  type CoercionOutcome,
} from './outcome.ts';
import { asOnlyMember, Plan, type PartialValue } from './plan.ts';
import { spend } from './step-budget.ts';
import { STATE_WORD } from './bool-in-text.ts';
import { asUnwrapped, bestMember, coerceNested, findWrapped, unwrap, type WrappedType } from './unwrap.ts';
import { frameAt, isAnswerKey, isCommentaryKey, isDescriptionKey, isSchema } from './wrapper-keys.ts';

/** An object of a class: fields by their aliases, in declared order. */
export class ClassPlan extends Plan {
  readonly name: string;
  #fields = new ClassFields([]);
  readonly #affinityKey = {};
  #mayBreakAssert: boolean | undefined = undefined;
  /** A partial can hide an object because a field is missing, which only the tolerant parser's tree can tell. */
  #withholds = false;
  readonly #wrapped: WrappedType = {
    read: (node) => this.#read(node),
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
    return this.#fields.all.some((field) => !field.skip && field.plan.mayBreakAssert(seen));
  }

  override openContainer(bracket: number): TypedObject | undefined {
    return bracket === OPEN_BRACE && !this.#withholds ? new TypedObject(this.#fields) : undefined;
  }

  // --- values of the type --------------------------------------------------------------------------------------------

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    if (node.kind !== 'object' || node instanceof HeadedNode) return undefined;
    const { all, shown } = this.#fields;
    const values = this.#fields.assign(node);
    if (values.known === 0 && (node.items.length > 0 || isStripped(node))) return undefined;
    if (values.unknown > 0 && (this.#hasPath(node, values) || this.#fields.nearIn(node, values).length > 0))
      return undefined;
    let writer: ValueWriter | undefined;
    spend(shown.length);
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

  #hasPath({ keys }: ReplyNode, values: FieldValues): boolean {
    for (const at of values.unknownAt) if (this.#pathOf(keys[at] ?? '', values) !== undefined) return true;
    return false;
  }

  // --- other values --------------------------------------------------------------------------------------------------

  protected coerceOnce(node: ReplyNode): CoercionOutcome {
    if (node.kind === 'object') return this.#fromObject(node);
    if (node.kind !== 'list') return coerceNested(this, node) ?? this.#implied(node) ?? this.#fromScalar(node);
    return this.#fromList(node);
  }

  #fromObject(node: ReplyNode): CoercionOutcome {
    if (isStripped(node)) return mismatch(this.name, node);
    const values = this.#fields.assign(node);
    const framed = values.unknown === 0 ? undefined : this.#inFrame(node);
    if (framed !== undefined) return framed;
    const nested = values.unknown === 0 ? undefined : this.#fromPaths(node, values);
    if (nested !== undefined) return nested;
    const filled = this.#fill(node, values);
    const framedArguments = values.known === 0 ? filled : this.#ownOrFramed(node, filled);
    if (framedArguments !== filled && framedArguments.ok) return asUnwrapped(framedArguments);
    if (filled.ok || !this.#lacksField(values)) return filled;
    const inner = (values.known === 0 ? this.#fromGroups(node) : undefined) ?? unwrap(this.#wrapped, node);
    if (inner !== undefined || values.known > 0) return inner ?? filled;
    const implied = this.#implied(node);
    return implied?.ok === true ? implied : filled;
  }

  #fromGroups(node: ReplyNode): CoercedValue | undefined {
    const members = membersOfGroups(this.#fields, node);
    const outcome = members === undefined ? undefined : this.#fill(members, this.#fields.assign(members));
    return outcome?.ok === true ? asUnwrapped(outcome) : undefined;
  }

  /** Finds the object in a tool call or a JSON schema, even if the name of the tool or the type is itself a field. */
  #inFrame(node: ReplyNode): CoercionOutcome | undefined {
    const at = isSchema(node) ? node.keys.indexOf('properties') : frameAt(node);
    if (at < 0 || this.hasField(node.keys[at] ?? '')) return undefined;
    const inner = unwrap(this.#wrapped, node, at);
    if (inner !== undefined) return inner;
    return isSchema(node) ? coercionError(`expected ${this.name}, got a JSON schema`) : undefined;
  }

  /**
   * Chooses between `{"name": "save", "arguments": {…}}` as an object of the class, which has fields of these names, and as
   * a tool call whose arguments are the object.
   */
  #ownOrFramed(node: ReplyNode, own: CoercionOutcome): CoercionOutcome {
    const at = frameAt(node);
    const inner = at < 0 ? undefined : findWrapped(this.#wrapped, node, at);
    const isBetter = !own.ok || !this.hasField(node.keys[at] ?? '') || (inner && compareCoerced(inner, own) < 0);
    return inner !== undefined && isBetter === true ? inner : own;
  }

  /** Handles keys that are paths to parts of fields: `{"address.street": …}`, `{"items[0].name": …}`. */
  #fromPaths(node: ReplyNode, values: FieldValues): CoercedValue | undefined {
    if (!this.#hasPath(node, values)) return undefined;
    const tree = nestedByPaths(node, (key) => (this.hasField(key) ? undefined : this.#pathOf(key, values)));
    if (tree === undefined) return undefined;
    const nested = this.#fields.assign(tree);
    if (nested.known + nested.unknown > 0 && nested.known === values.known && nested.unknown >= values.unknown)
      return undefined;
    const outcome = this.#fromObject(tree);
    return outcome.ok ? outcome.withFlag('key-paths', 2) : undefined;
  }

  /** Returns the path of `address.street`, of `address_street`, and of `street` if `address` is missing and only it has such a field. */
  #pathOf(key: string, values: FieldValues): readonly string[] | undefined {
    const path = mayBePath(key) ? pathOf(key) : undefined;
    if (path !== undefined) return path;
    const { all, shown } = this.#fields;
    let only: readonly string[] | undefined;
    for (const position of shown) {
      const field = all[position];
      if (field === undefined || values.at(position) !== undefined || !field.plan.startsWith('object')) continue;
      const rest = key.startsWith(field.key) ? key.slice(field.key.length).replace(/^[_ -]/u, '') : '';
      if (rest !== '' && field.plan.hasField(rest)) return [field.key, rest];
      if (!field.plan.hasField(key)) continue;
      if (only !== undefined) return undefined;
      only = [field.key, key];
    }
    return only;
  }

  /** True if the object has none of the keys, or lacks a required one. */
  #lacksField(values: FieldValues): boolean {
    const { all, shown } = this.#fields;
    if (values.known === 0) return true;
    return shown.some((position) => values.at(position) === undefined && all[position]?.plan.fallback() === undefined);
  }

  override hasField(key: string): boolean {
    return this.#fields.positionOf(key) >= 0;
  }

  /** The value of a wrapper: an object with at least one of the keys. */
  #read(node: ReplyNode): CoercedValue | undefined {
    if (node.kind === 'list') return this.#fromEntries(node);
    if (node.kind !== 'object' || isSchema(node)) return undefined;
    const values = this.#fields.assign(node);
    const filled = values.known === 0 ? undefined : this.#ownOrFramed(node, this.#fill(node, values));
    return filled?.ok === true ? filled : undefined;
  }

  /** Handles the members of an object in a list: `[{"field": "age", "value": 36}]`, `[["age", 36]]`, `["age: 36"]`. */
  #fromEntries(list: ReplyNode): CoercedValue | undefined {
    const object = objectOfEntries(list, keyAndValue);
    const members =
      object && (nestedByPaths(object, (key) => (this.hasField(key) ? undefined : pathOf(key))) ?? object);
    if (members === undefined) return undefined;
    const values = this.#fields.assign(members);
    if (values.known === 0 || values.hasLeftOver) return undefined;
    const outcome = this.#fill(members, values);
    if (!outcome.ok) return undefined;
    return outcome.withFlag('entries', 2);
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

  #fromList(node: ReplyNode): CoercionOutcome {
    const entries = node.items.length > 1 ? this.#fromEntries(node) : undefined;
    if (entries !== undefined) return entries;
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
    // The JSON text of an object with other keys is not the value of a string field.
    if (node.kind === 'object' && isDisplay(outcome)) return undefined;
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
    this.#fields.takeNear(node, values);
    const headed = this.#fields.takeHeading(node, values);
    spend(shown.length);
    const writer = new ValueWriter(node);
    if (headed !== undefined) writer.flag('heading', headed);
    let errors: CoercionError[] | undefined;
    for (const position of shown) {
      const field = all[position];
      if (field === undefined) continue;
      const item = values.at(position);
      const outcome = item === undefined ? missingField(writer, field) : this.#coerceField(field, item);
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

  /** Coerces the value of a field. The fallback is for missing values only: it would hide that this one does not match. */
  #coerceField(field: FieldPlan, item: ReplyNode): CoercionOutcome {
    const outcome = field.plan.coerce(item);
    const isRepeated = item.kind === 'object' && item.items.length === 1 && isDisplay(outcome);
    const [inner] = isRepeated ? item.items : [];
    // `{"summary": {"summary": "…"}}`: the model wrote the key, or the name of the class, around the object.
    if (inner?.isScalar === true && this.#fields.all[this.#fields.positionOf(item.keys[0] ?? '')] === field) {
      return this.#coerceField(field, inner);
    }
    if (outcome.ok && NEGATIVE.test(field.key) && outcome.flags.some(({ flag }) => flag === STATE_WORD)) {
      return memberError(field.name, mismatch('bool', item));
    }
    return outcome.ok ? outcome : memberError(field.name, outcome);
  }

  #finish(writer: ValueWriter, node: ReplyNode, values: FieldValues, marks: number): CoercedValue {
    writer.extraKeys += values.unknown;
    if (values.hasLeftOver) this.#flagLeftOver(writer, node, values);
    if (values.unknown > 0) this.#loseUnread(writer, node, values);
    return writer.finish('{', '}', marks);
  }

  /** Flags the keys that were not assigned to a field. */
  #flagLeftOver(writer: ValueWriter, node: ReplyNode, values: FieldValues): void {
    for (const [at, item] of node.items.entries()) {
      const key = node.keys[at] ?? '';
      const position = this.#fields.positionOf(key);
      const near = position < 0 ? values.fieldAt(at) : undefined;
      if (near !== undefined) {
        writer.score += NEAR_KEY;
        writer.flag('similar-key', key, `read as ${this.#fields.all[near]?.key ?? ''}`);
      } else if (position < 0) writer.flag('extra-key', key);
      else if (values.at(position) !== item) writer.flag('duplicate-key', key);
    }
  }

  /** Counts the values that fields without a value could have, if only their keys were spelled as declared. */
  #loseUnread(writer: ValueWriter, node: ReplyNode, values: FieldValues): void {
    const { all, shown } = this.#fields;
    const missing = shown.filter((position) => values.at(position) === undefined).slice(0, MAX_MISSING);
    for (const at of missing.length === 0 ? [] : values.unknownAt) {
      const key = node.keys[at] ?? '';
      const item = node.items[at];
      if (item === undefined || isCommentaryKey(key) || isNothing(item)) continue;
      const isPart = this.#fields.isPath(key);
      const index = missing.findIndex((position) => {
        const plan = all[position]?.plan;
        return isPart || plan?.hasField(key) === true || (plan !== undefined && plan.cast(item) !== undefined);
      });
      const [position = -1] = index < 0 ? [] : missing.splice(index, 1);
      const field = all[position];
      if (field !== undefined) writer.lose(DEFAULTED, 'unread-key', key, { reason: `${field.name} has no value` });
    }
  }

  override startsWith(kind: NodeKind): boolean {
    return kind === 'object';
  }

  // --- partials ------------------------------------------------------------------------------------------------------

  override affinity(node: ReplyNode): number {
    if (node.kind !== 'object') return Infinity;
    return node.cached(this.#affinityKey, () => new GrowingAffinity(this.#fields, node)).score;
  }

  protected override partial(node: ReplyNode): PartialValue {
    if (node.kind !== 'object') return super.partial(node);
    return node.cached(this, () => new GrowingObject(this.#fields, node)).show();
  }
}

/** A field that `disabled` or `inactive` can make true: `is_disabled`. */
const NEGATIVE = /disabl|inactiv|deactiv|uncheck|(?:^|[_-])(?:no|not|off|without)(?:[_-]|$)/iu;

/** The score of a key that is only near to that of its field. */
const NEAR_KEY = 20;

/** The most fields without a value that are compared with unknown keys. */
const MAX_MISSING = 24;

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

/** Returns null for a missing field that may be null. Without concessions, no other field can be missing. */
function nullFallback(plan: Plan): CoercedValue | undefined {
  const fallback = plan.fallback();
  return fallback?.bare === 'null' ? fallback : undefined;
}

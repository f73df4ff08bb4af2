import { separateScalars } from '../candidates/scan/bare-reader.ts';
import { OPEN_BRACKET } from '../candidates/scan/characters.ts';
import { GrowingText } from '../../../base/text-parts.ts';
import { flatten } from '../growing-text.ts';
import { isNothing } from './spelling.ts';
import { isStripped, REPAIR, type NodeKind, type ReplyNode } from '../candidates/scan/reply-node.ts';
import { scalarNode } from '../candidates/whole-text.ts';
import { CoercionError, emptiedError, MAX_ERRORS, memberError, mismatch } from './coercion-error.ts';
import { TypedList } from './typed-containers.ts';
import {
  CoercedValue,
  DROPPED,
  emptyForNothing,
  GUESS,
  isShaped,
  ValueWriter,
  type CoercionOutcome,
} from './outcome.ts';
import { INEXACT, MISMATCH, PartialValue, Plan } from './plan.ts';
import type { Reading } from './step-budget.ts';
import { coerceNested, unwrap, type WrappedType } from './wrappers.ts';

/** The depth to which a union looks into nested lists to tell its members apart. */
const AFFINITY_DEPTH = 3;

/** A list. Members that do not match are dropped and flagged. */
export class ListPlan extends Plan {
  readonly name: string;
  readonly #element: () => Plan;
  readonly #wrapped: WrappedType = {
    read: (node, reading) => this.#read(node, reading),
    holdersIn: () => (key) => !this.#element().hasField(key),
  };

  /** `element` is a function, because types can be recursive. `name`: the name of the alias of the list. */
  constructor(element: () => Plan, name = 'a list') {
    super();
    this.#element = element;
    this.name = name;
  }

  override openContainer(bracket: number): TypedList | undefined {
    return bracket === OPEN_BRACKET ? new TypedList(this.#element()) : undefined;
  }

  override startsWith(kind: NodeKind): boolean {
    return kind === 'list';
  }

  override fallback(): CoercedValue | undefined {
    return MISSING;
  }

  protected coerceOnce(node: ReplyNode, reading: Reading, strict: boolean): CoercionOutcome {
    if (strict) {
      const isExact = node.kind === 'list' && !isStripped(node);
      return isExact ? this.#fromItems(node, reading, true) : INEXACT;
    }
    if (node.kind === 'list') return this.#fromList(node, reading);
    return node.kind === 'object' ? this.#fromObject(node, reading) : this.#fromScalar(node, reading);
  }

  // --- lists ---------------------------------------------------------------------------------------------------------

  #fromList(node: ReplyNode, reading: Reading): CoercionOutcome {
    if (isStripped(node)) return mismatch('a list', node);
    const [inner] = node.items;
    const isNested = node.items.length === 1 && inner?.kind === 'list' && !this.#element().startsWith('list');
    if (isNested) {
      const outcome = this.coerce(inner, reading);
      return outcome.ok ? outcome.guessed(GUESS.shape, 'unwrapped-list') : outcome;
    }
    const outcome = this.#fromItems(node, reading);
    const isWrapper = node.items.length === 1 && inner?.kind === 'object' && !isPlain(outcome);
    return isWrapper ? (this.#fromWrapper(node, reading) ?? outcome) : outcome;
  }

  #fromWrapper(node: ReplyNode, reading: Reading): CoercedValue | undefined {
    const inner = unwrap(this.#wrapped, node, reading);
    return inner?.with({ flags: [{ flag: 'unwrapped-list', path: '' }, ...inner.flags.slice(1)] });
  }

  #fromItems(node: ReplyNode, reading: Reading, strict = false): CoercionOutcome {
    const element = this.#element();
    const writer = new ValueWriter(reading, node);
    const errors: CoercionError[] = [];
    const { items } = node;
    let kind: CoercedValue['kind'] = 'value';
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index];
      if (item === undefined || element.isUnfinished(item, reading)) continue;
      if (!strict && this.#addEach(writer, item, index, reading)) continue;
      const outcome = element.coerce(item, reading, strict);
      if (outcome.ok) {
        addItem(writer, outcome, index);
        if (outcome.kind === 'display') kind = 'display';
      } else if (strict) return INEXACT;
      else {
        writer.lose(DROPPED, 'dropped-item', index, outcome);
        if (errors.length < MAX_ERRORS) errors.push(memberError(`[${index}]`, outcome));
      }
    }
    if (writer.isEmpty && errors.length > 0) return emptiedError(node, errors);
    const list = writer.finish('[', ']');
    return kind === 'display' && items.length === 1 ? list.with({ kind }) : list;
  }

  /** Handles `[1 2 3]`: numbers, booleans and nulls without commas are several members, of which each has to match. */
  #addEach(writer: ValueWriter, item: ReplyNode, index: number, reading: Reading): boolean {
    if (this.#element().takesText) return false;
    const outcomes = separateScalars(item).map((scalar) => this.#element().coerce(scalar, reading));
    if (outcomes.length === 0 || outcomes.some((outcome) => !outcome.ok)) return false;
    writer.flag('repaired', index, REPAIR.comma);
    for (const outcome of outcomes) if (outcome.ok) addItem(writer, outcome, index);
    return true;
  }

  // --- other values ----------------------------------------------------------------------------------------------------

  /** Reads the object as the only member, or as a wrapper around the list. */
  #fromObject(node: ReplyNode, reading: Reading): CoercionOutcome {
    const single = this.#single(node, reading);
    if (single.ok && isPlain(single)) return listOfOne(single, reading);
    const inner = this.#fromWrapper(node, reading);
    if (inner !== undefined) return inner;
    if (isNothing(node) && !isMember(single)) return EMPTY_FOR_NOTHING;
    return single.ok && single.kept && single.kind !== 'display' ? listOfOne(single, reading) : listError(node, single);
  }

  #single(node: ReplyNode, reading: Reading): CoercionOutcome {
    return reading.asOnlyMember(node, () => this.#element().coerce(node, reading)) ?? mismatch('a list', node);
  }

  /** Reads the list in a wrapper, but not in a member of the list: `children` is a field of a tree. */
  #read(node: ReplyNode, reading: Reading): CoercedValue | undefined {
    const outcome = node.kind === 'object' ? undefined : this.coerce(node, reading);
    return outcome?.ok === true ? outcome : undefined;
  }

  #fromScalar(node: ReplyNode, reading: Reading): CoercionOutcome {
    const nested = coerceNested(this, node, reading);
    if (nested !== undefined) return nested;
    const single = this.#single(node, reading);
    if (isNothing(node) && !isMember(single)) return EMPTY_FOR_NOTHING;
    const parts = isWholePart(single) && single.kind === 'value' ? undefined : this.#fromParts(node, reading);
    if (parts !== undefined) return parts;
    return single.ok && (single.kept || single.cost.lost === 0) ? listOfOne(single, reading) : listError(node, single);
  }

  /** Handles `"1, 2, 3"` for numbers and enum values: each part has to match as a whole. */
  #fromParts(node: ReplyNode, reading: Reading): CoercionOutcome | undefined {
    const element = this.#element();
    const parts = element.takesText ? [] : partsOf(node);
    if (parts.length < 2) return undefined;
    const writer = new ValueWriter(reading);
    writer.cost.guessed = GUESS.shape;
    writer.flag('separated', '');
    for (const [index, part] of parts.entries()) {
      const outcome = element.coerce(part, reading);
      if (!isWholePart(outcome)) return undefined;
      addItem(writer, outcome, index);
    }
    return writer.finish('[', ']');
  }

  // --- partials ------------------------------------------------------------------------------------------------------

  override blank(_begun: boolean): string {
    return '[]';
  }

  override affinity(node: ReplyNode, reading: Reading, depth = 0): number {
    if (node.kind !== 'list') return Infinity;
    const first = node.items[0];
    if (first === undefined || depth >= AFFINITY_DEPTH) return 0;
    const element = this.#element();
    if (first.isScalar) return !first.complete || element.coerce(first, reading).ok ? 0 : MISMATCH;
    const affinity = element.affinity(first, reading, depth + 1);
    return affinity === Infinity ? MISMATCH : affinity;
  }

  protected override partial(node: ReplyNode, reading: Reading): PartialValue {
    if (node.kind === 'list') {
      if (node.items.length === 0) return EMPTY;
      return node.cached(this, () => new GrowingMembers(this.#element(), node)).show(reading);
    }
    if (node.complete) return super.partial(node, reading);
    const single = reading.asOnlyMember(node, () => this.#element().show(node, reading)) ?? PartialValue.withheld;
    const isShown = !single.allNull && !node.isScalar && single !== EMPTY;
    if (single.json !== undefined && isShown) return new PartialValue(`[${single.json}]`);
    const list = onlyList(node);
    return list === undefined ? EMPTY : this.show(list, reading);
  }
}

const EMPTY = new PartialValue('[]');

/** The value of a missing field. */
const MISSING = new CoercedValue('[]');

/** The empty list for a word for nothing. */
const EMPTY_FOR_NOTHING = emptyForNothing('[]');

/** True for a value that is not more likely a wrapper around the list. */
function isPlain(outcome: CoercionOutcome): boolean {
  return isShaped(outcome) && outcome.kind !== 'display';
}

/** True for a part that contains only a value. */
function isWholePart(outcome: CoercionOutcome): outcome is CoercedValue {
  return isShaped(outcome) && (outcome.kind === 'text' || outcome.cost.guessed < GUESS.scalar);
}

function listOfOne(single: CoercedValue, reading: Reading): CoercedValue {
  const writer = new ValueWriter(reading);
  writer.cost.guessed = GUESS.shape;
  writer.flag('single-to-list', '');
  addItem(writer, single, '');
  const list = writer.finish('[', ']');
  return single.kept ? list : list.with({ kept: false });
}

function addItem(writer: ValueWriter, value: CoercedValue, segment: number | ''): void {
  flatten(value.json);
  writer.add(writer.isEmpty ? '' : ',', segment, value);
}

/** The longest string that is split into the members of a list. */
const MAX_PARTS_TEXT = 2000;

/** Splits a string at its commas, semicolons and line breaks; empty if a comma can separate thousands. */
function partsOf({ kind, text }: ReplyNode): readonly ReplyNode[] {
  if (kind !== 'string' || text.length > MAX_PARTS_TEXT || /\d,\d{3}(?!\d)/u.test(text)) return [];
  // Between semicolons, commas are not those of a list: `1,5; 2`.
  const parts = text.split(text.includes(';') ? ';' : /[,\n]/u).map((part) => part.trim());
  return parts.flatMap((part) => (part === '' ? [] : scalarNode(part)));
}

/** Returns the only list among the values of an object. */
function onlyList(node: ReplyNode): ReplyNode | undefined {
  if (node.kind !== 'object') return undefined;
  const lists = node.items.filter((item) => item.kind === 'list');
  return lists.length === 1 ? lists[0] : undefined;
}

/** True for a member that a word for nothing can be, such as the value `NONE` of an enum. */
function isMember(single: CoercionOutcome): boolean {
  return single.ok && single.json !== 'null' && single.kept && single.kind === 'value';
}

/** Returns the error of a value that is neither a list nor a member of one. */
function listError(node: ReplyNode, single: CoercionOutcome): CoercionError {
  const error = mismatch('a list', node);
  return single.ok ? error : new CoercionError(() => [...error.violations, ...single.violations]);
}

// --- partials ---------------------------------------------------------------------------------------------------------------

/** The partials of a list or map as it grows. Each complete member is written once. */
export class GrowingMembers {
  readonly #plan: Plan;
  readonly #node: ReplyNode;
  /** Returns the JSON text of a map's key, or undefined if the map has no such key; undefined for a list. */
  readonly #keyText: ((key: string) => string | undefined) | undefined;
  readonly #seen = new Set<string>();
  readonly #json = new GrowingText();
  #written = 0;
  /** The JSON text of the member that was last shown before it was complete, and its position. */
  #open = '';
  #openAt = -1;

  /** `plan`: the plan of the members. */
  constructor(plan: Plan, node: ReplyNode, keyText?: (key: string) => string | undefined) {
    this.#plan = plan;
    this.#node = node;
    this.#keyText = keyText;
  }

  show(reading: Reading): PartialValue {
    const { items } = this.#node;
    for (; items[this.#written]?.complete === true; this.#written += 1) {
      this.#json.append(this.#member(this.#written, true, reading));
      items[this.#written]?.forget();
    }
    const json = this.#json.text + this.#member(this.#written, false, reading);
    return new PartialValue(this.#keyText === undefined ? `[${json}]` : `{${json}}`);
  }

  /** Returns a member with its comma and key; empty if it is hidden. */
  #member(index: number, keep: boolean, reading: Reading): string {
    const item = this.#node.items[index];
    const value = item === undefined ? undefined : this.#visible(item, index, reading);
    if (value === undefined) return '';
    const comma = this.#json.length === 0 ? '' : ',';
    if (this.#keyText === undefined) return comma + value;
    const key = this.#keyText(this.#node.keys[index] ?? '');
    if (key === undefined || this.#seen.has(key)) return '';
    if (keep) this.#seen.add(key);
    return `${comma}${key}:${value}`;
  }

  /** A member that an `@assert` rejects stays as it was shown before it was complete, since lists never shrink. */
  #visible(item: ReplyNode, index: number, reading: Reading): string | undefined {
    if (item.complete && this.#plan.mayBreakAssert() && !this.#plan.coerce(item, reading).ok) {
      return this.#openAt === index ? this.#open : undefined;
    }
    const { json } = this.#plan.show(item, reading);
    if (json !== undefined && !item.complete) {
      this.#open = json;
      this.#openAt = index;
    }
    return json;
  }
}

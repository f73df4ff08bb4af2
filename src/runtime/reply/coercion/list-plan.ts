import { TypedList } from '../fast-path/typed-container.ts';
import { separateScalars } from '../text/bare-reader.ts';
import { OPEN_BRACKET } from '../text/characters.ts';
import { flatten } from '../text/growing-text.ts';
import { isNothing } from '../text/nothing.ts';
import { REPAIR, type ReplyNode } from '../text/reply-node.ts';
import { CoercionError, emptiedError, MAX_ERRORS, memberError, mismatch } from './coercion-error.ts';
import { GrowingMembers } from './growing-value.ts';
import { CoercedValue, DROPPED, MARK, type CoercionOutcome, ValueWriter } from './outcome.ts';
import { asOnlyMember, MISMATCH, PartialValue, Plan } from './plan.ts';
import { coerceNested, onlyList } from './unwrap.ts';

/** The depth to which a union looks into nested lists to tell its members apart. */
const AFFINITY_DEPTH = 3;

/** A list. Members that do not match are dropped and flagged. */
export class ListPlan extends Plan {
  readonly name: string;
  readonly #element: () => Plan;

  /** `element` is a function, because types can be recursive. `name`: the name of the alias of the list. */
  constructor(element: () => Plan, name = 'a list') {
    super();
    this.#element = element;
    this.name = name;
  }

  override openContainer(bracket: number): TypedList | undefined {
    return bracket === OPEN_BRACKET ? new TypedList(this.#element()) : undefined;
  }

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    if (node.kind !== 'list') return undefined;
    const element = this.#element();
    const writer = new ValueWriter(node);
    for (const [index, item] of node.items.entries()) {
      const value = element.cast(item);
      if (value === undefined) return undefined;
      addItem(writer, value, index);
    }
    return writer.finish('[', ']', 0);
  }

  protected coerceOnce(node: ReplyNode): CoercionOutcome {
    if (node.kind !== 'list') return this.#fromOther(node);
    const element = this.#element();
    const writer = new ValueWriter(node);
    const errors: CoercionError[] = [];
    const { items } = node;
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index];
      if (item === undefined) continue;
      if (this.#addEach(writer, item, index)) continue;
      const outcome = element.coerce(item);
      if (outcome.ok) addItem(writer, outcome, index);
      else {
        writer.score += 1 + index;
        writer.lose(DROPPED, 'dropped-item', index, outcome);
        if (errors.length < MAX_ERRORS) errors.push(memberError(`[${index}]`, outcome));
      }
    }
    return writer.isEmpty && items.length > 0 ? emptiedError(node, errors) : writer.finish('[', ']', 0);
  }

  /** Handles `[1 2 3]`: numbers, booleans and nulls without commas are several members, of which each has to match. */
  #addEach(writer: ValueWriter, item: ReplyNode, index: number): boolean {
    if (this.#element().takesText) return false;
    const outcomes = separateScalars(item).map((scalar) => this.#element().coerce(scalar));
    if (outcomes.length === 0 || outcomes.some((outcome) => !outcome.ok)) return false;
    writer.flag('repaired', index, REPAIR.comma);
    for (const outcome of outcomes) if (outcome.ok) addItem(writer, outcome, index);
    return true;
  }

  #fromOther(node: ReplyNode): CoercionOutcome {
    const nested = coerceNested(this, node);
    if (nested !== undefined) return nested;
    const single = asOnlyMember(node, () => this.#element().coerce(node)) ?? mismatch('a list', node);
    const clean =
      single.ok && (single.marks & (MARK.onlyDefaults | MARK.implied | MARK.fromComposite | MARK.picked)) === 0;
    const wrapped = clean ? undefined : this.#wrappedList(node);
    if (wrapped !== undefined) return wrapped;
    if (isNothing(node) && !isMember(single)) return EMPTY_FOR_NOTHING;
    if (!single.ok) return listError(node, single);
    if ((single.marks & MARK.nullForMismatch) !== 0) return mismatch('a list', node);
    const writer = new ValueWriter();
    writer.score = 1;
    writer.flag('single-to-list', '');
    addItem(writer, single, '');
    return writer.finish('[', ']', MARK.singleToList | (single.marks & (MARK.fromComposite | MARK.implied)));
  }

  /** Finds the list in `{"people": […]}`. */
  #wrappedList(node: ReplyNode): CoercionOutcome | undefined {
    const list = onlyList(node);
    if (list === undefined) return undefined;
    const outcome = this.coerce(list);
    if (!outcome.ok) return undefined;
    return outcome.as(outcome.score + 2, 0, [{ flag: 'unwrapped-list', path: '' }, ...outcome.flags]);
  }

  override fallback(): CoercedValue | undefined {
    return MISSING;
  }

  override startsWith(kind: 'object' | 'list'): boolean {
    return kind === 'list';
  }

  override blank(_begun: boolean): string {
    return '[]';
  }

  override affinity(node: ReplyNode, depth = 0): number {
    if (node.kind !== 'list') return Infinity;
    const first = node.items[0];
    if (first === undefined || depth >= AFFINITY_DEPTH) return 0;
    const element = this.#element();
    if (first.isScalar) return !first.complete || element.coerce(first).ok ? 0 : MISMATCH;
    const affinity = element.affinity(first, depth + 1);
    return affinity === Infinity ? MISMATCH : affinity;
  }

  protected override partial(node: ReplyNode): PartialValue {
    if (node.kind === 'list') {
      if (node.items.length === 0) return EMPTY;
      return node.cached(this, () => new GrowingMembers(this.#element(), node)).show();
    }
    if (node.complete) return super.partial(node);
    const single = asOnlyMember(node, () => this.#element().show(node)) ?? PartialValue.withheld;
    const isShown = !single.allNull && !node.isScalar && single !== EMPTY;
    if (single.json !== undefined && isShown) return new PartialValue(`[${single.json}]`);
    const list = onlyList(node);
    return list === undefined ? EMPTY : this.show(list);
  }
}

const EMPTY = new PartialValue('[]');

/** The value of a missing field. */
const MISSING = new CoercedValue('[]', 0);

function addItem(writer: ValueWriter, value: CoercedValue, segment: number | ''): void {
  flatten(value.json);
  writer.add(writer.isEmpty ? '' : ',', segment, value);
  writer.score += value.score * 10;
}

/** The empty list for a word for nothing. */
const EMPTY_FOR_NOTHING = new CoercedValue('[]', 1, { marks: MARK.nothing, flags: [{ flag: 'nothing', path: '' }] });

/** True for a member that a word for nothing can be, such as the value `NONE` of an enum. */
function isMember(single: CoercionOutcome): boolean {
  return single.ok && single.json !== 'null' && (single.marks & (MARK.text | MARK.nothing | MARK.onlyDefaults)) === 0;
}

/** Returns the error of a value that is neither a list nor a member of one. */
function listError(node: ReplyNode, single: CoercionError): CoercionError {
  return new CoercionError(() => [...mismatch('a list', node).violations, ...single.violations]);
}

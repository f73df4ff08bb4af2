import { TypedList } from '../fast-path/typed-container.ts';
import { separateScalars } from '../text/bare-token.ts';
import { OPEN_BRACKET } from '../text/characters.ts';
import { flatten, GrowingText } from '../text/growing-text.ts';
import { REPAIR, type ReplyNode } from '../text/reply-node.ts';
import { describeValue, mismatch, type CoercionError } from './coercion-error.ts';
import { CoercedValue, FlagList, MARK, MemberTexts, repairFlags, type CoercionOutcome } from './outcome.ts';
import { PartialValue, Plan } from './plan.ts';
import { coerceNested, onlyList } from './unwrap.ts';

/** The depth to which a union looks into nested lists to tell its members apart. */
const AFFINITY_DEPTH = 3;

/** A list. Members that do not match are dropped and flagged. */
export class ListPlan extends Plan {
  readonly name: string;
  readonly #element: () => Plan;
  /** The value being made a list of one, which ends the recursion of types like `type A = A[]`. */
  #wrapping: ReplyNode | undefined = undefined;

  /** `element` is a function, because types can be recursive. `name`: the name of the alias of the list. */
  constructor(element: () => Plan, name = 'a list') {
    super();
    this.#element = element;
    this.name = name;
  }

  override openContainer(bracket: number): TypedList | undefined {
    return bracket === OPEN_BRACKET ? new TypedList(this.#element()) : undefined;
  }

  cast(node: ReplyNode): CoercedValue | undefined {
    if (node.kind !== 'list') return undefined;
    const element = this.#element();
    const writer = new ListWriter(node);
    for (const [index, item] of node.items.entries()) {
      const value = element.cast(item);
      if (value === undefined) return undefined;
      writer.add(value, index);
    }
    return writer.finish(node);
  }

  coerce(node: ReplyNode): CoercionOutcome {
    if (node.kind !== 'list') return this.#fromOther(node);
    const element = this.#element();
    const writer = new ListWriter(node);
    const { items } = node;
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index];
      if (item === undefined) continue;
      const outcome = element.coerce(item);
      if (outcome.ok) writer.add(outcome, index);
      else if (!this.#addEach(writer, item, index)) writer.drop(index, outcome);
    }
    return writer.finish(node);
  }

  /** Handles `[1 2 3]`: a string without quotes that does not match can be several members without commas. */
  #addEach(writer: ListWriter, item: ReplyNode, index: number): boolean {
    const outcomes = separateScalars(item).map((scalar) => this.#element().coerce(scalar));
    if (outcomes.length === 0 || outcomes.some((outcome) => !outcome.ok)) return false;
    writer.flagComma(index);
    for (const outcome of outcomes) if (outcome.ok) writer.add(outcome, index);
    return true;
  }

  #fromOther(node: ReplyNode): CoercionOutcome {
    const nested = coerceNested(this, node);
    if (nested !== undefined) return nested;
    if (this.#wrapping === node) return mismatch('a list', node);
    const outer = this.#wrapping;
    this.#wrapping = node;
    const single = this.#element().coerce(node);
    this.#wrapping = outer;
    const clean = single.ok && (single.marks & (MARK.onlyDefaults | MARK.implied | MARK.fromComposite)) === 0;
    const wrapped = clean ? undefined : this.#wrappedList(node);
    if (wrapped !== undefined) return wrapped;
    if (!single.ok || (single.marks & MARK.nullForMismatch) !== 0) return emptied(node, single);
    return single.enclosed('[', ']', 1 + single.score * 10, {
      marks: MARK.singleToList,
      flags: [{ flag: 'single-to-list', path: '' }, ...single.flags],
    });
  }

  /** Finds the list in `{"people": […]}`. */
  #wrappedList(node: ReplyNode): CoercionOutcome | undefined {
    const list = onlyList(node);
    if (list === undefined) return undefined;
    const outcome = this.coerce(list);
    if (!outcome.ok || (outcome.marks & MARK.emptied) !== 0) return undefined;
    return outcome.as(outcome.score + 2, 0, [{ flag: 'unwrapped-list', path: '' }, ...outcome.flags]);
  }

  override fallback(): CoercedValue | undefined {
    return new CoercedValue('[]', 1);
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
    if (first.isScalar) return !first.complete || element.coerce(first).ok ? 0 : 1000;
    const affinity = element.affinity(first, depth + 1);
    return affinity === Infinity ? 1000 : affinity;
  }

  protected override partial(node: ReplyNode): PartialValue {
    if (node.kind === 'list') return node.items.length === 0 ? EMPTY : new PartialValue(this.#progress(node).show());
    if (node.complete) return super.partial(node);
    if (this.#wrapping === node) return PartialValue.withheld;
    const outer = this.#wrapping;
    this.#wrapping = node;
    const single = this.#element().show(node);
    this.#wrapping = outer;
    const list = onlyList(node);
    if (single.json !== undefined && !single.allNull && !node.isScalar) return new PartialValue(`[${single.json}]`);
    return list === undefined ? EMPTY : this.show(list);
  }

  #progress(node: ReplyNode): ListProgress {
    const known = node.recall(this);
    if (known instanceof ListProgress) return known;
    const progress = new ListProgress(this.#element(), node);
    node.remember(this, progress);
    return progress;
  }
}

/** Returns the empty list for a value that does not match as a single member either. */
function emptied(node: ReplyNode, single: CoercionOutcome): CoercedValue {
  const detail = single.ok ? describeValue(node) : single.reason;
  return new CoercedValue('[]', 2, { marks: MARK.emptied, flags: [{ flag: 'dropped-item', path: '', detail }] });
}

const EMPTY = new PartialValue('[]');

class ListWriter {
  readonly #texts = new MemberTexts();
  #score = 0;
  #kept = 0;
  readonly #flags = new FlagList();

  constructor(node: ReplyNode) {
    if (node.repairs !== 0) this.#flags.addAll('', repairFlags(node));
  }

  add(value: CoercedValue, index: number): void {
    flatten(value.json);
    this.#texts.add(this.#kept === 0 ? '' : ',', value);
    this.#kept += 1;
    this.#score += value.score * 10;
    if (value.flags.length > 0 && !this.#flags.isFull) this.#flags.addAll(`[${index}]`, value.flags);
  }

  /** Flags a missing comma. */
  flagComma(index: number): void {
    this.#flags.add('repaired', `[${index}]`, REPAIR.comma);
  }

  drop(index: number, error: CoercionError): void {
    this.#score += 1 + index;
    if (!this.#flags.isFull) this.#flags.add('dropped-item', `[${index}]`, error.reason);
  }

  finish(node: ReplyNode): CoercedValue {
    return this.#texts.finish('[', ']', this.#score, {
      marks: this.#kept === 0 && node.items.length > 0 ? MARK.emptied : 0,
      flags: this.#flags.list,
    });
  }
}

/** Writes the partials of one list as it grows. Each complete member is written once. */
class ListProgress {
  readonly #element: Plan;
  readonly #node: ReplyNode;
  readonly #json = new GrowingText();
  #written = 0;

  constructor(element: Plan, node: ReplyNode) {
    this.#element = element;
    this.#node = node;
  }

  show(): string {
    const { items } = this.#node;
    for (; this.#written < items.length; this.#written += 1) {
      const item = items[this.#written];
      if (item === undefined || !item.complete) break;
      this.#json.append(this.#next(item));
      item.forget();
    }
    const open = items[this.#written];
    return `[${this.#json.text}${open === undefined ? '' : this.#next(open)}]`;
  }

  /** Returns a member with its comma; empty if it is hidden. */
  #next(item: ReplyNode): string {
    const member = memberText(this.#element, item);
    if (member === undefined) return '';
    return this.#json.isEmpty ? member : `,${member}`;
  }
}

/** Returns the partial of a member. A member that can still be dropped is hidden, so that lists never shrink. */
export function memberText(plan: Plan, item: ReplyNode): string | undefined {
  if (plan.mayBreakAssert() && !(item.complete && plan.coerce(item).ok)) return undefined;
  return plan.show(item).json;
}

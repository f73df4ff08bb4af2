import { isScalar } from './scalar-plans.ts';
import { OPEN_BRACKET } from '../text/characters.ts';
import type { Place } from '../fast-path/typed-container.ts';
import { TypedList } from '../fast-path/typed-list.ts';
import { GrowingText } from '../text/growing-text.ts';
import { flatten } from '../text/flatten.ts';
import { separateScalars } from '../text/bare-token.ts';
import { describeRepairs, REPAIR, type ValueNode } from '../text/value-node.ts';
import { describeValue } from './display-text.ts';
import { Coerced, GrowingTexts, MARK, mismatch, NoteList, type Misfit, type Outcome } from './outcome.ts';
import { coerceNested } from './nested-value.ts';
import { Partial } from './partial.ts';
import { Plan, repairNotes } from './plan.ts';

/** How deep a union looks into nested lists to tell its members apart. */
const AFFINITY_DEPTH = 3;

/** A list. Members that do not fit are dropped, and said to be. */
export class ListPlan extends Plan {
  readonly name: string;
  readonly #element: Plan;
  /** The value that is being made a list of one, which ends the recursion of types like `type A = A[]`. */
  #wrapping: ValueNode | undefined = undefined;

  constructor(element: Plan) {
    super();
    this.#element = element;
    this.name = 'a list';
  }

  override openContainer(bracket: number, place: Place): TypedList | undefined {
    return bracket === OPEN_BRACKET ? new TypedList(this.#element, place) : undefined;
  }

  cast(node: ValueNode): Coerced | undefined {
    if (node.kind !== 'list') return undefined;
    const writer = new ListWriter(node);
    for (const [index, item] of node.items.entries()) {
      const value = this.#element.cast(item);
      if (value === undefined) return undefined;
      writer.add(value, index);
    }
    return writer.finish(node);
  }

  coerce(node: ValueNode): Outcome {
    if (node.kind !== 'list') return this.#fromOther(node);
    const writer = new ListWriter(node);
    const items = node.items;
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index];
      if (item === undefined) continue;
      const outcome = this.#element.coerce(item);
      if (outcome.ok) writer.add(outcome, index);
      else if (!this.#addEach(writer, item, index)) writer.drop(index, outcome);
    }
    return writer.finish(node);
  }

  /** `[1 2 3]`: a text without quotes that is no member may be several without commas. */
  #addEach(writer: ListWriter, item: ValueNode, index: number): boolean {
    const outcomes = separateScalars(item).map((scalar) => this.#element.coerce(scalar));
    if (outcomes.length === 0 || outcomes.some((outcome) => !outcome.ok)) return false;
    writer.repaired(index);
    for (const outcome of outcomes) if (outcome.ok) writer.add(outcome, index);
    return true;
  }

  #fromOther(node: ValueNode): Outcome {
    const nested = coerceNested(this, node);
    if (nested !== undefined) return nested;
    if (this.#wrapping === node) return mismatch('a list', node);
    const outer = this.#wrapping;
    this.#wrapping = node;
    const single = this.#element.coerce(node);
    this.#wrapping = outer;
    const clean = single.ok && (single.marks & (MARK.onlyDefaults | MARK.implied | MARK.fromComposite)) === 0;
    const wrapped = clean ? undefined : this.#wrappedList(node);
    if (wrapped !== undefined) return wrapped;
    if (!single.ok || (single.marks & MARK.nullForMisfit) !== 0) return emptied(node, single);
    return single.enclosed('[', ']', 1 + single.score * 10, {
      marks: MARK.singleToList,
      notes: [{ flag: 'single-to-list', path: '' }, ...single.notes],
    });
  }

  /** `{"people": […]}` where a list of people is wanted. */
  #wrappedList(node: ValueNode): Outcome | undefined {
    const list = onlyList(node);
    if (list === undefined) return undefined;
    const outcome = this.coerce(list);
    if (!outcome.ok || (outcome.marks & MARK.emptied) !== 0) return undefined;
    return outcome.as(outcome.score + 2, 0, [{ flag: 'unwrapped-list', path: '' }, ...outcome.notes]);
  }

  override fallback(): Coerced | undefined {
    return new Coerced('[]', 1);
  }

  override blank(_begun: boolean): string {
    return '[]';
  }

  override startsWith(kind: 'object' | 'list'): boolean {
    return kind === 'list';
  }

  override affinity(node: ValueNode, depth = 0): number {
    if (node.kind !== 'list') return Infinity;
    const first = node.items[0];
    if (first === undefined || depth >= AFFINITY_DEPTH) return 0;
    if (isScalar(first)) return !first.complete || this.#element.coerce(first).ok ? 0 : 1000;
    const affinity = this.#element.affinity(first, depth + 1);
    return affinity === Infinity ? 1000 : affinity;
  }

  protected override partial(node: ValueNode): Partial {
    if (node.kind === 'list') return node.items.length === 0 ? EMPTY : new Partial(this.#progress(node).show());
    if (node.complete) return super.partial(node);
    const list = onlyList(node);
    const single = this.#element.show(node);
    if (single.json !== undefined && !single.hollow && !isScalar(node)) return new Partial(`[${single.json}]`);
    return list === undefined ? new Partial('[]') : this.show(list);
  }

  #progress(node: ValueNode): ListProgress {
    const known = node.recall(this);
    if (known instanceof ListProgress) return known;
    const progress = new ListProgress(this.#element, node);
    node.remember(this, progress);
    return progress;
  }
}

/** The only list among the values of an object. */
function onlyList(node: ValueNode): ValueNode | undefined {
  if (node.kind !== 'object') return undefined;
  const lists = node.items.filter((item) => item.kind === 'list');
  return lists.length === 1 ? lists[0] : undefined;
}

function emptied(node: ValueNode, single: Outcome): Coerced {
  const detail = single.ok ? describeValue(node) : single.reason;
  return new Coerced('[]', 2, { marks: MARK.emptied, notes: [{ flag: 'dropped-item', path: '', detail }] });
}

const EMPTY = new Partial('[]');

class ListWriter {
  readonly #texts = new GrowingTexts();
  #score = 0;
  #kept = 0;
  readonly #notes = new NoteList();

  constructor(node: ValueNode) {
    if (node.repairs !== 0) this.#notes.addAll('', repairNotes(node));
  }

  add(value: Coerced, index: number): void {
    flatten(value.json);
    this.#texts.add(this.#kept === 0 ? '' : ',', value);
    this.#kept += 1;
    this.#score += value.score * 10;
    if (value.notes.length > 0 && !this.#notes.isFull) this.#notes.addAll(`[${index}]`, value.notes);
  }

  /** A comma was missing. */
  repaired(index: number): void {
    this.#notes.add('repaired', `[${index}]`, describeRepairs(REPAIR.comma));
  }

  drop(index: number, outcome: Misfit): void {
    this.#score += 1 + index;
    if (!this.#notes.isFull) this.#notes.add('dropped-item', `[${index}]`, outcome.reason);
  }

  finish(node: ValueNode): Coerced {
    return this.#texts.finish('[', ']', this.#score, {
      marks: this.#kept === 0 && node.items.length > 0 ? MARK.emptied : 0,
      notes: this.#notes.list,
    });
  }
}

/** The partial of one list as it grows: members that are complete are written once. */
class ListProgress {
  readonly #element: Plan;
  readonly #node: ValueNode;
  readonly #json = new GrowingText();
  #written = 0;

  constructor(element: Plan, node: ValueNode) {
    this.#element = element;
    this.#node = node;
  }

  show(): string {
    const items = this.#node.items;
    for (; this.#written < items.length; this.#written += 1) {
      const item = items[this.#written];
      if (item === undefined || !item.complete) break;
      this.#json.append(this.#next(item));
      item.forget();
    }
    const open = items[this.#written];
    return `[${this.#json.text}${open === undefined ? '' : this.#next(open)}]`;
  }

  /** A member with its comma; empty when it does not appear. */
  #next(item: ValueNode): string {
    const member = memberText(this.#element, item);
    if (member === undefined) return '';
    return this.#json.isEmpty ? member : `,${member}`;
  }
}

/** A member that may still be dropped does not appear, so that lists never shrink. */
export function memberText(plan: Plan, item: ValueNode): string | undefined {
  if (plan.mayBreakAssert() && !(item.complete && plan.coerce(item).ok)) return undefined;
  return plan.show(item).json;
}

import { GrowingText } from '../growing-text.ts';
import type { ReplyNode } from '../candidates/scan/reply-node.ts';
import { PartialValue, type Plan } from './plan.ts';
import type { Reading } from './step-budget.ts';

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
    const comma = this.#json.isEmpty ? '' : ',';
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

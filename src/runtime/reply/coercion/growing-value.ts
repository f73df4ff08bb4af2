import { GrowingText } from '../text/growing-text.ts';
import type { ReplyNode } from '../text/reply-node.ts';
import type { ClassFields, FieldPlan } from './class-fields.ts';
import { MISMATCH, PartialValue, type Plan } from './plan.ts';

/** The partials of an object of a class as it grows. Each complete field is written once. */
export class GrowingObject {
  readonly #fields: ClassFields;
  readonly #node: ReplyNode;
  /** The indexes of the values in the object. */
  readonly #indexes: (number | undefined)[] = [];
  readonly #finished: (PartialValue | undefined)[] = [];
  #scanned = 0;

  constructor(fields: ClassFields, node: ReplyNode) {
    this.#fields = fields;
    this.#node = node;
  }

  show(): PartialValue {
    this.#scan();
    const { all, shown } = this.#fields;
    let json = '{';
    let allNull = true;
    for (const position of shown) {
      const field = all[position];
      if (field === undefined) continue;
      const partial = this.#finished[position] ?? this.#field(field, position);
      if (partial === undefined && field.streamNotNull) return PartialValue.withheld;
      const value = partial?.json ?? field.plan.blank(this.#indexes[position] !== undefined);
      json += (json === '{' ? field.jsonKey : field.nextJsonKey) + value;
      allNull &&= partial === undefined ? isNullBlank(value) : partial.allNull || value === 'null';
    }
    return new PartialValue(`${json}}`, allNull);
  }

  /** Assigns the members that have arrived since the last call. */
  #scan(): void {
    const { keys } = this.#node;
    for (; this.#scanned < keys.length; this.#scanned += 1) {
      this.#assign(keys[this.#scanned] ?? '', this.#scanned);
    }
  }

  #assign(key: string, index: number): void {
    const position = this.#fields.positionOf(key);
    if (position < 0) return;
    const other = this.#indexes[position];
    if (other !== undefined && !this.#fields.isCloser(key, this.#node.keys[other] ?? '')) return;
    this.#indexes[position] = index;
    this.#finished[position] = undefined;
  }

  /** Returns the partial of a field that has begun; undefined if it shows nothing. */
  #field(field: FieldPlan, position: number): PartialValue | undefined {
    const item = this.#node.items[this.#indexes[position] ?? -1];
    if (item === undefined) return undefined;
    const partial = field.plan.show(item);
    if (partial.json === undefined || (partial.allNull && field.streamNotNull)) return undefined;
    if (!item.complete) return partial;
    item.forget();
    this.#finished[position] = partial;
    return partial;
  }
}

/** Unions compare objects with classes by this many keys; more would not change the result. */
const MAX_COMPARED_KEYS = 50;

/** The affinity of an object to a class as it grows. Each complete member is compared once. */
export class GrowingAffinity {
  readonly #fields: ClassFields;
  readonly #node: ReplyNode;
  #settled = 0;
  #compared = 0;

  constructor(fields: ClassFields, node: ReplyNode) {
    this.#fields = fields;
    this.#node = node;
  }

  get score(): number {
    const { items } = this.#node;
    const limit = Math.min(items.length, MAX_COMPARED_KEYS);
    for (; this.#compared < limit && items[this.#compared]?.complete === true; this.#compared += 1) {
      this.#settled += this.#costOf(this.#compared);
    }
    return this.#compared < limit ? this.#settled + this.#costOf(limit - 1) : this.#settled;
  }

  #costOf(index: number): number {
    const field = this.#fields.all[this.#fields.positionOf(this.#node.keys[index] ?? '')];
    const item = this.#node.items[index];
    if (field === undefined || item === undefined) return 1;
    return item.complete && item.items.length === 0 && !field.plan.coerce(item).ok ? MISMATCH : 0;
  }
}

/** Null, or null in the wrappers of `@check` and `@stream.with_state`. */
function isNullBlank(json: string): boolean {
  return json === 'null' || json.startsWith('{"value":null,') || json.startsWith('{"value":{"value":null,');
}

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

  show(): PartialValue {
    const { items } = this.#node;
    for (; items[this.#written]?.complete === true; this.#written += 1) {
      this.#json.append(this.#member(this.#written, true));
      items[this.#written]?.forget();
    }
    const json = this.#json.text + this.#member(this.#written, false);
    return new PartialValue(this.#keyText === undefined ? `[${json}]` : `{${json}}`);
  }

  /** Returns a member with its comma and key; empty if it is hidden. */
  #member(index: number, keep: boolean): string {
    const item = this.#node.items[index];
    const value = item === undefined ? undefined : this.#visible(item, index);
    if (value === undefined) return '';
    const comma = this.#json.isEmpty ? '' : ',';
    if (this.#keyText === undefined) return comma + value;
    const key = this.#keyText(this.#node.keys[index] ?? '');
    if (key === undefined || this.#seen.has(key)) return '';
    if (keep) this.#seen.add(key);
    return `${comma}${key}:${value}`;
  }

  /** A member that an `@assert` rejects stays as it was shown before it was complete, since lists never shrink. */
  #visible(item: ReplyNode, index: number): string | undefined {
    if (item.complete && this.#plan.mayBreakAssert() && !this.#plan.coerce(item).ok) {
      return this.#openAt === index ? this.#open : undefined;
    }
    const { json } = this.#plan.show(item);
    if (json !== undefined && !item.complete) {
      this.#open = json;
      this.#openAt = index;
    }
    return json;
  }
}

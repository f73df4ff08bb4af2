import type { ValueNode } from '../text/value-node.ts';
import type { FieldPlan, Fields } from './field-plan.ts';
import { Partial } from './partial.ts';

/** Null, or null in the wrappers of `@check` and `@stream.with_state`. */
function isNullBlank(json: string): boolean {
  return json === 'null' || json.startsWith('{"value":null,') || json.startsWith('{"value":{"value":null,');
}

/** The partial of one object as it grows: members that are complete are written once. */
export class ObjectProgress {
  readonly #plan: Fields;
  readonly #node: ValueNode;
  readonly #slots: (ValueNode | undefined)[] = [];
  readonly #finished: (Partial | undefined)[] = [];
  #scanned = 0;

  constructor(plan: Fields, node: ValueNode) {
    this.#plan = plan;
    this.#node = node;
  }

  show(): Partial {
    this.#scan();
    const { fields, shown } = this.#plan;
    let json = '{';
    let hollow = true;
    for (const index of shown) {
      const field = fields[index];
      if (field === undefined) continue;
      const partial = this.#finished[index] ?? this.#field(field, index);
      if (partial === undefined && field.streamNotNull) return Partial.withheld;
      const value = partial?.json ?? field.plan.blank(this.#slots[index] !== undefined);
      json += (json === '{' ? field.jsonKey : field.nextJsonKey) + value;
      hollow &&= partial === undefined ? isNullBlank(value) : partial.hollow || value === 'null';
    }
    return new Partial(`${json}}`, hollow);
  }

  #scan(): void {
    const { keys, items } = this.#node;
    for (; this.#scanned < items.length; this.#scanned += 1) {
      const field = this.#plan.fieldOf(keys[this.#scanned] ?? '');
      if (field >= 0) this.#slots[field] ??= items[this.#scanned];
    }
  }

  /** A field that has begun; undefined when there is nothing to show of it. */
  #field(field: FieldPlan, index: number): Partial | undefined {
    const item = this.#slots[index];
    if (item === undefined) return undefined;
    const partial = field.plan.show(item);
    if (partial.json === undefined || (partial.hollow && field.streamNotNull)) return undefined;
    if (!item.complete) return partial;
    item.forget();
    this.#finished[index] = partial;
    return partial;
  }
}

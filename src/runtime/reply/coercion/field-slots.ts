import type { ValueNode } from '../text/value-node.ts';

/** The values of an object by field; of a key that occurs twice the first one counts. */
export class FieldSlots {
  known = 0;
  unknown = 0;
  #duplicates = 0;
  #items: (ValueNode | undefined)[] | undefined = undefined;

  put(field: number, item: ValueNode | undefined): void {
    if (field < 0) {
      this.unknown += 1;
      return;
    }
    this.#items ??= [];
    if (this.#items[field] === undefined) {
      this.#items[field] = item;
      this.known += 1;
    } else this.#duplicates += 1;
  }

  item(field: number): ValueNode | undefined {
    return this.#items?.[field];
  }

  /** Some key has found no field. */
  get hasLeftOver(): boolean {
    return this.unknown + this.#duplicates > 0;
  }
}

export const NO_SLOTS = new FieldSlots();

import { TemplateFault } from '../template-fault.ts';
import { valuesEqual } from '../values/compare-values.ts';
import type { TextSink } from '../values/segment.ts';
import { type CallArguments, Special, type Value } from '../values/value.ts';

/** `loop` in the body of a `for`. One object for the whole loop; `index` moves on. */
export class LoopValue extends Special {
  readonly kindName = 'loop';
  readonly #items: readonly Value[];
  readonly #depth: number;
  readonly #recurse: ((items: Value) => Value) | undefined;
  #changed: readonly Value[] | undefined;
  index = 0;

  constructor(items: readonly Value[], depth: number, recurse: ((items: Value) => Value) | undefined) {
    super();
    this.#items = items;
    this.#depth = depth;
    this.#recurse = recurse;
  }

  override attribute(name: string): Value {
    const { index } = this;
    const { length } = this.#items;
    switch (name) {
      case 'index':
        return index + 1;
      case 'index0':
        return index;
      case 'revindex':
        return length - index;
      case 'revindex0':
        return length - index - 1;
      case 'first':
        return index === 0;
      case 'last':
        return index === length - 1;
      case 'length':
        return length;
      case 'depth':
        return this.#depth + 1;
      case 'depth0':
        return this.#depth;
      case 'previtem':
        return this.#items[index - 1];
      case 'nextitem':
        return this.#items[index + 1];
      default:
        return undefined;
    }
  }

  override callMethod(name: string, { positional }: CallArguments): Value {
    if (name === 'cycle') return positional[this.index % Math.max(1, positional.length)];
    if (name !== 'changed') throw new TemplateFault(`loop has no method "${name}"`);
    const before = this.#changed;
    this.#changed = positional;
    return before === undefined || !valuesEqual(before, positional);
  }

  /** `loop(items)` runs the body of a recursive loop again. */
  override call({ positional }: CallArguments): Value {
    if (this.#recurse === undefined) throw new TemplateFault('the loop is not "recursive"');
    return this.#recurse(positional[0]);
  }

  override print(out: TextSink): void {
    out.write(`<loop ${this.index}/${this.#items.length}>`);
  }
}

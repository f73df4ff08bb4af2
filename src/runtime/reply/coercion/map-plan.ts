import { TypedMap } from '../fast-path/typed-container.ts';
import { OPEN_BRACE } from '../text/characters.ts';
import { stringNode, type ReplyNode } from '../text/reply-node.ts';
import { mismatch } from './coercion-error.ts';
import { GrowingMembers } from './growing-value.ts';
import { CoercedValue, type CoercionOutcome, ValueWriter } from './outcome.ts';
import { PartialValue, Plan } from './plan.ts';
import { coerceNested } from './unwrap.ts';

/** A map: keys as the model wrote them, enum keys by their real names. Values that do not match are dropped. */
export class MapPlan extends Plan {
  readonly name: string;
  readonly #key: Plan;
  readonly #value: () => Plan;

  /** `value` is a function, because types can be recursive. `name`: the name of the alias of the map. */
  constructor(key: Plan, value: () => Plan, name = 'a map') {
    super();
    this.#key = key;
    this.#value = value;
    this.name = name;
  }

  get value(): Plan {
    return this.#value();
  }

  /** Returns the JSON text of a key. */
  keyText(key: string): string {
    return this.#key.cast(stringNode(key))?.json ?? JSON.stringify(key);
  }

  override openContainer(bracket: number): TypedMap | undefined {
    return bracket === OPEN_BRACE ? new TypedMap(this) : undefined;
  }

  cast(node: ReplyNode): CoercedValue | undefined {
    if (node.kind !== 'object') return undefined;
    const writer = new ValueWriter(node);
    const seen = new Set<string>();
    for (const [index, item] of node.items.entries()) {
      const value = this.value.cast(item);
      if (value === undefined) return undefined;
      this.#addEntry(writer, seen, node.keys[index] ?? '', value);
    }
    return writer.finish('{', '}', 0);
  }

  coerce(node: ReplyNode): CoercionOutcome {
    if (node.kind !== 'object') return coerceNested(this, node) ?? mismatch('a map', node);
    const writer = new ValueWriter(node);
    const seen = new Set<string>();
    for (const [index, item] of node.items.entries()) {
      const key = node.keys[index] ?? '';
      const outcome = this.value.coerce(item);
      if (outcome.ok) this.#addEntry(writer, seen, key, outcome);
      else {
        writer.score += 1;
        if (!writer.hasAllFlags) writer.flag('dropped-item', key, outcome.reason);
      }
    }
    return writer.finish('{', '}', 0);
  }

  /** `seen`: the JSON texts of the keys so far. */
  #addEntry(writer: ValueWriter, seen: Set<string>, key: string, value: CoercedValue): void {
    const keyText = this.keyText(key);
    if (seen.has(keyText)) {
      writer.flag('duplicate-key', key);
      return;
    }
    writer.add(seen.size === 0 ? `${keyText}:` : `,${keyText}:`, key, value);
    writer.score += value.score;
    seen.add(keyText);
  }

  override fallback(): CoercedValue | undefined {
    return new CoercedValue('{}', 1);
  }

  override startsWith(kind: 'object' | 'list'): boolean {
    return kind === 'object';
  }

  override blank(_begun: boolean): string {
    return '{}';
  }

  override affinity(node: ReplyNode): number {
    return node.kind === 'object' ? 0 : Infinity;
  }

  protected override partial(node: ReplyNode): PartialValue {
    if (node.kind !== 'object') return super.partial(node);
    if (node.items.length === 0) return EMPTY;
    return node.cached(this, () => new GrowingMembers(this.value, node, (key) => this.keyText(key))).show();
  }
}

const EMPTY = new PartialValue('{}');

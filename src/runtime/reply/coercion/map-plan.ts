import { TypedMap } from '../fast-path/typed-container.ts';
import { OPEN_BRACE } from '../text/characters.ts';
import { GrowingText } from '../text/growing-text.ts';
import { stringNode, type ReplyNode } from '../text/reply-node.ts';
import { mismatch, type CoercionError } from './coercion-error.ts';
import { memberText } from './list-plan.ts';
import { CoercedValue, FlagList, MemberTexts, repairFlags, type CoercionOutcome } from './outcome.ts';
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
    const writer = new MapWriter(node);
    for (const [index, item] of node.items.entries()) {
      const key = node.keys[index] ?? '';
      const value = this.value.cast(item);
      if (value === undefined) return undefined;
      writer.add(key, this.keyText(key), value);
    }
    return writer.finish();
  }

  coerce(node: ReplyNode): CoercionOutcome {
    if (node.kind !== 'object') return coerceNested(this, node) ?? mismatch('a map', node);
    const writer = new MapWriter(node);
    for (const [index, item] of node.items.entries()) {
      const key = node.keys[index] ?? '';
      const outcome = this.value.coerce(item);
      if (outcome.ok) writer.add(key, this.keyText(key), outcome);
      else writer.drop(key, outcome);
    }
    return writer.finish();
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
    const known = node.recall(this);
    const progress = known instanceof MapProgress ? known : new MapProgress(this, node);
    if (known === undefined) node.remember(this, progress);
    return new PartialValue(progress.show());
  }
}

const EMPTY = new PartialValue('{}');

class MapWriter {
  readonly #texts = new MemberTexts();
  #score = 0;
  readonly #seen = new Set<string>();
  readonly #flags = new FlagList();

  constructor(node: ReplyNode) {
    if (node.repairs !== 0) this.#flags.addAll('', repairFlags(node));
  }

  add(key: string, keyText: string, value: CoercedValue): void {
    if (this.#seen.has(keyText)) {
      this.#flags.add('duplicate-key', key);
      return;
    }
    const head = this.#seen.size === 0 ? `${keyText}:` : `,${keyText}:`;
    this.#seen.add(keyText);
    this.#texts.add(head, value);
    this.#score += value.score;
    if (value.flags.length > 0) this.#flags.addAll(key, value.flags);
  }

  drop(key: string, error: CoercionError): void {
    this.#score += 1;
    if (!this.#flags.isFull) this.#flags.add('dropped-item', key, error.reason);
  }

  finish(): CoercedValue {
    return this.#texts.finish('{', '}', this.#score, { flags: this.#flags.list });
  }
}

/** Writes the partials of one map as it grows. Each complete member is written once. */
class MapProgress {
  readonly #plan: MapPlan;
  readonly #node: ReplyNode;
  readonly #seen = new Set<string>();
  readonly #json = new GrowingText();
  #written = 0;

  constructor(plan: MapPlan, node: ReplyNode) {
    this.#plan = plan;
    this.#node = node;
  }

  show(): string {
    const { items } = this.#node;
    for (; this.#written < items.length && items[this.#written]?.complete === true; this.#written += 1) {
      this.#json.append(this.#entry(this.#written, true));
      items[this.#written]?.forget();
    }
    return `{${this.#json.text}${this.#entry(this.#written, false)}}`;
  }

  /** Returns an entry with its comma; empty if it is hidden. */
  #entry(index: number, keep: boolean): string {
    const item = this.#node.items[index];
    const value = item === undefined ? undefined : memberText(this.#plan.value, item);
    if (value === undefined) return '';
    const key = this.#plan.keyText(this.#node.keys[index] ?? '');
    if (this.#seen.has(key)) return '';
    if (keep) this.#seen.add(key);
    return `${this.#json.isEmpty ? '' : ','}${key}:${value}`;
  }
}

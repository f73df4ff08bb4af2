import { OPEN_BRACE } from '../text/characters.ts';
import type { Place } from '../fast-path/typed-container.ts';
import { TypedMap } from '../fast-path/typed-map.ts';
import { GrowingText } from '../text/growing-text.ts';
import type { ValueNode } from '../text/value-node.ts';
import { stringNode } from '../text/value-node.ts';
import { memberText } from './list-plan.ts';
import { coerceNested } from './nested-value.ts';
import { Coerced, GrowingTexts, mismatch, NoteList, type Misfit, type Outcome } from './outcome.ts';
import { Partial } from './partial.ts';
import { Plan, repairNotes } from './plan.ts';

/** A map: the object's keys as they are, enum keys by their real names; values that do not fit are dropped. */
export class MapPlan extends Plan {
  readonly name = 'a map';
  readonly #key: Plan;
  readonly value: Plan;

  constructor(key: Plan, value: Plan) {
    super();
    this.#key = key;
    this.value = value;
  }

  override openContainer(bracket: number, place: Place): TypedMap | undefined {
    return bracket === OPEN_BRACE ? new TypedMap(this, place) : undefined;
  }

  cast(node: ValueNode): Coerced | undefined {
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

  coerce(node: ValueNode): Outcome {
    if (node.kind !== 'object') {
      return coerceNested(this, node) ?? mismatch('a map', node);
    }
    const writer = new MapWriter(node);
    for (const [index, item] of node.items.entries()) {
      const key = node.keys[index] ?? '';
      const outcome = this.value.coerce(item);
      if (outcome.ok) writer.add(key, this.keyText(key), outcome);
      else writer.drop(key, outcome);
    }
    return writer.finish();
  }

  /** The JSON text of a key. */
  keyText(key: string): string {
    return this.#key.cast(stringNode(key))?.json ?? JSON.stringify(key);
  }

  override fallback(): Coerced | undefined {
    return new Coerced('{}', 1);
  }

  override blank(_begun: boolean): string {
    return '{}';
  }

  override startsWith(kind: 'object' | 'list'): boolean {
    return kind === 'object';
  }

  override affinity(node: ValueNode): number {
    return node.kind === 'object' ? 0 : Infinity;
  }

  protected override partial(node: ValueNode): Partial {
    if (node.kind !== 'object') return super.partial(node);
    if (node.items.length === 0) return EMPTY;
    const known = node.recall(this);
    const progress = known instanceof MapProgress ? known : new MapProgress(this, node);
    if (known === undefined) node.remember(this, progress);
    return new Partial(progress.show());
  }
}

const EMPTY = new Partial('{}');

class MapWriter {
  readonly #texts = new GrowingTexts();
  #score = 0;
  readonly #seen = new Set<string>();
  readonly #notes = new NoteList();

  constructor(node: ValueNode) {
    if (node.repairs !== 0) this.#notes.addAll('', repairNotes(node));
  }

  add(key: string, keyText: string, value: Coerced): void {
    if (this.#seen.has(keyText)) {
      this.#notes.add('duplicate-key', key);
      return;
    }
    const head = this.#seen.size === 0 ? `${keyText}:` : `,${keyText}:`;
    this.#seen.add(keyText);
    this.#texts.add(head, value);
    this.#score += value.score;
    if (value.notes.length > 0) this.#notes.addAll(key, value.notes);
  }

  drop(key: string, outcome: Misfit): void {
    this.#score += 1;
    if (!this.#notes.isFull) this.#notes.add('dropped-item', key, outcome.reason);
  }

  finish(): Coerced {
    return this.#texts.finish('{', '}', this.#score, { notes: this.#notes.list });
  }
}

/** The partial of one map as it grows. */
class MapProgress {
  readonly #plan: MapPlan;
  readonly #node: ValueNode;
  readonly #seen = new Set<string>();
  readonly #json = new GrowingText();
  #written = 0;

  constructor(plan: MapPlan, node: ValueNode) {
    this.#plan = plan;
    this.#node = node;
  }

  show(): string {
    const { items } = this.#node;
    for (; this.#written < items.length && items[this.#written]?.complete === true; this.#written += 1) {
      this.#json.append(this.#next(this.#written, true));
      items[this.#written]?.forget();
    }
    return `{${this.#json.text}${this.#next(this.#written, false)}}`;
  }

  /** An entry with its comma; empty when it does not appear. */
  #next(index: number, keep: boolean): string {
    const item = this.#node.items[index];
    const value = item === undefined ? undefined : memberText(this.#plan.value, item);
    if (value === undefined) return '';
    const key = this.#plan.keyText(this.#node.keys[index] ?? '');
    if (this.#seen.has(key)) return '';
    if (keep) this.#seen.add(key);
    return `${this.#json.isEmpty ? '' : ','}${key}:${value}`;
  }
}

import { TypedMap } from '../fast-path/typed-container.ts';
import { OPEN_BRACE } from '../text/characters.ts';
import { isNothing } from '../text/nothing.ts';
import type { ReplyNode } from '../text/reply-node.ts';
import {
  coercionError,
  emptiedError,
  MAX_ERRORS,
  memberError,
  mismatch,
  type CoercionError,
} from './coercion-error.ts';
import { GrowingMembers } from './growing-value.ts';
import type { LabelMatch, LabelMatcher } from './label-matcher.ts';
import { CoercedValue, DROPPED, MARK, type CoercionOutcome, ValueWriter } from './outcome.ts';
import { PartialValue, Plan } from './plan.ts';
import { coerceNested } from './unwrap.ts';

/**
 * A map: keys as the model wrote them, keys of enums and literals by their real names. Entries whose key or value does
 * not match are dropped. Of several entries with the same key, the first one stays.
 */
export class MapPlan extends Plan {
  readonly name: string;
  readonly #keys: LabelMatcher | undefined;
  readonly #value: () => Plan;

  /**
   * `keys`: the keys of the type; undefined for strings. `value` is a function, because types can be recursive.
   * `name`: the name of the alias of the map.
   */
  constructor(keys: LabelMatcher | undefined, value: () => Plan, name = 'a map') {
    super();
    this.#keys = keys;
    this.#value = value;
    this.name = name;
  }

  get value(): Plan {
    return this.#value();
  }

  exactKey(key: string): string | undefined {
    return this.#keys === undefined ? JSON.stringify(key) : this.#keys.exact(key);
  }

  /** Finds the key that the model means, even in another letter case, with accents or with punctuation. The whole key has to match. */
  #matchKey(key: string): LabelMatch {
    const json = this.exactKey(key);
    if (json !== undefined) return { kind: 'match', json, cost: 0, flags: [] };
    return this.#keys?.whole(key.trim()) ?? { kind: 'none' };
  }

  #keyText(key: string): string | undefined {
    const match = this.#matchKey(key);
    return match.kind === 'match' ? match.json : undefined;
  }

  override openContainer(bracket: number): TypedMap | undefined {
    return bracket === OPEN_BRACE ? new TypedMap(this) : undefined;
  }

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    if (node.kind !== 'object') return undefined;
    const writer = new ValueWriter(node);
    const seen = new Map<string, string>();
    for (const [index, item] of node.items.entries()) {
      const key = node.keys[index] ?? '';
      const json = this.exactKey(key);
      const value = json === undefined ? undefined : this.value.cast(item);
      if (json === undefined || value === undefined) return undefined;
      addEntry(writer, seen, { key, json, value });
    }
    return writer.finish('{', '}', MARK.map);
  }

  protected coerceOnce(node: ReplyNode): CoercionOutcome {
    if (node.kind === 'object') return this.#fromObject(node);
    return coerceNested(this, node) ?? (isNothing(node) ? EMPTY_FOR_NOTHING : mismatch('a map', node));
  }

  #fromObject(node: ReplyNode): CoercionOutcome {
    const writer = new ValueWriter(node);
    const seen = new Map<string, string>();
    const errors: CoercionError[] = [];
    const exact = this.#exactKeys(node);
    for (const [index, item] of node.items.entries()) {
      const key = node.keys[index] ?? '';
      if (this.#hasExact(key, exact)) {
        writer.lose(DROPPED, 'duplicate-key', key, OTHER_VALUE);
        continue;
      }
      const error = this.#coerceEntry(writer, seen, key, item);
      if (error !== undefined && errors.length < MAX_ERRORS) errors.push(memberError(key, error));
    }
    return writer.isEmpty && node.items.length > 0 ? emptiedError(node, errors) : writer.finish('{', '}', MARK.map);
  }

  /** Returns the JSON texts of the keys that are spelled as declared. */
  #exactKeys(node: ReplyNode): ReadonlySet<string | undefined> | undefined {
    return this.#keys === undefined ? undefined : new Set(node.keys.map((key) => this.exactKey(key)));
  }

  /** True for another spelling of a key that the object also has as declared. */
  #hasExact(key: string, exact: ReadonlySet<string | undefined> | undefined): boolean {
    if (exact === undefined || this.exactKey(key) !== undefined) return false;
    const json = this.#keyText(key);
    return json !== undefined && exact.has(json);
  }

  /** Returns the error of an entry that does not match. */
  #coerceEntry(
    writer: ValueWriter,
    seen: Map<string, string>,
    key: string,
    item: ReplyNode,
  ): CoercionError | undefined {
    const match = this.#matchKey(key);
    const outcome = match.kind === 'match' ? this.value.coerce(item) : unknownKey(key);
    if (match.kind === 'match' && outcome.ok) {
      writer.score += match.cost;
      for (const flag of match.flags) writer.flag(flag, key);
      addEntry(writer, seen, { key, json: match.json, value: outcome });
      return undefined;
    }
    if (outcome.ok) return undefined;
    writer.score += 1;
    writer.lose(DROPPED, 'dropped-item', key, outcome);
    return outcome;
  }

  override fallback(): CoercedValue | undefined {
    return MISSING;
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
    return node.cached(this, () => new GrowingMembers(this.value, node, (key) => this.#keyText(key))).show();
  }
}

const EMPTY = new PartialValue('{}');

/** The value of a missing field. */
const MISSING = new CoercedValue('{}', 0);

/** The empty map for a word for nothing. */
const EMPTY_FOR_NOTHING = new CoercedValue('{}', 1, { marks: MARK.nothing, flags: [{ flag: 'nothing', path: '' }] });

interface Entry {
  readonly key: string;
  /** The JSON text of the key. */
  readonly json: string;
  readonly value: CoercedValue;
}

/** `seen`: the JSON texts of the entries so far by those of their keys. */
function addEntry(writer: ValueWriter, seen: Map<string, string>, { key, json, value }: Entry): void {
  const first = seen.get(json);
  if (first !== undefined) {
    if (first === value.json) writer.flag('duplicate-key', key);
    else writer.lose(DROPPED, 'duplicate-key', key, OTHER_VALUE);
    return;
  }
  writer.add(seen.size === 0 ? `${json}:` : `,${json}:`, key, value);
  writer.score += value.score;
  seen.set(json, value.json);
}

const OTHER_VALUE = { reason: 'the map has another value for the key' };

function unknownKey(key: string): CoercionError {
  return coercionError(`${JSON.stringify(key)} is not a key of the map`);
}

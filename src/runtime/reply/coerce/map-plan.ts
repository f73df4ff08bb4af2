import { NO_LOSSES } from '../reply-parser.ts';
import { OPEN_BRACE } from '../candidates/scan/characters.ts';
import { isNothing } from './spelling.ts';
import { isStripped, type NodeKind, type ReplyNode } from '../candidates/scan/reply-node.ts';
import {
  coercionError,
  emptiedError,
  MAX_ERRORS,
  memberError,
  mismatch,
  type CoercionError,
} from './coercion-error.ts';
import { TypedMap } from './typed-containers.ts';
import type { LabelMatch, LabelMatcher } from './labels.ts';
import { GrowingMembers } from './list-plan.ts';
import {
  CoercedValue,
  DROPPED,
  emptyForNothing,
  GUESS,
  MAP_EXTRA,
  ValueWriter,
  type CoercionOutcome,
} from './outcome.ts';
import { INEXACT, PartialValue, Plan } from './plan.ts';
import type { Reading } from './step-budget.ts';
import { asOneOf, coerceNested, isDescriptionKey, isSchema, unwrap, type WrappedType } from './wrappers.ts';

/**
 * A map: keys as the model wrote them, keys of enums and literals by their real names. Entries whose key or value does
 * not match are dropped. Of several entries with the same key, the last one stays, as with JSON.parse, unless its key
 * is spelled worse.
 */
export class MapPlan extends Plan {
  readonly name: string;
  readonly #keys: LabelMatcher | undefined;
  readonly #value: () => Plan;
  readonly #wrapped: WrappedType = {
    read: (node, reading) => this.#read(node, reading),
    holdersIn: (node, reading) => {
      const isData = this.#hasEntry(node, reading);
      return (key) => !isData && !isDescriptionKey(key);
    },
  };

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
    if (json !== undefined) return { kind: 'match', json, weight: 0, flags: [] };
    return this.#keys?.whole(key.trim()) ?? { kind: 'none' };
  }

  #keyText(key: string): string | undefined {
    const match = this.#matchKey(key);
    return match.kind === 'match' ? match.json : undefined;
  }

  override openContainer(bracket: number): TypedMap | undefined {
    return bracket === OPEN_BRACE ? new TypedMap(this) : undefined;
  }

  override fallback(): CoercedValue | undefined {
    return MISSING;
  }

  override startsWith(kind: NodeKind): boolean {
    return kind === 'object';
  }

  protected coerceOnce(node: ReplyNode, reading: Reading, strict: boolean): CoercionOutcome {
    if (strict) return node.kind === 'object' ? this.#fromEntries(node, reading, true) : INEXACT;
    if (node.kind === 'object') return this.#fromObject(node, reading);
    if (node.kind === 'list' && node.items.length > 0) return this.#fromList(node, reading);
    return coerceNested(this, node, reading) ?? (isNothing(node) ? EMPTY_FOR_NOTHING : mismatch('a map', node));
  }

  #fromObject(node: ReplyNode, reading: Reading): CoercionOutcome {
    const isData = !isSchema(node);
    const outcome = isData ? this.#fromEntries(node, reading) : coercionError('expected a map, got a JSON schema');
    if (isWhole(outcome) && this.#hasEntry(node, reading)) return outcome;
    return unwrap(this.#wrapped, node, reading) ?? outcome;
  }

  /** Handles a list of one map. */
  #fromList(list: ReplyNode, reading: Reading): CoercionOutcome {
    const [only] = list.items;
    if (list.items.length !== 1 || only?.kind !== 'object') return mismatch('a map', list);
    const outcome = this.coerce(only, reading);
    return outcome.ok ? asOneOf(list, outcome, GUESS.shape) : outcome;
  }

  #fromEntries(node: ReplyNode, reading: Reading, strict = false): CoercionOutcome {
    if (isStripped(node)) return mismatch('a map', node);
    const writer = new ValueWriter(reading, node);
    writer.cost.extra = MAP_EXTRA;
    /** By the JSON texts of their keys. */
    const entries = new Map<string, Entry>();
    const errors: CoercionError[] = [];
    for (const [index, item] of node.items.entries()) {
      const key = node.keys[index] ?? '';
      if (this.value.isUnfinished(item, reading)) continue;
      const match = this.#matchKey(key);
      const outcome = match.kind === 'match' ? this.value.coerce(item, reading, strict) : unknownKey(key);
      if (match.kind === 'match' && outcome.ok && !(strict && match.weight > 0)) {
        writer.cost.guessed += match.weight;
        for (const flag of match.flags) writer.flag(flag, key);
        const other = entries.get(match.json);
        if (other?.value.json === outcome.json) writer.flag('duplicate-key', key);
        else if (other !== undefined) writer.lose(DROPPED, 'duplicate-key', key, OTHER_VALUE);
        if (match.weight <= (other?.weight ?? Infinity))
          entries.set(match.json, { key, weight: match.weight, value: outcome });
      } else if (strict || outcome.ok) return INEXACT;
      else {
        writer.lose(DROPPED, 'dropped-item', key, outcome);
        if (errors.length < MAX_ERRORS) errors.push(memberError(key, outcome));
      }
    }
    if (entries.size === 0 && errors.length > 0) return emptiedError(node, errors);
    for (const [json, { key, value }] of entries) writer.add(writer.isEmpty ? `${json}:` : `,${json}:`, key, value);
    return writer.finish('{', '}');
  }

  // --- wrappers --------------------------------------------------------------------------------------------------------

  #read(node: ReplyNode, reading: Reading): CoercedValue | undefined {
    const isValue = node.kind === 'object' && !isSchema(node);
    const outcome = isValue ? this.#fromEntries(node, reading) : undefined;
    return outcome !== undefined && isWhole(outcome) && this.#hasEntry(node, reading) ? outcome : undefined;
  }

  /** False for an object with no entry of the map as the model should write it, which is more likely a wrapper. */
  #hasEntry(node: ReplyNode, reading: Reading): boolean {
    return node.items.some((item, at) => {
      const key = node.keys[at] ?? '';
      if (isDescriptionKey(key) || this.#keyText(key) === undefined) return false;
      const outcome = this.value.coerce(item, reading);
      return outcome.ok && outcome.kind !== 'display' && outcome.cost.guessed < GUESS.shape;
    });
  }

  // --- partials ------------------------------------------------------------------------------------------------------

  override blank(_begun: boolean): string {
    return '{}';
  }

  override affinity(node: ReplyNode): number {
    return node.kind === 'object' ? 0 : Infinity;
  }

  protected override partial(node: ReplyNode, reading: Reading): PartialValue {
    if (node.kind !== 'object') return super.partial(node, reading);
    if (node.items.length === 0) return EMPTY;
    return node.cached(this, () => new GrowingMembers(this.value, node, (key) => this.#keyText(key))).show(reading);
  }
}

const EMPTY = new PartialValue('{}');

/** The value of a missing field. */
const MISSING = new CoercedValue('{}');

/** The empty map for a word for nothing. */
const EMPTY_FOR_NOTHING = emptyForNothing('{}');

/** True for a map that drops no entry. */
function isWhole(outcome: CoercionOutcome): outcome is CoercedValue {
  return outcome.ok && outcome.losses === NO_LOSSES;
}

interface Entry {
  readonly key: string;
  /** 0 for a key that is spelled as declared. */
  readonly weight: number;
  readonly value: CoercedValue;
}

const OTHER_VALUE = { reason: 'the map has another value for the key' };

function unknownKey(key: string): CoercionError {
  return coercionError(`${JSON.stringify(key)} is not a key of the map`);
}

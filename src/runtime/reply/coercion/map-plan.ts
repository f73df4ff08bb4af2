import { TypedMap } from '../fast-path/typed-container.ts';
import { NO_LOSSES } from '../reply-parser.ts';
import { OPEN_BRACE } from '../text/characters.ts';
import { isNothing } from '../text/nothing.ts';
import { isStripped, type NodeKind, type ReplyNode } from '../text/reply-node.ts';
import {
  coercionError,
  emptiedError,
  MAX_ERRORS,
  memberError,
  mismatch,
  type CoercionError,
} from './coercion-error.ts';
import { objectOfEntries, keyAndOther, keyAndValue, type EntryKeys } from './arrangements.ts';
import { foldSeparators } from './folding.ts';
import { GrowingMembers } from './growing-value.ts';
import { nestedByPaths, pathOf } from './key-paths.ts';
import type { LabelMatch, LabelMatcher } from './label-matcher.ts';
import { CoercedValue, DROPPED, isDisplay, isKept, MARK, type CoercionOutcome, ValueWriter } from './outcome.ts';
import { PartialValue, Plan } from './plan.ts';
import { asOneOf, coerceNested, unwrap, unwrapFrame, type WrappedType } from './unwrap.ts';
import { frameAt, isAnswerKey, isDescriptionKey, isSchema } from './wrapper-keys.ts';

/**
 * A map: keys as the model wrote them, keys of enums and literals by their real names. Entries whose key or value does
 * not match are dropped. Of several entries with the same key, the first one stays.
 */
export class MapPlan extends Plan {
  readonly name: string;
  readonly #keys: LabelMatcher | undefined;
  readonly #value: () => Plan;
  readonly #wrapped: WrappedType = {
    read: (node) => this.#read(node),
    holdersIn: (node) => this.#holdersIn(node),
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
    if (node.kind !== 'object' || isStripped(node)) return undefined;
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
    if (node.kind === 'list' && node.items.length > 0) return this.#fromList(node);
    return coerceNested(this, node) ?? (isNothing(node) ? EMPTY_FOR_NOTHING : mismatch('a map', node));
  }

  #fromObject(node: ReplyNode): CoercionOutcome {
    const framed = unwrapFrame(this.#wrapped, node);
    if (framed !== undefined) return framed;
    const outcome = isSchema(node) ? coercionError('expected a map, got a JSON schema') : this.#fromEntries(node);
    if (isWhole(outcome) && !isRooted(node)) return outcome;
    return this.#fromPaths(node) ?? (isWhole(outcome) ? outcome : (unwrap(this.#wrapped, node) ?? outcome));
  }

  /** Handles `{"ada.name": "Ada", "ada.age": 36}`, if every key is a path. */
  #fromPaths(node: ReplyNode): CoercedValue | undefined {
    const { keys, items } = node;
    const isPath = (key: string, at: number) => pathOf(key) !== undefined || isEmptied(items[at]);
    if (keys.length === 0 || !keys.every(isPath)) return undefined;
    const tree = nestedByPaths(node, pathOf);
    const outcome = tree === undefined ? undefined : this.#fromObject(tree);
    return outcome?.ok === true && isKept(outcome) ? outcome.withFlag('key-paths', 2) : undefined;
  }

  #fromEntries(node: ReplyNode): CoercionOutcome {
    if (isStripped(node)) return mismatch('a map', node);
    const writer = new ValueWriter(node);
    const seen = new Map<string, string>();
    const errors: CoercionError[] = [];
    let marks: number = MARK.map;
    const exact = this.#exactKeys(node);
    for (const [index, item] of node.items.entries()) {
      const key = node.keys[index] ?? '';
      if (this.#hasExact(key, exact)) {
        writer.lose(DROPPED, 'duplicate-key', key, OTHER_VALUE);
        continue;
      }
      const outcome = this.#coerceEntry(writer, seen, key, item);
      if (this.#isDoubtful(outcome, node, index)) marks |= MARK.fromComposite;
      if (!outcome.ok && errors.length < MAX_ERRORS) errors.push(memberError(key, outcome));
    }
    return writer.isEmpty && node.items.length > 0 ? emptiedError(node, errors) : writer.finish('{', '}', marks);
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

  /**
   * Handles `[{"key": "a", "value": 1}]`, `[["a", 1]]`, `[{"a": 1}, {"b": 2}]`, a list of one map, and
   * `[{"id": "a", "count": 1}]`.
   */
  #fromList(list: ReplyNode): CoercionOutcome {
    const isFrame = list.items.some((item) => frameAt(item) >= 0);
    const pairs = isFrame ? undefined : this.#fromPairs(list, keyAndValue);
    if (pairs !== undefined) return pairs;
    const [only] = list.items;
    const isOne = list.items.length === 1 && only?.kind === 'object';
    const outcome = isOne ? this.coerce(only) : mismatch('a map', list);
    const map = outcome.ok ? asOneOf(list, outcome) : outcome;
    return isWhole(map) ? map : (this.#fromPairs(list, keyAndOther) ?? map);
  }

  /** Returns the map of a list of entries; undefined if not every member is one. */
  #fromPairs(list: ReplyNode, entryKeys: EntryKeys): CoercedValue | undefined {
    const entries = objectOfEntries(list, entryKeys);
    const outcome = entries === undefined ? undefined : this.#fromEntries(entries);
    if (outcome === undefined || !isWhole(outcome)) return undefined;
    return outcome.withFlag('entries', 2);
  }

  #read(node: ReplyNode): CoercedValue | undefined {
    if (node.kind === 'list') {
      if (node.items.some((item) => frameAt(item) >= 0)) return undefined;
      const outcome = this.#fromList(node);
      return outcome.ok ? outcome : undefined;
    }
    const isValue = node.kind === 'object' && !isSchema(node) && frameAt(node) < 0;
    const outcome = isValue ? this.#fromEntries(node) : undefined;
    return outcome !== undefined && isWhole(outcome) ? outcome : undefined;
  }

  /** An object is a wrapper if none of its other members can be an entry of the map. */
  #holdersIn(node: ReplyNode): (key: string) => boolean {
    const hasEntry = node.items.some((item, at) => {
      const key = node.keys[at] ?? '';
      if (isDescriptionKey(key) || this.#keyText(key) === undefined) return false;
      const outcome = this.value.coerce(item);
      if (item.kind === 'list' && isDisplay(outcome)) return false;
      return outcome.ok && !this.#isDoubtful(outcome, node, at);
    });
    return (key) => !hasEntry && !isDescriptionKey(key);
  }

  /** True for an entry that the map can take, but that is more likely the map itself, as in `{"status": "ok", "data": {…}}`. */
  #isDoubtful(outcome: CoercionOutcome, { keys, items }: ReplyNode, at: number): boolean {
    const item = items[at];
    if (item === undefined || isListOfEntries(item)) return true;
    if (!outcome.ok || (outcome.marks & (MARK.display | MARK.unwrapped | MARK.fromComposite)) === 0) return false;
    const key = keys[at] ?? '';
    if (isAnswerKey(key)) return true;
    if (keys.length === 1) return CONTAINER.test(key) && isInnerMap(outcome, item, this.value.name);
    return keys.every((other) => other === key || isDescriptionKey(other));
  }

  #coerceEntry(writer: ValueWriter, seen: Map<string, string>, key: string, item: ReplyNode): CoercionOutcome {
    const match = this.#matchKey(key);
    const outcome = match.kind === 'match' ? this.value.coerce(item) : unknownKey(key);
    if (match.kind === 'match' && outcome.ok) {
      writer.score += match.cost;
      for (const flag of match.flags) writer.flag(flag, key);
      addEntry(writer, seen, { key, json: match.json, value: outcome });
    } else if (!outcome.ok) {
      writer.score += 1;
      writer.lose(DROPPED, 'dropped-item', key, outcome);
    }
    return outcome;
  }

  override fallback(): CoercedValue | undefined {
    return MISSING;
  }

  override startsWith(kind: NodeKind): boolean {
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

/** The name of a map, or of its values: `mapping`, `prices`, `scores_by_name`. */
const CONTAINER =
  /(?:[^s]s|(?:^|[_ -])(?:map|mapping|dict|dictionary|table|lookup|record|object|json|hash|group|inventory|glossary|index|people|children|data))$|[_ -]by[_ -]|(?<=[a-z])By[A-Z]/iu;

/**
 * True for the value of an only entry if it is an object whose keys are more likely those of the map: in `{"mapping": {"a": 1}}`, but
 * not in `{"a": {"count": 1}}`. `name`: that of the type of the values.
 */
function isInnerMap({ marks }: CoercedValue, { kind, keys, items, text }: ReplyNode, name: string): boolean {
  if (kind !== 'object' || text !== '') return false;
  if ((marks & MARK.display) !== 0) return items.every((item) => item.kind === 'string');
  const [key = ''] = keys;
  if (keys.length !== 1 || isAnswerKey(key) || isDescriptionKey(key)) return false;
  return !VALUE_NAME.test(key) && foldSeparators(key) !== foldSeparators(name);
}

/** The keys of a value that is alone in its object. */
const VALUE_NAME =
  /(?:^|[_ -])(?:n|num(?:ber)?|amount|quantity|qty|score|points?|price|cost|rating|rate|weight|percent(?:age)?|share|age|level|rank|size|length|frequency|name|string|str|int|float|bool|enum)$/iu;

function isEmptied(item: ReplyNode | undefined): boolean {
  return item?.isScalar === false && item.items.length === 0;
}

/** True if all keys are JSONPaths, such as `$.a`. */
function isRooted({ keys }: ReplyNode): boolean {
  return keys.length > 0 && keys.every((key) => key.startsWith('$.'));
}

/** True for a list of keys and values, which is more likely the map itself than the value of an entry. */
function isListOfEntries({ kind, items }: ReplyNode): boolean {
  return kind === 'list' && items.length > 0 && items.every((item) => keyAndValue(item.keys) !== undefined);
}

/** True for a map that drops no entry and unwraps no value. */
function isWhole(outcome: CoercionOutcome): outcome is CoercedValue {
  return outcome.ok && outcome.losses === NO_LOSSES && (outcome.marks & MARK.fromComposite) === 0;
}

/** The empty map for a word for nothing. */
const EMPTY_FOR_NOTHING = new CoercedValue('{}', 1, { marks: MARK.nothing, flags: [{ flag: 'nothing', path: '' }] });

interface Entry {
  readonly key: string;
  /** The JSON text of the key. */
  readonly json: string;
  readonly value: CoercedValue;
}

/** `seen`: the JSON texts of the values so far, by the JSON texts of their keys. */
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

import { TypedList } from '../fast-path/typed-container.ts';
import { separateScalars } from '../text/bare-reader.ts';
import { NO_LOSSES } from '../reply-parser.ts';
import { OPEN_BRACKET } from '../text/characters.ts';
import { flatten } from '../text/growing-text.ts';
import { isNothing } from '../text/nothing.ts';
import { isStripped, RecordsNode, REPAIR, ReplyNode, stringNode, type NodeKind } from '../text/reply-node.ts';
import { scalarNode } from '../candidates/whole-text.ts';
import { CoercionError, emptiedError, MAX_ERRORS, memberError, mismatch } from './coercion-error.ts';
import { ENUMERATED, listLinesOf, namesOf, splitParts, wordsOf } from './enumerated-parts.ts';
import { GrowingMembers } from './growing-value.ts';
import { mayBePath, nestedByPaths, pathOf } from './key-paths.ts';
import {
  CoercedValue,
  DROPPED,
  isDisplay,
  isKept,
  isText,
  MARK,
  type CoercionOutcome,
  ValueWriter,
} from './outcome.ts';
import { asOnlyMember, MISMATCH, PartialValue, Plan } from './plan.ts';
import { rowsOf } from './arrangements.ts';
import { coerceNested, unwrap, type WrappedType } from './unwrap.ts';
import { isOtherKey } from './wrapper-keys.ts';

/** The depth to which a union looks into nested lists to tell its members apart. */
const AFFINITY_DEPTH = 3;

/** A list. Members that do not match are dropped and flagged. */
export class ListPlan extends Plan {
  readonly name: string;
  readonly #element: () => Plan;
  readonly #wrapped: WrappedType = {
    read: (node) => this.#read(node),
    holdersIn: () => (key) => !this.#element().hasField(key),
  };

  /** `element` is a function, because types can be recursive. `name`: the name of the alias of the list. */
  constructor(element: () => Plan, name = 'a list') {
    super();
    this.#element = element;
    this.name = name;
  }

  override openContainer(bracket: number): TypedList | undefined {
    return bracket === OPEN_BRACKET ? new TypedList(this.#element()) : undefined;
  }

  protected castOnce(node: ReplyNode): CoercedValue | undefined {
    if (node.kind !== 'list' || isStripped(node) || node instanceof RecordsNode) return undefined;
    const element = this.#element();
    const writer = new ValueWriter(node);
    for (const [index, item] of node.items.entries()) {
      const value = element.cast(item);
      if (value === undefined) return undefined;
      addItem(writer, value, index);
    }
    return writer.finish('[', ']', 0);
  }

  protected coerceOnce(node: ReplyNode): CoercionOutcome {
    const records = node instanceof RecordsNode ? this.#fromRecords(node) : undefined;
    if (records !== undefined) return records;
    if (node.kind === 'list') return this.#fromList(node);
    return node.kind === 'object' ? this.#fromObject(node) : this.#fromScalar(node);
  }

  /** Reads lines as records if each record matches the type of the elements. */
  #fromRecords({ records }: RecordsNode): CoercedValue | undefined {
    const outcome = this.#fromItems(records);
    const isWhole = outcome.ok && outcome.losses === NO_LOSSES && isKept(outcome) && !isDisplay(outcome);
    return isWhole && !this.#element().takesText ? outcome : undefined;
  }

  // --- lists ---------------------------------------------------------------------------------------------------------

  #fromList(node: ReplyNode): CoercionOutcome {
    if (isStripped(node)) return mismatch('a list', node);
    const [inner] = node.items;
    const isNested = node.items.length === 1 && inner?.kind === 'list' && !this.#element().startsWith('list');
    if (isNested) return flagged(this.coerce(inner), 'unwrapped-list');
    const inObjects = this.#fromKeyedItems(node);
    if (inObjects !== undefined) return inObjects;
    const outcome = this.#fromItems(node);
    const rows = outcome.ok && outcome.losses === NO_LOSSES ? undefined : this.#fromRows(node);
    if (rows !== undefined) return rows;
    const isWrapper =
      node.items.length === 1 && inner?.kind === 'object' && (!outcome.ok || (outcome.marks & WRAPPED) !== 0);
    return isWrapper ? (this.#fromWrapper(node) ?? outcome) : outcome;
  }

  /** Handles `[{"allergy": "nuts"}, {"allergy": "milk"}]` for a list of strings: strings that all have the same key. */
  #fromKeyedItems({ items }: ReplyNode): CoercionOutcome | undefined {
    const element = this.#element();
    const key = items[0]?.keys[0];
    if (!element.takesText || items.length < 2 || key === undefined) return undefined;
    const isKeyed = items.every(
      ({ kind, keys, items: [value] }) =>
        kind === 'object' && keys.length === 1 && keys[0] === key && value?.kind === 'string',
    );
    if (!isKeyed || items.some((item) => !isDisplay(element.coerce(item)))) return undefined;
    const list = new ReplyNode('list');
    list.complete = true;
    for (const { items: values } of items) for (const value of values) list.add(value);
    return flagged(this.#fromItems(list), 'keyed-items');
  }

  #fromWrapper(node: ReplyNode): CoercedValue | undefined {
    const inner = unwrap(this.#wrapped, node);
    return inner?.as(inner.score, inner.marks, [{ flag: 'unwrapped-list', path: '' }, ...inner.flags.slice(1)]);
  }

  #fromItems(node: ReplyNode): CoercionOutcome {
    const element = this.#element();
    const writer = new ValueWriter(node);
    const errors: CoercionError[] = [];
    let marks = 0;
    const { items } = node;
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index];
      if (item === undefined) continue;
      if (this.#addEach(writer, item, index)) continue;
      const outcome = element.coerce(item);
      if (outcome.ok) {
        addItem(writer, outcome, index);
        if (items.length === 1) marks = outcome.marks & WRAPPED;
      } else {
        writer.score += 1 + index;
        writer.lose(DROPPED, 'dropped-item', index, outcome);
        if (errors.length < MAX_ERRORS) errors.push(memberError(`[${index}]`, outcome));
      }
    }
    return writer.isEmpty && items.length > 0 ? emptiedError(node, errors) : writer.finish('[', ']', marks);
  }

  /** Handles `[1 2 3]`: numbers, booleans and nulls without commas are several members, of which each has to match. */
  #addEach(writer: ValueWriter, item: ReplyNode, index: number): boolean {
    if (this.#element().takesText) return false;
    const outcomes = separateScalars(item).map((scalar) => this.#element().coerce(scalar));
    if (outcomes.length === 0 || outcomes.some((outcome) => !outcome.ok)) return false;
    writer.flag('repaired', index, REPAIR.comma);
    for (const outcome of outcomes) if (outcome.ok) addItem(writer, outcome, index);
    return true;
  }

  // --- objects -------------------------------------------------------------------------------------------------------

  /** Reads the object as the only member, as a wrapper around the list, or as the members by any keys. */
  #fromObject(node: ReplyNode): CoercionOutcome {
    if (hasNumberedKeys(node)) return flagged(this.#fromItems(listOf(node)), 'numbered-keys');
    const chosen = this.#fromChoices(node);
    if (chosen !== undefined) return chosen;
    const nested = nestedByPaths(node, (key) =>
      mayBePath(key) && !this.#element().hasField(key) ? pathOf(key) : undefined,
    );
    const ofPaths = nested === undefined ? undefined : this.#fromObject(nested);
    if (ofPaths?.ok === true && isKept(ofPaths)) return ofPaths.withFlag('key-paths', 2);
    const single = this.#single(node);
    if (single.ok && (single.marks & UNCLEAN) === 0) return listOfOne(single);
    const inner = this.#fromRows(node) ?? this.#fromWrapper(node);
    if (inner !== undefined) return inner;
    if (isNothing(node) && !isMember(single)) return EMPTY_FOR_NOTHING;
    const isDoubtful = !single.ok || isDisplay(single) || (single.marks & MARK.nullForMismatch) !== 0;
    return isDoubtful ? (this.#fromValues(node) ?? listError(node, single)) : listOfOne(single);
  }

  /** Handles a table in JSON, if each of its rows matches without losses. */
  #fromRows(node: ReplyNode): CoercedValue | undefined {
    const rows = rowsOf(node, (key) => this.#element().hasField(key));
    const outcome = rows === undefined ? undefined : this.#fromItems(rows);
    if (outcome?.ok !== true || outcome.losses !== NO_LOSSES) return undefined;
    return outcome.withFlag('rows', 2, MARK.unwrapped);
  }

  /** Handles `{"SPAM": true, "ABUSE": false}` for a list of enum values: those that are true. */
  #fromChoices({ items, keys }: ReplyNode): CoercedValue | undefined {
    const element = this.#element();
    if (element.takesText || items.length > MAX_CHOICES || items.some(({ kind }) => kind !== 'boolean'))
      return undefined;
    const writer = new ValueWriter();
    writer.score = 2;
    writer.flag('choices', '');
    const seen = new Set<string>();
    for (const [at, item] of items.entries()) {
      const outcome = element.coerce(stringNode(keys[at] ?? ''));
      if (!outcome.ok || !isWholePart(outcome) || !outcome.bare.startsWith('"')) return undefined;
      if (seen.has(outcome.bare)) return undefined;
      seen.add(outcome.bare);
      if (item.text === 'true') addItem(writer, outcome, seen.size - 1);
    }
    return seen.size === 0 ? undefined : writer.finish('[', ']', MARK.unwrapped);
  }

  #single(node: ReplyNode): CoercionOutcome {
    return asOnlyMember(node, () => this.#element().coerce(node)) ?? mismatch('a list', node);
  }

  /** Reads the list in a wrapper, but not in a member of the list: `children` is a field of a tree. */
  #read(node: ReplyNode): CoercedValue | undefined {
    if (node.kind === 'object' && !hasNumberedKeys(node)) return this.#fromRows(node);
    const outcome = this.coerce(node);
    return outcome.ok ? outcome : undefined;
  }

  /** Handles `{"Ada": {…}, "Bob": {…}}`: objects that all match as they are, under keys of any kind. */
  #fromValues(node: ReplyNode): CoercionOutcome | undefined {
    const { items, keys } = node;
    if (items.length < 2 || !items.every((item, at) => item.kind === 'object' && !isOtherKey(keys[at] ?? '')))
      return undefined;
    if (items.some((item) => !isClean(this.#element().coerce(item)))) return undefined;
    return flagged(this.#fromItems(listOf(node)), 'values-of-object');
  }

  // --- scalars -------------------------------------------------------------------------------------------------------

  #fromScalar(node: ReplyNode): CoercionOutcome {
    const nested = coerceNested(this, node);
    if (nested !== undefined) return nested;
    const single = this.#single(node);
    if (isNothing(node) && !isMember(single)) return EMPTY_FOR_NOTHING;
    const parts = isWholePart(single) && !isText(single) ? undefined : this.#fromParts(node);
    if (parts !== undefined) return parts;
    return single.ok && (single.marks & MARK.nullForMismatch) === 0 ? listOfOne(single) : listError(node, single);
  }

  /** Handles `"1, 2, 3"` for numbers or enum values, each of which has to match as a whole. */
  #fromParts(node: ReplyNode): CoercionOutcome | undefined {
    const element = this.#element();
    const lines = element.takesText ? listLinesOf(node) : undefined;
    const words = element.takesText && lines === undefined ? namesIn(node) : [];
    const parts = element.takesText ? (lines ?? words) : splitParts(node);
    const fewest = lines === undefined ? 2 : 1;
    if (parts.length < fewest) return undefined;
    const whole = parts.map((part) => element.coerce(part));
    const outcomes = element.takesText || whole.every(isWholePart) ? whole : inSentence(node, element);
    if (outcomes.length < fewest || !outcomes.every(isWholePart)) return undefined;
    const writer = new ValueWriter();
    writer.score = 1;
    writer.flag(words.length > 0 ? ENUMERATED : 'separated', '');
    for (const [index, outcome] of outcomes.entries()) if (outcome.ok) addItem(writer, outcome, index);
    return writer.finish('[', ']', MARK.singleToList);
  }

  // -------------------------------------------------------------------------------------------------------------------

  override fallback(): CoercedValue | undefined {
    return MISSING;
  }

  override startsWith(kind: NodeKind): boolean {
    return kind === 'list';
  }

  override blank(_begun: boolean): string {
    return '[]';
  }

  override affinity(node: ReplyNode, depth = 0): number {
    if (node.kind !== 'list') return Infinity;
    const first = node.items[0];
    if (first === undefined || depth >= AFFINITY_DEPTH) return 0;
    const element = this.#element();
    if (first.isScalar) return !first.complete || element.coerce(first).ok ? 0 : MISMATCH;
    const affinity = element.affinity(first, depth + 1);
    return affinity === Infinity ? MISMATCH : affinity;
  }

  protected override partial(node: ReplyNode): PartialValue {
    if (node.kind === 'list') {
      if (node.items.length === 0) return EMPTY;
      return node.cached(this, () => new GrowingMembers(this.#element(), node)).show();
    }
    if (node.complete) return super.partial(node);
    const single = asOnlyMember(node, () => this.#element().show(node)) ?? PartialValue.withheld;
    const isShown = !single.allNull && !node.isScalar && single !== EMPTY;
    if (single.json !== undefined && isShown) return new PartialValue(`[${single.json}]`);
    const list = onlyList(node);
    return list === undefined ? EMPTY : this.show(list);
  }
}

const EMPTY = new PartialValue('[]');

/** No enum whose values are the keys of an object has more. */
const MAX_CHOICES = 100;

/** The value of a missing field. */
const MISSING = new CoercedValue('[]', 0);

/** A single value with one of these marks is less certain than a list inside it. */
const UNCLEAN =
  MARK.onlyDefaults | MARK.implied | MARK.fromComposite | MARK.picked | MARK.unwrapped | MARK.nullForMismatch;

/** The marks of the only member of a list that can be a wrapper around the list itself. */
const WRAPPED = MARK.unwrapped | MARK.display;

function isClean(outcome: CoercionOutcome): boolean {
  return outcome.ok && (outcome.marks & UNCLEAN) === 0 && outcome.losses === NO_LOSSES;
}

function namesIn(node: ReplyNode): readonly ReplyNode[] {
  const words = wordsOf(node);
  return words.length > 0 ? words : namesOf(node);
}

function listOfOne(single: CoercedValue): CoercedValue {
  const writer = new ValueWriter();
  writer.score = 1;
  writer.flag('single-to-list', '');
  addItem(writer, single, '');
  return writer.finish('[', ']', MARK.singleToList | (single.marks & (MARK.fromComposite | MARK.implied)));
}

function flagged(outcome: CoercionOutcome, flag: string): CoercionOutcome {
  return outcome.ok ? outcome.withFlag(flag, 2, MARK.unwrapped) : outcome;
}

/** Returns the values of an object as a list. */
function listOf(node: ReplyNode): ReplyNode {
  const list = new ReplyNode('list');
  list.complete = node.complete;
  list.repairs = node.repairs;
  for (const item of node.items) list.add(item);
  return list;
}

/** True for `{"0": …, "1": …}` and `{"item_1": …, "item_2": …}`: numbers from 0 or 1 on, after the same word. */
function hasNumberedKeys({ keys }: ReplyNode): boolean {
  const [first] = keys;
  const match = first === undefined ? null : NUMBERED.exec(first);
  if (match === null || (keys.length === 1 && match[1] !== '')) return false;
  const start = Number(match[2]);
  return start <= 1 && keys.every((key, at) => key === `${match[1]}${start + at}`);
}

const NUMBERED = /^([A-Za-z_ -]{0,32})([01])$/u;

/**
 * Returns the values that one sentence enumerates, as in `The values are 26 and -10.`; empty if it contains other values, or
 * words of negation.
 */
function inSentence({ text: raw, quoted }: ReplyNode, element: Plan): readonly CoercionOutcome[] {
  const text = raw.trim();
  if (quoted || text.length > MAX_SENTENCE || NOT_ENUMERATED.test(text)) return [];
  const parts = text.replace(/[.!]$/u, '').split(/,\s+(?:and\s+)?|\s+and\s+|\s+&\s+/u);
  const coerce = (part: string): CoercionOutcome => element.coerce(scalarNode(part));
  const values = parts.map((part, at) => {
    const words = part.split(' ');
    const count = Math.min(words.length, MAX_WORDS);
    for (let taken = count; taken > 0 && at === 0; taken -= 1) {
      const value = coerce(words.slice(-taken).join(' '));
      const before = words.slice(0, -taken).join(' ');
      if (isWholePart(value) && (before === '' || !coerce(before).ok)) return value;
    }
    return coerce(part);
  });
  return values.length > 1 && values.every(isWholePart) ? values : [];
}

const MAX_SENTENCE = 300;
/** The most words of one value. */
const MAX_WORDS = 4;
const NOT_ENUMERATED = /\n|[.!?;:]\s|\b(?:not|no|never|neither|nor|without|except|instead|between|or)\b|n['’]t\b/iu;

/** The flags of a value that was found inside a string. */
const GUESSES: ReadonlySet<string> = new Set(['substring-match', 'similar-value', 'number-in-text', 'answer-cue']);

/** True for a part that contains only a value. */
function isWholePart(outcome: CoercionOutcome): boolean {
  return outcome.ok && (outcome.marks & UNCLEAN) === 0 && !outcome.flags.some(({ flag }) => GUESSES.has(flag));
}

/** Returns the only list among the values of an object. */
function onlyList(node: ReplyNode): ReplyNode | undefined {
  if (node.kind !== 'object') return undefined;
  const lists = node.items.filter((item) => item.kind === 'list');
  return lists.length === 1 ? lists[0] : undefined;
}

function addItem(writer: ValueWriter, value: CoercedValue, segment: number | ''): void {
  flatten(value.json);
  writer.add(writer.isEmpty ? '' : ',', segment, value);
  writer.score += value.score * 10;
}

/** The empty list for a word for nothing. */
const EMPTY_FOR_NOTHING = new CoercedValue('[]', 1, { marks: MARK.nothing, flags: [{ flag: 'nothing', path: '' }] });

/** True for a member that a word for nothing can be, such as the value `NONE` of an enum. */
function isMember(single: CoercionOutcome): boolean {
  return single.ok && single.json !== 'null' && (single.marks & (MARK.text | MARK.nothing | MARK.onlyDefaults)) === 0;
}

/** Returns the error of a value that is neither a list nor a member of one. */
function listError(node: ReplyNode, single: CoercionOutcome): CoercionError {
  const error = mismatch('a list', node);
  return single.ok ? error : new CoercionError(() => [...error.violations, ...single.violations]);
}

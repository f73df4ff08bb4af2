import { OPEN_BRACE, OPEN_BRACKET, skipSpace } from '../text/characters.ts';
import type { ReplyNode } from '../text/reply-node.ts';
import { Scanner } from '../text/scanner.ts';
import { TreeSink } from '../text/tree-sink.ts';
import { fenceBody } from '../candidates/whole-text.ts';
import { coercionError, describeValue } from './coercion-error.ts';
import { compareCoerced, lossesOfOthers, MARK, type CoercedValue, type CoercionOutcome } from './outcome.ts';
import type { Plan } from './plan.ts';
import { spend } from './step-budget.ts';
import { frameAt, isAnswerKey, isOtherKey } from './wrapper-keys.ts';

/*
 * Models wrap values in others: an object in a list or in an object, JSON in a string. The functions here find the value
 * inside.
 */

// --- JSON in a string ------------------------------------------------------------------------------------------------

/** The key under which a string node stores the value inside it, since several members of a union can ask for it. */
const NESTED = {};

/** Coerces the value that a string contains as JSON; undefined if it contains none or the value does not match. */
export function coerceNested(plan: Plan, node: ReplyNode): CoercedValue | undefined {
  const value = nestedValue(node);
  const outcome = value === undefined ? undefined : plan.coerce(value);
  return outcome?.ok === true ? asNested(outcome) : undefined;
}

function asNested(value: CoercedValue): CoercedValue {
  return value.withFlag('json-in-text', 2);
}

/** Returns the list or object that a string contains as JSON, which can be in a fence. */
function nestedValue(node: ReplyNode): ReplyNode | undefined {
  return node.kind === 'string' ? node.cached(NESTED, () => readNested(node.text)).value : undefined;
}

interface Nested {
  readonly value: ReplyNode | undefined;
}

const NOTHING: Nested = { value: undefined };

function readNested(raw: string): Nested {
  const text = beginsValue(raw) ? raw : (fenceBody(raw) ?? fenceIn(raw) ?? raw);
  if (!beginsValue(text)) return NOTHING;
  spend(text.length / READ_PER_STEP);
  const reader = new Scanner(new TreeSink());
  const end = reader.read(text, skipSpace(text, 0), true);
  const { root } = reader;
  if (root?.complete !== true || skipSpace(text, end) !== text.length) return NOTHING;
  keepStrings(root);
  return { value: root };
}

/** Returns the content of the only fence in a text, if words are around it: `Here is the result:` and JSON in a fence. */
function fenceIn(text: string): string | undefined {
  const [before, body, after, ...more] = text.split('```');
  if (before === undefined || body === undefined || after === undefined || more.length > 0) return undefined;
  if (/[[\]{}]/u.test(before + after)) return undefined;
  return body.replace(/^\w*\s*\n/u, '');
}

/** The characters that the tolerant parser reads in one step. */
const READ_PER_STEP = 2;

/** Strings inside a value that was itself in a string stay strings, which bounds the recursion. */
function keepStrings(node: ReplyNode): void {
  if (node.kind === 'string' && (beginsValue(node.text) || node.text.includes('```')))
    node.cached(NESTED, () => NOTHING);
  for (const item of node.items) keepStrings(item);
}

function beginsValue(text: string): boolean {
  const first = text.charCodeAt(skipSpace(text, 0));
  return first === OPEN_BRACE || first === OPEN_BRACKET;
}

// --- members of lists ------------------------------------------------------------------------------------------------

/** Coerces a list to a single value: the member that matches best. */
export function bestMember(plan: Plan, list: ReplyNode): CoercionOutcome {
  let best: CoercedValue | undefined;
  for (const item of list.items) {
    const outcome = plan.coerce(item);
    if (outcome.ok && (best === undefined || compareCoerced(outcome, best) < 0)) best = outcome;
  }
  if (best === undefined) return coercionError(`expected ${plan.name}, got a list in which no item matches`);
  return asOneOf(list, best.as(best.score + 1, best.marks, best.flags));
}

/** Flags a value as one of the members of a list, of which the others are lost. */
export function asOneOf(list: ReplyNode, value: CoercedValue): CoercedValue {
  const losses = lossesOfOthers(list);
  const flag = { flag: 'first-of-list', path: '', detail: `taken from ${describeValue(list)}`, losses };
  return value.as(value.score, value.marks, [flag, ...value.flags], losses);
}

// --- values in wrappers ----------------------------------------------------------------------------------------------

/** A list, map or class that is looked for in a wrapper. */
export interface WrappedType {
  /** Coerces a value that has no wrapper; undefined if it does not match. Nodes store the result under this object. */
  read(node: ReplyNode): CoercedValue | undefined;
  /** Returns the test for the keys of an object under which it can have the value or a wrapper. */
  holdersIn(node: ReplyNode): (key: string) => boolean;
}

/** The most wrappers around a value: a completion of a chat with a tool call has seven. */
const MAX_WRAPPERS = 8;

/** The most values that one search examines, and the most members of a wrapper: objects with more are data. */
const MAX_LOOKS = 32;
const MAX_MEMBERS = 24;

/** The most members of a list that is a wrapper, such as the blocks of a message. */
const MAX_BLOCKS = 4;

/**
 * Finds the value in `{"status": "ok", "result": {…}}`, in `{"choices": [{"message": {"content": "{…}"}}]}` and other
 * wrappers; undefined unless exactly one member of each wrapper contains a value of the type. `at`: the position of the
 * only member that can contain it; -1 for any.
 */
export function unwrap(type: WrappedType, node: ReplyNode, at = -1): CoercedValue | undefined {
  const found = findWrapped(type, node, at);
  return found === undefined ? undefined : asUnwrapped(found);
}

/** The same, without the cost and the flag of the wrapper. */
export function findWrapped(type: WrappedType, node: ReplyNode, at: number): CoercedValue | undefined {
  const search = new WrapperSearch(type);
  const only = node.items[at];
  return only === undefined ? search.inside(node, MAX_WRAPPERS) : search.at(only, MAX_WRAPPERS);
}

export function asUnwrapped(found: CoercedValue): CoercedValue {
  return found.withFlag('unwrapped', 2, MARK.unwrapped);
}

/** Finds the value in a tool call or a message, whose other members can be fields or entries themselves. */
export function unwrapFrame(type: WrappedType, node: ReplyNode): CoercedValue | undefined {
  const at = frameAt(node);
  return at < 0 ? undefined : unwrap(type, node, at);
}

interface Read {
  readonly value: CoercedValue | undefined;
}

interface Fit {
  readonly value: CoercedValue;
  readonly key: string;
}

class WrapperSearch {
  readonly #type: WrappedType;
  #looks = 0;

  constructor(type: WrappedType) {
    this.#type = type;
  }

  /** Returns the only value of the type among the members of a wrapper. */
  inside(node: ReplyNode, depth: number): CoercedValue | undefined {
    const { items, keys } = node;
    if (depth === 0 || items.length > (node.kind === 'list' ? MAX_BLOCKS : MAX_MEMBERS)) return undefined;
    // The caller has looked for the outermost frame.
    const only = depth === MAX_WRAPPERS ? undefined : items[frameAt(node)];
    const framed = only === undefined ? undefined : this.at(only, depth);
    if (framed !== undefined) return framed;
    const fits: Fit[] = [];
    const mayHold = node.kind === 'list' ? () => true : this.#type.holdersIn(node);
    for (const [index, item] of items.entries()) {
      const key = keys[index] ?? '';
      if (isOtherKey(key) || !mayHold(key)) continue;
      if (this.#looks >= MAX_LOOKS) return undefined;
      const value = this.at(item, depth);
      if (value !== undefined) fits.push({ value, key });
    }
    return onlyFit(fits);
  }

  /** Returns the value of the type that a member of a wrapper is or contains. */
  at(member: ReplyNode, depth: number): CoercedValue | undefined {
    const node = member.isScalar ? nestedValue(member) : member;
    if (node === undefined) return undefined;
    this.#looks += 1;
    spend(1 + Math.min(node.items.length, MAX_MEMBERS));
    const { value } = node.cached<Read>(this.#type, () => ({ value: this.#type.read(node) }));
    const found = value ?? this.inside(node, depth - 1);
    return found === undefined || node === member ? found : asNested(found);
  }
}

/** Returns the only value; of several, the only one that is not empty, or the only one whose key announces an answer. */
function onlyFit(fits: readonly Fit[]): CoercedValue | undefined {
  const kept = fits.filter(({ value }) => value.json.length > 2);
  const likely = kept.length === 0 ? fits : kept;
  const answers = likely.filter(({ key }) => isAnswerKey(key));
  const [first, ...others] = answers.length === 0 ? likely : answers;
  return others.every(({ value }) => value.json === first?.value.json) ? first?.value : undefined;
}

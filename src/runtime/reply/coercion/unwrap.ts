import { OPEN_BRACE, OPEN_BRACKET, skipSpace } from '../text/characters.ts';
import type { ReplyNode } from '../text/reply-node.ts';
import { Scanner } from '../text/scanner.ts';
import { TreeSink } from '../text/tree-sink.ts';
import { coercionError, describeValue } from './coercion-error.ts';
import { compareCoerced, lossesOfOthers, MARK, type CoercedValue, type CoercionOutcome } from './outcome.ts';
import type { Plan } from './plan.ts';

/*
 * Models wrap values in others: an object in a list, a scalar in an object, JSON in a string. The functions here find
 * the value inside.
 */

// --- JSON in a string ------------------------------------------------------------------------------------------------

/** The key under which a string node stores the value inside it, since several members of a union can ask for it. */
const NESTED = {};

/** Coerces the value that a string contains as JSON; undefined if it contains none or the value does not match. */
export function coerceNested(plan: Plan, node: ReplyNode): CoercedValue | undefined {
  const { value } = node.kind === 'string' ? node.cached(NESTED, () => readNested(node.text)) : NOTHING;
  const outcome = value === undefined ? undefined : plan.coerce(value);
  if (outcome?.ok !== true) return undefined;
  return outcome.as(outcome.score + 2, outcome.marks, [{ flag: 'json-in-text', path: '' }, ...outcome.flags]);
}

interface Nested {
  readonly value: ReplyNode | undefined;
}

const NOTHING: Nested = { value: undefined };

function readNested(text: string): Nested {
  if (!beginsValue(text)) return NOTHING;
  const reader = new Scanner(new TreeSink());
  const end = reader.read(text, skipSpace(text, 0), true);
  const { root } = reader;
  if (root?.complete !== true || skipSpace(text, end) !== text.length) return NOTHING;
  keepStrings(root);
  return { value: root };
}

/** Strings inside a value that was itself in a string stay strings, which bounds the recursion. */
function keepStrings(node: ReplyNode): void {
  if (node.kind === 'string' && beginsValue(node.text)) node.cached(NESTED, () => NOTHING);
  for (const item of node.items) keepStrings(item);
}

function beginsValue(text: string): boolean {
  const first = text.charCodeAt(skipSpace(text, 0));
  return first === OPEN_BRACE || first === OPEN_BRACKET;
}

// --- members of lists and objects ------------------------------------------------------------------------------------

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

/** Flags a scalar as found inside an object. */
export function unwrapped(outcome: CoercionOutcome): CoercionOutcome {
  if (!outcome.ok) return outcome;
  return outcome.as(outcome.score + 2, MARK.fromComposite, [{ flag: 'unwrapped', path: '' }, ...outcome.flags]);
}

/** Returns the scalar that is the only value of an object. */
export function onlyScalar(node: ReplyNode): ReplyNode | undefined {
  const only = node.kind === 'object' && node.items.length === 1 ? node.items[0] : undefined;
  return only?.isScalar === true ? only : undefined;
}

/** Returns the only list among the values of an object. */
export function onlyList(node: ReplyNode): ReplyNode | undefined {
  if (node.kind !== 'object') return undefined;
  const lists = node.items.filter((item) => item.kind === 'list');
  return lists.length === 1 ? lists[0] : undefined;
}

/** Returns the only list or object among the values of an object, which can also be JSON in a string. */
export function onlyComposite(node: ReplyNode): ReplyNode | undefined {
  let only: ReplyNode | undefined;
  for (const item of node.items) {
    if (item.isScalar && !(item.quoted && item.text.startsWith('{'))) continue;
    if (only !== undefined) return undefined;
    only = item;
  }
  return only;
}

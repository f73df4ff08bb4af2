import type { ReplyNode } from '../text/reply-node.ts';
import { coercionError, mismatch } from './coercion-error.ts';
import { MARK, type CoercedValue, type CoercionOutcome } from './outcome.ts';
import type { Plan } from './plan.ts';
import { asOneOf } from './unwrap.ts';
import { isAnswerKey, isDescriptionKey, isOtherKey, isSchema } from './wrapper-keys.ts';

/*
 * Scalars in lists and objects. Two different values of the type are two answers, and svc takes neither.
 */

/** The most members of an object around a scalar. */
const MAX_MEMBERS = 16;

/** Coerces a list or object to the only scalar of the type in it: the answer, or the only member that matches. */
export function fromComposite(plan: Plan, node: ReplyNode): CoercionOutcome {
  if (node.items.length === 0 || isSchema(node)) return mismatch(plan.name, node);
  if (node.kind === 'list') return fromList(plan, node);
  const answer = answerIn(node);
  const outcome = answer === undefined ? undefined : plan.coerce(answer);
  if (outcome?.ok === true) return fromObject(outcome);
  const others = node.items.filter((item, at) => item.isScalar && !isDescriptionKey(node.keys[at] ?? ''));
  // `{"name": "RED", "confidence": 0.8}`: only descriptions, one of which is a name.
  const members =
    others.length > 0 ? others : node.items.filter((item, at) => item.isScalar && NAME.test(node.keys[at] ?? ''));
  if (members.length > MAX_MEMBERS) return mismatch(plan.name, node);
  const exact = members.flatMap((member) => plan.cast(member) ?? []);
  return onlyValue(plan, node, exact.length > 0 ? exact : coercedBy(plan, members), fromObject);
}

/** Returns the value of `{"answer": 8}`, `{"value": 8, "unit": "kg"}` or `[8]`; undefined for other lists and objects. */
export function answerIn({ kind, items, keys }: ReplyNode): ReplyNode | undefined {
  if (items.length === 1) return kind === 'object' && isOtherKey(keys[0] ?? '') ? undefined : items[0];
  if (kind === 'list' || items.length > MAX_MEMBERS) return undefined;
  const answers = items.filter((_, at) => isAnswerKey(keys[at] ?? ''));
  return answers.length === 1 ? answers[0] : undefined;
}

/** Returns the same as `answerIn` if every other member of the object only describes the answer. */
export function wholeAnswerIn(node: ReplyNode): ReplyNode | undefined {
  const { kind, items, keys } = node;
  const answer = answerIn(node);
  if (answer === undefined || kind === 'list') return answer;
  const isWhole = items.every((item, at) => {
    const key = keys[at] ?? '';
    return item === answer ? isAnswerKey(key) : isDescriptionKey(key);
  });
  return isWhole ? answer : undefined;
}

/** Returns the value of `{"name": "Ada"}`, an object in the place of a string; undefined for other lists and objects. */
export function namedIn({ kind, items, keys }: ReplyNode): ReplyNode | undefined {
  return kind === 'object' && items.length === 1 && NAME.test(keys[0] ?? '') ? items[0] : undefined;
}

/** The key of a name, of a tagged value (`{"S": "Ada"}`, `{"stringValue": "Ada"}`), or of the text of an element. */
const NAME =
  /^(?:name|title|label|tag|term|word|keyword|string|str|s|string_?value|[#$@_]text|[#$@_]t|[$@#]value|\$oid|\$date|display_?name)$/iu;

function fromList(plan: Plan, list: ReplyNode): CoercionOutcome {
  return onlyValue(plan, list, coercedBy(plan, list.items), (value) => {
    const mark = list.items.length > 1 ? MARK.picked : MARK.fromComposite;
    return asOneOf(list, value.as(value.score + 1, value.marks | mark, value.flags));
  });
}

function coercedBy(plan: Plan, nodes: readonly ReplyNode[]): readonly CoercedValue[] {
  return nodes.flatMap((node) => {
    const outcome = plan.coerce(node);
    return outcome.ok ? outcome : [];
  });
}

function onlyValue(
  plan: Plan,
  node: ReplyNode,
  values: readonly CoercedValue[],
  use: (value: CoercedValue) => CoercedValue,
): CoercionOutcome {
  const [first, ...others] = values;
  if (first === undefined) return mismatch(plan.name, node);
  const other = others.find(({ bare }) => bare !== first.bare);
  if (other === undefined) return use(first);
  return coercionError(`expected ${plan.name}, got several values: ${first.bare}, ${other.bare}`);
}

/** Flags a scalar as found inside an object. */
function fromObject(value: CoercedValue): CoercedValue {
  return value.as(value.score + 2, MARK.fromComposite, [{ flag: 'unwrapped', path: '' }, ...value.flags]);
}

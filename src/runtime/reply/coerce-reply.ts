import { chooseOutcome, likeliestError, type Choice, type Judgement, type RankedPart } from './choose-part.ts';
import { coercionError, type CoercionError } from './coercion/coercion-error.ts';
import { lossOf, type CoercedValue, type CoercionOutcome } from './coercion/outcome.ts';
import type { Plan } from './coercion/plan.ts';
import { StepBudget } from './coercion/step-budget.ts';
import { FastPath } from './fast-path/fast-path.ts';
import { judgeStructured, judgeUnframed } from './other-readings.ts';
import { readParts, tooDeep, type ReplyPart, type ReplyParts } from './reply-parts.ts';
import type { ReplyType } from './reply-type.ts';
import { stringNode } from './text/reply-node.ts';
import { fencedString, scalarNode } from './text/whole-text.ts';

/**
 * Coerces a whole reply. The fast path takes most replies; for the others, every part of the reply that can be the answer
 * is coerced, and the best one is chosen.
 * `fastPath`: the fast path that has already read the reply, if any.
 */
export function coerceReply(text: string, plan: Plan, type: ReplyType, fastPath?: FastPath): CoercionOutcome {
  const budget = new StepBudget(text.length);
  return budget.run(() => explained(coerceText(text, plan, type, fastPath))) ?? tooMuchWork(text, plan);
}

/** Computes the reasons of an error while steps are counted: they are computed on first use. */
function explained(outcome: CoercionOutcome): CoercionOutcome {
  return outcome.ok || outcome.violations.length > 0 ? outcome : coercionError('no reason known');
}

/** The error of a reply that needs more steps than its budget has. */
export function tooMuchWork(text: string, plan: Plan): CoercionError {
  const size = Math.ceil(text.length / 1000);
  return coercionError(
    `the reply needs more work than svc spends on ${size} KB for ${plan.name}: ask for a shorter reply, or give the classes of a union a literal or required field that only one of them has`,
  );
}

function coerceText(text: string, plan: Plan, type: ReplyType, fastPath?: FastPath): CoercionOutcome {
  if (type.asString !== 'no') return coerceString(text, plan, type);
  const value = type.hasComposite ? (fastPath ?? fastPathOf(text, plan)).finish(text) : undefined;
  return value ?? judgeReply(text, plan, type).outcome;
}

export function coerceString(text: string, plan: Plan, type: ReplyType): CoercionOutcome {
  if (type.asString === 'yes') return plan.coerce(stringNode(text));
  const inFence = fencedString(text);
  const node = inFence === undefined ? scalarNode(text, true) : stringNode(inFence);
  return plan.coerce(node.kind === 'null' ? node : stringNode(node.text));
}

function fastPathOf(text: string, plan: Plan): FastPath {
  const fastPath = new FastPath(plan);
  fastPath.push(text);
  return fastPath;
}

/**
 * Reads a reply with the tolerant parser: without the frames around its JSON, if it has any, and as structured text if
 * its text is all there is. The thoughts count only if nothing else is the answer.
 */
export function judgeReply(text: string, plan: Plan, type: ReplyType): Judgement {
  const judgement = judge(text, plan, type, false);
  const other = isSettled(judgement, type) ? undefined : judgeOtherwise(text, judgement, plan, type);
  if (other !== undefined) return other;
  if (judgement.outcome.ok || !text.includes('<')) return judgement;
  const ofThoughts = judge(text, plan, type, true);
  return ofThoughts.outcome.ok ? ofThoughts : judgement;
}

/** True if no other reading can be better: the reply is the value as it is, or cannot be read at all. */
function isSettled({ outcome, choice, read }: Judgement, type: ReplyType): boolean {
  return type.takesText || read.gaveUp || (outcome.ok && outcome.flags.length === 0 && !isBlank(choice));
}

/**
 * True for an empty list, an empty object or a null after a label, which can be the value of a key of structured text, and
 * for a null in the place of a text that does not match.
 */
function isBlank({ best }: Choice): boolean {
  if (best === undefined) return false;
  const { value, part } = best;
  if (value.json === 'null') return part.place === 'label' || value.losses.defaulted > 0;
  return value.json.length === 2 && !part.node.isScalar && part.place !== 'alone';
}

/** The text is one element of XML: an element in it that has the name of a thought, such as `reasoning`, is a field. */
const IN_ELEMENT = /^\s*(?:```\w*\s*)?<(\w+)>[^]*<\/\1>\s*(?:```)?\s*$/u;

function judgeOtherwise(
  text: string,
  { outcome, choice, read }: Judgement,
  plan: Plan,
  type: ReplyType,
): Judgement | undefined {
  const answer = text.slice(read.answerFrom);
  const isFound = outcome.ok && choice.best?.part.kind !== 'text' && !isBlank(choice);
  const unframed = judgeUnframed(answer, isFound, (inner) => judge(inner, plan, type, false));
  if (unframed !== undefined) return unframed;
  if (isFound) return undefined;
  const isField = read.answerFrom > 0 && answer.trim() !== '' && IN_ELEMENT.test(text);
  const structured = judgeStructured(isField ? text : answer, plan, type);
  const isSame = outcome.ok && structured?.outcome.ok === true && structured.outcome.json === outcome.json;
  return isSame && isBlank(choice) ? undefined : structured;
}

function judge(text: string, plan: Plan, type: ReplyType, readThoughts: boolean): Judgement {
  const read = readParts(text, plan, type, readThoughts);
  const choice = chooseOutcome(read, text, plan, type);
  return { outcome: outcomeOf(read, choice, plan, type), read, choice, ofThoughts: readThoughts };
}

function outcomeOf(
  read: ReplyParts,
  { best, refusal, standings }: Choice,
  plan: Plan,
  type: ReplyType,
): CoercionOutcome {
  if (best !== undefined && refusal === undefined && (!read.gaveUp || type.hasScalar)) {
    return flagged(best, read.parts, type);
  }
  if (read.gaveUp) return tooDeep();
  return (
    refusal ?? likeliestError(standings) ?? coercionError(`expected ${plan.name}, but the reply contains no value`)
  );
}

/** Flags the place of the value, and that other values in the reply match as well and are not drafts in a thought. */
function flagged({ part: best, value }: RankedPart, parts: readonly ReplyPart[], type: ReplyType): CoercedValue {
  const loss = lossOf(value);
  const others = parts.filter(
    ({ kind, outcome, inThought }) =>
      outcome.ok &&
      outcome.json !== value.json &&
      (kind !== 'text' || !type.hasComposite) &&
      inThought === best.inThought &&
      lossOf(outcome) <= loss,
  );
  const place = placeFlag(best);
  if (others.length === 0 && place === undefined) return value;
  const flags = place === undefined ? [...value.flags] : [{ flag: place, path: '' }, ...value.flags];
  if (others.length > 0) {
    flags.push({ flag: 'other-values', path: '', detail: `${others.length} more values of the reply match` });
  }
  return value.as(value.score, value.marks, flags);
}

function placeFlag({ kind, node, from }: ReplyPart): string | undefined {
  switch (kind) {
    case 'whole':
      return undefined;
    case 'fence':
      return 'markdown';
    case 'prose':
      return 'prose';
    case 'several':
      return node.items[0]?.kind === 'list' ? 'several-lists' : 'several-objects';
    case 'text':
      return from > 0 ? 'thought' : undefined;
  }
}

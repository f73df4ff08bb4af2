import { err, ok } from '../../base/result.ts';
import { applyCorrection } from './apply-correction.ts';
import { chooseOutcome, likeliestError, type Choice, type Judgement } from './choose-part.ts';
import { coercionError, type CoercionError } from './coerce/coercion-error.ts';
import { describeFlags, lossOf, type CoercedValue, type CoercionOutcome, type Flag } from './coerce/outcome.ts';
import { StepBudget } from './coerce/step-budget.ts';
import { isAddition, isPartOf, statedCorrection } from './corrections.ts';
import { HAS_WORD } from './cues.ts';
import { FastPath } from './coerce/fast-path.ts';
import { joinBatches } from './frames/pieces.ts';
import { checkedLines, finalVersion } from './chosen-lines.ts';
import { openPrefilled } from './frames/missing-marks.ts';
import { judgeAround, judgeStructured, judgeUnframed, throughout } from './other-readings.ts';
import { readParts, tooDeep, type ReplyPart, type ReplyParts, type RankedPart } from './reply-parts.ts';
import { JsonReply, type ParseFailure, type ParseOutcome } from './reply-parser.ts';
import type { ReplyType } from './reply-type.ts';
import { CERTAIN_REPAIRS, stringNode } from './text/reply-node.ts';
import { fencedString, scalarNode } from './text/whole-text.ts';

/**
 * Coerces a whole reply. The fast path takes most replies; for the others, every part of the reply that can be the answer
 * is coerced, and the best one is chosen.
 * `fastPath`: the fast path that has already read the reply, if any.
 */
export function coerceReply(text: string, type: ReplyType, fastPath?: FastPath): CoercionOutcome {
  const budget = new StepBudget(text.length);
  return budget.run(() => explained(coerceText(text, type, fastPath))) ?? tooMuchWork(text, type);
}

/**
 * The UTF-16 units that the tolerant parser reads at a time in an event loop that serves other calls. It takes up to 2 µs for each,
 * the fast path 10 ns.
 */
export const SHORT_TEXT = 32_768;

/** Coerces a whole reply in a short time; undefined if that takes longer. */
export function coerceShortReply(text: string, type: ReplyType, fastPath?: FastPath): CoercionOutcome | undefined {
  return new StepBudget(text.length).run(() => {
    if (text.length <= SHORT_TEXT || type.asString !== 'no') return explained(coerceText(text, type, fastPath));
    return coerceOnFastPath(text, type, fastPath);
  }, 'short');
}

/** Computes the reasons of an error while steps are counted: they are computed on first use. */
function explained(outcome: CoercionOutcome): CoercionOutcome {
  return outcome.ok || outcome.violations.length > 0 ? outcome : coercionError('no reason known');
}

/** The error of a reply that needs more steps than its budget has. */
export function tooMuchWork(text: string, { plan }: ReplyType): CoercionError {
  const size = Math.ceil(text.length / 1000);
  return coercionError(
    `the reply needs more work than svc spends on ${size} KB for ${plan.name}: ask for a shorter reply, or give the classes of a union a literal or required field that only one of them has`,
  );
}

function coerceText(text: string, type: ReplyType, fastPath?: FastPath): CoercionOutcome {
  if (type.asString !== 'no') return coerceString(text, type);
  return coerceOnFastPath(text, type, fastPath) ?? judgeReply(text, type).outcome;
}

function coerceOnFastPath(text: string, type: ReplyType, fastPath?: FastPath): CoercionOutcome | undefined {
  return type.hasComposite && type.asString === 'no' ? (fastPath ?? fastPathOf(text, type)).finish(text) : undefined;
}

export function coerceString(text: string, type: ReplyType): CoercionOutcome {
  if (type.asString === 'yes') return type.plan.coerce(stringNode(text));
  const inFence = fencedString(text);
  const node = inFence === undefined ? scalarNode(text, true) : stringNode(inFence);
  return type.plan.coerce(node.kind === 'null' ? node : stringNode(node.text));
}

function fastPathOf(text: string, type: ReplyType): FastPath {
  const fastPath = new FastPath(type);
  fastPath.push(text);
  return fastPath;
}

/** Returns the outcome of a reply in the form for callers. */
export function parseOutcome(outcome: CoercionOutcome): ParseOutcome {
  return outcome.ok
    ? ok(new JsonReply(outcome.json, describeFlags(outcome.flags), outcome.losses))
    : err(replyFailure(outcome.violations));
}

/** The failure of a reply that breaks the return type in these ways. */
export function replyFailure(details: ParseFailure['details']): ParseFailure {
  const first = details[0];
  const where = first === undefined || first.path === '' ? '' : ` at ${first.path}`;
  return { message: `the reply does not fit the return type${where}: ${first?.message ?? 'no reason known'}`, details };
}

/**
 * Reads a reply with the tolerant parser: without the frames around its JSON, if it has any, and as structured text if
 * its text is all there is. The thoughts count only if nothing else is the answer.
 */
export function judgeReply(text: string, type: ReplyType): Judgement {
  const checked = type.hasLabels ? checkedLines(text) : undefined;
  return checked === undefined ? judgeText(text, type) : judgeInstead(text, checked, type);
}

/** Judges another text than that of the reply. */
function judgeInstead(text: string, other: string, type: ReplyType): Judgement {
  const judgement = judgeText(other, type);
  return { ...judgement, choice: throughout(judgement.choice, text.length) };
}

function judgeText(text: string, type: ReplyType): Judgement {
  const judgement = judge(text, type, false);
  const mayBeBatches = type.hasList && judgement.read.values.length > 1 && !judgement.read.gaveUp;
  const joined = mayBeBatches ? joinBatches(text) : undefined;
  if (joined !== undefined) return judgeInstead(text, joined, type);
  const { correction } = judgement.choice;
  if (correction !== undefined && judgement.read.answerFrom <= correction.from) {
    const corrected = judgeCorrected(text, judgement, type) ?? judgeApplied(text, judgement, type);
    if (corrected !== undefined) return corrected;
  }
  const around = judgeAround(text, judgement, type);
  if (around !== undefined) return around;
  const settled = isSettled(judgement, text, type);
  const version = isAnswer(judgement) ? undefined : judgeFinalVersion(text, judgement, type);
  if (version !== undefined) return version;
  if (judgement.choice.refusal !== undefined && type.hasComposite) return judgement;
  const other = settled ? undefined : judgeOtherwise(text, judgement, type);
  if (other !== undefined) return other;
  // Words after the thoughts that state no value are the answer: the model may have dismissed what it thought.
  const { answerFrom } = judgement.read;
  const isAnswered = answerFrom > 0 && HAS_WORD.test(text.slice(answerFrom));
  if (judgement.outcome.ok || isAnswered || !text.includes('<')) return judgement;
  const ofThoughts = judge(text, type, true);
  return ofThoughts.outcome.ok ? ofThoughts : judgement;
}

/** True for a value that is not a draft. */
function isAnswer({ outcome, choice: { best } }: Judgement): boolean {
  return outcome.ok && best !== undefined && best.demotion === '' && best.part.kind !== 'text';
}

/** Reads the last version of a value, which a label or words of correction announce after another one. */
function judgeFinalVersion(text: string, { read, choice }: Judgement, type: ReplyType): Judgement | undefined {
  if (choice.correction !== undefined) return undefined;
  const version =
    type.takesText || !type.hasComposite || read.gaveUp ? undefined : finalVersion(text.slice(read.answerFrom));
  if (version === undefined) return undefined;
  const judgement = judgeInstead(text, version, type);
  return isAnswer(judgement) ? judgement : undefined;
}

/** Reads the value that a model gives again after words of correction: without JSON, or as a scalar in a sentence. */
function judgeCorrected(
  text: string,
  { choice: { best, correction } }: Judgement,
  type: ReplyType,
): Judgement | undefined {
  if (type.takesText || correction === undefined) return undefined;
  const corrected = type.hasComposite
    ? judgeStructured(text.slice(correction.lineEnd), type)
    : judge(text.slice(correction.from), type, false);
  if (corrected?.outcome.ok !== true || best === undefined) return undefined;
  const announcement = text.slice(correction.from, correction.lineEnd);
  return isPartOf(corrected.outcome.json, best.value.json, announcement) ? undefined : corrected;
}

/** Applies corrections in words, each of which states a field, its present value and the correct one; undefined if one does not. */
function judgeApplied(text: string, judgement: Judgement, type: ReplyType): Judgement | undefined {
  const { choice, read } = judgement;
  const { best } = choice;
  if (type.takesText || best === undefined || read.values.some(({ from }) => from >= best.part.to)) return undefined;
  let { node, to } = best.part;
  const flags: Flag[] = [];
  let correction = choice.correction;
  while (correction?.certain === true) {
    const applied = flags.length < MAX_APPLIED ? applyCorrection(node, text, to, correction) : undefined;
    if (applied === undefined) return undefined;
    ({ node, to } = applied);
    flags.push({ flag: 'corrected', path: '', detail: applied.key });
    correction = statedCorrection({ to, node }, [], text);
  }
  if (isAddition(text.slice(to, to + MAX_AFTER))) return undefined;
  const outcome = type.plan.coerce(node);
  if (!outcome.ok || flags.length === 0) return undefined;
  const value = outcome.with({ flags: [...flags, ...outcome.flags] });
  const corrected = { ...best, part: { ...best.part, node, outcome: value }, value };
  const standings = choice.standings.map((each) => (each === best ? corrected : each));
  return {
    ...judgement,
    outcome: flagged(corrected, [], type),
    choice: { standings, best: corrected, refusal: undefined },
  };
}

/** The most sentences that correct one value, and the text after them that can add to it. */
const MAX_APPLIED = 8;
const MAX_AFTER = 500;

/**
 * True if no other reading can be better: the reply contains the value as it is, or cannot be read at all. The fast path
 * settles for such a value too. In a reply that lacks its first bracket, the value is a part of the answer.
 */
function isSettled({ outcome, choice, read }: Judgement, text: string, type: ReplyType): boolean {
  if (type.takesText || read.gaveUp) return true;
  if (!outcome.ok || isBlank(choice) || !outcome.flags.every((flag) => isCertain(flag))) return false;
  return choice.best?.part.kind === 'whole' || openPrefilled(text.slice(read.answerFrom)) === undefined;
}

/** True for the flags that the fast path sets: the value is in a fence or in prose, or needed repairs that are certain. */
function isCertain({ flag, detail }: Flag): boolean {
  if (flag === 'repaired') return typeof detail === 'number' && (detail & ~CERTAIN_REPAIRS) === 0;
  return flag === 'markdown' || flag === 'prose' || flag === 'extra-key';
}

/**
 * True for an empty list, an empty object or a null after a label, which can be the value of a key of structured text, and
 * for a null in the place of a text that does not match.
 */
function isBlank({ best }: Choice): boolean {
  if (best === undefined) return false;
  const { value, part } = best;
  if (value.json === 'null') return part.place === 'label' || value.losses.defaulted > 0;
  return part.node.items.length === 0 && !part.node.isScalar && part.place !== 'alone';
}

/** The text consists of elements of XML: an element in one that has the name of a thought, such as `reasoning`, is a field. */
const IN_ELEMENTS = /^\s*(?:```\w*\s*)?<\w+>[^]*<\/\w+>\s*(?:```)?\s*$/u;
const LEADING_THOUGHT = /^\s*<(think(?:ing)?|thoughts?|reasoning|analysis|scratchpad)>[^]*?<\/\1>\s*(?=<)/iu;

function judgeOtherwise(text: string, { outcome, choice, read }: Judgement, type: ReplyType): Judgement | undefined {
  const answer = text.slice(read.answerFrom);
  const isFound = outcome.ok && choice.best?.part.kind !== 'text' && !isBlank(choice);
  const unframed = judgeUnframed(answer, isFound, (inner) => {
    const judgement = judge(inner, type, false);
    return judgement.outcome.ok || isFound ? judgement : (judgeStructured(inner, type) ?? judgement);
  });
  if (unframed !== undefined) return unframed;
  if (isFound) return undefined;
  const elements = text.replace(LEADING_THOUGHT, '');
  const isField = read.answerFrom > 0 && answer.trim() !== '' && IN_ELEMENTS.test(elements);
  const structured = judgeStructured(isField ? elements : answer, type);
  const isSame = outcome.ok && structured?.outcome.ok === true && structured.outcome.json === outcome.json;
  return isSame && isBlank(choice) ? undefined : structured;
}

function judge(text: string, type: ReplyType, readThoughts: boolean): Judgement {
  const read = readParts(text, type, readThoughts);
  const choice = chooseOutcome(read, text, type);
  return { outcome: outcomeOf(read, choice, type), read, choice, ofThoughts: readThoughts };
}

function outcomeOf(read: ReplyParts, { best, refusal, standings }: Choice, type: ReplyType): CoercionOutcome {
  if (best !== undefined && refusal === undefined && (!read.gaveUp || type.hasScalar)) {
    return flagged(best, read.parts, type);
  }
  if (read.gaveUp) return tooDeep();
  return (
    refusal ?? likeliestError(standings) ?? coercionError(`expected ${type.plan.name}, but the reply contains no value`)
  );
}

/** Flags the place of the value, and that other values in the reply match as well and are not drafts in a thought. */
function flagged({ part: best, value }: RankedPart, parts: readonly ReplyPart[], type: ReplyType): CoercedValue {
  const loss = lossOf(value);
  const others = parts.filter(
    ({ kind, node, outcome, inThought }) =>
      outcome.ok &&
      best.joins?.includes(node) !== true &&
      outcome.json !== value.json &&
      (kind !== 'text' || !type.hasComposite) &&
      inThought === best.inThought &&
      lossOf(outcome) <= loss,
  );
  const place = placeFlag(best);
  if (others.length === 0 && place === undefined) return value;
  const flags = place === undefined ? [...value.flags] : [{ flag: place, path: '' }, ...value.flags];
  if (others.length > 0) {
    const detail =
      others.length === 1 ? '1 more value of the reply matches' : `${others.length} more values of the reply match`;
    flags.push({ flag: 'other-values', path: '', detail });
  }
  return value.with({ flags });
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

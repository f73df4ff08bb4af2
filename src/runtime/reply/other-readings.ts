import { chooseOutcome, type Choice, type Judgement } from './choose-part.ts';
import { coercionError } from './coerce/coercion-error.ts';
import { PARSED_PER_STEP, spend } from './coerce/step-budget.ts';
import { isKept, isText, lossOf, type CoercedValue, type CoercionOutcome } from './coerce/outcome.ts';
import { unframe } from './frames/unframe.ts';
import type { ReplyPart, Standing } from './reply-parts.ts';
import type { ReplyType } from './reply-type.ts';
import { structuredValues } from './structured/structured-text.ts';
import { judgeSections, judgeStructuredParts } from './structured-parts.ts';
import { NOTHING_AROUND } from './surroundings.ts';
import { isStripped, type ReplyNode } from './text/reply-node.ts';
import { areMembers } from './values-in-lines.ts';

/*
 * Two other readings of a reply that is more than JSON: without the frames around its JSON, and as structured text without
 * JSON. Types with strings use neither, because the text is their value.
 */

/**
 * Judges the reply without its frames. Returns undefined if it has none, or if nothing in it matches. `isFound`: the reply
 * has a value as it is.
 */
export function judgeUnframed(
  text: string,
  isFound: boolean,
  judge: (text: string) => Judgement,
): Judgement | undefined {
  const unframed = unframe(text, !isFound);
  if (unframed === undefined) return undefined;
  const judgement = judge(unframed.text);
  const { outcome } = judgement;
  if (!outcome.ok || !isKept(outcome) || isText(outcome)) return undefined;
  const node = judgement.choice.best?.part.node;
  if (node !== undefined && isStripped(node)) return undefined; // The placeholder `{{ name }}`.
  const frames = unframed.frames.map((detail) => ({ flag: 'frame', path: '', detail }));
  const choice = throughout(judgement.choice, text.length);
  return { ...judgement, choice, outcome: outcome.with({ flags: [...frames, ...outcome.flags] }) };
}

/** Extends all parts to the whole text, because their offsets count without the frames. */
export function throughout(choice: Choice, to: number): Choice {
  const extended = new Map<Standing, Standing>();
  for (const each of choice.standings) extended.set(each, { ...each, part: { ...each.part, from: 0, to } });
  const best = choice.best === undefined ? undefined : extended.get(choice.best);
  return { ...choice, standings: [...extended.values()], best: best?.value === undefined ? undefined : best };
}

/** Judges the reply as structured text. Returns undefined if none of its readings matches the type. */
export function judgeStructured(text: string, type: ReplyType): Judgement | undefined {
  if (!type.hasComposite) return undefined;
  const bestIn = (part: string) => readLines(part, type).choice.best?.part;
  const inParts = judgeStructuredParts(text, type, bestIn);
  if (inParts !== undefined) return inParts;
  const whole = readLines(text, type);
  const isFound = whole.outcome.ok && whole.choice.refusal === undefined;
  return (
    judgeSections(text, type, { rows: isFound ? rowsIn(whole.outcome) : 0, bestIn }) ?? (isFound ? whole : undefined)
  );
}

/** Reads a text as one value, in each notation. */
function readLines(text: string, type: ReplyType): Judgement {
  const parts = structuredValues(text).map(({ node, notation }): ReplyPart => {
    const outcome = named(type.plan.coerce(node), notation);
    return { kind: 'whole', from: 0, to: text.length, node, outcome, inThought: false, ...NOTHING_AROUND };
  });
  const matching = parts.filter(({ outcome }) => isMeant(outcome));
  const read = { parts: matching, values: [], coerced: 0, answerFrom: 0, gaveUp: false };
  const choice = chooseOutcome(read, text, type);
  const outcome = choice.best?.value ?? coercionError(`expected ${type.plan.name}, but the text contains no value`);
  return { outcome, read, choice, ofThoughts: false };
}

/** Returns the number of members of a list; 0 for any other value. */
function rowsIn({ json }: CoercedValue): number {
  spend(json.length / PARSED_PER_STEP);
  const value: unknown = JSON.parse(json);
  return Array.isArray(value) ? value.length : 0;
}

/**
 * Judges the structured text around the values of a reply, if all of them are members of its keys. Returns undefined
 * unless it fills at least two fields and matches as well as the value alone.
 */
export function judgeAround(
  text: string,
  { outcome, choice, read }: Judgement,
  type: ReplyType,
): Judgement | undefined {
  const { best } = choice;
  if (type.takesText || best === undefined || !outcome.ok) return undefined;
  const values = read.values.filter(({ from }) => from >= read.answerFrom);
  if (values.length === 0 || !areMembers(text, values, type)) return undefined;
  const around = judgeStructured(text.slice(read.answerFrom), type);
  const whole = around?.choice.best;
  if (whole?.part.node.kind !== 'object' || !isAsGood(whole.value, best.value)) return undefined;
  const fields = fieldsIn(whole.part.node, type);
  return fields >= 2 && fields >= fieldsIn(best.part.node, type) ? around : undefined;
}

/** True for a value that loses no more than another one, and does not display JSON as a string. */
function isAsGood(value: CoercedValue, other: CoercedValue): boolean {
  const isLess = value.losses.dropped + value.losses.defaulted > other.losses.dropped + other.losses.defaulted;
  return !isLess && lossOf(value) <= lossOf(other) && !value.flags.some(({ flag }) => flag === 'to-string');
}

/** The number of fields in an object, or in the largest object of a list. */
function fieldsIn(node: ReplyNode, { plan }: ReplyType): number {
  const objects = node.kind === 'list' ? node.items : [node];
  return objects.reduce((most, { keys }) => Math.max(most, keys.filter((key) => plan.hasField(key)).length), 0);
}

function named(outcome: CoercionOutcome, detail: string): CoercionOutcome {
  if (!outcome.ok) return outcome;
  return outcome.with({ flags: [{ flag: 'structured-text', path: '', detail }, ...outcome.flags] });
}

/** Prose that only resembles structured text matches no key of a class and fills no list: the model did not mean it as structure. */
function isMeant(outcome: CoercionOutcome): boolean {
  return outcome.ok && isKept(outcome) && !isText(outcome) && !outcome.isImplied;
}

import { err, ok } from '../../base/result.ts';
import {
  isAside,
  readCandidates,
  readLines,
  readUnframed,
  type Candidates,
  type ReplyCandidate,
} from './candidates/read-candidates.ts';
import { fencedString, scalarNode } from './candidates/whole-text.ts';
import { choose, type Choice, type RankedCandidate } from './choose.ts';
import { coercionError, type CoercionError } from './coerce/coercion-error.ts';
import {
  describeFlags,
  isShaped,
  isText,
  type CoercedValue,
  type CoercionOutcome,
  type Flag,
} from './coerce/outcome.ts';
import { StepBudget, type Reading } from './coerce/step-budget.ts';
import type { Losses } from '../../schema/explanation.ts';
import { FastPath } from './coerce/fast-path.ts';
import { JsonReply, type ParseFailure, type ParseOutcome } from './reply-parser.ts';
import type { ReplyType } from './reply-type.ts';
import { CERTAIN_REPAIRS, isStripped, MAX_REPLY_DEPTH, stringNode } from './candidates/scan/reply-node.ts';

/*
 * The path of a reply, each step once:
 *
 *   fast path      JSON text in one pass, for a single value that matches its type exactly; gives up otherwise
 *   candidates     the objects, lists, fences and scalars of the text
 *                  unless one of them is clean: the same without the frames, and the text as a table, XML or an outline
 *   coercion       each candidate by the plan of the type: JSON text with a cost, or an error
 *   choice         the candidate of the lowest rank; two of equal rank with unequal values are refused
 *   thoughts       only if the rest of the reply has no words
 */

/** The reading of a reply, and all that led to it. */
export interface ReplyReading {
  readonly outcome: CoercionOutcome;
  readonly candidates: Candidates;
  readonly choice: Choice;
  /** The thoughts were read as well. */
  readonly ofThoughts: boolean;
}

/** Reads a reply with the tolerant parser. */
export function readReply(text: string, type: ReplyType, isCut = false): ReplyReading {
  const reading = readAnswer(text, type, isCut);
  const { answerFrom } = reading.candidates;
  // Words after the thoughts that state no value are the answer: the model may have dismissed what it thought.
  if (reading.outcome.ok || !text.includes('<') || (answerFrom > 0 && HAS_WORD.test(text.slice(answerFrom))))
    return reading;
  const candidates = readCandidates(text, type, true);
  const ofThoughts = readingOf(candidates, text, type, true);
  return ofThoughts.outcome.ok ? ofThoughts : reading;
}

const HAS_WORD = /[\p{L}\p{N}]/u;

function readAnswer(text: string, type: ReplyType, isCut: boolean): ReplyReading {
  const plain = readCandidates(text, type);
  if (plain.gaveUp || type.takesText || plain.all.some(isClean)) return readingOf(plain, text, type, false);
  const lines = isCut ? withoutLastWord(text) : text;
  const others = [...readUnframed(text, type), ...readLines(lines, type, plain.answerFrom)].filter(isMeant);
  return readingOf({ ...plain, all: [...plain.all, ...others] }, text, type, false);
}

/** True for a candidate that no other can surpass: a whole object, list or null as the model wrote it, alone in its place. */
function isClean({ kind, outcome, place, role, node }: ReplyCandidate): boolean {
  if (!outcome.ok || kind === 'text' || place !== 'alone' || (node.items.length === 0 && !node.isScalar)) return false;
  return !isAside({ role }) && isShaped(outcome) && outcome.flags.every(isCertain);
}

/** True for the flags of repairs that are certain, and of keys that belong to no field. */
function isCertain({ flag, detail }: Flag): boolean {
  if (flag === 'repaired') return typeof detail === 'number' && (detail & ~CERTAIN_REPAIRS) === 0;
  return flag === 'extra-key';
}

/** Prose that only resembles another notation matches no key of a class and fills no list: the model did not mean it. */
function isMeant({ outcome, node }: ReplyCandidate): boolean {
  return outcome.ok && outcome.kept && !isText(outcome) && !outcome.isImplied && !isStripped(node);
}

function readingOf(candidates: Candidates, text: string, type: ReplyType, ofThoughts: boolean): ReplyReading {
  const choice = choose(candidates, text, type);
  return { outcome: outcomeOf(candidates, choice, type), candidates, choice, ofThoughts };
}

function outcomeOf({ all, gaveUp }: Candidates, { best, refusal, ranked }: Choice, type: ReplyType): CoercionOutcome {
  if (gaveUp && !(best !== undefined && type.hasScalar))
    return coercionError(`the reply nests deeper than ${MAX_REPLY_DEPTH} levels`);
  if (refusal !== undefined) return refusal;
  if (best !== undefined) return flagged(best, ranked);
  return likeliestError(all) ?? coercionError(`expected ${type.plan.name}, but the reply contains no value`);
}

/** Returns the error of the candidate that is most likely to be the answer; among equal ones, of the last. */
function likeliestError(all: readonly ReplyCandidate[]): CoercionError | undefined {
  const likely = all.findLast(({ kind, place }) => kind !== 'text' && kind !== 'lines' && place === 'alone');
  const { outcome } = likely ?? all.findLast(({ kind }) => kind !== 'text' && kind !== 'lines') ?? all.at(-1) ?? {};
  return outcome?.ok === false ? outcome : undefined;
}

/** Flags the place of the value, and that other values in the reply match as well. */
function flagged({ candidate, value, ranks }: RankedCandidate, ranked: readonly RankedCandidate[]): CoercedValue {
  const others = new Set(
    ranked.flatMap((each) => {
      const isValue =
        each.candidate.kind !== 'lines' && (each.candidate.kind !== 'text') === (candidate.kind !== 'text');
      return isValue && each.ranks[0] === ranks[0] ? [each.value.json] : [];
    }),
  );
  others.delete(value.json);
  const place = placeFlag(candidate);
  const flags: Flag[] = place === undefined ? [] : [{ flag: place, path: '' }];
  for (const detail of candidate.notations)
    flags.push({ flag: candidate.kind === 'lines' ? 'structured-text' : 'frame', path: '', detail });
  flags.push(...value.flags);
  const count = candidate.kind === 'several' || candidate.kind === 'lines' ? 0 : others.size;
  if (count > 0)
    flags.push({
      flag: 'other-values',
      path: '',
      detail: `${count} more ${count === 1 ? 'value of the reply matches' : 'values of the reply match'}`,
    });
  return flags.length === value.flags.length ? value : value.with({ flags });
}

function placeFlag({ kind, node, from }: ReplyCandidate): string | undefined {
  switch (kind) {
    case 'whole':
    case 'lines':
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

// --- with a limited budget ---------------------------------------------------------------------------------------------

/** What is known of a reply besides its text. */
interface Known {
  /** The fast path that has already read it. */
  readonly fastPath?: FastPath | undefined;
  /** The provider states that it cut the reply off. */
  readonly isCut?: boolean | undefined;
}

/** Coerces a whole reply. The fast path takes most replies. */
export function coerceReply(text: string, type: ReplyType, known: Known = {}): CoercionOutcome {
  const budget = new StepBudget(text.length);
  return budget.run((reading) => explained(coerceText(text, type, known, reading))) ?? tooMuchWork(text, type);
}

/**
 * The UTF-16 units that the tolerant parser reads at a time in an event loop that serves other calls. It takes up to 2 µs for each,
 * the fast path 10 ns.
 */
export const SHORT_TEXT = 32_768;

/** Coerces a whole reply in a short time; undefined if that takes longer. */
export function coerceShortReply(text: string, type: ReplyType, known: Known = {}): CoercionOutcome | undefined {
  return new StepBudget(text.length).run((reading) => {
    if (text.length <= SHORT_TEXT || type.asString !== 'no') return explained(coerceText(text, type, known, reading));
    return coerceOnFastPath(text, type, known.fastPath);
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

function coerceText(
  text: string,
  type: ReplyType,
  { fastPath, isCut = false }: Known,
  reading: Reading,
): CoercionOutcome {
  if (type.asString !== 'no') return isCut ? truncated(coerceString(text, type)) : coerceString(text, type);
  const exact = coerceOnFastPath(text, type, fastPath);
  if (exact !== undefined) return exact;
  if (!isCut) return readReply(text, type).outcome;
  reading.isCut = true;
  const source = type.hasComposite || type.takesText ? text : withoutLastWord(text);
  const { choice, outcome } = readReply(source, type, true);
  return isWhole(choice) ? outcome : truncated(outcome);
}

// --- replies that the provider cut off ----------------------------------------------------------------------------------

/** True if the value ends before the end of the text, and no text that is missing can be a part of it. */
function isWhole({ best }: Choice): boolean {
  if (best === undefined) return true;
  const { kind, node } = best.candidate;
  const isAlone = !best.value.flags.some(({ flag, path }) => flag === 'single-to-list' && path === '');
  return node.complete && !node.isScalar && kind !== 'several' && kind !== 'lines' && isAlone;
}

/** Reports that the value is not whole. */
function truncated(outcome: CoercionOutcome): CoercionOutcome {
  if (!outcome.ok) return outcome;
  const flag: Flag = { flag: 'truncated', path: '', detail: 'the provider cut the reply off', losses: TRUNCATED };
  return outcome.with({ flags: [flag, ...outcome.flags], losses: { ...outcome.losses, truncated: 1 } });
}

const TRUNCATED: Losses = { dropped: 0, defaulted: 0, truncated: 1 };

/** The text without a number or word at its very end, which can be unfinished. */
function withoutLastWord(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}.,_+-])[\p{L}\p{N}.,_+-]+$/u, '');
}

function coerceOnFastPath(text: string, type: ReplyType, given?: FastPath): CoercionOutcome | undefined {
  if (!type.hasComposite || type.asString !== 'no') return undefined;
  const fastPath = given ?? new FastPath(type);
  if (given === undefined) fastPath.push(text);
  return fastPath.finish(text);
}

/** Coerces a reply to `string`, which takes it as it is, or `string?`, which takes it without quotes or a fence. */
export function coerceString(text: string, type: ReplyType): CoercionOutcome {
  if (type.asString === 'yes') return type.plan.coerce(stringNode(text));
  const inFence = fencedString(text);
  const node = inFence === undefined ? scalarNode(text, true) : stringNode(inFence);
  return type.plan.coerce(node.kind === 'null' ? node : stringNode(node.text));
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

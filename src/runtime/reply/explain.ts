import type { ExplainedCandidate, Explanation } from '../../schema/explanation.ts';
import { CRITERIA, firstDifference } from './choose.ts';
import type { ReplyCandidate } from './candidates/read-candidates.ts';
import { describeFlags, type CoercionOutcome } from './coerce/outcome.ts';
import { StepBudget } from './coerce/step-budget.ts';
import { coerceString, readReply, SHORT_TEXT, tooMuchWork, type ReplyReading } from './reply.ts';
import type { ReplyType } from './reply-type.ts';

/** The limits of an explanation: a reply can have more candidates, and a candidate more text, than a person reads. */
const MAX_CANDIDATES = 50;
const MAX_JSON = 2000;
const MAX_REASONS = 5;
const MAX_FLAGS = 20;

/** Explains which part of a reply is the answer, and why the others are not. */
export function explainReply(text: string, type: ReplyType): Explanation {
  const explanation = new StepBudget(text.length).run(() => explainText(text, type));
  return explanation ?? ofWhole(text, tooMuchWork(text, type));
}

/** Explains the outcome in a short time; undefined if that takes longer. */
export function explainShortReply(text: string, type: ReplyType): Explanation | undefined {
  if (text.length > SHORT_TEXT) return undefined;
  return new StepBudget(text.length).run(() => explainText(text, type), 'short');
}

function ofWhole(text: string, outcome: CoercionOutcome): Explanation {
  return { candidates: [{ place: 'whole', from: 0, to: text.length, ...verdictOf(outcome) }], omitted: 0 };
}

function explainText(text: string, type: ReplyType): Explanation {
  if (type.asString !== 'no') return ofWhole(text, coerceString(text, type));
  const reading = readReply(text, type);
  const { all, omitted } = reading.candidates;
  const best = reading.choice.best?.candidate;
  // A reading of lines that does not match is not a candidate that a person would see.
  const visible = all.filter(({ kind, outcome }) => kind !== 'lines' || outcome.ok).toSorted((a, b) => a.to - b.to);
  const shown = visible.filter((each, at) => each === best || at < MAX_CANDIDATES - 1);
  return {
    candidates: shown.map((each) => explained(each, reading)),
    omitted: visible.length - shown.length + omitted,
  };
}

function explained(candidate: ReplyCandidate, { choice, outcome, ofThoughts }: ReplyReading): ExplainedCandidate {
  const { kind, from, to } = candidate;
  const place = ofThoughts ? 'thought' : kind === 'lines' ? 'whole' : kind;
  const { best, ranked, refusal } = choice;
  if (candidate === best?.candidate && outcome.ok) return { place, from, to, ...verdictOf(outcome) };
  const verdict = verdictOf(candidate.outcome);
  const own = ranked.find((each) => each.candidate === candidate);
  if (own === undefined || best === undefined) return { place, from, to, ...verdict };
  const isSame = own.value.json === best.value.json;
  const criterion =
    own === best
      ? (refusal?.reason ?? (outcome.ok ? '' : outcome.reason))
      : isSame
        ? 'the same value'
        : (CRITERIA[firstDifference(own, best)] ?? 'another value of equal rank');
  return { place, from, to, ...verdict, verdict: 'passed-over', criterion };
}

function verdictOf(outcome: CoercionOutcome): Omit<ExplainedCandidate, 'place' | 'from' | 'to'> {
  if (!outcome.ok) return { verdict: 'mismatch', reasons: outcome.violations.slice(0, MAX_REASONS), flags: [] };
  const { json, flags } = outcome;
  const shown = json.length <= MAX_JSON ? { json } : ({ json: json.slice(0, MAX_JSON), cut: true } as const);
  return { verdict: 'taken', ...shown, flags: describeFlags(flags.slice(0, MAX_FLAGS)) };
}

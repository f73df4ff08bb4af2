import { criterionOf, type Judgement } from './choose-part.ts';
import type { RankedPart, Standing } from './reply-parts.ts';
import { coerceString, judgeReply, SHORT_TEXT, tooMuchWork } from './coerce-reply.ts';
import { describeFlags, type CoercionOutcome } from './coerce/outcome.ts';
import { StepBudget } from './coerce/step-budget.ts';
import type { ExplainedCandidate, Explanation } from '../../schema/explanation.ts';
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
  const judgement = judgeReply(text, type);
  const { best, standings } = judgement.choice;
  const shown = standings.filter((each, at) => each === best || at < MAX_CANDIDATES - 1);
  return {
    candidates: shown.map((standing) => explained(standing, judgement)),
    omitted: standings.length - shown.length + judgement.read.values.length - judgement.read.coerced,
  };
}

function explained(standing: Standing, judgement: Judgement): ExplainedCandidate {
  const { kind, from, to, inThought, outcome } = standing.part;
  const place = inThought || judgement.ofThoughts ? 'thought' : kind;
  const { best } = judgement.choice;
  if (standing === best && judgement.outcome.ok) return { place, from, to, ...verdictOf(judgement.outcome) };
  const verdict = verdictOf(outcome);
  if (standing.value === undefined || best === undefined) return { place, from, to, ...verdict };
  return { place, from, to, ...verdict, verdict: 'passed-over', criterion: reasonOf(standing, best, judgement) };
}

function reasonOf(standing: RankedPart, best: RankedPart, { choice, outcome }: Judgement): string {
  if (standing !== best) return criterionOf(standing, best);
  return choice.refusal?.reason ?? (outcome.ok ? '' : outcome.reason);
}

function verdictOf(outcome: CoercionOutcome): Omit<ExplainedCandidate, 'place' | 'from' | 'to'> {
  if (!outcome.ok) return { verdict: 'mismatch', reasons: outcome.violations.slice(0, MAX_REASONS), flags: [] };
  const { json, flags } = outcome;
  return { verdict: 'taken', ...shortened(json), flags: describeFlags(flags.slice(0, MAX_FLAGS)) };
}

function shortened(json: string): { json: string; cut?: true } {
  return json.length <= MAX_JSON ? { json } : { json: json.slice(0, MAX_JSON), cut: true };
}

import type { JsonValue } from '../../../base/json.ts';
import { messageOf } from '../../../base/invariant.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { didYouMean } from '../../../base/suggestion.ts';
import { callFilter, numberIn } from '../../../calls/call-filter.ts';
import type { CallFeedback } from '../../../schema/kept-call.ts';
import type { CallSink } from '../http-services.ts';
import { problem, problemOf, type Problem } from '../problem.ts';
import { jsonBodyOf, mediaTypeProblem } from '../read-json.ts';
import type { RequestContext } from '../request-context.ts';
import { bodyOutcomeProblem } from './function-request.ts';

const FEEDBACK_BYTES = 256 * 1024;

/** `POST /feedback/{request_id}`: stores an opinion about the answer to a call. */
export function feedback(context: RequestContext, calls: CallSink, requestId: string): void {
  withBody(context, (body) => {
    const read = readFeedback(body, context.keyName ?? null);
    if (!read.ok) {
      context.problem(read.failure);
      return;
    }
    answer(context, calls.addFeedback(requestId, read.value), (outcome) => {
      if (outcome === 'stored') context.json(200, { stored: true });
      else if (outcome === 'too much') context.problem(problem('invalid_argument', TOO_MUCH));
      else context.problem(problem('not_found', NO_CALL));
    });
  });
}

const NO_CALL =
  'No call with this id is kept. Send the x-request-id of an answer of this server; a sample, or the age and size of --calls, can leave calls out.';

const TOO_MUCH = 'The call has 100 entries of feedback already.';

const MEMBERS = ['score', 'label', 'comment', 'value'];

/** The longest label and comment, in UTF-16 units. */
const LONGEST = { label: 200, comment: 20_000 };

function readFeedback(body: Readonly<Record<string, unknown>>, key: string | null): Result<CallFeedback, Problem> {
  const { score = null, label = null, comment = null, value = null } = body;
  const faults = Object.keys(body)
    .filter((name) => !MEMBERS.includes(name))
    .map((name) => ({ path: name, message: `There is no "${name}". ${didYouMean(name, MEMBERS)}`.trimEnd() }));
  if (score !== null && !Number.isFinite(score)) faults.push({ path: 'score', message: '"score" must be a number.' });
  for (const [name, text] of [
    ['label', label],
    ['comment', comment],
  ] as const) {
    const most = LONGEST[name];
    if (text !== null && (typeof text !== 'string' || text === '' || text.length > most)) {
      faults.push({ path: name, message: `"${name}" must be a text of 1 to ${most} characters.` });
    }
  }
  if (faults.length === 0 && [score, label, comment, value].every((each) => each === null)) {
    faults.push({ path: '', message: `Send at least one of ${MEMBERS.join(', ')}.` });
  }
  if (faults.length > 0) {
    return err(problem('invalid_argument', faults.map(({ message }) => message).join(' '), { details: faults }));
  }
  const [number, name, text] = [score, label, comment] as [number | null, string | null, string | null];
  return ok({ at: Date.now(), key, score: number, label: name, comment: text, value: value as JsonValue });
}

/** The data of the calls page of the playground, by the rest of the path after `/playground/`. Returns false if there is none. */
export function callsData(context: RequestContext, calls: CallSink, path: string): boolean {
  const query = new URLSearchParams(context.request.query);
  const parts = path.split('/');
  if (path === 'calls') {
    const filter = callFilter(query);
    if (!filter.ok) context.problem(problem('invalid_argument', filter.failure));
    else
      answer(context, calls.query({ type: 'page', filter: filter.value, ...placeOf(query) }), (page) =>
        context.json(200, page),
      );
  } else if (path === 'charts') {
    answer(context, calls.query({ type: 'series', ...rangeOf(query) }), (series) => context.json(200, { series }));
  } else if (parts[0] === 'calls' && parts.length === 2 && /^\d{1,15}$/u.test(parts[1] ?? '')) {
    answer(context, calls.query({ type: 'call', seq: Number(parts[1]) }), (call) => {
      if (call === undefined) context.problem(problem('not_found', 'The call is no longer kept.'));
      else context.json(200, call);
    });
  } else return false;
  return true;
}

/** `POST /playground/calls/{seq}/test`: writes a test and a recorded reply from a call. */
export function saveAsTest(context: RequestContext, calls: CallSink, seq: number): void {
  withBody(context, ({ name }) => {
    if (typeof name !== 'string' || !/^[A-Za-z_]\w{0,99}$/u.test(name)) {
      context.problem(
        problem('invalid_argument', '"name" must be a name such as late_invoice: letters, digits and "_".'),
      );
      return;
    }
    answer(context, calls.saveTest(seq, name), (saved) => {
      const outcome = saved as Result<object, string>;
      if (outcome.ok) context.json(200, outcome.value);
      else context.problem(problem('invalid_argument', outcome.failure));
    });
  });
}

function withBody(context: RequestContext, use: (body: Readonly<Record<string, unknown>>) => void): void {
  const type = mediaTypeProblem(context.request);
  if (type !== undefined) {
    context.problem(type);
    return;
  }
  context.request.readBody(FEEDBACK_BYTES, (outcome) => {
    if (outcome.kind !== 'body') {
      const late = bodyOutcomeProblem(outcome, FEEDBACK_BYTES);
      // Without one, the caller has left.
      if (late !== undefined) context.problem(late);
      return;
    }
    const body = jsonBodyOf(outcome.bytes);
    if (body.ok) use(body.value.value);
    else context.problem(body.failure);
  });
}

/** Answers once the primary has. Its failure is the reason why the database does not work. */
function answer(context: RequestContext, asked: Promise<unknown>, send: (value: unknown) => void): void {
  asked.then(send).catch((error: unknown) => {
    context.services.logger.warn({ ...context.logFields, err: error }, 'the database of calls does not answer');
    const message = `The database of calls does not answer: ${messageOf(error)}.`;
    context.problem(problemOf({ code: 'overloaded', message, retryAfterSeconds: 1 }));
  });
}

const PAGE = 50;
const LARGEST_PAGE = 500;

function placeOf(query: URLSearchParams): { readonly before?: number; readonly limit: number } {
  const before = numberIn(query, 'before');
  const limit = Math.min(LARGEST_PAGE, Math.max(1, numberIn(query, 'limit') ?? PAGE));
  return { ...(before !== undefined && { before }), limit };
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** More points than a chart has pixels. */
const MOST_POINTS = 2_000;

function rangeOf(query: URLSearchParams): {
  readonly since: number;
  readonly until: number;
  readonly intervalMs: number;
} {
  const until = numberIn(query, 'until') ?? Date.now();
  const since = Math.min(until, numberIn(query, 'since') ?? until - DAY_MS);
  const least = Math.max(MINUTE_MS, (until - since) / MOST_POINTS, numberIn(query, 'interval') ?? 0);
  return { since, until, intervalMs: Math.ceil(least / MINUTE_MS) * MINUTE_MS };
}

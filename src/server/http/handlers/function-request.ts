import { Cancellation } from '../../../base/cancellation.ts';
import { invariant } from '../../../base/invariant.ts';
import { inOwnTurn, LARGE } from '../../../base/own-turn.ts';
import type { Result } from '../../../base/result.ts';
import type { LimitReached, Reservation, LimitName } from '../../../policy/limiter.ts';
import type {
  CallContext,
  CallReport,
  LoadedTypes,
  PreparedCall,
  FunctionRuntime,
} from '../../../runtime/call/runtime.ts';
import type { ParsedReply } from '../../../runtime/reply/reply-parser.ts';
import type { Failure } from '../../../schema/failure.ts';
import { DRAINING, type Drainable, type Waiter } from '../../admission.ts';
import type { FunctionRoute } from '../../metrics/process-metrics.ts';
import { INTERNAL_PROBLEM, problemOf, type Problem, problem } from '../problem.ts';
import { bodyProblem, mediaTypeProblem, readJson, textOf, type JsonBody } from '../read-json.ts';
import type { RequestContext } from '../request-context.ts';
import type { BodyOutcome, LoneRequest } from '../transport.ts';
import {
  RequestMask,
  traceOf,
  valueHeaders,
  type AnswerTexts,
  type EndedRequest,
  logRequest,
  usageOf,
  type RequestEnd,
} from './answer-parts.ts';
import { keepCall } from './call-record.ts';
import { keptCall, type ClaimOutcome, type CallClaims, type KeptValue } from './kept-call.ts';
import { didYouMean, nearestNames } from '../../../base/suggestion.ts';
import type { Caller } from '../auth.ts';
import { visibleNames } from '../visible-program.ts';

/**
 * The path of a request, from top to bottom, with the statuses that can end it at each step. The last step, `run`, differs between the
 * kinds of requests: it answers 200, or the failure of the call. Steps are functions of this module and
 * callbacks are bound methods, because V8 drops the optimized code of an arrow function at a collection that finds none of its closures.
 */
const STEPS: readonly Step[] = [
  checkHead, // 403 404 415
  readBody,
  checkBody, // 400 408 413 503
  decodeBody,
  parseBody, // 400
  loadTypes,
  prepare, // 400
  waitUntilAlone,
  takeUnits, // 429
  claimAnswer, // 200 (a kept answer) 400 409 503 504
  admit, // 503 504
];

type Step = (request: FunctionRequest) => StepOutcome | Promise<Problem | undefined>;

/**
 * Undefined: the next step follows. `later`: the transport, the admission or the answer of the model continues the request. A problem
 * ends it.
 */
type StepOutcome = Problem | 'later' | undefined;

/** The results of the steps so far. */
interface RequestState {
  /** The index of the next step. */
  next: number;
  /** Until the body is decoded. The bytes of a small one are the memory of the transport, and gone after this turn. */
  arrived: BodyOutcome | undefined;
  /** Until the body is parsed. */
  text: string;
  /** In bytes. */
  size: number;
  body: JsonBody | undefined;
  types: LoadedTypes;
  prepared: PreparedCall | undefined;
  /** Undefined unless the caller has limits. */
  units: Reservation | undefined;
  /** The claims on kept answers, if there are any. */
  kept: CallClaims | undefined;
  /** In the admission. */
  place: 'none' | 'entered' | 'slot';
  /** While the request waits for a slot. */
  queued: { readonly at: number; readonly timer: NodeJS.Timeout } | undefined;
  finished: boolean;
  /** The call at the model: its report once it has ended. */
  run: 'none' | 'running' | CallReport;
  /** A request that ended before its call: it is counted and logged with the report, right after. */
  ended: { readonly end: RequestEnd; readonly durationMs: number } | undefined;
}

/**
 * A request that names a function. `proceed` takes it through the steps; subclasses differ in the last one: they answer, and call
 * `finish` exactly once.
 */
export abstract class FunctionRequest implements Drainable, Waiter, LoneRequest {
  readonly context: RequestContext;
  readonly functionName: string;
  protected readonly cancellation = new Cancellation();
  abstract readonly route: FunctionRoute;
  abstract readonly timeoutMs: number;
  readonly state: RequestState = {
    next: 0,
    arrived: undefined,
    text: '',
    size: 0,
    body: undefined,
    types: undefined,
    prepared: undefined,
    units: undefined,
    kept: undefined,
    place: 'none',
    queued: undefined,
    finished: false,
    run: 'none',
    ended: undefined,
  };
  /** The times until the body was complete, and in the queue, in milliseconds. */
  readonly waits = { body: 0, queue: 0 };
  #mask: RequestMask | undefined;
  setIndex = -1;
  caller: string | undefined;

  constructor(context: RequestContext, functionName: string) {
    this.context = context;
    this.functionName = functionName;
  }

  /** Takes the first steps; the rest follows when the body is complete. */
  begin(): void {
    const { context } = this;
    context.services.active.add(this);
    context.services.metrics.callStarted(this.route);
    context.traceCall(this.route, this.functionName);
    context.countLimits();
    context.response.onAborted(() => this.#aborted());
    this.proceed();
  }

  /**
   * Takes one step after another until the request waits or has ended. `arrived`: the outcome of a wait. An exception is answered as a
   * bug.
   */
  proceed(arrived?: Problem | BodyOutcome): void {
    const { state } = this;
    try {
      if (arrived !== undefined && 'status' in arrived) this.refuse(arrived);
      else if (arrived !== undefined) {
        state.arrived = arrived;
        state.size = arrived.kind === 'body' ? arrived.bytes.length : 0;
        if (this.#takesTurns()) return;
      }
      while (!state.finished) {
        const step = STEPS[state.next];
        state.next += 1;
        const outcome = step === undefined ? this.run(preparedOf(this)) : step(this);
        if (outcome === 'later') return;
        if (outcome instanceof Promise) {
          outcome.then(this.proceed.bind(this), this.crashed.bind(this));
          return;
        }
        if (this.#takesTurns(outcome)) return;
        if (outcome !== undefined) this.refuse(outcome);
      }
    } catch (error) {
      this.callCrashed(error);
    }
  }

  /** Returns true if the next step, or the problem, has a turn of the event loop for itself, because the body is large. */
  #takesTurns(outcome?: Problem): boolean {
    if (this.state.size < LARGE) return false;
    inOwnTurn(() => this.proceed(outcome));
    return true;
  }

  /** Called by the admission when the request has a slot. */
  admitted(): void {
    const waited = this.state.queued !== undefined;
    this.state.place = 'slot';
    this.#endWait();
    if (waited) this.proceed();
  }

  drain(): void {
    if (this.finished) return;
    this.cancellation.cancel('draining');
    this.fail(DRAINING);
  }

  /** Answers the request, now or later. */
  protected abstract run(prepared: PreparedCall): 'later';

  /** The call at the model begins: `callEnded` has to follow, also after a cancellation. */
  protected beginCall(): CallContext {
    this.state.run = 'running';
    return this.callContext();
  }

  /** The call at the model has ended. Returns false if the request has ended before, so that no answer is possible. */
  protected callEnded(report: CallReport | undefined): boolean {
    const { state } = this;
    state.run = report ?? 'none';
    if (state.ended !== undefined) this.#count({ ...state.ended.end, report }, state.ended.durationMs);
    return !state.finished;
  }

  /** The context of the call. The wait for a slot counts towards its deadline. */
  protected callContext(): CallContext {
    const { cancellation } = this;
    const { elapsedMs, requestId, trace } = this.context;
    if (trace?.recordsContents === true) trace.mask(this.mask.text());
    return { requestId, cancellation, deadlineMs: Math.max(1, this.timeoutMs - elapsedMs), observer: trace };
  }

  /** Answers a failure: with a status, or as the last message of a stream that has begun. */
  protected abstract answerProblem(of: Problem): void;

  /** The status that the caller has already received; undefined if it has received none. */
  protected get openedStatus(): number | undefined {
    return undefined;
  }

  /** Called before the request waits for the answer of an equal call, for a slot or for a model. */
  keepAlive?(): void;

  /** Answers with the value that is kept for an equal call. Absent if no answer of this kind is kept. */
  replay?(value: KeptValue, prepared: PreparedCall): void;

  /** Called when the caller has left, so that no answer is possible. */
  protected left(): void {}

  /** Checks the body. */
  prepare(body: JsonBody, types: LoadedTypes): Result<PreparedCall, Failure> {
    return this.context.services.runtime.prepare(this.functionName, body.value, this.context, types);
  }

  protected fail(failure: Failure, report?: CallReport): void {
    const exposed = this.context.services.config.exposePrompts ? report : undefined;
    const of = problemOf(failure, exposed);
    const trace =
      this.state.prepared?.include.has('trace') === true && report !== undefined
        ? traceOf(report, this.context.elapsedMs)
        : undefined;
    this.refuse(trace === undefined ? of : { ...of, fields: { ...of.fields, trace } }, report);
  }

  /** The parts of the answer beside its value; undefined if the request asks for none. */
  protected textsOf(reply: ParsedReply, report: CallReport): AnswerTexts | undefined {
    const include = this.state.prepared?.include;
    return include === undefined || include.size === 0 ? undefined : this.mask.textsOf(include, reply, report);
  }

  /** Keeps the answer for equal calls, if the request or its client asks for it. */
  protected keepValue(json: string, texts: AnswerTexts | undefined, report: CallReport): void {
    this.state.kept?.keep({ kind: 'value', json, texts, headers: valueHeaders(report) });
  }

  protected refuse(of: Problem, report?: CallReport): void {
    if (this.finished) return;
    const clean = this.mask.problem(of);
    this.answerProblem(clean);
    this.state.kept?.keep({ kind: 'problem', problem: clean });
    this.finish({ status: of.status, problem: of, report });
  }

  /** The body can be empty, because the function has no parameters. */
  get takesNoArguments(): boolean {
    return this.context.services.runtime.parameters(this.functionName)?.size === 0;
  }

  /** Few requests need it, and none before its body is read. */
  protected get mask(): RequestMask {
    this.#mask ??= new RequestMask(this.context, this.functionName, this.state.body);
    return this.#mask;
  }

  get finished(): boolean {
    return this.state.finished;
  }

  /**
   * Answers a call that has ended, with a text of this length. Its last step, and the search for credentials in a large body or the
   * answer, take a turn each.
   */
  protected answer(work: () => void, length = 0): void {
    if (Math.max(this.state.size, length) < LARGE) this.guarded(work);
    else inOwnTurn(() => this.finished || this.guarded(work));
  }

  /** Runs `work`: an exception is logged and answered with 500, and the process continues. */
  protected guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.crashed(error);
    }
  }

  /** The call at the model did not start or rejected, because of a bug. */
  protected callCrashed(error: unknown): void {
    this.callEnded(undefined);
    this.crashed(error);
  }

  protected crashed(error: unknown): void {
    const { logFields, services } = this.context;
    services.logger.error({ ...logFields, function: this.functionName, err: error }, 'a bug in the server');
    this.cancellation.cancel('crashed');
    this.refuse(INTERNAL_PROBLEM);
  }

  /**
   * Releases the slot, counts and logs the request. To be called once, when the answer is complete or impossible. A call that runs is
   * cancelled by then, and ends within this turn of the event loop, as a rule.
   */
  protected finish(end: RequestEnd): void {
    const { context, state } = this;
    if (state.finished) return;
    state.finished = true;
    state.kept?.release();
    this.#endWait();
    const { active, admission } = context.services;
    active.delete(this);
    if (state.place !== 'none') admission.leave(this);
    const durationMs = context.elapsedMs;
    if (state.run === 'running') state.ended = { end, durationMs };
    // Answers have the report already: a copy for each of them would cost a small call 3 %.
    else if (end.report !== undefined || state.run === 'none') this.#count(end, durationMs);
    else this.#count({ ...end, report: state.run }, durationMs);
  }

  #count(end: RequestEnd, durationMs: number): void {
    const { context, functionName, route, state } = this;
    const { body, kept, prepared, units } = state;
    const { services, keyName } = context;
    const { status, report } = end;
    state.ended = undefined;
    if (units !== undefined) services.limiter?.settle(units, report === undefined ? undefined : usageOf(report));
    const outcome = end.problem?.code ?? 'ok';
    const traceId = context.trace?.sampledTraceId;
    services.metrics.callEnded({ functionName, route, outcome, durationMs, status, report, traceId, keyName });
    context.endCall(status, outcome, this.openedStatus);
    const line = {
      end,
      functionName,
      route,
      durationMs,
      body,
      secrets: this.#mask?.secrets,
      tags: prepared?.tags,
      kept: kept?.facts,
      waits: this.waits,
    };
    // The log looks for credentials in the whole body.
    if (state.size < LARGE) this.#record(line);
    else inOwnTurn(() => this.#record(line));
  }

  #record(line: EndedRequest): void {
    logRequest(this.context, line);
    const { calls, runtime } = this.context.services;
    const isCall = this.route === 'call' || this.route === 'stream';
    if (calls !== undefined && isCall && runtime.has(this.functionName)) keepCall(this.context, line, this.mask);
  }

  /** Starts the wait for a slot, which lasts until the time of the request is over. */
  startWait(): void {
    const expired = (): void => this.fail(waitedTooLong(this.timeoutMs));
    const timer = setTimeout(expired, this.timeoutMs - this.context.elapsedMs);
    this.state.queued = { at: performance.now(), timer };
  }

  #endWait(): void {
    const { queued } = this.state;
    if (queued === undefined) return;
    this.state.queued = undefined;
    clearTimeout(queued.timer);
    this.waits.queue = performance.now() - queued.at;
    this.context.trace?.queued(queued.at);
  }

  #aborted(): void {
    if (this.finished) return;
    this.cancellation.cancel('the caller left');
    this.left();
    const of = problemOf({ code: 'cancelled', message: 'the caller left' });
    this.finish({ status: of.status, problem: of });
  }
}

function checkHead({ context, functionName }: FunctionRequest): StepOutcome {
  const { caller, request, services } = context;
  if (caller?.mayCall(functionName) === false) return forbidden(caller, functionName, services.runtime);
  if (!services.runtime.has(functionName)) return unknownFunctionProblem(caller, functionName, services.runtime);
  return mediaTypeProblem(request);
}

function readBody(request: FunctionRequest): StepOutcome {
  const { context } = request;
  context.request.readBody(context.services.config.maxBodyBytes, request.proceed.bind(request));
  return 'later';
}

function checkBody({ context, functionName, state, waits }: FunctionRequest): StepOutcome {
  const { arrived } = state;
  const { services } = context;
  if (arrived?.kind !== 'body') {
    if (arrived === undefined) return 'later';
    return bodyOutcomeProblem(arrived, services.config.maxBodyBytes) ?? 'later';
  }
  waits.body = context.elapsedMs;
  services.onBody(functionName, arrived.bytes.length);
  return bodyProblem(arrived.bytes);
}

/** The problem of a body that did not arrive; undefined if it did, or if the caller has left. `limit`: in bytes. */
export function bodyOutcomeProblem(outcome: BodyOutcome, limit: number): Problem | undefined {
  switch (outcome.kind) {
    case 'body':
    case 'aborted':
      return undefined;
    case 'timeout':
      return lateBodyProblem();
    case 'too-large':
      return tooLarge(limit);
    case 'overloaded':
      return problemOf(outcome.limit === 'caller' ? TOO_MANY_BODIES : OVERLOADED);
  }
}

function decodeBody({ state }: FunctionRequest): StepOutcome {
  const { arrived } = state;
  invariant(arrived?.kind === 'body', 'the body is checked');
  state.arrived = undefined;
  state.text = textOf(arrived.bytes);
  return undefined;
}

function parseBody(request: FunctionRequest): StepOutcome {
  const { state } = request;
  const isEmpty = state.text.length < LARGE && state.text.trim() === '';
  const body = readJson(isEmpty && request.takesNoArguments ? '{}' : state.text);
  state.text = '';
  if (!body.ok) return body.failure;
  state.body = body.value;
  return undefined;
}

/** The first call of a function in this worker waits for its validators, and a call with a `type_builder` for its types. */
function loadTypes(request: FunctionRequest): ReturnType<Step> {
  const { context, functionName, state } = request;
  const types = context.services.runtime.load(functionName, bodyOf(request).value, context);
  if (types instanceof Promise)
    return types.then((loaded) => {
      state.types = loaded;
      return undefined;
    });
  state.types = types;
  return undefined;
}

function prepare(request: FunctionRequest): StepOutcome {
  const { state } = request;
  const prepared = request.prepare(bodyOf(request), state.types);
  if (!prepared.ok) return problemOf(prepared.failure);
  state.prepared = prepared.value;
  return undefined;
}

function waitUntilAlone(request: FunctionRequest): StepOutcome {
  return request.context.response.whenAlone(request) ? undefined : 'later';
}

/** A limited caller needs units for the call. */
function takeUnits(request: FunctionRequest): ReturnType<Step> {
  const { context, state } = request;
  const { limits, services } = context;
  if (limits === undefined || services.limiter === undefined) return undefined;
  const prepared = preparedOf(request);
  const tokens = services.runtime.estimateTokens(prepared, bodyOf(request).text);
  state.units = services.limiter.reservation(limits, prepared, tokens);
  const reached = services.limiter.take(state.units);
  return reached instanceof Promise ? reached.then((late) => overLimit(request, late)) : overLimit(request, reached);
}

function overLimit({ context, finished }: FunctionRequest, reached: LimitReached | undefined): Problem | undefined {
  return reached === undefined || finished ? undefined : limitProblem(context, reached);
}

function claimAnswer(request: FunctionRequest): ReturnType<Step> {
  const { context, state, timeoutMs } = request;
  request.keepAlive?.();
  if (request.replay === undefined) return undefined;
  const claimed = keptCall(context, preparedOf(request), bodyOf(request));
  if (claimed === undefined) return undefined;
  if (!claimed.ok) return problemOf(claimed.failure);
  const kept = claimed.value;
  state.kept = kept;
  const remainingMs = (): number => (request.finished ? 0 : timeoutMs - context.elapsedMs);
  return kept.claim(remainingMs, timeoutMs).then((outcome) => answerKept(request, kept, outcome));
}

function answerKept(request: FunctionRequest, kept: CallClaims, outcome: ClaimOutcome): Problem | undefined {
  if (request.finished) return undefined;
  request.context.more = kept.headers;
  if (outcome.kind === 'run') return undefined;
  if (outcome.kind === 'refused') return outcome.problem;
  if (outcome.answer.kind === 'problem') return outcome.answer.problem;
  request.replay?.(outcome.answer, preparedOf(request));
  return undefined;
}

function admit(request: FunctionRequest): StepOutcome {
  const { context, state } = request;
  const { admission, config } = context.services;
  if (preparedOf(request).decidesUpstream === true) request.caller = context.network;
  state.place = 'entered';
  const refusal = admission.enter(request);
  if (refusal !== undefined) {
    state.place = 'none';
    return problemOf(refusal === 'full' ? OVERLOADED : shareUsed(admission.callerPlaces, config.callerShare));
  }
  if (hasSlot(request)) return undefined;
  request.startWait();
  return 'later';
}

/** The admission can give the slot while the request enters. */
function hasSlot({ state }: FunctionRequest): boolean {
  return state.place === 'slot';
}

function bodyOf({ state }: FunctionRequest): JsonBody {
  invariant(state.body !== undefined, 'the body is parsed');
  return state.body;
}

function preparedOf({ state }: FunctionRequest): PreparedCall {
  invariant(state.prepared !== undefined, 'the call is prepared');
  return state.prepared;
}

/** All slots and the queue are full. */
const OVERLOADED: Failure = {
  code: 'overloaded',
  message: 'Too many calls are in flight: try again.',
  retryAfterSeconds: 1,
};

/** The unfinished bodies of the caller have reached its share of the body budget. */
const TOO_MANY_BODIES: Failure = {
  code: 'overloaded',
  message:
    'Unfinished bodies from your address have reached its share of the memory for bodies (--caller-share): try again.',
  retryAfterSeconds: 1,
};

function shareUsed(places: number, share: number): Failure {
  const limit = `${places} (--caller-share ${Number((share * 100).toFixed(2))}%)`;
  const message = `Calls from your address that define clients or set variables have reached its share of this worker, ${limit}: try again.`;
  return { code: 'overloaded', message, retryAfterSeconds: 1 };
}

function waitedTooLong(timeoutMs: number): Failure {
  const message = 'The server is busy: the call waited for a slot until its time was over.';
  return { code: 'timeout', message, timer: 'total', afterMs: Math.round(timeoutMs) };
}

function lateBodyProblem(): Problem {
  return problem('request_timeout', 'The body did not arrive in time.');
}

function tooLarge(limit: number): Problem {
  return problem('payload_too_large', `The body is larger than ${limit} bytes.`, { limit });
}

type Functions = Pick<FunctionRuntime, 'functionNames'>;

/** No function has this name. Suggests only functions that the caller can call. */
function unknownFunctionProblem(caller: Caller | undefined, name: string, { functionNames }: Functions): Problem {
  const visible = visibleNames(caller, functionNames);
  const message = `There is no function "${name}". ${didYouMean(name, visible)}`;
  return problemOf({ code: 'function_not_found', message: message.trim(), suggestions: nearestNames(name, visible) });
}

/** The answer is the same whether the function exists or not. */
function forbidden(caller: Caller, name: string, { functionNames }: Functions): Problem {
  const near = didYouMean(name, visibleNames(caller, functionNames));
  return problem('Forbidden', `The key "${caller.name}" cannot call the function "${name}". ${near}`.trim());
}

const LIMITS: Readonly<Record<LimitName, string>> = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  in_flight: 'calls in flight',
  cost_per_day: 'cost per day',
};

/** Counts the refusal in the metrics, and returns the answer to a call whose caller has reached a limit. */
function limitProblem(context: RequestContext, { name, retryAfterSeconds }: LimitReached): Problem {
  const { caller, keyName, services } = context;
  services.metrics.limited(keyName ?? '', name);
  const who = caller === undefined ? 'Your address' : `The key "${caller.name}"`;
  const message = `${who} has reached its limit of ${LIMITS[name]}: try again in ${retryAfterSeconds} s.`;
  return problem('rate_limited', message, { limit_name: name }, [['retry-after', String(retryAfterSeconds)]]);
}

import { Cancellation } from '../../../base/cancellation.ts';
import type { LimitReached, Reservation } from '../../../policy/limiter.ts';
import type { Failure } from '../../../schema/failure.ts';
import type { CallContext, CallReport, LoadedTypes, PreparedCall } from '../../../runtime/call/runtime.ts';
import type { ParsedReply } from '../../../runtime/reply/reply-parser.ts';
import { DRAINING, type Waiter } from '../../admission.ts';
import type { FunctionRoute } from '../../metrics/process-metrics.ts';
import type { Drainable } from '../drainable.ts';
import { traceOf, valueHeaders, type AnswerTexts } from './answer-parts.ts';
import { keptCall, type ClaimOutcome, type KeptCall, type KeptValue } from './kept-call.ts';
import { limitProblem, usageOf } from './caller-limits.ts';
import { logRequest, type RequestEnd } from './log-request.ts';
import { RequestMask } from './request-mask.ts';
import { INTERNAL_PROBLEM, problem, problemOf, type Problem } from '../problem.ts';
import { mediaTypeProblem, readJson, type JsonBody } from '../read-json.ts';
import type { RequestContext } from '../request-context.ts';
import { forbidden, unknownFunctionProblem } from '../unknown-function.ts';
import type { BodyOutcome, LoneRequest } from '../transport.ts';

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

/**
 * The length in characters from which svc parses a body, checks it and renders the prompt in separate turns of the event loop:
 * each step can take tens of milliseconds, and other requests run in between. For a smaller body, a turn costs more than a step.
 */
const LARGE_BODY = 256 * 1024;

/**
 * A request that names a function: reads the body, checks the arguments, waits for a slot, then calls `run`. Subclasses answer,
 * and call `finish` exactly once.
 */
export abstract class FunctionRequest implements Drainable, Waiter, LoneRequest {
  protected readonly context: RequestContext;
  protected readonly functionName: string;
  protected readonly cancellation = new Cancellation();
  protected abstract readonly route: FunctionRoute;
  protected abstract readonly timeoutMs: number;
  #body: JsonBody | undefined;
  #mask: RequestMask | undefined;
  #prepared: PreparedCall | undefined;
  /** The claims on kept answers, if there are any. */
  #kept: KeptCall | undefined;
  /** Undefined unless the caller has limits. */
  #units: Reservation | undefined;
  /** The admission counts the request. */
  #entered = false;
  #finished = false;
  #hasSlot = false;
  #bodyMs = 0;
  #queuedAt = 0;
  #queueMs = 0;
  /** Runs while the request waits for a slot. */
  #waiting: NodeJS.Timeout | undefined;
  setIndex = -1;
  caller: string | undefined;

  constructor(context: RequestContext, functionName: string) {
    this.context = context;
    this.functionName = functionName;
  }

  /** Starts to read the body; the rest follows once it is complete. */
  begin(): void {
    const { request, services } = this.context;
    services.active.add(this);
    services.metrics.callStarted(this.route);
    this.context.traceCall(this.route, this.functionName);
    this.context.countLimits();
    this.context.response.onAborted(() => this.#aborted());
    const early = this.#earlyProblem();
    if (early === undefined) request.readBody(services.config.maxBodyBytes, this.#endBody.bind(this));
    else this.refuse(early);
  }

  drain(): void {
    if (this.#finished) return;
    this.cancellation.cancel('draining');
    this.fail(DRAINING);
  }

  /** Called by the admission when the request has a slot. */
  admitted(): void {
    this.#endWait();
    this.#hasSlot = true;
    const prepared = this.#prepared;
    if (prepared !== undefined) this.#nextStep(this.#start.bind(this, prepared));
  }

  /** Answers the request. An exception is answered as a bug. */
  protected abstract run(prepared: PreparedCall, context: CallContext): void;

  /** Answers a failure: with a status, or as the last message of a stream that has begun. */
  protected abstract answerProblem(of: Problem): void;

  /** The status that the caller has already received; undefined if it has received none. */
  protected get openedStatus(): number | undefined {
    return undefined;
  }

  /** Answers with the value that is kept for an equal call. Absent if no answer of this kind is kept. */
  protected replay?(value: KeptValue, prepared: PreparedCall): void;

  /** Called when the caller has left, so that no answer is possible. */
  protected left(): void {}

  /** Checks the body. A body that does not match is answered, and returns undefined. */
  protected prepare(body: JsonBody, loaded: LoadedTypes): PreparedCall | undefined {
    const prepared = this.context.services.runtime.prepare(this.functionName, body.value, this.context, loaded);
    if (prepared.ok) return prepared.value;
    this.fail(prepared.failure);
    return undefined;
  }

  protected fail(failure: Failure, report?: CallReport): void {
    const exposed = this.context.services.config.exposePrompts ? report : undefined;
    const of = problemOf(failure, exposed);
    const trace =
      this.#prepared?.include.has('trace') === true && report !== undefined
        ? traceOf(report, this.context.elapsedMs)
        : undefined;
    this.refuse(trace === undefined ? of : { ...of, fields: { ...of.fields, trace } }, report);
  }

  /** The parts of the answer beside its value; undefined if the request asks for none. */
  protected textsOf(reply: ParsedReply, report: CallReport): AnswerTexts | undefined {
    const include = this.#prepared?.include;
    return include === undefined || include.size === 0 ? undefined : this.mask.textsOf(include, reply, report);
  }

  /** Keeps the answer for equal calls, if the request or its client asks for it. */
  protected keepValue(json: string, texts: AnswerTexts | undefined, report: CallReport): void {
    this.#kept?.keep({ kind: 'value', json, texts, headers: valueHeaders(report) });
  }

  protected refuse(of: Problem, report?: CallReport): void {
    if (this.#finished) return;
    const clean = this.mask.problem(of);
    this.answerProblem(clean);
    this.#kept?.keep({ kind: 'problem', problem: clean });
    this.finish({ status: of.status, problem: of, report });
  }

  /** Few requests need it, and none before its body is read. */
  protected get mask(): RequestMask {
    this.#mask ??= new RequestMask(this.context, this.#body);
    return this.#mask;
  }

  protected get finished(): boolean {
    return this.#finished;
  }

  /** Runs `work`: an exception is logged and answered with 500, and the process continues. */
  protected guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.crashed(error);
    }
  }

  protected crashed(error: unknown): void {
    const { logFields, services } = this.context;
    services.logger.error({ ...logFields, function: this.functionName, err: error }, 'a bug in the server');
    this.cancellation.cancel('crashed');
    this.refuse(INTERNAL_PROBLEM);
  }

  /** Releases the slot, counts and logs the request. To be called once, when the answer is complete or impossible. */
  protected finish(end: RequestEnd): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#kept?.release();
    this.#endWait();
    const { services } = this.context;
    services.active.delete(this);
    if (this.#entered) services.admission.leave(this);
    if (this.#units !== undefined)
      services.limiter?.settle(this.#units, this.#hasSlot ? usageOf(end.report) : undefined);
    const durationMs = this.context.elapsedMs;
    const outcome = end.problem?.code ?? 'ok';
    const { functionName, route } = this;
    const { status, report } = end;
    const traceId = this.context.trace?.sampledTraceId;
    const { keyName } = this.context;
    services.metrics.callEnded({ functionName, route, outcome, durationMs, status, report, traceId, keyName });
    this.context.endCall(status, outcome, this.openedStatus);
    logRequest(this.context, {
      end,
      functionName,
      durationMs,
      body: this.#body,
      secrets: this.#mask?.secrets,
      tags: this.#prepared?.tags,
      kept: this.#kept?.facts,
      waits: { body: this.#bodyMs, queue: this.#queueMs },
    });
  }

  /** The request no longer waits for a slot. */
  #endWait(): void {
    if (this.#waiting === undefined) return;
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
    this.#queueMs = performance.now() - this.#queuedAt;
    this.context.trace?.queued(this.#queuedAt);
  }

  #earlyProblem(): Problem | undefined {
    const { caller, request, services } = this.context;
    if (caller?.mayCall(this.functionName) === false) return forbidden(caller, this.functionName, services.runtime);
    if (!services.runtime.has(this.functionName))
      return unknownFunctionProblem(caller, this.functionName, services.runtime);
    return mediaTypeProblem(request);
  }

  #endBody(outcome: BodyOutcome): void {
    if (this.#finished) return;
    switch (outcome.kind) {
      case 'aborted':
        return;
      case 'timeout':
        this.refuse(problem('request_timeout', 'The body did not arrive in time.'));
        return;
      case 'too-large':
        this.refuse(tooLarge(this.context.services.config.maxBodyBytes));
        return;
      case 'overloaded':
        this.fail(outcome.limit === 'caller' ? TOO_MANY_BODIES : OVERLOADED);
        return;
      case 'body':
        this.guarded(this.#readArguments.bind(this, outcome.bytes));
    }
  }

  #readArguments(bytes: Uint8Array): void {
    this.#bodyMs = this.context.elapsedMs;
    this.context.services.onBody(this.functionName, bytes.length);
    const body = readJson(bytes);
    if (!body.ok) {
      this.refuse(body.failure);
      return;
    }
    this.#body = body.value;
    this.#nextStep(this.#loadValidators.bind(this, body.value));
  }

  /**
   * Runs a step of the request, unless the request has ended: immediately, or in a separate turn if its body is large. Steps are bound
   * methods, because V8 drops the optimized code of an arrow function at a collection that finds none of its closures.
   */
  #nextStep(step: () => void): void {
    if ((this.#body?.text.length ?? 0) < LARGE_BODY) this.#runStep(step);
    else setImmediate(this.#runStep.bind(this, step));
  }

  #runStep(step: () => void): void {
    if (!this.#finished) this.guarded(step);
  }

  /** Runs a step of the request with what `waiting` resolves with, unless the request has ended by then. */
  #stepAfter<T>(waiting: Promise<T>, step: (value: T) => void): void {
    waiting.then(
      (value) => this.#runStep(() => step(value)),
      (error: unknown) => this.crashed(error),
    );
  }

  #loadValidators(body: JsonBody): void {
    const loaded = this.context.services.runtime.load(this.functionName, body.value, this.context);
    // The first call of a function in this worker waits for its validators, and a call with a `type_builder` for its types.
    if (loaded instanceof Promise) this.#stepAfter(loaded, this.#checkArguments.bind(this, body));
    else this.#checkArguments(body, loaded);
  }

  #checkArguments(body: JsonBody, loaded: LoadedTypes): void {
    const prepared = this.prepare(body, loaded);
    if (prepared === undefined) return;
    this.#prepared = prepared;
    this.context.response.whenAlone(this);
  }

  /** The transport calls this once no other request in the same packet can end the call. */
  alone(): void {
    this.#nextStep(this.#takeUnits.bind(this));
  }

  /** A limited caller needs units for the call. */
  #takeUnits(): void {
    const { limits, services } = this.context;
    if (limits === undefined || services.limiter === undefined || this.#finished) {
      this.#claimAnswer();
      return;
    }
    this.#units = services.limiter.reservation(limits, this.functionName, this.#body?.text.length ?? 0);
    const reached = services.limiter.take(this.#units);
    if (reached instanceof Promise) this.#stepAfter(reached, this.#unitsTaken.bind(this));
    else this.#unitsTaken(reached);
  }

  #unitsTaken(reached: LimitReached | undefined): void {
    if (reached === undefined) this.#claimAnswer();
    else this.refuse(limitProblem(this.context, reached));
  }

  #start(prepared: PreparedCall): void {
    this.run(prepared, this.#callContext());
  }

  #claimAnswer(): void {
    const body = this.#body;
    const prepared = this.#prepared;
    if (this.#finished || body === undefined || prepared === undefined) return;
    const kept = this.replay === undefined ? undefined : keptCall(this.context, prepared, body);
    if (kept === undefined) this.#enter();
    else if (kept.ok) this.#waitForAnswer(kept.value);
    else this.fail(kept.failure);
  }

  #waitForAnswer(kept: KeptCall): void {
    this.#kept = kept;
    const remainingMs = () => (this.#finished ? 0 : this.timeoutMs - this.context.elapsedMs);
    this.#stepAfter(kept.claim(remainingMs, this.timeoutMs), this.#claimed.bind(this, kept));
  }

  #claimed(kept: KeptCall, outcome: ClaimOutcome): void {
    this.context.more = kept.headers;
    const prepared = this.#prepared;
    if (outcome.kind === 'run') this.#enter();
    else if (outcome.kind === 'refused') this.refuse(outcome.problem);
    else if (outcome.answer.kind === 'problem') this.refuse(outcome.answer.problem);
    else if (prepared !== undefined) this.replay?.(outcome.answer, prepared);
  }

  #enter(): void {
    const prepared = this.#prepared;
    if (this.#finished || prepared === undefined) return;
    const { admission, config } = this.context.services;
    if (prepared.decidesUpstream === true) this.caller = this.context.network;
    this.#entered = true;
    const refusal = admission.enter(this);
    if (refusal !== undefined) {
      this.#entered = false;
      this.fail(refusal === 'full' ? OVERLOADED : shareUsed(admission.callerPlaces, config.callerShare));
    } else if (!this.#hasSlot) {
      this.#queuedAt = performance.now();
      this.#waiting = setTimeout(() => this.#waitedTooLong(), this.timeoutMs - this.context.elapsedMs);
    }
  }

  #waitedTooLong(): void {
    const message = 'The server is busy: the call waited for a slot until its time was over.';
    this.fail({ code: 'timeout', message, timer: 'total', afterMs: Math.round(this.timeoutMs) });
  }

  /** The wait for a slot counts towards the deadline. */
  #callContext(): CallContext {
    const deadlineMs = Math.max(1, this.timeoutMs - this.context.elapsedMs);
    const { requestId, trace } = this.context;
    if (trace?.recordsContents === true) trace.mask(this.mask.text());
    return { requestId, cancellation: this.cancellation, deadlineMs, observer: trace };
  }

  #aborted(): void {
    if (this.#finished) return;
    this.cancellation.cancel('the caller left');
    this.left();
    const of = problemOf({ code: 'cancelled', message: 'the caller left' });
    this.finish({ status: of.status, problem: of });
  }
}

function shareUsed(places: number, share: number): Failure {
  const limit = `${places} (--caller-share ${Number((share * 100).toFixed(2))}%)`;
  const message = `Calls from your address that define clients or set variables have reached its share of this worker, ${limit}: try again.`;
  return { code: 'overloaded', message, retryAfterSeconds: 1 };
}

function tooLarge(limit: number): Problem {
  return problem('payload_too_large', `The body is larger than ${limit} bytes.`, { limit });
}

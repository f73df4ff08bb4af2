import { Cancellation } from '../../../base/cancellation.ts';
import { didYouMean, nearestNames } from '../../../base/suggestion.ts';
import { requestLogLevel } from '../../../logging/request-log.ts';
import type { Failure } from '../../../schema/errors.ts';
import type { CallContext, CallReport, PreparedCall } from '../../../runtime/call/runtime.ts';
import type { FunctionRoute } from '../../metrics/call-metrics.ts';
import type { Waiter } from '../../admission.ts';
import type { Drainable } from '../http-services.ts';
import { INTERNAL_PROBLEM, problem, problemOf, type Problem } from '../problem.ts';
import { mediaTypeProblem, readJson, type JsonBody } from '../read-json.ts';
import type { RequestContext } from '../request-context.ts';
import type { BodyOutcome } from '../transport.ts';

const DRAINING: Failure = {
  code: 'draining',
  message: 'The server is being stopped: send the request again.',
  retryAfterSeconds: 1,
};

/** Sent when all places and the queue are taken. */
const OVERLOADED: Failure = {
  code: 'overloaded',
  message: 'Too many calls are being served: try again.',
  retryAfterSeconds: 1,
};

/** A finished request, as far as the log needs it beyond what the request itself knows. */
export interface Finish {
  readonly status: number;
  readonly report?: CallReport | undefined;
  readonly problem?: Problem | undefined;
  readonly responseText?: string | undefined;
  readonly partials?: number | undefined;
}

/**
 * A request that names a function: key, body, arguments and a place, in this order, then `run`. Subclasses answer;
 * they call `finish` exactly once with what they answered.
 */
export abstract class FunctionRequest implements Drainable, Waiter {
  protected readonly context: RequestContext;
  protected readonly functionName: string;
  protected readonly cancellation = new Cancellation();
  protected abstract readonly route: FunctionRoute;
  protected abstract readonly timeoutMs: number;
  #body: JsonBody | undefined;
  #prepared: PreparedCall | undefined;
  #finished = false;
  #hasPlace = false;
  /** Runs while it waits for a place. */
  #waiting: NodeJS.Timeout | undefined;
  setIndex = -1;

  constructor(context: RequestContext, functionName: string) {
    this.context = context;
    this.functionName = functionName;
  }

  /** Takes the request up to its body; the rest follows when that is there. */
  begin(): void {
    const { request, services } = this.context;
    services.active.add(this);
    services.metrics.callStarted(this.route);
    this.context.response.onAborted(() => this.#aborted());
    const early = this.#earlyProblem();
    if (early === undefined) request.readBody(services.config.maxBodyBytes, (outcome) => this.#takeBody(outcome));
    else this.refuse(early);
  }

  drain(): void {
    if (this.#finished) return;
    this.cancellation.cancel('draining');
    this.fail(DRAINING);
  }

  /** Called by the admission when it has a place. */
  admitted(): void {
    clearTimeout(this.#waiting);
    this.#hasPlace = true;
    if (this.#prepared === undefined || this.#finished) return;
    this.guarded(() => this.#prepared !== undefined && this.run(this.#prepared, this.#callContext()));
  }

  /** Answers the request. What it throws is a bug and answered as one. */
  protected abstract run(prepared: PreparedCall, context: CallContext): void;

  /** Answers a failure in the form that the answer has at this moment. */
  protected abstract answerProblem(of: Problem): void;

  /** The caller is gone; nothing can be answered. */
  protected left(): void {}

  /** Checks what the body says; the answer to a body that does not fit is its failure. */
  protected prepare(body: JsonBody): PreparedCall | undefined {
    const prepared = this.context.services.runtime.prepare(this.functionName, body.value, this.context.request);
    if (prepared.ok) return prepared.value;
    this.fail(prepared.failure);
    return undefined;
  }

  protected fail(failure: Failure, report?: CallReport): void {
    const exposed = this.context.services.config.exposePrompts ? report : undefined;
    this.refuse(problemOf(failure, exposed), report);
  }

  protected refuse(of: Problem, report?: CallReport): void {
    if (this.#finished) return;
    this.answerProblem(of);
    this.finish({ status: of.status, problem: of, report });
  }

  protected get finished(): boolean {
    return this.#finished;
  }

  /** Runs a piece of the work: a throw is answered 500 and logged, and the process lives. */
  protected guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.crashed(error);
    }
  }

  protected crashed(error: unknown): void {
    const { requestId, services } = this.context;
    services.logger.error({ requestId, function: this.functionName, err: error }, 'a bug in the server');
    this.cancellation.cancel('crashed');
    this.refuse(INTERNAL_PROBLEM);
  }

  /** Gives back the place and writes counters and log: once, when the answer is complete or given up. */
  protected finish(end: Finish): void {
    if (this.#finished) return;
    this.#finished = true;
    clearTimeout(this.#waiting);
    const { services } = this.context;
    services.active.delete(this);
    if (this.#prepared !== undefined) services.admission.leave(this);
    const durationMs = this.context.elapsedMs;
    const outcome = end.problem?.code ?? 'ok';
    const { functionName, route } = this;
    services.metrics.callEnded({ functionName, route, outcome, durationMs, status: end.status, report: end.report });
    this.#log(end, durationMs);
  }

  #earlyProblem(): Problem | undefined {
    const { request, services } = this.context;
    if (!services.runtime.has(this.functionName)) return this.#unknownFunction();
    return mediaTypeProblem(request);
  }

  #unknownFunction(): Problem {
    const { functionNames } = this.context.services.runtime;
    const message = `There is no function "${this.functionName}". ${didYouMean(this.functionName, functionNames)}`;
    const suggestions = nearestNames(this.functionName, functionNames);
    return problemOf({ code: 'function_not_found', message: message.trim(), suggestions });
  }

  #takeBody(outcome: BodyOutcome): void {
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
        this.fail(OVERLOADED);
        return;
      case 'body':
        this.guarded(() => this.#takeBytes(outcome.bytes));
    }
  }

  #takeBytes(bytes: Uint8Array): void {
    const body = readJson(bytes);
    if (!body.ok) {
      this.refuse(body.failure);
      return;
    }
    this.#body = body.value;
    const prepared = this.prepare(body.value);
    if (prepared === undefined) return;
    this.#prepared = prepared;
    if (!this.context.services.admission.enter(this)) {
      this.#prepared = undefined;
      this.fail(OVERLOADED);
    } else if (!this.#hasPlace) {
      this.#waiting = setTimeout(() => this.#waitedTooLong(), this.timeoutMs - this.context.elapsedMs);
    }
  }

  #waitedTooLong(): void {
    const message = 'The call waited for a place until its time was over: the server is busy.';
    this.fail({ code: 'timeout', message, timer: 'total', afterMs: Math.round(this.timeoutMs) });
  }

  /** Time spent waiting for a place counts. */
  #callContext(): CallContext {
    const deadlineMs = Math.max(1, this.timeoutMs - this.context.elapsedMs);
    return { requestId: this.context.requestId, cancellation: this.cancellation, deadlineMs };
  }

  #aborted(): void {
    if (this.#finished) return;
    this.cancellation.cancel('the caller left');
    this.left();
    const of = problemOf({ code: 'cancelled', message: 'the caller left' });
    this.finish({ status: of.status, problem: of });
  }

  #log(end: Finish, ms: number): void {
    const { request, requestId, services } = this.context;
    const { report, problem: of } = end;
    if (!services.logger.enabled(requestLogLevel(end.status))) return;
    services.logRequest({
      requestId,
      method: request.method,
      path: request.path,
      status: end.status,
      ms,
      functionName: this.functionName,
      client: report?.client,
      model: report?.model,
      attempts: report?.attempts.length,
      inputTokens: report?.usage.inputTokens,
      outputTokens: report?.usage.outputTokens,
      modelMs: report?.modelMs,
      firstTextMs: report?.firstTextMs,
      finishReason: report?.finishReason,
      flags: report?.flags,
      partials: end.partials,
      error: of === undefined ? undefined : { code: of.code, message: of.message, details: of.fields['details'] },
      requestText: this.#body?.text,
      requestBody: this.#body?.value,
      responseText: end.responseText,
      prompt: report?.prompt,
      rawReply: report?.rawReply,
    });
  }
}

function tooLarge(limit: number): Problem {
  return problem('payload_too_large', `The body is larger than ${limit} bytes.`, { limit });
}

import type { CallContext, CallOutcome, CallReport, PreparedCall } from '../../../runtime/call/runtime.ts';
import type { Problem } from '../problem.ts';
import { JSON_TYPE } from '../response-head.ts';
import { callBody, reportHeaders, timing } from './answer-parts.ts';
import { FunctionRequest } from './function-request.ts';
import type { KeptValue } from './kept-call.ts';

/** `POST /call/{function}`: one value. */
export class CallRequest extends FunctionRequest {
  protected readonly route = 'call';
  protected readonly timeoutMs = this.context.services.config.requestTimeoutMs;
  #report: CallReport | undefined;

  protected run(prepared: PreparedCall, context: CallContext): void {
    // Bound methods: see `#nextStep` of `FunctionRequest`.
    const call = this.context.services.runtime.call(prepared, context);
    call.then(this.#answer.bind(this), this.crashed.bind(this));
  }

  protected answerProblem(of: Problem): void {
    this.context.problem(of, this.#report === undefined ? [] : reportHeaders(this.#report, this.context.elapsedMs));
  }

  #answer(outcome: CallOutcome): void {
    if (!this.finished) this.guarded(this.#send.bind(this, outcome));
  }

  #send({ result, report }: CallOutcome): void {
    this.#report = report;
    if (!result.ok) {
      this.fail(result.failure, report);
      return;
    }
    const { json } = result.value;
    const texts = this.textsOf(result.value, report);
    this.context.send(200, [JSON_TYPE, ...reportHeaders(report, this.context.elapsedMs)], callBody(json, texts));
    this.keepValue(json, texts, report);
    this.finish({ status: 200, report, responseText: json });
  }

  protected override replay({ json, texts, headers }: KeptValue): void {
    this.context.send(200, [JSON_TYPE, ...headers, timing(this.context.elapsedMs)], callBody(json, texts));
    this.finish({ status: 200, responseText: json });
  }
}

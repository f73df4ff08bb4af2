import { NO_PARTS } from '../../../runtime/call/call-options.ts';
import type { CallContext, CallOutcome, CallReport, PreparedCall } from '../../../runtime/call/runtime.ts';
import type { ParsedReply } from '../../../runtime/reply/reply-parser.ts';
import type { Problem } from '../problem.ts';
import { JSON_TYPE } from '../response-head.ts';
import { metaParts, reportHeaders, warningMembers } from './answer-parts.ts';
import { FunctionRequest } from './function-request.ts';

/** `POST /call/{function}`: one value. */
export class CallRequest extends FunctionRequest {
  protected readonly route = 'call';
  protected readonly timeoutMs = this.context.services.config.requestTimeoutMs;
  #report: CallReport | undefined;
  #include: PreparedCall['include'] = NO_PARTS;

  protected run(prepared: PreparedCall, context: CallContext): void {
    this.#include = prepared.include;
    this.context.services.runtime.call(prepared, context).then(this.#answer, this.#crash);
  }

  protected answerProblem(of: Problem): void {
    this.context.problem(of, this.#report === undefined ? [] : reportHeaders(this.#report, this.context.elapsedMs));
  }

  readonly #answer = (outcome: CallOutcome): void => {
    if (this.finished) return;
    this.guarded(() => this.#send(outcome));
  };

  readonly #crash = (error: unknown): void => this.crashed(error);

  #send({ result, report }: CallOutcome): void {
    this.#report = report;
    if (!result.ok) {
      this.fail(result.failure, report);
      return;
    }
    const { json } = result.value;
    const body = this.#include.size === 0 ? json : this.#withParts(result.value, report);
    this.context.send(200, [JSON_TYPE, ...reportHeaders(report, this.context.elapsedMs)], body);
    this.finish({ status: 200, report, responseText: json });
  }

  /** The value and the parts that the request asks for. The playground asks for the trace alone. */
  #withParts(reply: ParsedReply, report: CallReport): string {
    const include = this.#include;
    const trace = include.has('trace') ? this.traceMember(report) : '';
    if (include.has('trace') && include.size === 1) return `{"value":${reply.json}${trace}}`;
    const parts = metaParts(include);
    const facts = parts.length === 0 ? '' : this.meta(parts, report).slice(1, -1);
    const warnings = include.has('warnings') ? warningMembers(reply) : '';
    const meta = [facts, warnings].filter((members) => members !== '').join();
    return `{"result":${reply.json},"meta":{${meta}}${trace}}`;
  }
}

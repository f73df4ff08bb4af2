import type { CallContext, CallReport, PreparedCall } from '../../../runtime/call/runtime.ts';
import type { ReplyOutcome } from '../../../runtime/call/runtime.ts';
import { problem, type Problem } from '../problem.ts';
import { JSON_TYPE } from '../response-head.ts';
import { FunctionRequest } from './function-request.ts';
import type { JsonBody } from '../read-json.ts';

/** `POST /render/{function}` (beta): the messages that a call would send to the model. */
export class RenderRequest extends FunctionRequest {
  protected readonly route = 'render';
  protected readonly timeoutMs = this.context.services.config.requestTimeoutMs;

  protected run(prepared: PreparedCall): void {
    const messages = this.context.services.runtime.render(prepared);
    if (!messages.ok) {
      this.fail(messages.failure);
      return;
    }
    const json = JSON.stringify({ messages: messages.value });
    this.context.send(200, [JSON_TYPE], json);
    this.finish({ status: 200, responseText: json });
  }

  protected answerProblem(of: Problem): void {
    this.context.problem(of);
  }
}

/** `POST /parse/{function}` (beta): the value that the function returns for a reply, sent as `{"text": …}`. */
export class ParseRequest extends FunctionRequest {
  protected readonly route = 'parse';
  protected readonly timeoutMs = this.context.services.config.requestTimeoutMs;
  #text = '';

  protected override prepare(body: JsonBody): PreparedCall | undefined {
    const text = Object.hasOwn(body.value, 'text') ? body.value['text'] : undefined;
    const extra = Object.keys(body.value).filter((key) => key !== 'text');
    if (typeof text === 'string' && extra.length === 0) {
      this.#text = text;
      return { functionName: this.functionName };
    }
    const details = extra.map((path) => ({ path, message: 'is unknown; send {"text": …} only' }));
    if (typeof text !== 'string') {
      details.unshift({ path: 'text', message: 'must be a string: the reply of a model' });
    }
    const all = details.map(({ path, message }) => `"${path}" ${message}`).join('; ');
    this.refuse(problem('invalid_argument', `${all}.`, { details }));
    return undefined;
  }

  protected run(_: PreparedCall, context: CallContext): void {
    const { runtime } = this.context.services;
    runtime.parseReply(this.functionName, this.#text, context).then(
      (outcome) => this.guarded(() => this.#answer(outcome)),
      (error: unknown) => this.crashed(error),
    );
  }

  protected answerProblem(of: Problem): void {
    this.context.problem(of);
  }

  #answer(outcome: ReplyOutcome): void {
    if (this.finished) return;
    if (!outcome.ok) {
      this.fail(outcome.failure, NO_REPORT);
      return;
    }
    this.context.send(200, [JSON_TYPE], outcome.value.json);
    this.finish({
      status: 200,
      report: { ...NO_REPORT, flags: outcome.value.flags },
      responseText: outcome.value.json,
    });
  }
}

/** No model was called. */
const NO_REPORT: CallReport = { attempts: [], usage: {}, modelMs: 0, flags: [] };

import { invariant } from '../../../base/invariant.ts';
import type { Result } from '../../../base/result.ts';
import { isLossy } from '../../../runtime/call/losses.ts';
import type {
  CallOutcome,
  CallReport,
  LoadedTypes,
  PreparedCall,
  PreparedReply,
  ReplyOutcome,
} from '../../../runtime/call/runtime.ts';
import { NO_LOSSES, type ParsedReply } from '../../../runtime/reply/reply-parser.ts';
import type { Failure } from '../../../schema/failure.ts';
import type { Message } from '../../../schema/message.ts';
import type { Problem } from '../problem.ts';
import type { JsonBody } from '../read-json.ts';
import { JSON_TYPE, type HeaderList } from '../response-head.ts';
import { callBody, lossyHeader, reportHeaders, timing, warningMembers } from './answer-parts.ts';
import { FunctionRequest } from './function-request.ts';
import type { KeptValue } from './kept-call.ts';

/** `POST /call/{function}`: one value. */
export class CallRequest extends FunctionRequest {
  readonly route = 'call';
  readonly timeoutMs = this.context.services.config.requestTimeoutMs;
  #report: CallReport | undefined;

  protected run(prepared: PreparedCall): 'later' {
    const call = this.context.services.runtime.call(prepared, this.beginCall());
    call.then(this.#answer.bind(this), this.callCrashed.bind(this));
    return 'later';
  }

  protected answerProblem(of: Problem): void {
    this.context.problem(of, this.#report === undefined ? [] : reportHeaders(this.#report, this.context.elapsedMs));
  }

  #answer(outcome: CallOutcome): void {
    if (this.callEnded(outcome.report)) this.answer(this.#send.bind(this, outcome));
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

  override replay({ json, texts, headers }: KeptValue): void {
    this.context.send(200, [JSON_TYPE, ...headers, timing(this.context.elapsedMs)], callBody(json, texts));
    this.finish({ status: 200, responseText: json });
  }
}

/** `POST /render/{function}` (beta): the messages that a call would send to the model. */
export class RenderRequest extends FunctionRequest {
  readonly route = 'render';
  readonly timeoutMs = this.context.services.config.requestTimeoutMs;

  protected run(prepared: PreparedCall): 'later' {
    const messages = this.context.services.runtime.render(prepared);
    this.answer(() => this.#send(messages));
    return 'later';
  }

  #send(messages: Result<readonly Message[], Failure>): void {
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
  readonly route = 'parse';
  readonly timeoutMs = this.context.services.config.requestTimeoutMs;
  #reply: PreparedReply | undefined;
  #losses = NO_LOSSES;

  /** The body has the reply to parse. */
  override get takesNoArguments(): boolean {
    return false;
  }

  override prepare(body: JsonBody, types: LoadedTypes): Result<PreparedReply, Failure> {
    const prepared = this.context.services.runtime.prepareReply(this.functionName, body.value, types);
    if (prepared.ok) this.#reply = prepared.value;
    return prepared;
  }

  protected run(): 'later' {
    const reply = this.#reply;
    invariant(reply !== undefined, 'the reply is prepared');
    this.context.services.runtime.parseReply(reply, this.callContext()).then(
      (outcome) => this.answer(() => this.#answer(reply, outcome)),
      (error: unknown) => this.crashed(error),
    );
    return 'later';
  }

  protected answerProblem(of: Problem): void {
    this.context.problem(of, this.#lossHeaders);
  }

  #answer(reply: PreparedReply, outcome: ReplyOutcome): void {
    if (this.finished) return;
    if (!outcome.ok) {
      const { failure } = outcome;
      this.#losses = (failure.code === 'validation_failure' ? failure.losses : undefined) ?? NO_LOSSES;
      this.fail(failure, { ...NO_REPORT, losses: this.#losses });
      return;
    }
    const { json, flags, losses } = outcome.value;
    this.#losses = losses;
    this.context.send(200, [JSON_TYPE, ...this.#lossHeaders], bodyOf(reply, outcome.value));
    this.finish({ status: 200, report: { ...NO_REPORT, flags, losses }, responseText: json });
  }

  get #lossHeaders(): HeaderList {
    return isLossy(this.#losses) ? [lossyHeader(this.#losses)] : [];
  }
}

/** Returns the value, in a member of an object if the request asks for more. */
function bodyOf({ explain, include }: PreparedReply, reply: ParsedReply): string {
  const members = [
    ...(include.has('warnings') ? [warningMembers(reply)] : []),
    ...(explain ? [`"explanation":${JSON.stringify(reply.explanation)}`] : []),
  ];
  return members.length === 0 ? reply.json : `{"value":${reply.json},${members.join()}}`;
}

/** No model was called. */
const NO_REPORT: CallReport = {
  attempts: [],
  usage: {},
  modelMs: 0,
  renderMs: 0,
  parseMs: 0,
  flags: [],
  losses: NO_LOSSES,
};

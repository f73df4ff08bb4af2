import { invariant } from '../../base/invariant.ts';
import { memberTexts } from '../../base/json-text.ts';
import { inOwnTurn, LARGE } from '../../base/own-turn.ts';
import type { AnswerPart } from '../../runtime/call/call-options.ts';
import { DRAINING, type Drainable } from '../admission.ts';
import { logRequest } from '../http/handlers/answer-parts.ts';
import { StreamRequest } from '../http/handlers/stream-request.ts';
import { bodyOutcomeProblem } from '../http/handlers/function-request.ts';
import { CallRequest, RenderRequest } from '../http/handlers/value-requests.ts';
import { INTERNAL_PROBLEM, problemOf, type Problem } from '../http/problem.ts';
import { jsonBodyOf, mediaTypeProblem, type JsonBody } from '../http/read-json.ts';
import { RequestContext, type Arrival } from '../http/request-context.ts';
import type { HeaderList } from '../http/response-head.ts';
import type { BodyOutcome, HttpRequest, HttpResponse, LoneRequest, RequestHeader } from '../http/transport.ts';

/*
 * A door is another protocol for the functions. It translates its requests to those of `/call` and `/stream`, which take their whole path
 * within this process, and their answers back. So keys, limits, admission, kept answers, logs, traces and metrics are the same for all.
 */

/** Another protocol for the functions, at paths of its own. */
export interface Door {
  /** The first segment of its paths, with a slash before it. */
  readonly prefix: string;
  /** Its paths, for suggestions. */
  readonly paths: readonly string[];
  /** Serves a request at `prefix` or below. */
  serve(arrival: Arrival): void;
  /** Called when the worker drains: ends the streams that wait for nothing but news. */
  drain?(): void;
}

/**
 * A request at a door with a JSON body: checks the key, then reads the body. Answers go to the response of the context, which the door
 * translates. An exception is answered as a bug.
 */
export abstract class DoorRequest implements Drainable {
  readonly context: RequestContext;
  setIndex = -1;
  /** Undefined until it is read. */
  protected body: JsonBody | undefined;
  #reading = true;

  constructor(context: RequestContext) {
    this.context = context;
  }

  begin(): void {
    const { context } = this;
    if (!this.authorized()) return;
    const refused = mediaTypeProblem(context.request);
    if (refused !== undefined) {
      this.answerProblem(refused);
      return;
    }
    const { active, config } = context.services;
    active.add(this);
    context.response.onAborted(() => this.#read());
    context.request.readBody(config.maxBodyBytes, (outcome) => this.#take(outcome));
  }

  drain(): void {
    this.#refuse(problemOf(DRAINING));
  }

  /** Answers and returns false when the caller has no right to use the door. */
  protected authorized(): boolean {
    return this.context.authorized();
  }

  /** Serves the request with its body. */
  protected abstract take(body: JsonBody): void;

  /** The function that the body names; empty if it names none. */
  protected get functionName(): string {
    return '';
  }

  /** Answers with a problem, and logs and counts the request as a call: the function request would do that, but does not exist yet. */
  protected answerProblem(of: Problem): void {
    const { body, context, functionName } = this;
    context.problem(of);
    const { elapsedMs: durationMs, keyName, services, trace } = context;
    const { code: outcome, status } = of;
    services.metrics.callStarted('call');
    const counted = { functionName, route: 'call', outcome, durationMs, status, keyName } as const;
    services.metrics.callEnded({ ...counted, report: undefined, traceId: trace?.sampledTraceId });
    const line = {
      functionName,
      route: 'call',
      durationMs,
      body,
      secrets: undefined,
      tags: undefined,
      kept: undefined,
    } as const;
    logRequest(context, { ...line, end: { status, problem: of }, waits: { body: 0, queue: 0 } });
  }

  /** Runs `work`: an exception is logged and answered with 500. */
  protected guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.context.services.logger.error({ ...this.context.logFields, err: error }, 'a bug in the server');
      this.answerProblem(INTERNAL_PROBLEM);
    }
  }

  #take(outcome: BodyOutcome): void {
    if (!this.#reading || outcome.kind === 'aborted') return;
    const refused = bodyOutcomeProblem(outcome, this.context.services.config.maxBodyBytes);
    if (refused !== undefined || outcome.kind !== 'body') {
      if (refused !== undefined) this.#refuse(refused);
    } else if (outcome.bytes.length < LARGE) this.guarded(() => this.#parse(outcome.bytes));
    else inOwnTurn(() => this.guarded(() => this.#parse(outcome.bytes)));
  }

  #parse(bytes: Uint8Array): void {
    if (!this.#reading) return;
    const body = jsonBodyOf(bytes);
    if (!body.ok) {
      this.#refuse(body.failure);
      return;
    }
    // The function request is active from here on.
    this.#read();
    this.body = body.value;
    this.take(body.value);
  }

  #refuse(of: Problem): void {
    if (!this.#reading) return;
    this.#read();
    this.answerProblem(of);
  }

  #read(): void {
    this.#reading = false;
    this.context.services.active.delete(this);
  }
}

const ROUTES = { call: CallRequest, stream: StreamRequest, render: RenderRequest };

/** A call of a function through a door. */
export interface InnerCall {
  readonly route: keyof typeof ROUTES;
  readonly functionName: string;
  /** The arguments and options as the JSON text of a body. */
  readonly body: string;
  /** Receives the answer: `send`, or `start`, `write` and `end` for a stream. */
  readonly response: HttpResponse;
}

/** The parts of an answer that doors put into theirs. */
const FACTS: ReadonlySet<AnswerPart> = new Set(['usage', 'client', 'warnings']);

/** Takes a call of a function through the whole path of a request of its route, for the caller of this request. */
export function callFunction(context: RequestContext, { route, functionName, body, response }: InnerCall): void {
  const request = new InnerRequest(context, Buffer.from(body));
  const inner = new RequestContext(context.services, request, response);
  inner.caller = context.caller;
  inner.trace = context.trace;
  if (route !== 'render') inner.include = FACTS;
  new ROUTES[route](inner, functionName).begin();
}

/** A request of a door as one of `/call`: its headers, with another body. */
class InnerRequest implements HttpRequest {
  readonly method = 'POST';
  readonly hasBody = true;
  readonly #context: RequestContext;
  readonly #bytes: Buffer;

  constructor(context: RequestContext, bytes: Buffer) {
    this.#context = context;
    this.#bytes = bytes;
  }

  get path(): string {
    return this.#context.request.path;
  }

  get query(): string {
    return this.#context.request.query;
  }

  get host(): string {
    return this.#context.request.host;
  }

  get local(): boolean {
    return this.#context.request.local;
  }

  get peer(): string {
    return this.#context.request.peer;
  }

  header(name: RequestHeader): string | undefined {
    switch (name) {
      case 'content-type':
        return 'application/json';
      case 'content-encoding':
        return undefined;
      case 'x-request-id':
        return this.#context.requestId;
      default:
        return this.#context.request.header(name);
    }
  }

  readBody(_limit: number, done: (outcome: BodyOutcome) => void): void {
    done({ kind: 'body', bytes: this.#bytes });
  }
}

/** A response that passes everything on; doors override what they translate. */
export class PassedResponse implements HttpResponse {
  protected readonly outer: HttpResponse;

  constructor(outer: HttpResponse) {
    this.outer = outer;
  }

  get closed(): boolean {
    return this.outer.closed;
  }

  send(status: number, headers: HeaderList, body: Uint8Array | string | undefined): void {
    this.outer.send(status, headers, body);
  }

  start(status: number, headers: HeaderList, filler: string): void {
    this.outer.start(status, headers, filler);
  }

  write(chunk: string): boolean {
    return this.outer.write(chunk);
  }

  end(): void {
    this.outer.end();
  }

  onDrain(listener: (empty: boolean) => void): void {
    this.outer.onDrain(listener);
  }

  keepWaiting(): void {
    this.outer.keepWaiting();
  }

  onAborted(listener: () => void): void {
    this.outer.onAborted(listener);
  }

  whenAlone(request: LoneRequest): boolean {
    return this.outer.whenAlone(request);
  }

  destroy(): void {
    this.outer.destroy();
  }
}

/** The answer to a call or stream through a door. */
export interface FunctionAnswer {
  /** The value as its JSON text: JSON.parse would round long integers. */
  readonly value: string;
  /** The members of `meta`, and those next to it. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Reads the body of a call, or the last event of a stream. */
export function readAnswer(json: string): FunctionAnswer {
  let value: string | undefined;
  const facts: Record<string, unknown> = {};
  for (const [name, text] of memberTexts(json)) {
    if (name === 'result' || name === 'final_result') value = text;
    else if (name === 'meta') Object.assign(facts, JSON.parse(text));
    else facts[name] = JSON.parse(text);
  }
  invariant(value !== undefined, 'the answer has a value');
  return { value, facts };
}

/** How the events of `/stream` with a value begin. */
export const PARTIAL_HEAD = '{"partial_result":';
export const FINAL_HEAD = '{"final_result":';

/** The events of `/stream` as they are written: collects the pieces of each, and skips comments. */
export class EventPieces {
  #text = '';
  readonly #onEvent: (json: string) => boolean;

  /** `onEvent`: receives the JSON text of each event; returns false when the client does not keep up. */
  constructor(onEvent: (json: string) => boolean) {
    this.#onEvent = onEvent;
  }

  /** Returns undefined while an event is incomplete. */
  take(chunk: string): boolean | undefined {
    // A comment, between two events.
    if (this.#text === '' && chunk.startsWith(':')) return undefined;
    this.#text += chunk;
    if (!this.#text.endsWith('\n\n')) return undefined;
    const json = this.#text.slice('data: '.length, -2);
    this.#text = '';
    return this.#onEvent(json);
  }
}

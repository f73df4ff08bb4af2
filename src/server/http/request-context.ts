import { randomBytes } from 'node:crypto';
import { nearestNames } from '../../base/suggestion.ts';
import type { LogFields } from '../../logging/logger.ts';
import type { LimitSet } from '../../policy/limiter.ts';
import type { CallOrigin } from '../../runtime/call/runtime.ts';
import type { RequestTrace } from '../../telemetry/request-trace.ts';
import { Caller, type AuthRefusal } from './auth.ts';
import type { HttpServices } from './http-services.ts';
import { networkOf } from './local-caller.ts';
import { problem, problemBody, type Problem } from './problem.ts';
import { JSON_TYPE, type HeaderList } from './response-head.ts';
import type { HttpRequest, HttpResponse } from './transport.ts';

const NO_HEADERS: HeaderList = [];

/** What to ask for instead of a path that does not exist. */
export interface PathAdvice {
  readonly sentence: string;
  readonly paths: readonly string[];
}

type AnswerBody = Uint8Array | string | undefined;

/** A request in a handler, with the ways to answer it. */
export class RequestContext implements CallOrigin {
  readonly services: HttpServices;
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly requestId: string;
  readonly startedAt = performance.now();
  /** Undefined if telemetry is off, and for probes. */
  trace: RequestTrace | undefined;
  /** Headers of the answer that are known before it is. */
  more: HeaderList = NO_HEADERS;
  /** The holder of the key; undefined if the server has no keys, and before the key is checked. */
  caller: Caller | undefined;
  /** Parts of the answer that its route needs. */
  include: CallOrigin['include'];
  /** The limits of the caller; undefined if it has none, and for requests that do not count. */
  limits: LimitSet | undefined;
  /** The function that the request calls. A call ends its trace itself. */
  #functionName: string | undefined;
  /** The code of the failure, or `ok`. */
  #outcome = 'ok';

  constructor(services: HttpServices, request: HttpRequest, response: HttpResponse) {
    this.services = services;
    this.request = request;
    this.response = response;
    this.requestId = requestIdOf(request.header('x-request-id'));
  }

  /** The fields of every log line of this request. */
  get logFields(): LogFields {
    return { requestId: this.requestId, ...this.trace?.logFields };
  }

  /** True if the operator trusts callers on this machine, and this caller is one. */
  get local(): boolean {
    return this.services.config.trustLoopback && this.request.local;
  }

  /** The policy of the key of the caller; undefined: that of the server. */
  get clientRegistry(): Caller['clientRegistry'] {
    return this.caller?.clientRegistry;
  }

  /** The name of the key, for logs, metrics and traces; undefined unless the server has a key file. */
  get keyName(): string | undefined {
    return this.services.config.keyFile === undefined ? undefined : this.caller?.name;
  }

  get network(): string {
    return networkOf(this.request.peer);
  }

  get elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  /** Adds the headers that every answer has. */
  headers(own: HeaderList): HeaderList {
    const id = ['x-request-id', this.requestId] as const;
    const { limits } = this;
    const { limiter } = this.services;
    // One literal with the headers of most answers: V8 copies a list when it grows.
    const list: Array<readonly [string, string]> =
      limits === undefined || limiter === undefined
        ? [id, ...own]
        : [id, ...own, limits.policy, ['ratelimit', limiter.state(limits)]];
    if (this.more.length > 0) list.push(...this.more);
    if (this.services.config.corsOrigins.length > 0) this.#addCorsHeaders(list);
    return list;
  }

  /** The request counts towards the limits of its caller. */
  countLimits(): void {
    const { limiter } = this.services;
    if (limiter === undefined) return;
    const { caller } = this;
    this.limits = caller === undefined ? limiter.setOfAddress(() => this.network) : limiter.setOfKey(caller);
  }

  /** False for HEAD, whose answer has only headers. */
  get wantsBody(): boolean {
    return this.request.method !== 'HEAD';
  }

  /** Sends the whole answer. If `body` is a function, calls it only if the answer has a body. */
  send(status: number, headers: HeaderList, body: AnswerBody | (() => AnswerBody)): void {
    const bytes = typeof body === 'function' ? this.#bodyFrom(body) : body;
    this.response.send(status, this.headers(headers), bytes);
    if (this.trace !== undefined && this.#functionName === undefined)
      this.trace.ended({ status, outcome: this.#outcome, keyName: this.keyName });
  }

  /** The request is a call; `endCall` ends its trace. */
  traceCall(route: string, functionName: string): void {
    this.#functionName = functionName;
    const { config, runtime } = this.services;
    if (this.trace !== undefined && runtime.has(functionName)) {
      this.trace.routed(`${config.basePath}/${route}/${functionName}`, functionName);
    }
  }

  /** `opened`: the status of a stream that the caller received; undefined if the caller disconnected before. */
  endCall(status: number, outcome: string, opened: number | undefined): void {
    const sent = opened ?? (outcome === 'cancelled' ? undefined : status);
    const { keyName, requestId } = this;
    this.trace?.ended({ status: sent, outcome, failed: status >= 500, requestId, keyName });
  }

  json(status: number, value: unknown): void {
    this.send(status, [JSON_TYPE], () => JSON.stringify(value));
  }

  problem(of: Problem, more: HeaderList = []): void {
    this.#outcome = of.code;
    const body = () => problemBody(of, this.requestId, this.services.redactor);
    this.send(of.status, [JSON_TYPE, ...of.headers, ...more], body);
  }

  notFound(known: Iterable<string>, advice?: PathAdvice): void {
    const { path } = this.request;
    const suggestions = advice?.paths ?? (this.wantsBody ? nearestNames(path, known) : []);
    const message = `There is nothing at "${path}". ${advice?.sentence ?? ''}`.trimEnd();
    this.problem(problem('not_found', message, { suggestions }));
  }

  methodNotAllowed(allow: string): void {
    const message = `"${this.request.path}" accepts ${allow}, not ${this.request.method}.`;
    this.problem(problem('method_not_allowed', message, {}, [['allow', allow]]));
  }

  /** Answers 403 and returns false when a key is required and the request has no valid one. */
  authorized(): boolean {
    return this.ifAuthorized((refusal) => this.problem(this.#isForeign ? notLocal() : unauthorized(refusal)));
  }

  /** Returns false, and calls `refuse` now or later, when a key is required and the request has no valid one. */
  ifAuthorized(refuse: (refusal: AuthRefusal) => void): boolean {
    if (this.#isForeign) {
      refuse('missing');
      return false;
    }
    const found = this.services.authenticator.identify(this.request);
    if (found === undefined || found instanceof Caller) {
      this.caller = found;
      return true;
    }
    if (found === 'missing') refuse(found);
    else this.services.wrongKeys.refuse(this.request, this.response, () => refuse(found));
    return false;
  }

  /** Answers 403 and returns false if the key of the caller is for some functions only, and so not for `report`, which names all keys. */
  mayRead(report: string): boolean {
    const { caller } = this;
    if (caller === undefined || caller.callsAll) return true;
    const message = `The key "${caller.name}" cannot read ${report}: it is for some functions only.`;
    this.problem(problem('Forbidden', message));
    return false;
  }

  /** The server serves only this machine, and the caller is elsewhere or acts for a page of another origin. */
  get #isForeign(): boolean {
    return this.services.localOnly && !this.request.local;
  }

  #bodyFrom(make: () => AnswerBody): AnswerBody {
    return this.wantsBody ? make() : undefined;
  }

  #addCorsHeaders(list: Array<readonly [string, string]>): void {
    const allowed = allowedOrigin(this.services.config.corsOrigins, this.request.header('origin'));
    if (allowed !== '*') list.push(['vary', 'origin']);
    if (allowed === undefined) return;
    list.push(['access-control-allow-origin', allowed], ['access-control-expose-headers', EXPOSED_HEADERS]);
  }
}

/** The paths of the metrics port. They need no key: the port is meant for the inside of a cluster only. */
export const OPERATIONS_PATHS = ['/metrics', '/livez', '/readyz', '/healthz'];

/** A request whose context does not exist yet. */
export interface Arrival {
  readonly services: HttpServices;
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Without the base path. */
  readonly path: string;
}

/** Creates the context of a request, with its trace. `response`: what the handlers answer to. */
export function contextOf({ services, request, response: own, path }: Arrival, response = own): RequestContext {
  const context = new RequestContext(services, request, response);
  // Probes and scrapes arrive every few seconds, and no one needs their traces.
  if (services.telemetry !== undefined && !OPERATIONS_PATHS.includes(path)) {
    context.trace = services.telemetry.request(request, context.startedAt);
  }
  return context;
}

const EXPOSED_HEADERS =
  'x-request-id, x-svc-client, x-svc-model, x-svc-attempts, x-svc-input-tokens, x-svc-output-tokens, x-svc-cost, x-svc-lossy, x-svc-made-up, x-svc-cache, x-svc-ignored, age, idempotency-replayed, ratelimit, ratelimit-policy, retry-after, server-timing';

const REFUSALS: Readonly<Record<AuthRefusal, string>> = {
  missing: 'The API key is missing or wrong: send it in the header "x-svc-api-key".',
  wrong: 'The API key is missing or wrong: send it in the header "x-svc-api-key".',
  disabled: 'The API key is disabled: ask the operator of this server for another one.',
  expired: 'The API key has expired: ask the operator of this server for another one.',
};

export function unauthorized(refusal: AuthRefusal, fields: Readonly<Record<string, unknown>> = {}): Problem {
  return problem('Unauthorized', REFUSALS[refusal], fields);
}

function notLocal(): Problem {
  const message =
    'The playground is on and no key is set, so svc serves only programs and pages of this machine, under a name such as "localhost". Set SVC_PASSWORD to serve others.';
  return problem('not_local', message);
}

/** The value of `access-control-allow-origin`, or undefined when this origin is not allowed. */
export function allowedOrigin(allowed: readonly string[], origin: string | undefined): string | undefined {
  if (allowed.includes('*')) return '*';
  return origin !== undefined && allowed.includes(origin) ? origin : undefined;
}

/** Request ids that callers can choose: safe in a header, a log line and a shell. */
const ACCEPTED_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Unique to this process, so that a counter can follow: cheaper than a random id for each request. */
const idPrefix = randomBytes(6).toString('hex');
let lastId = 0;

/** The caller's id when it has the accepted form, otherwise a new one. */
export function requestIdOf(requested: string | undefined): string {
  if (requested !== undefined && ACCEPTED_ID.test(requested)) return requested;
  lastId += 1;
  return `${idPrefix}-${lastId.toString(36)}`;
}

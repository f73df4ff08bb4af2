import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  type TextMapGetter,
  trace,
  type TextMapSetter,
  type TextMapPropagator,
} from '@opentelemetry/api';
import type {
  AttemptObserver,
  CallObserver,
  ObservedParse,
  ObservedRequest,
  ParseObserver,
  ObservedReply,
} from '../base/call-observer.ts';
import {
  argumentsText,
  CONVENTIONS,
  OWN,
  PASSED_OVER,
  type Redact,
  SPANS,
  THREAD_TAKEN,
  FIRST_TOKEN,
  inputMessages,
  outputMessages,
} from './attributes.ts';
import { RecordedSpan, type SpanOutput, TracePosition, type Sampling } from './spans.ts';
import type { Instruments } from './instruments.ts';

/** The headers of a request with which its caller continues a trace. */
const TRACE_HEADERS = ['traceparent', 'tracestate', 'baggage'] as const;

type TraceHeader = (typeof TRACE_HEADERS)[number];

export interface RequestHead {
  readonly method: string;
  readonly path: string;
  /** The `Host` header; empty without one. */
  readonly host: string;
  header(name: TraceHeader): string | undefined;
}

interface TraceEnd {
  /** The status that was sent; undefined if the caller disconnected before. */
  readonly status: number | undefined;
  /** The code of the failure, or `ok`. */
  readonly outcome: string;
  /** True if svc or a provider failed. By default, the status decides. */
  readonly failed?: boolean;
  readonly requestId?: string;
  /** The name of the caller's key, if the server has a key file. */
  readonly keyName?: string | undefined;
}

/** One HTTP request: its server span, with the steps of its call below it, and its metric. */
export class RequestTrace implements CallObserver {
  #services: TraceServices;
  readonly #head: RequestHead;
  readonly #startedAt: number;
  /** What the caller sent: its span and its baggage. */
  readonly #received: Context;
  /** Undefined if svc exports no traces. */
  readonly #position: TracePosition | undefined;
  /** Undefined unless the trace is sampled. */
  readonly #span: RecordedSpan | undefined;
  #route: string | undefined;
  #functionName: string | undefined;
  #over = false;

  constructor(services: TraceServices, head: RequestHead, startedAt: number) {
    this.#services = services;
    this.#head = head;
    this.#startedAt = startedAt;
    services.clock.adjust();
    this.#received = callerContext(services, head);
    const { traces } = services;
    if (traces === undefined) return;
    const parent = this.#received === ROOT_CONTEXT ? undefined : trace.getSpanContext(this.#received);
    const position = new TracePosition(traces.sampling, parent);
    this.#position = position;
    if (position.isSampled) this.#span = this.#start(traces, position);
  }

  /** Fields for every log line of the request. */
  get logFields(): Readonly<Record<string, string>> | undefined {
    if (this.#position === undefined) return undefined;
    const { traceId, spanId } = this.#position.context;
    return { trace_id: traceId, span_id: spanId };
  }

  /** The id with which a reader finds the trace; undefined unless it is sampled. */
  get sampledTraceId(): string | undefined {
    return this.#span?.spanContext().traceId;
  }

  /** The request has the path of a known endpoint, including the common prefix, and calls this function. */
  routed(route: string, functionName?: string): void {
    this.#route = route;
    this.#functionName = functionName;
  }

  /** True if the spans of this request have arguments, prompts and replies. */
  get recordsContents(): boolean {
    return this.#span !== undefined && this.#services.captureContent;
  }

  /** Masks the credentials of this request in its content, in addition to those of the server. */
  mask(own: Redact): void {
    const services = this.#services;
    this.#services = { ...services, redact: (text) => services.redact(own(text)) };
  }

  /** The request waited for a slot until now. */
  queued(since: number): void {
    this.#step(SPANS.queue, since)?.end(this.#services.clock.now());
  }

  started(args: Readonly<Record<string, unknown>>): void {
    if (this.recordsContents) this.#span?.set(OWN.arguments, argumentsText(args, this.#services.redact));
  }

  rendered(client: string, startedAt: number, error: string | undefined): void {
    const span = this.#step(SPANS.render, startedAt);
    if (span === undefined) return;
    span.set(OWN.client, short(client));
    if (error !== undefined) span.fail(error);
    span.end(this.#services.clock.now());
  }

  passedOver(client: string): void {
    this.#span?.event(PASSED_OVER, this.#services.clock.now(), { [OWN.client]: short(client) });
  }

  asked(request: ObservedRequest): AttemptObserver {
    return new AttemptTrace(
      this.#services,
      { received: this.#received, position: this.#position, span: this.#span },
      request,
    );
  }

  parsing(): ParseObserver | undefined {
    const span = this.#step(SPANS.parse, performance.now());
    return span && new ParseTrace(span, this.#services.clock);
  }

  /** Only the first call has an effect. */
  ended(end: TraceEnd): void {
    if (this.#over) return;
    this.#over = true;
    const endedAt = performance.now();
    const error = errorOf(end);
    const attributes = (): Attributes => this.#endAttributes(end.status, error);
    if (this.#span !== undefined) this.#end(this.#span, { attributes: attributes(), end, endedAt });
    const key = `${this.#head.method}\n${this.#route}\n${end.status}\n${error}`;
    this.#services.instruments?.requestEnded(endedAt - this.#startedAt, { key, attributes });
  }

  #start(traces: SpanOutput, position: TracePosition): RecordedSpan {
    const startedAt = this.#services.clock.at(this.#startedAt);
    const { context, parent } = position;
    return new RecordedSpan(traces, { name: this.#head.method, kind: SpanKind.SERVER, startedAt, context, parent });
  }

  #end(span: RecordedSpan, { attributes, end, endedAt }: EndedRequest): void {
    const { method, path, host } = this.#head;
    const route = this.#route;
    span.setAll(attributes);
    // An unknown path can contain anything, such as a key.
    span.set(CONVENTIONS.urlPath, route ?? this.#services.redact(path));
    span.setAll(hostAttributes(host));
    span.set(OWN.outcome, end.outcome);
    if (this.#functionName !== undefined) span.set(OWN.function, this.#functionName);
    if (end.requestId !== undefined) span.set(OWN.requestId, end.requestId);
    if (end.keyName !== undefined) span.set(OWN.keyName, end.keyName);
    // A fault of a provider or of svc is an error of this server. A fault of the caller is not.
    if (isServerError(end)) span.fail();
    if (route !== undefined) span.name = `${method} ${route}`;
    span.end(this.#services.clock.at(endedAt));
  }

  /** The attributes of the metric; the span has them too. */
  #endAttributes(status: number | undefined, error: string | undefined): Attributes {
    const attributes: Attributes = {
      [CONVENTIONS.requestMethod]: this.#head.method,
      // A proxy in front of svc can use TLS; svc does not.
      [CONVENTIONS.urlScheme]: 'http',
    };
    if (this.#route !== undefined) attributes[CONVENTIONS.route] = this.#route;
    if (status !== undefined) attributes[CONVENTIONS.responseStatus] = status;
    if (error !== undefined) attributes[CONVENTIONS.errorType] = error;
    return attributes;
  }

  /** Starts a span below that of the request, if the trace is sampled. */
  #step(name: string, startedAt: number): RecordedSpan | undefined {
    return this.#span?.child(name, this.#services.clock.at(startedAt));
  }
}

interface EndedRequest {
  readonly attributes: Attributes;
  readonly end: TraceEnd;
  readonly endedAt: number;
}

class ParseTrace implements ParseObserver {
  readonly #span: RecordedSpan;
  readonly #clock: EpochClock;
  #thread: RecordedSpan | undefined;

  constructor(span: RecordedSpan, clock: EpochClock) {
    this.#span = span;
    this.#clock = clock;
  }

  moved(): void {
    this.#thread = this.#span.child(SPANS.thread, this.#clock.now());
  }

  taken(): void {
    this.#thread?.event(THREAD_TAKEN, this.#clock.now());
  }

  ended({ error, flags, dropped, defaulted, truncated = 0 }: ObservedParse): void {
    const now = this.#clock.now();
    const span = this.#span;
    this.#thread?.end(now);
    span.set(OWN.thread, this.#thread !== undefined);
    span.set(OWN.repaired, flags.length > 0);
    span.set(OWN.lossy, dropped + defaulted + truncated > 0);
    if (flags.length > 0) span.set(OWN.flags, [...new Set(flags.map(({ flag }) => flag))]);
    if (dropped > 0) span.set(OWN.dropped, dropped);
    if (defaulted > 0) span.set(OWN.defaulted, defaulted);
    if (truncated > 0) span.set(OWN.truncated, truncated);
    if (error !== undefined) span.fail(error);
    span.end(now);
  }
}

/** The context of the caller. Most callers have none. */
function callerContext({ propagator }: TraceServices, head: RequestHead): Context {
  const isNew = head.header('traceparent') === undefined && head.header('baggage') === undefined;
  return isNew ? ROOT_CONTEXT : propagator.extract(ROOT_CONTEXT, head, HEADERS);
}

const HEADERS: TextMapGetter<RequestHead> = {
  keys: () => [...TRACE_HEADERS],
  get: (head, name) => {
    const known = TRACE_HEADERS.find((each) => each === name);
    return known && head.header(known);
  },
};

/** A request that failed because of its caller has no error. */
function errorOf(end: TraceEnd): string | undefined {
  return end.status === undefined || end.outcome === 'cancelled' || isServerError(end) ? end.outcome : undefined;
}

function isServerError({ status = 0, failed = status >= 500 }: TraceEnd): boolean {
  return failed;
}

/** The last host and its attributes: nearly all requests name the same host. */
let lastHost = '';
let lastHostAttributes: Attributes = {};

function hostAttributes(host: string): Attributes {
  if (host !== lastHost) {
    lastHostAttributes = readHost(host);
    lastHost = host;
  }
  return lastHostAttributes;
}

function readHost(host: string): Attributes {
  const match = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/u.exec(host);
  if (match?.[1] === undefined || match[1] === '') return {};
  return { [CONVENTIONS.serverAddress]: match[1], [CONVENTIONS.serverPort]: Number(match[2] ?? 80) };
}

/** The providers whose names in the conventions differ from svc's, and the operations. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'openai-generic': 'openai',
  'openai-responses': 'openai',
  'azure-openai': 'azure.ai.openai',
  'google-ai': 'gcp.gemini',
  'vertex-ai': 'gcp.vertex_ai',
  'aws-bedrock': 'aws.bedrock',
};

const GENERATE_CONTENT: ReadonlySet<string> = new Set(['google-ai', 'vertex-ai']);

/** The options in the body that the conventions define, with their names in the formats of the providers. */
const OPTIONS: ReadonlyArray<readonly [attribute: string, names: readonly string[]]> = [
  [CONVENTIONS.requestMaxTokens, ['max_tokens', 'max_completion_tokens', 'max_output_tokens']],
  [CONVENTIONS.requestTemperature, ['temperature']],
  [CONVENTIONS.requestTopP, ['top_p']],
];

interface CallTrace {
  /** What the caller sent: its span and its baggage. */
  readonly received: Context;
  readonly position: TracePosition | undefined;
  /** Undefined unless the trace is sampled. */
  readonly span: RecordedSpan | undefined;
}

/** One request to a model: a client span, if the trace is sampled, and its metrics. */
class AttemptTrace implements AttemptObserver {
  readonly #services: TraceServices;
  readonly #request: ObservedRequest;
  readonly #parent: CallTrace;
  /** Undefined unless the trace is sampled. */
  readonly #span: RecordedSpan | undefined;
  readonly #startedAt = performance.now();
  #firstTextMs: number | undefined;
  #over = false;

  constructor(services: TraceServices, parent: CallTrace, request: ObservedRequest) {
    this.#services = services;
    this.#request = request;
    this.#parent = parent;
    this.#span = parent.span && this.#start(parent.span);
  }

  traceHeaders(): readonly string[] {
    const headers: string[] = [];
    const { received, position } = this.#parent;
    const own = this.#span === undefined ? position?.context : this.#span.spanContext();
    const context = own === undefined ? received : trace.setSpanContext(received, own);
    this.#services.propagator.inject(context, headers, HEADER_LIST);
    return headers;
  }

  firstText(): void {
    if (this.#firstTextMs !== undefined) return;
    const now = performance.now();
    this.#firstTextMs = now - this.#startedAt;
    this.#span?.event(FIRST_TOKEN, this.#services.clock.at(now));
  }

  ended(reply: ObservedReply): void {
    if (this.#over) return;
    this.#over = true;
    const endedAt = performance.now();
    const error = reply.status === undefined ? reply.error : String(reply.status);
    if (this.#span !== undefined) this.#end(this.#span, reply, { endedAt, error });
    this.#services.instruments?.attemptEnded(
      {
        durationMs: endedAt - this.#startedAt,
        firstTextMs: this.#request.streamed ? this.#firstTextMs : undefined,
        inputTokens: reply.inputTokens,
        outputTokens: reply.outputTokens,
        error,
      },
      {
        client: this.#request.options,
        responseModel: reply.responseModel,
        key: () => this.#seriesOf(reply.responseModel),
      },
    );
  }

  #start(parent: RecordedSpan): RecordedSpan {
    const { model } = this.#request;
    const operation = operationOf(this.#request);
    const name = model === undefined ? operation : `${operation} ${short(model)}`;
    return parent.child(name, this.#services.clock.at(this.#startedAt), SpanKind.CLIENT);
  }

  #end(
    span: RecordedSpan,
    reply: ObservedReply,
    end: { readonly endedAt: number; readonly error: string | undefined },
  ): void {
    const { clock, captureContent } = this.#services;
    const { number, isReask, streamed } = this.#request;
    span.setAll(clientAttributes(this.#request));
    span.set(OWN.attempt, number);
    if (streamed) span.set(CONVENTIONS.requestStream, true);
    if (isReask) span.set(OWN.reask, true);
    if (end.error !== undefined) span.fail(end.error);
    if (this.#firstTextMs !== undefined) span.set(CONVENTIONS.firstChunk, this.#firstTextMs / 1000);
    setReplyAttributes(span, reply);
    if (captureContent) this.#setContents(span, reply);
    span.end(clock.at(end.endedAt));
  }

  #setContents(span: RecordedSpan, { text, finishReason }: ObservedReply): void {
    const { redact } = this.#services;
    span.set(CONVENTIONS.inputMessages, inputMessages(this.#request.messages, redact));
    if (text === undefined) return;
    span.set(CONVENTIONS.outputMessages, outputMessages(text, finishReason, redact));
  }

  /** Callers and servers can send any name, so metrics limit the number of names. */
  #seriesOf(responseName: string | undefined): { readonly key: string; readonly attributes: () => Attributes } {
    const { names } = this.#services;
    const { model: name, ofCaller, origin, provider } = this.#request;
    const model = name === undefined || !ofCaller ? name && names.bounded(name) : OTHER;
    const responseModel = ofCaller ? undefined : responseName && names.bounded(responseName);
    const server = ofCaller ? undefined : origin;
    return {
      key: `${provider}\n${model}\n${responseModel}\n${server}`,
      attributes: () => ({
        ...operationAttributes(this.#request),
        ...(model === undefined ? {} : { [CONVENTIONS.requestModel]: model }),
        ...(responseModel === undefined ? {} : { [CONVENTIONS.responseModel]: responseModel }),
        ...serverAttributes(server),
      }),
    };
  }
}

const HEADER_LIST: TextMapSetter<string[]> = { set: (headers, name, value) => void headers.push(name, value) };

function operationOf({ provider }: ObservedRequest): string {
  return GENERATE_CONTENT.has(provider) ? 'generate_content' : 'chat';
}

function operationAttributes(request: ObservedRequest): Attributes {
  return {
    [CONVENTIONS.operation]: operationOf(request),
    [CONVENTIONS.provider]: PROVIDERS[request.provider] ?? request.provider,
  };
}

function serverAttributes(origin: string | undefined): Attributes {
  if (origin === undefined) return {};
  const { hostname, port, protocol } = new URL(origin);
  const usual = protocol === 'https:' ? 443 : 80;
  return {
    [CONVENTIONS.serverAddress]: hostname,
    [CONVENTIONS.serverPort]: port === '' ? usual : Number(port),
  };
}

function optionAttributes(options: ObservedRequest['options']): Attributes {
  const attributes: Attributes = {};
  for (const [attribute, names] of OPTIONS) {
    const value = names.map((name) => options[name]).find((each) => typeof each === 'number');
    if (typeof value === 'number') attributes[attribute] = value;
  }
  return attributes;
}

/** The attributes of a client, by its options object. Each client has one. */
const CLIENTS = new WeakMap<object, Attributes>();

function clientAttributes(request: ObservedRequest): Attributes {
  const known = CLIENTS.get(request.options);
  if (known !== undefined) return known;
  const { client, model, options, origin } = request;
  const attributes = {
    ...operationAttributes(request),
    ...(model === undefined ? {} : { [CONVENTIONS.requestModel]: short(model) }),
    ...optionAttributes(options),
    ...serverAttributes(origin),
    [OWN.client]: short(client),
  };
  CLIENTS.set(options, attributes);
  return attributes;
}

/** Sets the known attributes one by one, because most replies have few of them. */
function setReplyAttributes(span: RecordedSpan, reply: ObservedReply): void {
  const { responseModel, finishReason, inputTokens, outputTokens, tokenDetails } = reply;
  if (responseModel !== undefined) span.set(CONVENTIONS.responseModel, short(responseModel));
  if (finishReason !== undefined) span.set(CONVENTIONS.finishReasons, [short(finishReason)]);
  if (inputTokens !== undefined) span.set(CONVENTIONS.inputTokens, inputTokens);
  if (outputTokens !== undefined) span.set(CONVENTIONS.outputTokens, outputTokens);
  if (tokenDetails === undefined) return;
  const { cachedInputTokens, cacheWrittenInputTokens, reasoningTokens } = tokenDetails;
  if (cachedInputTokens !== undefined) span.set(CONVENTIONS.cacheReadTokens, cachedInputTokens);
  if (cacheWrittenInputTokens !== undefined) {
    span.set(CONVENTIONS.cacheWrittenTokens, cacheWrittenInputTokens);
  }
  if (reasoningTokens !== undefined) span.set(CONVENTIONS.reasoningTokens, reasoningTokens);
}

/** The objects that all traces of a process share. */
export interface TraceServices {
  /** Undefined if svc exports no traces. */
  readonly traces: (SpanOutput & { readonly sampling: Sampling }) | undefined;
  /** Undefined if svc exports no metrics. */
  readonly instruments: Instruments | undefined;
  readonly propagator: TextMapPropagator;
  readonly names: KnownNames;
  readonly clock: EpochClock;
  readonly captureContent: boolean;
  readonly redact: Redact;
}

const OTHER = 'other';

/** The maximum length of the name of a model or client. */
const LONGEST_NAME = 256;

function short(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`;
}

/** The names that this process has used in metrics. Names beyond the limit share one value. */
export class KnownNames {
  readonly #limit: number;
  readonly #names = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  bounded(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= this.#limit || name.length > LONGEST_NAME) return OTHER;
    this.#names.add(name);
    return name;
  }
}

/** A larger difference is a change of the system's clock. Smaller ones are rounding, and would shift the spans of a trace. */
const CHANGE_MS = 50;

/** Converts times of `performance.now()`, which is monotonic, to times of the system's clock. */
export class EpochClock {
  #offset = Date.now() - performance.now();

  /** Call this from time to time, because the two clocks drift apart. */
  adjust(): void {
    const offset = Date.now() - performance.now();
    if (Math.abs(offset - this.#offset) > CHANGE_MS) this.#offset = offset;
  }

  /** Returns milliseconds since 1970. */
  at(time: number): number {
    return this.#offset + time;
  }

  /** Returns milliseconds since 1970. */
  now(): number {
    return this.at(performance.now());
  }
}

import { type Attributes, type Context, SpanKind, type TextMapSetter, trace } from '@opentelemetry/api';
import type { AttemptObserver, ObservedReply, ObservedRequest } from '../base/call-observer.ts';
import { CONVENTIONS, FIRST_TOKEN, inputMessages, outputMessages, OWN } from './attributes.ts';
import type { RecordedSpan, TracePosition } from './spans.ts';
import { OTHER, short, type TraceServices } from './trace-services.ts';

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

/** The trace of the call that makes the request. */
interface CallTrace {
  /** What the caller sent: its span and its baggage. */
  readonly received: Context;
  readonly position: TracePosition | undefined;
  /** Undefined unless the trace is sampled. */
  readonly span: RecordedSpan | undefined;
}

/** One request to a model: a client span, if the trace is sampled, and its metrics. */
export class AttemptTrace implements AttemptObserver {
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

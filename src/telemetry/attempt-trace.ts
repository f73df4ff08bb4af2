import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapSetter,
  trace,
} from '@opentelemetry/api';
import type { AttemptObserver, ObservedReply, ObservedRequest } from '../base/call-observer.ts';
import { CONVENTIONS, FIRST_TOKEN, OWN } from './attributes.ts';
import { inputMessages, outputMessages } from './content.ts';
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

/** One request to a model: a client span, if the trace is sampled, and its metrics. */
export class AttemptTrace implements AttemptObserver {
  readonly #services: TraceServices;
  readonly #request: ObservedRequest;
  /** Contains the span of this request, or the span of the whole call. */
  readonly #context: Context;
  /** Undefined unless the trace is sampled. */
  readonly #span: Span | undefined;
  readonly #startedAt = performance.now();
  #firstTextMs: number | undefined;
  #over = false;

  constructor(services: TraceServices, parent: Context, request: ObservedRequest) {
    this.#services = services;
    this.#request = request;
    this.#span = trace.getSpan(parent)?.isRecording() === true ? this.#start(parent) : undefined;
    this.#context = this.#span === undefined ? parent : trace.setSpan(parent, this.#span);
  }

  traceHeaders(): readonly string[] {
    const headers: string[] = [];
    this.#services.propagator.inject(this.#context, headers, HEADER_LIST);
    return headers;
  }

  firstText(): void {
    if (this.#firstTextMs !== undefined) return;
    const now = performance.now();
    this.#firstTextMs = now - this.#startedAt;
    this.#span?.addEvent(FIRST_TOKEN, this.#services.clock.at(now));
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
      this.#seriesOf(reply.responseModel),
    );
  }

  /** The attributes follow at the end, because the library copies and checks the attributes of a start twice. */
  #start(parent: Context): Span | undefined {
    const { tracer, clock } = this.#services;
    const { model } = this.#request;
    const operation = operationOf(this.#request);
    const name = model === undefined ? operation : `${operation} ${short(model)}`;
    return tracer?.startSpan(name, { kind: SpanKind.CLIENT, startTime: clock.at(this.#startedAt) }, parent);
  }

  #end(span: Span, reply: ObservedReply, end: { readonly endedAt: number; readonly error: string | undefined }): void {
    const { clock, captureContent } = this.#services;
    const { number, isReask, streamed } = this.#request;
    span.setAttributes(clientAttributes(this.#request));
    span.setAttribute(OWN.attempt, number);
    if (streamed) span.setAttribute(CONVENTIONS.requestStream, true);
    if (isReask) span.setAttribute(OWN.reask, true);
    if (end.error !== undefined) markFailed(span, end.error);
    if (this.#firstTextMs !== undefined) span.setAttribute(CONVENTIONS.firstChunk, this.#firstTextMs / 1000);
    setReplyAttributes(span, reply);
    if (captureContent) this.#setContents(span, reply);
    span.end(clock.at(end.endedAt));
  }

  #setContents(span: Span, { text, finishReason }: ObservedReply): void {
    const { redact } = this.#services;
    span.setAttribute(CONVENTIONS.inputMessages, inputMessages(this.#request.messages, redact));
    if (text === undefined) return;
    span.setAttribute(CONVENTIONS.outputMessages, outputMessages(text, finishReason, redact));
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

export function markFailed(span: Span, error: string): void {
  span.setAttribute(CONVENTIONS.errorType, error);
  // No message, because it can quote a prompt or a reply.
  span.setStatus({ code: SpanStatusCode.ERROR });
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
function setReplyAttributes(span: Span, reply: ObservedReply): void {
  const { responseModel, finishReason, inputTokens, outputTokens, tokenDetails } = reply;
  if (responseModel !== undefined) span.setAttribute(CONVENTIONS.responseModel, short(responseModel));
  if (finishReason !== undefined) span.setAttribute(CONVENTIONS.finishReasons, [short(finishReason)]);
  if (inputTokens !== undefined) span.setAttribute(CONVENTIONS.inputTokens, inputTokens);
  if (outputTokens !== undefined) span.setAttribute(CONVENTIONS.outputTokens, outputTokens);
  if (tokenDetails === undefined) return;
  const { cachedInputTokens, cacheWrittenInputTokens, reasoningTokens } = tokenDetails;
  if (cachedInputTokens !== undefined) span.setAttribute(CONVENTIONS.cacheReadTokens, cachedInputTokens);
  if (cacheWrittenInputTokens !== undefined) {
    span.setAttribute(CONVENTIONS.cacheWrittenTokens, cacheWrittenInputTokens);
  }
  if (reasoningTokens !== undefined) span.setAttribute(CONVENTIONS.reasoningTokens, reasoningTokens);
}

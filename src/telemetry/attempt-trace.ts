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
import { LONGEST_NAME, OTHER, type TraceServices } from './trace-services.ts';

/** The names of providers and operations in the conventions, where they differ from those of svc. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'openai-generic': 'openai',
  'openai-responses': 'openai',
  'azure-openai': 'azure.ai.openai',
  'google-ai': 'gcp.gemini',
  'vertex-ai': 'gcp.vertex_ai',
  'aws-bedrock': 'aws.bedrock',
};

const GENERATE_CONTENT: ReadonlySet<string> = new Set(['google-ai', 'vertex-ai']);

/** Options of the body that the conventions name, with their names in the formats of the providers. */
const OPTIONS: ReadonlyArray<readonly [attribute: string, names: readonly string[]]> = [
  [CONVENTIONS.requestMaxTokens, ['max_tokens', 'max_completion_tokens', 'max_output_tokens']],
  [CONVENTIONS.requestTemperature, ['temperature']],
  [CONVENTIONS.requestTopP, ['top_p']],
];

/** One request to a model: a client span, if the trace is sampled, and its metrics. */
export class AttemptTrace implements AttemptObserver {
  readonly #services: TraceServices;
  readonly #request: ObservedRequest;
  /** With the span of this request, or of the whole call. */
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

  #start(parent: Context): Span | undefined {
    const { tracer, clock, captureContent, redact } = this.#services;
    const { client, model, number, isReask, messages, options, streamed } = this.#request;
    const operation = operationOf(this.#request);
    const attributes: Attributes = {
      ...operationAttributes(this.#request),
      ...optionAttributes(options),
      [OWN.client]: short(client),
      [OWN.attempt]: number,
    };
    if (model !== undefined) attributes[CONVENTIONS.requestModel] = short(model);
    if (streamed) attributes[CONVENTIONS.requestStream] = true;
    if (isReask) attributes[OWN.reask] = true;
    if (captureContent) attributes[CONVENTIONS.inputMessages] = inputMessages(messages, redact);
    Object.assign(attributes, serverAttributes(this.#request.origin));
    const name = model === undefined ? operation : `${operation} ${short(model)}`;
    const settings = { kind: SpanKind.CLIENT, startTime: clock.at(this.#startedAt), attributes };
    return tracer?.startSpan(name, settings, parent);
  }

  #end(span: Span, reply: ObservedReply, end: { readonly endedAt: number; readonly error: string | undefined }): void {
    const { clock, captureContent, redact } = this.#services;
    const { finishReason, text, tokenDetails } = reply;
    if (end.error !== undefined) {
      span.setAttribute(CONVENTIONS.errorType, end.error);
      // Without a message: it can quote a prompt or a reply.
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    setKnown(span, {
      [CONVENTIONS.responseModel]: reply.responseModel === undefined ? undefined : short(reply.responseModel),
      [CONVENTIONS.finishReasons]: finishReason === undefined ? undefined : [short(finishReason)],
      [CONVENTIONS.firstChunk]: this.#firstTextMs === undefined ? undefined : this.#firstTextMs / 1000,
      [CONVENTIONS.inputTokens]: reply.inputTokens,
      [CONVENTIONS.outputTokens]: reply.outputTokens,
      [CONVENTIONS.cacheReadTokens]: tokenDetails?.cachedInputTokens,
      [CONVENTIONS.cacheWrittenTokens]: tokenDetails?.cacheWrittenInputTokens,
      [CONVENTIONS.reasoningTokens]: tokenDetails?.reasoningTokens,
    });
    if (captureContent && text !== undefined) {
      span.setAttribute(CONVENTIONS.outputMessages, outputMessages(text, finishReason, redact));
    }
    span.end(clock.at(end.endedAt));
  }

  /** Callers and servers can send any name: metrics have a limited number of them. */
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

/** The servers that this process has asked, with their attributes; clients of requests can name any number of them. */
const SERVERS = new Map<string, Attributes>();
const MAX_SERVERS = 100;

function serverAttributes(origin: string | undefined): Attributes {
  if (origin === undefined) return {};
  const known = SERVERS.get(origin);
  if (known !== undefined) return known;
  const { hostname, port, protocol } = new URL(origin);
  const usual = protocol === 'https:' ? 443 : 80;
  const attributes = {
    [CONVENTIONS.serverAddress]: hostname,
    [CONVENTIONS.serverPort]: port === '' ? usual : Number(port),
  };
  if (SERVERS.size < MAX_SERVERS) SERVERS.set(origin, attributes);
  return attributes;
}

function optionAttributes(options: ObservedRequest['options']): Attributes {
  const attributes: Attributes = {};
  for (const [attribute, names] of OPTIONS) {
    const value = names.map((name) => options[name]).find((each) => typeof each === 'number');
    if (typeof value === 'number') attributes[attribute] = value;
  }
  return attributes;
}

function setKnown(span: Span, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) span.setAttribute(name, value);
}

function short(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`;
}

import { Cancellation } from '../../base/cancellation.ts';
import type { Result } from '../../base/result.ts';
import { err } from '../../base/result.ts';
import type { Provider } from '../../schema/client.ts';
import type { Message, PromptClient } from '../../schema/message.ts';
import type { ReplyFormat } from './wire/reply-format.ts';
import type { ConnectionPools, Endpoint } from './http/connection-pools.ts';
import type { ExchangeLimits } from './http/exchange-clock.ts';
import { fetchMedia } from './http/fetch-media.ts';
import type { HttpCall } from './http/http-exchange.ts';
import { errorText } from './http/upstream-failure.ts';
import type { UpstreamFailure } from './http/upstream-failure.ts';
import { MediaBudget } from './http/fetch-media.ts';
import { HttpModelExchange } from './http-model-exchange.ts';
import { inlineMedia, needsInlining } from './inline-media.ts';
import type { MediaHandling } from './inline-media.ts';
import type { ModelClient, ModelExchange, ModelListener, ModelRequest } from './model-client.ts';
import { clientFailure, attemptFailure } from './attempt-failure.ts';
import type { AttemptFailure } from './attempt-failure.ts';
import type { FinishReasonRule } from './options/client-options.ts';

/** How one provider is asked over HTTP: the only part that differs between them. */
export interface WireProtocol {
  /** The request for a prompt. The failure says what the provider cannot take, and ends `The client "X" …`. */
  call(messages: readonly Message[], streamed: boolean): CallResult | Promise<CallResult>;
  /** How replies are written. */
  readonly format: ReplyFormat;
  /** Servers of this kind may leave out finish reason and end mark: a stream whose body ended well is whole. */
  readonly endsWithBody?: boolean;
}

export type CallResult = Result<HttpCall, string>;

/** A protocol that needs nothing from elsewhere for its requests. */
export interface ReadyProtocol extends WireProtocol {
  call(messages: readonly Message[], streamed: boolean): CallResult;
}

export interface HttpClientParts {
  readonly name: string;
  readonly provider: Provider;
  readonly model?: string;
  readonly prompt: PromptClient;
  readonly finishReasons: FinishReasonRule;
  readonly supportsStreaming: boolean;
  readonly endpoint: Endpoint;
  readonly limits: ExchangeLimits;
  /** What becomes of media URLs. */
  readonly mediaHandling: MediaHandling;
  /** Values that must not appear in any error. */
  readonly secrets: readonly string[];
  readonly protocol: WireProtocol;
  readonly pools: ConnectionPools;
}

/** A client of any provider that is asked by an HTTP POST. */
export class HttpModelClient implements ModelClient {
  readonly #parts: HttpClientParts;

  constructor(parts: HttpClientParts) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.name;
  }

  get provider(): Provider {
    return this.#parts.provider;
  }

  get model(): string | undefined {
    return this.#parts.model;
  }

  get prompt(): PromptClient {
    return this.#parts.prompt;
  }

  get finishReasons(): FinishReasonRule {
    return this.#parts.finishReasons;
  }

  ask(request: ModelRequest, listener: ModelListener): ModelExchange {
    const { protocol, supportsStreaming, limits } = this.#parts;
    const streamed = request.streamed && supportsStreaming;
    const exchange = new HttpModelExchange({
      format: protocol.format,
      endsWithBody: protocol.endsWithBody === true,
      streamed,
      tellsText: request.streamed,
      limits,
      deadlineAt: request.deadlineAt,
      listener,
      fault: (fault) => this.#fault(fault),
    });
    if (needsInlining(request.messages, this.#parts.mediaHandling)) {
      this.#startWhenMade(exchange, this.#inlineCall(exchange, request, streamed), streamed);
      return exchange;
    }
    const call = protocol.call(request.messages, streamed);
    if (call instanceof Promise) {
      exchange.prepares(new Cancellation());
      this.#startWhenMade(exchange, call, streamed);
    } else this.#start(exchange, call, streamed);
    return exchange;
  }

  async #inlineCall(exchange: HttpModelExchange, request: ModelRequest, streamed: boolean): Promise<CallResult> {
    const { protocol, pools, mediaHandling } = this.#parts;
    const cancellation = new Cancellation();
    const room = new MediaBudget(pools.media);
    exchange.prepares(cancellation, room);
    const guard = request.privateUrls ? 'not-link-local' : 'public-only';
    const fetch = (url: string): ReturnType<typeof fetchMedia> => fetchMedia(url, { pools, guard, cancellation });
    const messages = await inlineMedia(request.messages, mediaHandling, { fetch, room });
    return messages.ok ? protocol.call(messages.value, streamed) : messages;
  }

  /** What rejects, such as a text that V8 cannot hold, ends the call at once and not at its deadline. */
  #startWhenMade(exchange: HttpModelExchange, call: Promise<CallResult>, streamed: boolean): void {
    void call.then(
      (made) => this.#start(exchange, made, streamed),
      (error: unknown) => exchange.failed({ kind: 'unusable', message: `could not be asked: ${errorText(error)}` }),
    );
  }

  #start(exchange: HttpModelExchange, call: CallResult, streamed: boolean): void {
    if (call.ok) exchange.start(this.#parts.pools.to(this.#parts.endpoint, streamed), call.value);
    else
      queueMicrotask(() => exchange.refuse(err({ failure: clientFailure(this.name, call.failure), retry: 'never' })));
  }

  #fault(fault: UpstreamFailure): AttemptFailure {
    return attemptFailure(this.name, fault, this.#parts.secrets);
  }
}

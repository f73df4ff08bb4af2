import { APIPromise, OpenAI } from 'openai';
import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import type { ResponseCreateParams } from 'openai/resources/responses/responses';

/** What a resource of the package would have sent. */
export interface BuiltRequest {
  /** Below the base URL: `/chat/completions`. */
  readonly path: string;
  readonly body: unknown;
}

/**
 * The openai package with its request step replaced: its resources say where a request goes and what it holds, and
 * our own HTTP path sends it. The package's own step (Headers, AbortController, fetch, Response) costs ten times
 * what the rest of a call does. It holds no key, so all clients share one.
 */
export class OpenAiRequestBuilder extends OpenAI {
  #built: BuiltRequest | undefined;
  readonly #unsent: APIPromise<never>;

  constructor() {
    // Given in full, so that the package reads nothing from the process environment.
    super({
      apiKey: 'unused',
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      baseURL: 'http://invalid.invalid',
      logLevel: 'off',
      fetch: () => Promise.reject(new Error('requests of this client are sent by svc')),
    });
    // Resources hand the promise back, and nobody waits for it.
    this.#unsent = new APIPromise<never>(this, new Promise(() => {}));
  }

  override post<Reply>(path: string, options?: Parameters<OpenAI['post']>[1]): APIPromise<Reply> {
    this.#built = { path, body: options !== undefined && 'body' in options ? options.body : undefined };
    return this.#unsent;
  }

  chatCompletion(params: ChatCompletionCreateParams): BuiltRequest | undefined {
    void this.chat.completions.create(params);
    return this.#take();
  }

  response(params: ResponseCreateParams): BuiltRequest | undefined {
    void this.responses.create(params);
    return this.#take();
  }

  #take(): BuiltRequest | undefined {
    const built = this.#built;
    this.#built = undefined;
    return built;
  }
}

let shared: OpenAiRequestBuilder | undefined;

/** The builder that all clients share: it holds no key and no state between two requests. */
export function openAiRequests(): OpenAiRequestBuilder {
  shared ??= new OpenAiRequestBuilder();
  return shared;
}

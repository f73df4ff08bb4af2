import { createRequire } from 'node:module';
import type { OpenAI } from 'openai';
import type * as Chat from 'openai/resources/chat/completions/completions';
import type * as Response from 'openai/resources/responses/responses';

/** The request that a resource of the package would have sent. */
interface BuiltRequest {
  /** Below the base URL: `/chat/completions`. */
  readonly path: string;
  readonly body: unknown;
}

const load = createRequire(import.meta.url);

/**
 * The resources of the openai package without its request step: they build the path and body of a request, and svc's own
 * HTTP code sends it. The package's own step (Headers, AbortController, fetch, Response) costs ten times as much as the
 * rest of a call, and loading its entry, with every other API of OpenAI, four times as much as two resources.
 */
class OpenAiPackage {
  readonly #client = { post: (path: string, options: unknown) => this.#post(path, options) };
  #chat: Chat.Completions | undefined;
  #responses: Response.Responses | undefined;
  #built: BuiltRequest | undefined;

  chatCompletion(params: Chat.ChatCompletionCreateParams): BuiltRequest | undefined {
    void this.loadChat().create(params);
    return this.#take();
  }

  response(params: Response.ResponseCreateParams): BuiltRequest | undefined {
    void this.loadResponses().create(params);
    return this.#take();
  }

  loadChat(): Chat.Completions {
    if (this.#chat !== undefined) return this.#chat;
    const { Completions } = load('openai/resources/chat/completions/completions') as typeof Chat;
    this.#chat = new Completions(this.#openAi());
    return this.#chat;
  }

  loadResponses(): Response.Responses {
    if (this.#responses !== undefined) return this.#responses;
    const { Responses } = load('openai/resources/responses/responses') as typeof Response;
    this.#responses = new Responses(this.#openAi());
    return this.#responses;
  }

  /** Resources use only `post` and the other methods of its kind. */
  #openAi(): OpenAI {
    return this.#client as unknown as OpenAI;
  }

  #post(path: string, options: unknown): Unsent {
    this.#built = { path, body: bodyOf(options) };
    return UNSENT;
  }

  #take(): BuiltRequest | undefined {
    const built = this.#built;
    this.#built = undefined;
    return built;
  }
}

interface Unsent {
  _thenUnwrap(): Unsent;
}

/** Returned in place of a promise that no code awaits. */
const UNSENT: Unsent = { _thenUnwrap: () => UNSENT };

function bodyOf(options: unknown): unknown {
  return typeof options === 'object' && options !== null && 'body' in options ? options.body : undefined;
}

/** All clients share it: it contains no key, and no state between two requests. */
export const openAiPackage = new OpenAiPackage();

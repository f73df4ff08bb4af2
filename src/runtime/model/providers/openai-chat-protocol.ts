import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import { err, ok } from '../../../base/result.ts';
import { invariant } from '../../../base/invariant.ts';
import type { JsonValue } from '../../../base/json.ts';
import type { Message } from '../../../schema/message.ts';
import type { ReplyFormat } from '../wire/reply-format.ts';
import { openAiChatFormat } from '../wire/openai-chat-format.ts';
import type { CallResult, WireProtocol } from '../http-model-client.ts';
import type { ClientOptions } from '../options/client-options.ts';
import { openAiChatMessages } from './openai-chat-messages.ts';
import { bodyModel } from './provider.ts';
import type { Connection } from './provider.ts';
import { openAiRequests } from './openai-request-builder.ts';
import { replyFormat } from './reply-formats.ts';
import { requestHeaders, requestPath } from './request-head.ts';

export interface ChatDialect {
  readonly url: string;
  readonly options: ClientOptions;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Messages of one text are plain texts, not lists of parts. */
  readonly plainText: boolean;
  /** Members that only streams have, after `stream`. */
  readonly streamMembers: Readonly<Record<string, JsonValue>>;
  /** Of the many servers that follow the API, some end a stream by ending its body. */
  readonly endsWithBody?: boolean;
}

/** Chat completions, as OpenAI, Azure, Ollama, OpenRouter and many others take them. */
export class OpenAiChatProtocol implements WireProtocol {
  readonly format: ReplyFormat;
  readonly endsWithBody: boolean;
  readonly #dialect: ChatDialect;
  readonly #headers: readonly string[];
  readonly #members: Readonly<Record<string, JsonValue>>;
  #path = '';

  constructor(dialect: ChatDialect) {
    this.#dialect = dialect;
    this.endsWithBody = dialect.endsWithBody === true;
    this.format = replyFormat(dialect.options, openAiChatFormat);
    this.#headers = requestHeaders(dialect.options, dialect.headers);
    this.#members = Object.fromEntries(dialect.options.body);
  }

  call(messages: readonly Message[], streamed: boolean): CallResult {
    const { options, plainText, streamMembers, url } = this.#dialect;
    const wire = openAiChatMessages(messages, options, plainText);
    if (!wire.ok) return err(wire.failure);
    const params: Record<string, unknown> = { ...this.#members, messages: wire.value };
    if (streamed) Object.assign(params, { stream: true }, streamMembers);
    // Options are the user's: the provider judges them.
    const built = openAiRequests.chatCompletion(params as unknown as ChatCompletionCreateParams);
    invariant(built !== undefined, 'the openai package posted nothing');
    if (this.#path === '') this.#path = requestPath(url, built.path, options);
    return ok({ path: this.#path, headers: this.#headers, body: JSON.stringify(built.body) });
  }
}

export function loadChatCompletions(): void {
  openAiRequests.loadChat();
}

/** The connection of a client whose key, if it has one, goes out as a bearer token. */
export function chatConnection(
  url: string,
  options: ClientOptions,
  dialect: Pick<ChatDialect, 'plainText' | 'streamMembers' | 'endsWithBody'>,
): Connection {
  return {
    url,
    ...bodyModel(options),
    ...CHAT_MEDIA,
    protocol: (apiKey) => {
      const headers = { authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}` };
      return new OpenAiChatProtocol({ url, options, headers, ...dialect });
    },
  };
}

/** Chat completions take audio only inline. */
export const CHAT_MEDIA = { mediaUrls: { audio: 'send_base64' } } as const;

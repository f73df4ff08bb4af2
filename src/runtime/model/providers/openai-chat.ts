import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import { invariant } from '../../../base/invariant.ts';
import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { err, ok } from '../../../base/result.ts';
import type { Message } from '../../../schema/message.ts';
import type { StructuredOutput } from '../../../schema/structured-output.ts';
import type { AZURE_OPENAI, OPENAI } from '../../../schema/providers/openai.ts';
import type { ClientOptions } from '../client-options.ts';
import type { CallResult, WireProtocol } from '../http-model-client.ts';
import { openAiChatFormat } from '../wire/openai-formats.ts';
import type { ReplyFormat } from '../wire/reply-format.ts';
import { openAiChatMessages } from './openai-messages.ts';
import { openAiPackage } from './openai-package.ts';
import { replyFormat, requestHeaders, requestPath } from './provider.ts';
import type { ClientSetup, Connection, HttpProvider } from './provider.ts';
import { withStructure } from './structured-members.ts';

/** OpenAI's own service. */
export const openAi: HttpProvider = {
  load,
  connect(client: ClientSetup<typeof OPENAI.options>) {
    const { options, values } = client;
    // A `stream_options` of the client is in the body of every request.
    const isOwn = options.body.has('stream_options');
    const connection = chatConnection(client, {
      streamMembers: isOwn ? {} : { stream_options: values.stream_options },
    });
    return isFirstReasoningModel(options.model) ? { ...connection, ...FIRST_REASONING_LIMITS } : connection;
  },
};

/** `o1` and its variants accept no system messages and do not stream; the later reasoning models do both. */
function isFirstReasoningModel(model: string | undefined): boolean {
  return model === 'o1' || model?.startsWith('o1-') === true;
}

const FIRST_REASONING_LIMITS = { roles: ['user', 'assistant'], defaultRole: 'user', streams: false } as const;

/** Other services that follow OpenAI's chat completions closely: Ollama and OpenRouter. */
export const openAiCompatible: HttpProvider = { load, connect: (client) => chatConnection(client, {}) };

/** Any server that follows them more or less closely. */
export const openAiGeneric: HttpProvider = {
  load,
  connect: (client) => chatConnection(client, { plainText: true, endsWithBody: true }),
};

export const azureOpenAi: HttpProvider = {
  load,
  connect({ options, values, url }: ClientSetup<typeof AZURE_OPENAI.options>) {
    const { api_version: apiVersion, max_tokens: maxTokens } = values;
    const queryParams = new Map(options.queryParams);
    if (apiVersion !== undefined) queryParams.set('api-version', apiVersion);
    const own: ClientOptions = { ...options, queryParams, body: withMaxTokens(options.body, maxTokens) };
    return { protocol: (apiKey) => new OpenAiChatProtocol(url, own, { headers: { 'api-key': apiKey } }) };
  },
};

/** `max_tokens null` removes the member. */
function withMaxTokens(body: ReadonlyMap<string, JsonValue>, fallback: JsonValue): ReadonlyMap<string, JsonValue> {
  const members = new Map(body);
  if (members.get('max_tokens') === null) members.delete('max_tokens');
  else if (!members.has('max_tokens') && !members.has('max_completion_tokens')) members.set('max_tokens', fallback);
  return members;
}

interface ChatDialect {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** A message of text parts is sent as one string, not as a list of parts. */
  readonly plainText?: boolean;
  /** Members that only streams have, after `stream`. */
  readonly streamMembers?: JsonObject;
  /** Of the many servers that follow the API, some end a stream by ending its body. */
  readonly endsWithBody?: boolean;
}

/** The connection of a client whose key, if it has one, is sent as a bearer token. */
function chatConnection({ url, options }: ClientSetup, dialect: ChatDialect): Connection {
  return {
    protocol: (apiKey) => {
      const headers = { authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}` };
      return new OpenAiChatProtocol(url, options, { headers, ...dialect });
    },
  };
}

function load(): void {
  openAiPackage.loadChat();
}

/** Chat completions: https://platform.openai.com/docs/api-reference/chat/create */
class OpenAiChatProtocol implements WireProtocol {
  readonly format: ReplyFormat;
  readonly endsWithBody: boolean;
  readonly #url: string;
  readonly #options: ClientOptions;
  readonly #dialect: ChatDialect;
  readonly #headers: readonly string[];
  readonly #members: JsonObject;
  #path = '';

  constructor(url: string, options: ClientOptions, dialect: ChatDialect) {
    this.#url = url;
    this.#options = options;
    this.#dialect = dialect;
    this.endsWithBody = dialect.endsWithBody === true;
    this.format = replyFormat(options, openAiChatFormat);
    this.#headers = requestHeaders(options, dialect.headers ?? {});
    this.#members = Object.fromEntries(options.body);
  }

  call(messages: readonly Message[], streamed: boolean, output?: StructuredOutput): CallResult {
    const { plainText = false, streamMembers = {} } = this.#dialect;
    const wire = openAiChatMessages(messages, this.#options, plainText);
    if (!wire.ok) return err(wire.failure);
    // V8 defines a member after a spread in half a microsecond, which is a hundredth of a small call.
    const params: Record<string, unknown> = Object.assign({}, withStructure(this.#members, this.#options, output), {
      messages: wire.value,
    });
    if (streamed) Object.assign(params, { stream: true }, streamMembers);
    // Options are the user's: the provider judges them.
    const built = openAiPackage.chatCompletion(params as unknown as ChatCompletionCreateParams);
    invariant(built !== undefined, 'the openai package posted nothing');
    if (this.#path === '') this.#path = requestPath(this.#url, built.path, this.#options);
    return ok({ path: this.#path, headers: this.#headers, body: JSON.stringify(built.body) });
  }
}

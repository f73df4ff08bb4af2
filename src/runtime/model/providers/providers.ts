import type { ClientType } from '../../../schema/client.ts';
import type { HttpProviderName, Provider } from '../../../schema/providers/providers.ts';
import { loadPool } from '../http/http1-pool.ts';
import { anthropic, anthropicFormat } from './anthropic.ts';
import { awsBedrock } from './aws-bedrock.ts';
import { googleAi, googleFormat } from './google-ai.ts';
import {
  azureOpenAi,
  openAi,
  openAiChatFormat,
  openAiCompatible,
  openAiGeneric,
  openAiResponses,
  openAiResponsesFormat,
  transcriptionFormat,
} from './openai.ts';
import type { HttpProvider } from './provider.ts';
import type { ClientOptions } from '../client-options.ts';
import type { ReplyFormat } from '../wire/reply-format.ts';
import { vertexAi } from './vertex-ai.ts';

/** A total table: the description of a provider decides whether it needs wire code. */
type HttpProviders = { readonly [N in Provider]: N extends HttpProviderName ? HttpProvider : undefined };

/**
 * The wire code of every provider, by name. One whose description has an address does not compile without it; a strategy
 * passes calls on, and `offline` answers them itself.
 */
export const HTTP_PROVIDERS: HttpProviders = {
  openai: openAi,
  'openai-generic': openAiGeneric,
  'openai-responses': openAiResponses,
  'azure-openai': azureOpenAi,
  ollama: openAiCompatible,
  openrouter: openAiCompatible,
  anthropic,
  'google-ai': googleAi,
  'vertex-ai': vertexAi,
  'aws-bedrock': awsBedrock,
  fallback: undefined,
  'round-robin': undefined,
  offline: undefined,
};

const RESPONSE_FORMATS: Readonly<Record<NonNullable<ClientOptions['responseType']>, ReplyFormat>> = {
  openai: openAiChatFormat,
  'openai-responses': openAiResponsesFormat,
  'openai-transcription': transcriptionFormat,
  anthropic: anthropicFormat,
  google: googleFormat,
  vertex: googleFormat,
};

/** The format that the `client_response_type` of a client names. */
export function responseFormat({ responseType }: ClientOptions): ReplyFormat | undefined {
  return responseType === undefined ? undefined : RESPONSE_FORMATS[responseType];
}

/** Loads the modules that calls of these clients will need, so that the first call does not wait for them. */
export function loadProviders(clients: readonly ClientType[]): void {
  for (const client of clients) {
    const provider = HTTP_PROVIDERS[client.provider];
    if (provider === undefined) continue;
    loadPool();
    provider.load?.();
  }
}

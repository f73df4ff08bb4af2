import type { ClientType } from '../../../schema/client.ts';
import type { Provider } from '../../../schema/providers/providers.ts';
import { loadPool } from '../http/create-pool.ts';
import { anthropic } from './anthropic.ts';
import { awsBedrock } from './aws-bedrock.ts';
import { googleAi } from './google-ai.ts';
import { azureOpenAi, openAi, openAiCompatible, openAiGeneric } from './openai-chat.ts';
import { openAiResponses } from './openai-responses.ts';
import type { HttpProvider } from './provider.ts';
import { vertexAi } from './vertex-ai.ts';

/** The wire code of the providers that svc reaches over HTTP, by name. The strategies and `offline` are not among them. */
export const HTTP_PROVIDERS: Readonly<Partial<Record<Provider, HttpProvider>>> = {
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
};

/** Loads the modules that calls of these clients will need, so that the first call does not wait for them. */
export function loadProviders(clients: readonly ClientType[]): void {
  for (const client of clients) {
    const provider = HTTP_PROVIDERS[client.provider];
    if (provider === undefined) continue;
    loadPool();
    provider.load?.();
  }
}

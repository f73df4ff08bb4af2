import type { ClientType, Provider } from '../../../schema/client.ts';
import { loadPools } from '../http/load-undici.ts';
import { anthropic } from './anthropic.ts';
import { awsBedrock } from './aws-bedrock.ts';
import { azureOpenAi } from './azure-openai.ts';
import { googleAi } from './google-ai.ts';
import { ollama } from './ollama.ts';
import { openAiGeneric } from './openai-generic.ts';
import { openAiResponses } from './openai-responses.ts';
import { openAi } from './openai.ts';
import { openRouter } from './openrouter.ts';
import type { HttpProvider } from './provider.ts';
import { vertexAi } from './vertex-ai.ts';

/** The providers that are asked over HTTP, by name. The strategies and `offline` are not among them. */
export const HTTP_PROVIDERS: Readonly<Partial<Record<Provider, HttpProvider>>> = {
  openai: openAi,
  'openai-generic': openAiGeneric,
  'openai-responses': openAiResponses,
  'azure-openai': azureOpenAi,
  ollama,
  openrouter: openRouter,
  anthropic,
  'google-ai': googleAi,
  'vertex-ai': vertexAi,
  'aws-bedrock': awsBedrock,
};

/** Loads what calls of these clients will need, so that the first of them does not wait for it. */
export function loadProviders(clients: readonly ClientType[]): void {
  for (const client of clients) {
    const provider = HTTP_PROVIDERS[client.provider];
    if (provider === undefined) continue;
    loadPools();
    provider.load?.();
  }
}

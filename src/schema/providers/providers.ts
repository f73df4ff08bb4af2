import { deepFreeze } from '../../base/json.ts';
import { ANTHROPIC } from './anthropic.ts';
import { AWS_BEDROCK } from './aws-bedrock.ts';
import { GOOGLE_AI, VERTEX_AI } from './google.ts';
import { OFFLINE } from './offline.ts';
import { AZURE_OPENAI, OLLAMA, OPENAI, OPENAI_GENERIC, OPENAI_RESPONSES, OPENROUTER } from './openai.ts';
import type { ProviderDescription } from './provider-description.ts';
import { FALLBACK, ROUND_ROBIN } from './strategies.ts';

const DESCRIPTIONS = {
  openai: OPENAI,
  'openai-generic': OPENAI_GENERIC,
  'openai-responses': OPENAI_RESPONSES,
  'azure-openai': AZURE_OPENAI,
  ollama: OLLAMA,
  openrouter: OPENROUTER,
  anthropic: ANTHROPIC,
  'google-ai': GOOGLE_AI,
  'vertex-ai': VERTEX_AI,
  'aws-bedrock': AWS_BEDROCK,
  fallback: FALLBACK,
  'round-robin': ROUND_ROBIN,
  offline: OFFLINE,
} as const;

/** The name of a provider. The checker replaces the names of older definition files. */
export type Provider = keyof typeof DESCRIPTIONS;

/** A provider that svc reaches over HTTP: its description states how. */
export type HttpProviderName = {
  [N in Provider]: (typeof DESCRIPTIONS)[N] extends { readonly http: unknown } ? N : never;
}[Provider];

/** Every provider that a client can name. */
export const PROVIDERS: readonly Provider[] = Object.keys(DESCRIPTIONS) as Provider[];

/** The description of every provider, by name. */
export const PROVIDER_DESCRIPTIONS: Readonly<Record<Provider, ProviderDescription>> = deepFreeze(DESCRIPTIONS);

/** The provider of that name, or of that name in older definition files; undefined when there is none. */
export function providerNamed(name: string): Provider | undefined {
  return PROVIDERS.find((each) => each === name || PROVIDER_DESCRIPTIONS[each].legacyName === name);
}

/** A provider that passes calls on to other clients. */
export function isStrategy(provider: Provider | undefined): provider is 'fallback' | 'round-robin' {
  return provider === 'fallback' || provider === 'round-robin';
}

/** Every provider a client may name. The legacy spellings are replaced by these when definitions are checked. */
export const PROVIDERS = [
  'openai',
  'openai-generic',
  'openai-responses',
  'azure-openai',
  'ollama',
  'openrouter',
  'anthropic',
  'google-ai',
  'vertex-ai',
  'aws-bedrock',
  'fallback',
  'round-robin',
  'offline',
] as const;

export type Provider = (typeof PROVIDERS)[number];

/** Spellings of older definition files, and the provider each stands for. */
export const LEGACY_PROVIDERS: Readonly<Record<string, Provider>> = {
  'baml-openai-chat': 'openai',
  'baml-azure-chat': 'azure-openai',
  'baml-ollama-chat': 'ollama',
  'baml-anthropic-chat': 'anthropic',
  'baml-fallback': 'fallback',
  'baml-round-robin': 'round-robin',
};

export function isProvider(name: string): name is Provider {
  return (PROVIDERS as readonly string[]).includes(name);
}

/** A named model client (`client<llm> Name { … }`). */
export interface ClientType {
  readonly name: string;
  readonly provider: Provider;
  /** As written, in order; `env.X` is resolved at call time. */
  readonly options: readonly OptionEntry[];
  readonly retryPolicy?: string;
}

export interface OptionEntry {
  readonly key: string;
  readonly value: OptionValue;
}

/** A value in a client's options: JSON, plus references to environment variables anywhere in it. */
export type OptionValue =
  | { readonly kind: 'scalar'; readonly value: string | number | boolean | null }
  | { readonly kind: 'env'; readonly variable: string }
  | { readonly kind: 'list'; readonly items: readonly OptionValue[] }
  | { readonly kind: 'map'; readonly entries: readonly OptionEntry[] };

export interface RetryPolicyType {
  readonly name: string;
  /** Attempts after the first one. */
  readonly maxRetries: number;
  readonly strategy: RetryStrategy;
  /** Upstream statuses that are retried, in place of the default set. */
  readonly statuses?: readonly number[];
}

/** Delays in milliseconds. */
export type RetryStrategy =
  | { readonly kind: 'constant'; readonly delayMs: number }
  | {
      readonly kind: 'exponential';
      readonly delayMs: number;
      readonly multiplier: number;
      readonly maxDelayMs: number;
    };

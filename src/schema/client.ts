import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { Provider } from './providers/providers.ts';

/** A named model client (`client<llm> Name { … }`). */
export interface ClientType {
  readonly name: string;
  readonly provider: Provider;
  /** In the order of the definition; `env.X` is resolved at call time. */
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

/** The value of an option in plain JSON, in which `env.X` is an ordinary string. */
export function optionOfJson(value: JsonValue): OptionValue {
  if (Array.isArray(value)) return { kind: 'list', items: value.map((item: JsonValue) => optionOfJson(item)) };
  if (isJsonObject(value)) {
    const entries = Object.entries(value).map(([key, member]) => ({ key, value: optionOfJson(member) }));
    return { kind: 'map', entries };
  }
  return { kind: 'scalar', value: value as string | number | boolean | null };
}

/** The environment variables to which a value refers. */
export function variablesIn(value: OptionValue): readonly string[] {
  switch (value.kind) {
    case 'scalar':
      return [];
    case 'env':
      return [value.variable];
    case 'list':
      return value.items.flatMap(variablesIn);
    case 'map':
      return value.entries.flatMap((entry) => variablesIn(entry.value));
  }
}

export interface RetryPolicyType {
  readonly name: string;
  /** Attempts after the first one. */
  readonly maxRetries: number;
  readonly strategy: RetryStrategy;
  /** The upstream statuses after which svc retries, in place of the default set. */
  readonly statuses?: readonly number[];
  /** How often svc asks a client to correct a reply that does not fit the return type; absent for never. */
  readonly onInvalidReply?: number;
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

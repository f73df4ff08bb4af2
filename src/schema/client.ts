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

/** The names of the clients in the list of a strategy. */
export function strategyMembers({ options }: ClientType): readonly string[] {
  const strategy = options.findLast(({ key }) => key === 'strategy')?.value;
  if (strategy?.kind !== 'list') return [];
  return strategy.items.flatMap((item) =>
    item.kind === 'scalar' && typeof item.value === 'string' ? [item.value] : [],
  );
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

/** The data of an option, with a `T` in the place of each `env.X`. */
type ResolvedValue<T> =
  | string
  | number
  | boolean
  | null
  | T
  | readonly ResolvedValue<T>[]
  | { readonly [key: string]: ResolvedValue<T> };

/** Returns the data of a value. `read` returns what takes the place of a variable. */
export function resolveValue<T>(value: OptionValue, read: (variable: string) => T): ResolvedValue<T> {
  switch (value.kind) {
    case 'scalar':
      return value.value;
    case 'env':
      return read(value.variable);
    case 'list':
      return value.items.map((item) => resolveValue(item, read));
    case 'map':
      return Object.fromEntries(value.entries.map((entry) => [entry.key, resolveValue(entry.value, read)]));
  }
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
